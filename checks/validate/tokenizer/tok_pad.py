"""TOK-PAD: rows of the output head that no token has."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .changes import alike
from .rows import head_rows

RULE = Rule(
    id="TOK-PAD",
    name="padded-rows",
    family="TOK",
    severity=Severity.ERROR,
    summary="the output head has more rows than there are tokens, and more than before",
    what="Rows of the output head beyond the largest id of the tokenizer.",
    why="a row without a token can be sampled: the id cannot be decoded, and guided decoding fails on it",
    hint="mask the rows beyond the vocabulary in the server, or trim the head",
    bad="head [152064, 4096], largest id 151668   (the head was [151936, 4096])",
    good="the same number of rows without a token as before",
    example="text",
    references=("vllm-project/vllm#13175",),
    reads=("tokenizer", "safetensors"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """A note where there is such a gap, a break where it grew."""
    if ctx.old is not None and alike(ctx) and _rows(ctx.old) == _rows(ctx.new):
        return
    gap = _gap(ctx.new)
    if gap is None or gap[0] <= 0:
        return
    before = _gap(ctx.old) if ctx.old is not None else None
    grew = before is not None and gap[0] > max(before[0], 0)
    if before is not None and gap[0] == before[0]:
        return
    message = f"{gap[0]:,} rows of {gap[1]} have no token"
    if before is not None:
        message += f", {'up' if grew else 'down'} from {max(before[0], 0):,}"
    yield ctx.finding(RULE, "breaks" if grew else "hot", message, path=gap[2], tensor=gap[1])


def _rows(side: Side) -> int | None:
    rows = head_rows(side)
    return rows.rows if rows is not None else None


def _gap(side: Side) -> tuple[int, str, str] | None:
    """(rows without a token, tensor, file), None where weights or tokenizer are absent."""
    rows = head_rows(side)
    if rows is None or side.tokenizer is None:
        return None
    return rows.rows - side.tokenizer.largest - 1, rows.tensor, rows.file
