"""FIL-OPAQUE: a file changed that no reader understands, so nothing can be said about it."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.pickles import empty, is_pickle
from ....models.tree import TreeFile
from ....report.finding import Severity
from ..config.quantisation import FILES
from ..rulebase import Context, Finding, Level, Rule
from .companions import inert, reader
from .fil_prep import PREPARES
from .label_files import label_files
from .pooled import judged

RULE = Rule(
    id="FIL-OPAQUE",
    name="unknown-file-changed",
    family="FIL",
    severity=Severity.WARNING,
    summary="a file that servers may read changed, came or went, and its meaning is not known here",
    what="Files that differ between the models and belong to no format that interlock reads: pickles, weights of other "
    "frameworks, settings of components in folders, code. New files count where some server reads them by itself.",
    why="servers may read the file, and what it does to their answers cannot be said from its bytes",
    hint="accept the finding with a reason if the file is not served; publish pickled weights as safetensors",
    exemptions=(
        "documentation, licences, pictures, checksums and training logs",
        "new files that nobody reads without being told to",
    ),
)

_TOP_ONLY = frozenset({"config", "generation-config", "tokenizer", "tokenizer-config", "chat-template"})


def check(ctx: Context) -> Iterator[Finding]:
    """Changed, new and lost files of unknown meaning."""
    if ctx.old is None:
        if ctx.new.tree.kinds <= {"pickle", "other", "code", "signature"}:
            yield from _alone(ctx)
        return
    old, new = dict(ctx.old.tree.files), ctx.new.tree.files
    if ctx.old.tree.single and ctx.new.tree.single:
        old = {next(iter(new)): next(iter(old.values()))}
    lists = [label_files(side) for side in (ctx.old, ctx.new)]
    for name in sorted(old.keys() | new.keys()):
        if name in lists[0] and (name in lists[1] or name not in new):
            continue  # FIL-LABEL compares them
        file = new.get(name) or old[name]
        if not _unjudged(ctx, file) or inert(name) or _external(ctx, name):
            continue
        before, after = old.get(name), new.get(name)
        if before is not None and after is not None:
            if ctx.same(before.name, after.name) == "same":
                continue
            if file.kind == "pickle" and not after.size and not after.partial:
                raise empty(after)
            yield ctx.finding(RULE, "unproven", f"{_what(file)} '{name}' changed", path=name)
        elif after is None:
            yield ctx.finding(RULE, "unproven", f"{_what(file)} '{name}' is gone", path=name, side=ctx.old)
        else:
            who = reader(name)
            level: Level = "unproven" if file.kind == "pickle" or who else "hot"
            yield ctx.finding(
                RULE, level, f"{_what(file)} '{name}' is new" + (f", and {who}" if who else ""), path=name
            )


def _alone(ctx: Context) -> Iterator[Finding]:
    """A model that is a pickle, or a file that may be one. Raises UnreadableModel where it is empty."""
    file = next((file for file in ctx.new.tree.of("pickle") if not inert(file.name)), ctx.new.tree.of("pickle")[0])
    if not file.size and not file.partial:
        raise empty(file)
    what = "is a pickle" if file.partial or is_pickle(file) else "is of no format that is read here"
    message = f"'{file.name}' {what}, and nothing else is there to check"
    yield ctx.finding(RULE, "unproven", message, path=file.name)


def _unjudged(ctx: Context, file: TreeFile) -> bool:
    """Whether no rule reads the file: of Hugging Face files, rules read those at the top."""
    sides = [side for side in (ctx.old, ctx.new) if side is not None]
    if file.kind == "code":
        return not any(side.config and "auto_map" in side.config for side in sides)
    if file.kind == "other" and file.name in FILES:
        return not all(side.config for side in sides)
    if file.kind in ("other", "pickle"):
        return file.name not in PREPARES and not judged(file.name)
    if "/" not in file.name or file.kind not in _TOP_ONLY:
        return False
    engines = any(file.name in side.engines for side in sides)
    return not engines and not judged(file.name) and not file.name.startswith("additional_chat_templates/")


def _external(ctx: Context, name: str) -> bool:
    """Whether the file is external data of an ONNX model, which the graph rules compare."""
    from ..graph.contract import beside

    sides = [side for side in (ctx.old, ctx.new) if side is not None and "onnx" in side.tree.kinds]
    return any(
        name == beside(model, location)
        for side in sides
        for model in side.onnx.values()
        for location in model.external_files()
    )


def _what(file: TreeFile) -> str:
    return "pickle" if file.kind == "pickle" else "file"
