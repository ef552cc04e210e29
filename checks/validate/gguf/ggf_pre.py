"""GGF-PRE: the pre-tokenizer that the file names is missing or another one."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .files import pairs

RULE = Rule(
    id="GGF-PRE",
    name="pre-tokenizer-missing",
    family="GGF",
    severity=Severity.ERROR,
    summary="tokenizer.ggml.pre is missing or changed",
    what="The key tokenizer.ggml.pre of files with a BPE vocabulary (tokenizer.ggml.model is gpt2).",
    why="llama.cpp falls back to a default split: text becomes other tokens and answers get worse, without an error",
    hint="convert again with a current convert_hf_to_gguf.py",
    references=("https://github.com/ggml-org/llama.cpp/pull/6920", "https://github.com/ggml-org/llama.cpp/issues/7724"),
)

_KEY = "tokenizer.ggml.pre"
# Names that conversion scripts wrote when they did not know the tokenizer.
_FALLBACK = frozenset({"default", "smaug-bpe"})


def check(ctx: Context) -> Iterator[Finding]:
    """The key in NEW against OLD, or by itself."""
    before = {pair.new.file: pair.old.metadata.get(_KEY) for pair in pairs(ctx)}
    for file, model in ctx.new.gguf.items():
        if model.metadata.get("tokenizer.ggml.model") != "gpt2":
            continue
        old, new = before.get(file), model.metadata.get(_KEY)
        if file in before and old == new:
            continue
        if file in before:
            yield ctx.finding(RULE, "breaks", f"{_KEY} changed", old=old, new=new, path=file, pointer=_KEY)
        elif new is None or new in _FALLBACK:
            said = "is missing" if new is None else f"is {new!r}, which converters write for unknown tokenizers"
            yield ctx.finding(RULE, "breaks" if new is None else "unproven", f"{_KEY} {said}", path=file, pointer=_KEY)
