"""GGF-CTX: the model was trained for a shorter context."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .files import pairs

RULE = Rule(
    id="GGF-CTX",
    name="context-shrank",
    family="GGF",
    severity=Severity.ERROR,
    summary="the context length shrank",
    what="context_length below the architecture's prefix.",
    why="prompts that fitted are refused or cut",
    hint="tell clients about the new limit first",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Shorter breaks clients; longer is a note, for memory was sized for the old one."""
    for pair in pairs(ctx):
        old, new = pair.old.get("context_length"), pair.new.get("context_length")
        if not isinstance(old, int) or old == new:
            continue
        shrank = not isinstance(new, int) or new < old
        yield ctx.finding(
            RULE,
            "breaks" if shrank else "hot",
            "context length " + ("shrank" if shrank else "grew"),
            old=old,
            new=new,
            path=pair.new.file,
            pointer="context_length",
        )
