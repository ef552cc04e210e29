"""Which files of a model are lists that outputs are read by, an index an entry, and how they are written.

Labels of classifiers and detectors go by their usual names, or by `label_filename` of a config.pbtxt; dictionaries of
characters (PaddleOCR, sherpa-onnx) count beside a graph only, for elsewhere a tokenizer may read them.
"""

from __future__ import annotations

import re
from typing import Any

from ....models.errors import UnreadableModel
from ....models.tree import TreeFile
from ..side import Side
from .labels import labels

MAX = 16 << 20
_LABELS = (
    r"(class_?(names|labels)|label_?(list|map|names)|categories|synset|names|.+_(labels|classes)|coco)\.(txt|json)"
    r"|.+\.names|label_?map\.pbtxt|(selected_)?tags\.csv|labels?\.csv|classes\.csv"
)
_CHARACTERS = r"(.+_)?dict\.txt|(.+_)?keys(_v\d+)?\.txt|alphabet\.(txt|json)|tokens\.(txt|json)|characters?\.txt"


def label_files(side: Side) -> dict[str, TreeFile]:
    """The lists of a model by name, those that are here as a whole."""
    found = {file.name: file for file in side.tree.of("labels")}
    graph = not side.tree.kinds.isdisjoint({"onnx", "engine"})
    told = named(side)
    for file in (each for each in side.tree.of("other") if not each.partial and each.size <= MAX):
        base = file.name.rpartition("/")[2].lower()
        if file.name in told or re.fullmatch(_LABELS, base) or (graph and re.fullmatch(_CHARACTERS, base)):
            found[file.name] = file
    return found


def named(side: Side) -> set[str]:
    """What a config.pbtxt calls the labels of an output."""
    try:
        configs = list(side.triton.values())
    except UnreadableModel:
        return set()  # the rules on config.pbtxt say so
    return {
        f"{config.folder}/{each.labels}".lstrip("/") for config in configs for each in config.outputs if each.labels
    }


def listed(name: str, text: str) -> list[str] | None:
    """The entries of a file in order of their index, or with it where indices have gaps; None where it is no list."""
    base = name.rpartition("/")[2].lower()
    if base.endswith(".pbtxt"):
        return _mapped(text)
    if base.endswith(".csv"):
        return _table(text)
    if base == "tokens.txt" and (numbered := _numbered(text)) is not None:
        return numbered
    if text.lstrip()[:1] in ("{", "[") and base.endswith(".json"):
        return labels(text)
    if re.fullmatch(_CHARACTERS, base):
        # An empty line is an entry here, and only line feeds end one: other separators are characters, too.
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        return lines if text else None
    return labels(text)


def _numbered(text: str) -> list[str] | None:
    """`token 7` on every line: the order of the lines says nothing then."""
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    pairs = [line.rpartition(" ") for line in lines]
    if not pairs or not all(re.fullmatch(r"[0-9]{1,9}", number) for _, _, number in pairs):
        return None
    by_number = sorted((int(number), token) for token, _, number in pairs)
    return [f"{number} {token}" for number, token in by_number]


def _mapped(text: str) -> list[str] | None:
    """`item { id: 1 name: 'n0' display_name: 'cat' }`, in the text format of protobuf."""
    from ...lint.sources.pbtxt import PbtxtError, parse

    try:
        items = parse(text).messages("item")
    except PbtxtError:
        return None
    found: list[tuple[int, str]] = []
    for each in items:
        number = each.scalar("id")
        if not isinstance(number, int):
            return None
        names = [str(each.scalar(key)) for key in ("name", "display_name") if each.get(key)]
        found.append((number, f"{number} {' '.join(names)}"))
    return [text for _, text in sorted(found)] or None


def _table(text: str) -> list[str] | None:
    """Rows without how often each label was seen in training."""
    import csv

    try:
        rows = list(csv.reader(text.splitlines()))
    except csv.Error:
        return None
    head: list[Any] = rows[0] if rows else []
    kept = [at for at, title in enumerate(head) if title.strip().lower() not in ("count", "frequency")]
    return [",".join(row[at] for at in kept if at < len(row)) for row in rows if row] or None
