"""HU000: a file, suppression or rendering that could not be used as it stands."""

from __future__ import annotations

from ....report.finding import Severity
from ....report.rule import Rule

RULE = Rule(
    id="HU000",
    name="notice",
    family="HU0",
    severity=Severity.INFO,
    summary="an input or suppression could not be used as it stands",
    what="Files that cannot be read, rendered or parsed, duplicate keys, and suppressions without reason, past their "
    "date or without effect.",
    why="A linter that skips what it cannot read reports a pass that means nothing, and a suppression nobody needs "
    "hides the next real finding. Unread files are counted in the verdict; with --strict they fail the run.",
    hint="correct the file, or leave it out with lint.exclude",
    bad="kind: Deployment\n\tspec: {}\n",
    good="kind: Deployment\nspec: {}\n",
    exemptions=("files whose kind interlock does not read are not notices",),
)
