"""TOK-RANGE: ids for which the weights have no row."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.tokenizers import consistency
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .changes import alike, quoted
from .judge import file_of
from .rows import Rows, declared_rows, embedding_rows
from .special import Role, special

RULE = Rule(
    id="TOK-RANGE",
    name="id-outside-embedding",
    family="TOK",
    severity=Severity.ERROR,
    summary="the tokenizer has ids for which the embedding has no row",
    what="The largest id of the tokenizer and of eos, bos, pad and unk against the rows of the embedding in the "
    "weights' headers, or vocab_size where there are no weights.",
    why="the first text with that token reads outside the table: on a GPU an assertion that takes the server down",
    hint="resize the embedding, or take the token out of the tokenizer",
    bad="eos id 64001, embedding [64000, 4096]",
    good="eos id 63999, embedding [64000, 4096]",
    example="text",
    references=("01-ai/Yi#448",),
    reads=("tokenizer", "safetensors", "config"),
)

_ROLES: tuple[Role, ...] = ("eos", "bos", "pad", "unk")


def check(ctx: Context) -> Iterator[Finding]:
    """Judge NEW; what OLD has just the same is a note, since it serves."""
    if ctx.old is None and ctx.new.tokenizer is not None:
        consistency.check(ctx.new.tokenizer)
    if ctx.old is not None and alike(ctx) and _limits(ctx.old) == _limits(ctx.new):
        return  # whatever the fault, it serves
    fault = _fault(ctx.new, exact=ctx.old is None)
    if fault is None:
        return
    number, name, rows = fault
    before = _fault(ctx.old, exact=True) if ctx.old is not None else None
    known = before is not None and before[0] == number and before[2].rows == rows.rows
    yield ctx.finding(
        RULE,
        "hot" if known else "breaks",
        f"id {number:,} ({name}) is outside the {rows.rows:,} rows of {rows.tensor}" + (", as before" if known else ""),
        path=file_of(ctx.new.tokenizer) if ctx.new.tokenizer is not None else rows.file,
        tensor=rows.tensor if rows.tensor != "vocab_size" else "",
    )


def _limits(side: Side) -> tuple[int | None, list[frozenset[int]]]:
    rows = embedding_rows(side) or declared_rows(side)
    return rows.rows if rows is not None else None, [special(side, role).ids for role in _ROLES]


def _fault(side: Side, *, exact: bool) -> tuple[int, str, Rows] | None:
    """(id, its name, the rows) of the largest id that has no row."""
    rows = embedding_rows(side) or declared_rows(side)
    if rows is None:
        return None
    found: list[tuple[int, str]] = []
    tokenizer = side.tokenizer
    # The bound costs no parsing; where it is exceeded, or nothing else reads the vocabulary, it has to be read.
    if tokenizer is not None and (exact or tokenizer.bound >= rows.rows) and tokenizer.largest >= rows.rows:
        found.append((tokenizer.largest, quoted(tokenizer.tokens[tokenizer.largest])))
    for role in _ROLES:
        found += [(number, f"the {role} token") for number in special(side, role).ids if number >= rows.rows]
    return (*max(found), rows) if found else None
