"""CFG-LABEL: classes with other names, order or number than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ....models.errors import UnreadableModel
from ....models.numerals import whole
from ....models.strict_json import items_of
from ....report.finding import Severity
from ..files.labels import difference
from ..rulebase import Context, Finding, Rule
from ..side import Side

RULE = Rule(
    id="CFG-LABEL",
    name="labels-changed",
    family="CFG",
    severity=Severity.ERROR,
    summary="class indices have other names, or there is another number of them",
    what="id2label in order of index against the old one, label2id, num_labels and the rows of the classifier's head; "
    "thresholds that the configuration carries.",
    why="the model answers with an index; clients that hold the old names report another class",
    hint="append new classes at the end and ship the clients first",
    bad='{"id2label": {"0": "POSITIVE", "1": "NEGATIVE"}}   (was the other way round)',
    good='{"id2label": {"0": "NEGATIVE", "1": "POSITIVE"}}',
    example="json",
    exemptions=("the placeholder names LABEL_0, LABEL_1 where nothing else is written",),
    reads=("config", "safetensors"),
)

HEADS = ("classifier.weight", "score.weight", "classifier.out_proj.weight", "classification_head.weight")


def check(ctx: Context) -> Iterator[Finding]:
    """NEW in itself, then against OLD."""
    new = labels(ctx.new)
    before = _faults(ctx.old) if ctx.old is not None else []
    for fault in _faults(ctx.new):
        level = "hot" if fault in before else "breaks"
        yield ctx.finding(RULE, level, fault.message, path="config.json", pointer=fault.pointer, tensor=fault.tensor)
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    old = labels(ctx.old)
    if old is not None and new is not None:
        changed = difference(old, new)
        if changed:
            yield ctx.finding(RULE, "breaks", changed, path="config.json", pointer="/id2label")
    elif old is None and new is None:
        before, after = count(ctx.old), count(ctx.new)
        if before != after:
            yield ctx.finding(
                RULE, "breaks", "num_labels differs", path="config.json", pointer="/num_labels", old=before, new=after
            )
    elif old is not None:
        yield ctx.finding(RULE, "breaks", "id2label is gone", path="config.json", pointer="/id2label")
    elif _classifies(ctx.old):
        message = "classes have names now; clients know them as LABEL_0, LABEL_1, …"
        yield ctx.finding(RULE, "breaks", message, path="config.json", pointer="/id2label")
    for key in sorted(ctx.old.config.keys() | ctx.new.config.keys()):
        before, after = ctx.old.config.get(key), ctx.new.config.get(key)
        if "threshold" in key and before != after:
            yield ctx.finding(
                RULE, "restart", f"{key} differs", path="config.json", pointer=f"/{key}", old=before, new=after
            )


def _classifies(side: Side) -> bool:
    names = items_of((side.config or {}).get("architectures"))
    return bool(_names(side)) or any(str(name).endswith("Classification") for name in names)


def count(side: Side) -> int:
    """The number of classes: two where nothing says, as in `transformers`."""
    said = (side.config or {}).get("num_labels")
    return len(_names(side)) or (said if isinstance(said, int) else 2)


def labels(side: Side) -> list[str] | None:
    """id2label in order of index, None where there is none or only placeholders.

    Raises UnreadableModel for an index that is no number.
    """
    names = _names(side)
    return None if names == [f"LABEL_{number}" for number in range(len(names))] else names


def _names(side: Side) -> list[str]:
    table: Any = (side.config or {}).get("id2label")
    if not isinstance(table, dict) or not table:
        return []
    entries: dict[str, Any] = table  # pyright: ignore[reportUnknownVariableType]
    places = {key: whole(key) for key in entries}
    wrong = next((key for key, place in places.items() if place is None), None)
    if wrong is not None:
        raise UnreadableModel(side.tree.root / "config.json", f"id2label has the index {wrong[:20]!r}")
    return [str(entries[key]) for key in sorted(entries, key=lambda key: places[key] or 0)]


class _Fault(NamedTuple):
    message: str
    pointer: str
    tensor: str = ""


def _faults(side: Side) -> list[_Fault]:
    """Where a model's labels disagree with themselves or with its head."""
    names = _names(side)
    if not names:
        return []
    found: list[_Fault] = []
    back: Any = (side.config or {}).get("label2id")
    if isinstance(back, dict) and len(set(names)) == len(names):
        wrong = [name for number, name in enumerate(names) if name in back and back[name] != number]
        if wrong:
            found.append(_Fault(f"label2id and id2label disagree on {', '.join(wrong[:3])}", "/label2id"))
    table = side.weights
    head = next((name for name in HEADS if table is not None and name in table.tensors), None)
    if table is not None and head is not None and table.tensors[head].shape:
        rows = table.tensors[head].shape[0]
        if rows != len(names):
            found.append(_Fault(f"{len(names)} labels, but the head has {rows} outputs", "/id2label", head))
    return found
