"""ONX-LABEL: the graph itself names its classes, and names them otherwise than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....report.finding import Severity
from ..files.labels import difference
from ..rulebase import Context, Finding, Rule
from .classes import Labels, labels
from .contract import match
from .reading import readings

if TYPE_CHECKING:
    from ....models.onnx import Value

RULE = Rule(
    id="ONX-LABEL",
    name="graph-labels-changed",
    family="ONX",
    severity=Severity.ERROR,
    summary="labels that are constants inside the graph have another order, name or number",
    what="What comes out at an output as it stands in the graph: classlabels of classifiers and ZipMap, the tables of "
    "LabelEncoder and CategoryMapper, strings and integers that are looked up by index, column names of encoders.",
    why="clients act on the label; a swapped pair turns every 'ok' into 'fraud' with the same types and shapes",
    hint="keep names and order of the classes when training again; ship the clients first where they must change",
    exemptions=(
        "coefficients, trees and other weights",
        "the same labels from another operator",
        "encoders of what clients send (ONX-IN-VALUES speaks)",
    ),
    references=("https://onnx.ai/onnx/operators/onnx_aionnxml_LabelEncoder.html",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Outputs that both graphs have, one finding each."""
    for pair, before, after in readings(ctx):
        for old, new in match(ctx, pair, "outputs").all_kept:
            if old.name not in before.flow.outputs or new.name not in after.flow.outputs:
                continue
            was = labels(before, before.flow.outputs[old.name])
            now = labels(after, after.flow.outputs[new.name])
            changed = _changed(was, now)
            if changed:
                yield ctx.finding(
                    RULE,
                    "breaks",
                    f"labels of output '{new.name}': {changed}",
                    path=pair.new.file,
                    tensor=new.name,
                    pointer="graph.node",
                )
            elif changed is None and not _columns(new):
                yield ctx.finding(
                    RULE,
                    "unproven",
                    f"labels of output '{new.name}' are no longer constants of the graph",
                    old=_show(was),
                    new=_show(now),
                    path=pair.new.file,
                    tensor=new.name,
                    pointer="graph.node",
                )


def _changed(was: list[Labels], now: list[Labels]) -> str | None:
    """What differs, '' where nothing does, None where only one side says its labels."""
    if was == now:
        return ""
    plain = [each for each in was if not _counted(each)], [each for each in now if not _counted(each)]
    if not plain[0] and not plain[1] and (not was or not now):
        return ""  # the index itself is the label, written out or not
    if not was or not now:
        return None
    for old, new in zip(was, now, strict=False):
        if len(was) == len(now) and old != new:
            return difference(list(old), list(new))
    old, new = ([name for each in side for name in each] for side in (was, now))
    if set(old) == set(new) and list(dict.fromkeys(old)) == list(dict.fromkeys(new)):
        return ""
    return difference(list(dict.fromkeys(old)), list(dict.fromkeys(new)))


def _columns(value: Value) -> bool:
    """Whether an output holds numbers by class: where the graph does not name the columns, nobody else can."""
    return value.type.startswith(("tensor(float", "tensor(double", "tensor(bfloat"))


def _counted(names: Labels) -> bool:
    return names == tuple(map(str, range(len(names))))


def _show(found: list[Labels]) -> str:
    return ", ".join(name for each in found for name in each[:5]) or "none"
