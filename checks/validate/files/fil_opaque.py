"""FIL-OPAQUE: a file changed that no reader understands, so nothing can be said about it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....models.tree import TreeFile
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule

RULE = Rule(
    id="FIL-OPAQUE",
    name="unknown-file-changed",
    family="FIL",
    severity=Severity.WARNING,
    summary="a file that servers may read changed, and its meaning is not known here",
    what="Files that differ between the models and belong to no format that interlock reads: pickles, "
    "preprocessor settings, other frameworks' weights, settings of components in folders, code.",
    why="servers may read the file, and what it does to their answers cannot be said from its bytes",
    hint="accept the finding with a reason if the file is not served; publish pickled weights as safetensors",
    exemptions=("documentation, licences, pictures, checksums and training logs",),
)

# Patterns here are compiled when they are first needed: most models have no such file.
_INERT = (
    r"(^|/)(readme|license|licence|notice|changelog|authors|citation|use_policy|usage|\.git|\.ds_store|"
    r"data_config|train_script|training_config|dataset_infos?|trainer_state|training_args|all_results|eval_results|"
    r"train_results|optimizer|scheduler|rng_state)"
    r"|\.(md|rst|pdf|png|jpe?g|gif|svg|webp|sha256|sha256sum|md5|asc|sig|log|csv|ipynb|html|bak|lock)$"
)
_TOP_ONLY = frozenset({"config", "generation-config", "tokenizer", "tokenizer-config", "chat-template"})


def check(ctx: Context) -> Iterator[Finding]:
    """Changed, new and lost files of unknown meaning."""
    if ctx.old is None:
        return
    old, new = dict(ctx.old.tree.files), ctx.new.tree.files
    if ctx.old.tree.single and ctx.new.tree.single:
        old = {next(iter(new)): next(iter(old.values()))}
    for name in sorted(old.keys() | new.keys()):
        file = new.get(name) or old[name]
        if not _unjudged(ctx, file) or re.search(_INERT, name.lower()) or _external(ctx, name):
            continue
        before, after = old.get(name), new.get(name)
        if before is not None and after is not None:
            if ctx.same(before.name, after.name) == "same":
                continue
            yield ctx.finding(RULE, "unproven", f"{_what(file)} '{name}' changed", path=name)
        elif after is None:
            yield ctx.finding(RULE, "unproven", f"{_what(file)} '{name}' is gone", path=name, side=ctx.old)
        else:
            level: Level = "unproven" if file.kind == "pickle" else "hot"
            yield ctx.finding(RULE, level, f"{_what(file)} '{name}' is new", path=name)


def _unjudged(ctx: Context, file: TreeFile) -> bool:
    """Whether no rule reads the file: of Hugging Face files, rules read those at the top."""
    if file.kind == "code":
        return not any(side.config and "auto_map" in side.config for side in (ctx.old, ctx.new) if side is not None)
    if file.kind in ("other", "pickle"):
        return True
    if "/" not in file.name or file.kind not in _TOP_ONLY:
        return False
    engines = any(file.name in side.engines for side in (ctx.old, ctx.new) if side is not None)
    return not engines and "_Pooling/" not in file.name and not file.name.startswith("additional_chat_templates/")


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
