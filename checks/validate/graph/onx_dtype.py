"""ONX-DTYPE: an input or output has another type."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .contract import WORD, What, match, pairs

RULE = Rule(
    id="ONX-DTYPE",
    name="tensor-type-changed",
    family="ONX",
    severity=Severity.ERROR,
    summary="an input or output has another element type or kind",
    what="The type of a matched input or output differs: element type, or tensor against sequence, map, optional.",
    why="ONNX Runtime refuses the request ('Unexpected input data type'), or the client misreads the bytes",
    hint="cast inside the graph and keep the type clients know",
    references=("https://github.com/huggingface/optimum/issues/994",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Matched values whose types differ."""
    sides: tuple[What, What] = ("inputs", "outputs")
    for pair in pairs(ctx):
        for what in sides:
            for old, new in match(ctx, pair, what).all_kept:
                if old.type != new.type:
                    yield ctx.finding(
                        RULE,
                        ctx.client_level("tensor"),
                        f"{WORD[what]} '{new.name}' has another type",
                        old=old.type,
                        new=new.type,
                        path=pair.new.file,
                        tensor=new.name,
                        pointer=f"graph.{WORD[what]}",
                    )
