"""FIL-SET: files with tensors were added, removed or renamed."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side

RULE = Rule(
    id="FIL-SET",
    name="model-files-changed",
    family="FIL",
    severity=Severity.ERROR,
    summary="files that hold tensors were added, removed or renamed",
    what="The ONNX and GGUF files of both directories by name, and sets of safetensors files by stem.",
    why="servers and clients load these files by name: a missing one fails, a split one needs other code",
    hint="keep the file names and the split of the live version",
    exemptions=(
        "two models that are given as one file each",
        "shards of one set of safetensors files",
        "the next version folder of a model in a Triton repository",
    ),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare the names kind by kind."""
    if ctx.old is None:
        return
    if ctx.old.tree.single or ctx.new.tree.single:
        yield from _one_of_many(ctx, ctx.old)
        return
    for kind in ("onnx", "gguf", "safetensors"):
        old, new = _names(ctx.old, kind), _names(ctx.new, kind)
        if not old or not new:
            continue  # another container altogether is FIL-FORMAT's
        if kind == "onnx" and any("/" in name for name in new):
            yield from _versions(ctx, old, new)
        gone, fresh = sorted(old - new), sorted(new - old)
        if len(gone) == len(fresh) == 1:
            yield ctx.finding(RULE, "restart", f"{kind} file renamed", old=gone[0], new=fresh[0], path=fresh[0])
            continue
        for name in gone:
            yield ctx.finding(RULE, "breaks", f"{kind} file '{name}' is gone", path=name, side=ctx.old)
        for name in fresh:
            # A folder with one model is often loaded as "the model in it"; with two that has no meaning any more.
            # What lies in a folder of its own is loaded by who asks for it, an adapter beside the weights by itself.
            alone = len(old) == 1 and "/" not in name
            level: Level = "restart" if alone or name == "adapter_model" else "hot"
            yield ctx.finding(RULE, level, f"{kind} file '{name}' is new", path=name)


def _versions(ctx: Context, old: set[str], new: set[str]) -> Iterator[Finding]:
    """Versions of a Triton repository, which come and go; takes them out of the names."""
    from ..serving.takeover import takeover

    found = takeover(ctx)
    old -= found.old
    new -= found.new
    for folder, before, after in found.raised:
        message = f"Triton serves another version of '{folder or ctx.new.name}'"
        yield ctx.finding(RULE, "hot", message, old=before, new=after, path=folder)
    for folder, version in found.lost:
        message = f"version {version} of '{folder or ctx.new.name}' is no longer served to who asks for it"
        yield ctx.finding(RULE, "unproven", message, path=folder)


def _one_of_many(ctx: Context, old: Side) -> Iterator[Finding]:
    """A file compared with a folder of several models: which one it replaces is a guess."""
    for kind in ("onnx", "gguf", "safetensors"):
        before, after = _names(old, kind), _names(ctx.new, kind)
        if before and after and len(before) != len(after):
            message = f"one side has {len(before)} {kind} files or sets, the other {len(after)}"
            yield ctx.finding(RULE, "breaks", message, hint="compare folder with folder, or file with file")


def _names(side: Side, kind: str) -> set[str]:
    """File names, or for safetensors the names of sets, so that a new split into shards is no new file."""
    if kind != "safetensors":
        return {file.name for file in side.tree.of(kind)}
    main = side.weights
    return {"the weights" if table is main else name for name, table in side.weight_sets.items()}
