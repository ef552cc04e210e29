"""ONX-IN-VALUES: an input accepts fewer values, or shorter ones, than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .accepted import Accepted, accepted
from .contract import Pair, match
from .reading import readings

RULE = Rule(
    id="ONX-IN-VALUES",
    name="input-values-narrowed",
    family="ONX",
    severity=Severity.ERROR,
    summary="ids, categories or lengths that the live graph accepts are beyond what the new one has",
    what="Rows of the tables that an input indexes (Gather, OneHot, fused embeddings, rotary caches), those of its "
    "positions too, and the categories of encoders that it goes through.",
    why="a lookup beyond the table fails the request ('indices element out of data bounds'), and a category that is "
    "gone counts as unknown without a word",
    hint="keep rows and categories that clients send, and add new ones at the end",
    exemptions=(
        "tables that grew, and rows that a Clip keeps anyone from reaching",
        "rows beyond what the model's tokenizer gives, and lengths that the input's fixed sizes do not allow",
        "ids that are hashed (Mod)",
        "indices that the graph computes itself",
        "a few of many categories that count as unknown: new data has others",
    ),
    references=("https://onnx.ai/onnx/operators/onnx__Gather.html",),
)
# A short list is an enumeration that clients know; of a long one, new data drops a few.
_ENUMERATION = 16
_SHARE = 0.1


def check(ctx: Context) -> Iterator[Finding]:
    """Inputs that both graphs have."""
    for pair, before, after in readings(ctx):
        was, now = accepted(before), accepted(after)
        names = {old.name: new.name for old, new in match(ctx, pair, "inputs").all_kept}
        for (name, kind, part), old in was.items():
            new = now.get((names.get(name, ""), kind, part))
            if new is None:
                continue
            shown = f"input '{names[name]}'" + (f" (part {part.strip('/')})" if part else "")
            said = [*_rows(ctx, pair, name, kind, (old, new)), *_categories(ctx, old, new)]
            for level, message, a, b in said:
                yield ctx.finding(
                    RULE,
                    level,
                    f"{shown} {message}",
                    old=a,
                    new=b,
                    path=pair.new.file,
                    tensor=names[name],
                    pointer="graph.input",
                )


Said = tuple[Level, str, int | None, int | None]


def _rows(ctx: Context, pair: Pair, name: str, kind: str, sides: tuple[Accepted, Accepted]) -> Iterator[Said]:
    old, new = (each.rows for each in sides)
    uncut = sides[0].clipped and sides[1].strict and not sides[1].clipped
    if uncut and new and not _unused(ctx, pair.old, name, kind, new):
        yield ctx.client_level("ids"), "fails ids beyond its table, which were cut off", None, new
    if not 0 < new < old or _unused(ctx, pair.old, name, kind, new):
        return
    if kind == "length":
        yield ctx.client_level("wire"), "accepts lengths up to", old, new
    elif sides[1].clipped:
        yield ctx.client_level("ids"), "tells ids apart below", old, new
    else:
        yield ctx.client_level("ids"), "accepts ids below", old, new


def _categories(ctx: Context, old: Accepted, new: Accepted) -> Iterator[Said]:
    if old.names and new.names and new.strict and not old.strict:
        yield ctx.client_level("ids"), "refuses unknown categories, which were accepted", None, None
    lost = sorted(old.names - new.names) if new.names else []
    if not lost:
        return
    shown = ", ".join(repr(name[:40]) for name in lost[:3])
    message = f"no longer knows {len(lost):,} of {len(old.names):,} categories ({shown}); they"
    few = len(lost) <= _SHARE * len(old.names) and len(old.names) > _ENUMERATION
    if new.strict:
        yield ctx.client_level("ids"), f"{message} fail the request", None, None
    else:
        yield "hot" if few else "unproven", f"{message} count as unknown", None, None


def _unused(ctx: Context, old: OnnxModel, name: str, kind: str, rows: int) -> bool:
    """Whether no client can have sent what is gone."""
    if kind == "length":
        shape = next((value.shape for value in old.graph.inputs if value.name == name), None)
        return bool(shape) and all(isinstance(size, int) and 0 < size <= rows for size in shape[-1:])
    tokenizer = ctx.old.tokenizer if ctx.old is not None and "ids" in name.lower() else None
    return tokenizer is not None and 0 <= tokenizer.largest < rows
