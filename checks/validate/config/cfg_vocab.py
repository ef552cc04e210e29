"""CFG-VOCAB: the configuration's vocabulary size is not that of the weights."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..tokenizer.rows import declared_rows, embedding_rows

RULE = Rule(
    id="CFG-VOCAB",
    name="vocabulary-size-disagrees",
    family="CFG",
    severity=Severity.ERROR,
    summary="vocab_size differs from the rows of the embedding",
    what="vocab_size of config.json against the shape of the embedding in the weights' headers.",
    why="loading fails with a size mismatch, or the server allocates buffers for ids that do not exist",
    hint="write the number of rows into vocab_size",
    bad="vocab_size 32000, embedding [32002, 4096]",
    good="vocab_size 32002, embedding [32002, 4096]",
    example="text",
    reads=("config", "safetensors"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Judge NEW; what OLD has just the same is a note, since it serves."""
    fault = _fault(ctx.new)
    if fault is None:
        return
    known = ctx.old is not None and _fault(ctx.old) == fault
    yield ctx.finding(
        RULE,
        "hot" if known else "breaks",
        f"vocab_size is {fault[0]:,}, but {fault[2]} has {fault[1]:,} rows" + (", as before" if known else ""),
        path="config.json",
        pointer="/vocab_size",
        tensor=fault[2],
    )


def _fault(side: Side) -> tuple[int, int, str] | None:
    declared, rows = declared_rows(side), embedding_rows(side)
    if declared is None or rows is None or declared.rows == rows.rows:
        return None
    return declared.rows, rows.rows, rows.tensor
