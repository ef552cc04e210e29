"""WTS-SHARD: the same tensors lie in other files."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .tables import pairs

RULE = Rule(
    id="WTS-SHARD",
    name="shard-layout-changed",
    family="WTS",
    severity=Severity.INFO,
    summary="the same tensors are split over files in another way",
    what="Names, types and shapes agree, the number of files or the file of some tensor does not.",
    why="loaders do not care, but a shard-wise delta ships every shard whose contents moved",
    hint="keep the shard layout of the live version to ship less",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Sets that differ in layout only."""
    for pair in pairs(ctx):
        old, new = pair.old.tensors, pair.new.tensors
        if old.keys() != new.keys():
            continue
        if any((old[name].dtype, old[name].shape) != (new[name].dtype, new[name].shape) for name in new):
            continue
        moved = sum(pair.old.files.index(old[n].file) != pair.new.files.index(new[n].file) for n in new)
        if moved or len(pair.old.files) != len(pair.new.files):
            yield ctx.finding(
                RULE,
                "hot",
                f"{moved} of {len(new)} tensors lie in another file",
                old=f"{len(pair.old.files)} files",
                new=f"{len(pair.new.files)} files",
                path=pair.new.index or pair.new.files[0],
            )
