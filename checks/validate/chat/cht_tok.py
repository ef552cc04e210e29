"""CHT-TOK: marks of the template that are no tokens."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..tokenizer.changes import alike
from .cases import CASES, QUOTING
from .templates import literals, rendered, same

RULE = Rule(
    id="CHT-TOK",
    name="template-mark-is-no-token",
    family="CHT",
    severity=Severity.ERROR,
    summary="the template writes a mark that the tokenizer does not know as one token",
    what="What looks like a special token in the renderings, such as <|im_end|>, looked up in the tokenizer.",
    why="the mark falls apart into ordinary ids: the model never sees the turn it was trained on, and never ends one",
    hint="add the token to the tokenizer, or write the mark that it has",
    bad="<|im_end|> in the template, no such token in tokenizer.json",
    good="<|im_end|> in both",
    example="text",
    exemptions=("marks that were no tokens of the old version either",),
    reads=("chat-template", "tokenizer-config", "tokenizer"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Marks that are no token now. Alone it is a note: some models were trained on marks in pieces."""
    if ctx.new.tokenizer is None or (ctx.old is not None and same(ctx) and alike(ctx)):
        return
    missing = _missing(ctx.new)
    if not missing:
        return
    level = "hot" if ctx.old is None or missing.keys() <= _missing(ctx.old).keys() else "breaks"
    names = ", ".join(list(missing)[:5])
    file = next(iter(missing.values()))
    yield ctx.finding(RULE, level, f"the template writes marks that are no single token: {names}", path=file)


def _missing(side: Side) -> dict[str, str]:
    """The marks that are no token, each with the template's file."""
    if side.tokenizer is None:
        return {}
    found: dict[str, str] = {}
    for name, result in rendered(side).items():
        for case, text in zip(CASES, result.texts, strict=False):
            if case is QUOTING:
                continue
            for mark in literals(text or ""):
                if side.tokenizer.id_of(mark) is None:
                    found.setdefault(mark, side.chat_templates[name][0])
    return found
