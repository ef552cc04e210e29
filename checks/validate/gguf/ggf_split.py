"""GGF-SPLIT: parts of a split file are missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ....models.gguf import GgufModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .files import split

RULE = Rule(
    id="GGF-SPLIT",
    name="split-incomplete",
    family="GGF",
    severity=Severity.ERROR,
    summary="parts of a split GGUF file are missing, or belong to another split",
    what="Files named stem-00001-of-00003.gguf, and split.count and split.tensors.count in their metadata.",
    why="the server fails when it comes to the missing part, after the old model was let go",
    hint="fetch the missing parts",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Numbers that are not there, and parts whose names and metadata disagree."""
    if ctx.new.tree.single:
        return
    parts: dict[str, dict[int, GgufModel]] = defaultdict(dict)
    counts: dict[str, int] = {}
    for file, model in ctx.new.gguf.items():
        found = split(file)
        count = model.metadata.get("split.count")
        if isinstance(count, int) and count > 1 and (found is None or found[2] != count):
            message = f"the file is one of {count} parts, but its name does not say so: loaders do not find the others"
            yield ctx.finding(RULE, "breaks", message, path=file, pointer="split.count")
        elif found is not None:
            parts[found[0]][found[1]] = model
            counts[found[0]] = found[2]
    for stem, models in parts.items():
        missing = set(range(1, counts[stem] + 1)) - models.keys()
        if missing:
            listed = ", ".join(map(str, sorted(missing)[:10]))
            message = f"{len(missing)} of {counts[stem]} parts of '{stem}' are missing: {listed}"
            yield ctx.finding(RULE, "breaks", message)
            continue
        said = {model.metadata.get("split.tensors.count") for model in models.values()} - {None}
        have = sum(len(model.tensors) for model in models.values())
        if said and said != {have}:
            told = " or ".join(map(str, sorted(map(str, said))))
            message = f"the parts of '{stem}' hold {have} tensors, their metadata says {told}"
            yield ctx.finding(RULE, "breaks", message, path=models[1].file, pointer="split.tensors.count")
