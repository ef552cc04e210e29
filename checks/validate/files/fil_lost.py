"""FIL-LOST: a file that servers read beside the weights went or came."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ....models.hf_config import token_content
from ....models.strict_json import items_of
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side

RULE = Rule(
    id="FIL-LOST",
    name="companion-file-lost",
    family="FIL",
    severity=Severity.ERROR,
    summary="the configuration, tokenizer or another companion of the weights is gone, or new",
    what="config.json, tokenizers and their settings, Triton and pooling settings: files that only one of the models "
    "has.",
    why="a server that reads the file fails without it; one that finds a new one behaves otherwise",
    hint="publish the model with the same companions as the live one",
    exemptions=("models that are given as one file", "generation and chat settings, which have rules of their own"),
)

_NEEDED = ("config", "tokenizer", "triton", "pooling", "labels")
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json")
# What rules judge whether the file is there or not, and what is only a note.
_JUDGED = (
    r"(eos|bos|pad|unk)_token|chat_template|model_max_length|(padding|truncation)_side|auto_map|_?name_or_path"
    r"|.*_file|transformers_version|processor_class|_commit_hash|cache_dir|device_map|(mask|cls|sep)_token"
)


def check(ctx: Context) -> Iterator[Finding]:
    """Kinds on one side only; then settings of the tokenizer."""
    if ctx.old is None or ctx.old.tree.single or ctx.new.tree.single:
        return
    for kind in _NEEDED:
        old, new = ctx.old.tree.of(kind), ctx.new.tree.of(kind)
        if old and not new and kind != "labels":
            yield ctx.finding(RULE, "breaks", f"'{old[0].name}' is gone", path=old[0].name, side=ctx.old)
        elif new and not old:
            level: Level = "hot" if kind in ("labels", "triton") else "unproven"
            yield ctx.finding(RULE, level, f"'{new[0].name}' is new: nothing to compare it with", path=new[0].name)
    for file in _SETTINGS:
        if (file in ctx.old.tree.files) == (file in ctx.new.tree.files):
            continue
        side, word = (ctx.old, "gone") if file in ctx.old.tree.files else (ctx.new, "new")
        keys = [key for key, value in (side.json(file) or {}).items() if _tells(side, key, value)]
        if file == "special_tokens_map.json":  # it mostly repeats tokenizer_config.json, which has rules of its own
            from ..tokenizer.repeated import copied

            keys = [key for key in keys if not copied(side, key)]
        if keys:
            shown = ", ".join(sorted(keys)[:4])
            yield ctx.finding(RULE, "unproven", f"'{file}' is {word}, and with it {shown}", path=file, side=side)


def _tells(side: Side, key: str, value: Any) -> bool:
    """Whether a setting of the tokenizer says more than nothing, and more than its tokenizer file."""
    if not value or re.fullmatch(_JUDGED, key):
        return False
    if key != "additional_special_tokens" or side.tokenizer is None:
        return True
    return any(side.tokenizer.id_of(token_content(each) or "") is None for each in items_of(value))
