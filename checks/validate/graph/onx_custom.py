"""ONX-CUSTOM: an operator of a domain that only its own library knows is told something else."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .foreign import changed
from .reading import readings

RULE = Rule(
    id="ONX-CUSTOM",
    name="custom-operator-changed",
    family="ONX",
    severity=Severity.WARNING,
    summary="a custom operator has other settings, or one came or went",
    what="Operators of domains other than those of ONNX and ONNX Runtime, TensorRT plugins too: which there are, their "
    "attributes, and the texts, integers and few numbers that they take as constants; files inside them, such as "
    "vocabularies, by their size and their first 64 MiB.",
    why="only the library behind the operator knows what a setting does: thresholds, vocabularies and flags change "
    "every answer, and no type or shape tells",
    hint="keep the settings as they were, or compare answers of both graphs with the operator library loaded",
    exemptions=(
        "weights that such an operator takes, with their scales, and long lists of numbers with a fraction",
        "names of nodes and their order in the file",
        "operators that functions in the file define",
        "operators of a domain that the old graph did not use (ONX-DOMAIN speaks)",
    ),
    references=("https://onnxruntime.ai/docs/reference/operators/add-custom-op.html",),
)
_SHOWN = 5


def check(ctx: Context) -> Iterator[Finding]:
    """One finding a setting, for the first few."""
    for pair, before, after in readings(ctx):
        for each in list(dict.fromkeys(changed(before, after)))[:_SHOWN]:
            yield ctx.finding(
                RULE,
                "unproven",
                f"custom operators: {each.text}",
                old=each.old,
                new=each.new,
                path=pair.new.file,
                pointer="graph.node",
            )
