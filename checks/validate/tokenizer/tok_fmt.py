"""TOK-FMT: a serialisation that older runtimes cannot load."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.tokenizer import Tokenizer
from ....report.finding import Severity
from ..config.runtime import needs, too_old
from ..rulebase import Context, Finding, Rule
from .judge import file_of

RULE = Rule(
    id="TOK-FMT",
    name="tokenizer-needs-runtime",
    family="TOK",
    severity=Severity.WARNING,
    summary="the tokenizer is written in a form that needs a newer runtime",
    what="Merges as pairs, which the tokenizers library reads from 0.20 on, and the kind of file, against the versions "
    "declared under contract.runtimes.",
    why="the same vocabulary fails to load: 'data did not match any variant of untagged enum ModelWrapper'",
    hint="declare the serving version of tokenizers or transformers, or save the file with an older release",
    bad='"merges": [["a", "b"]]   with tokenizers 0.19',
    good='"merges": ["a b"]',
    example="json",
    references=("ggml-org/llama.cpp#9692",),
    reads=("tokenizer",),
)

_PAIRS = {"tokenizers": "0.20", "transformers": "4.45", "vllm": "0.6.2"}


def check(ctx: Context) -> Iterator[Finding]:
    """What NEW needs and the declared runtime, or OLD, does not show to be there."""
    new = ctx.new.tokenizer
    if new is None:
        return
    old = ctx.old.tokenizer if ctx.old is not None else None
    if old is not None and old.format != new.format:
        yield ctx.finding(
            RULE,
            "restart",
            "the tokenizer is another kind of file",
            path=file_of(new),
            old=old.format,
            new=new.format,
            plan=("reload-tokenizer",),
        )
    if not _paired(new):
        return
    state = too_old(ctx, _PAIRS)
    known = old is not None and _paired(old)
    if state or (state is None and old is not None and not known):
        yield ctx.finding(
            RULE,
            "restart",
            f"merges are written as pairs, which needs {needs(_PAIRS)}" + (f"; declared is {state}" if state else ""),
            path=file_of(new),
            pointer="/model/merges",
            plan=("reload-tokenizer",),
        )


def _paired(tokenizer: Tokenizer) -> bool:
    return tokenizer.format == "tokenizer.json" and tokenizer.merge_form == "pair"
