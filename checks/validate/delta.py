"""What a delta update would ship: which tensors changed and how many bytes they have; which subgraphs changed.

Tensors are compared by bytes as long as a set has at most `contents.WHOLE` of them. In larger sets one sample of each
tensor can prove a change; for what agrees in it, the digests that both signatures carry (`sign --tensor-digests`) are
believed, and without them it counts as unknown, so that `bytes_to_ship` is an upper bound. Nobody verified those
signatures here, and `digests` says so wherever they told anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .contents import WHOLE, Same
from .rulebase import Context
from .side import Side
from .weights.tables import pairs as sets

if TYPE_CHECKING:
    from ...models.gguf import GgufModel
    from ...models.onnx import Initializer, OnnxModel
    from ...models.weights import WeightTable
    from .graph.contract import Pair as Graphs

SHOWN = 50
UNVERIFIED = "signed, not verified here"
_SAMPLE = 256


class Span(NamedTuple):
    """A tensor's meaning and where its bytes lie; no path where they are not at hand."""

    kind: str
    path: str
    begin: int
    end: int
    digest: str = ""


@dataclass(slots=True)
class _Count:
    """Tensors by what became of them."""

    changed: list[str]
    added: list[str]
    removed: list[str]
    unknown: list[str]
    same: int = 0
    ship: int = 0
    total: int = 0
    signed: int = 0  # how many were told by digests


def delta(ctx: Context) -> dict[str, Any] | None:
    """`{"tensors", "changed", "bytes_to_ship", "bytes_total", "exact", "digests", "subgraphs"}`.

    None without OLD or tensors.
    """
    if ctx.old is None:
        return None
    count = _Count([], [], [], [])
    groups: list[dict[str, Any]] = []
    found = False
    for pair in _graphs(ctx):
        found = True
        partial = ctx.old.tree.files[pair.old.file].partial or ctx.new.tree.files[pair.new.file].partial
        if not partial and ctx.same(pair.old.file, pair.new.file) != "same":
            groups.extend(_subgraphs(ctx, pair.old, pair.new))
        _compare(count, _spans(ctx.old, pair.old), _spans(ctx.new, pair.new))
    for table in sets(ctx):
        found = True
        _compare(count, of_table(ctx.old, table.old), of_table(ctx.new, table.new))
    for name, model in ctx.new.gguf.items():
        before = ctx.old.gguf.get(name) or (next(iter(ctx.old.gguf.values())) if len(ctx.old.gguf) == 1 else None)
        if before is None:
            continue
        found = True
        _compare(count, of_gguf(ctx.old, before), of_gguf(ctx.new, model))
    if not found:
        return None
    return {
        "tensors": {
            "changed": len(count.changed),
            "added": len(count.added),
            "removed": len(count.removed),
            "unknown": len(count.unknown),
            "same": count.same,
        },
        "changed": (count.added + count.changed)[:SHOWN],
        "bytes_to_ship": count.ship,
        "bytes_total": count.total,
        "exact": not count.unknown,
        "digests": UNVERIFIED if count.signed else None,
        "subgraphs": groups[:SHOWN],
    }


def _graphs(ctx: Context) -> Iterator[Graphs]:
    if "onnx" in ctx.new.tree.kinds:
        from .graph.contract import pairs as graphs

        yield from graphs(ctx)


def _subgraphs(ctx: Context, old: OnnxModel, new: OnnxModel) -> Iterator[dict[str, Any]]:
    from .graph.structure import MAX_NODES, Structure

    assert ctx.old is not None  # noqa: S101
    if max(sum(len(graph.nodes) for graph in model.graphs()) for model in (old, new)) > MAX_NODES:
        return
    before, after = Structure(ctx.old, old), Structure(ctx.new, new)
    for group in after.changed(before):
        yield {"file": new.file, **after.describe(group)}


class Files:
    """Open files by path, closed together."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._open.values():
            os.close(handle)

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`."""
        if path not in self._open:
            self._open[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(self._open[path], length, offset)


def _compare(count: _Count, old: dict[str, Span], new: dict[str, Span]) -> None:
    whole = sum(place.end - place.begin for place in new.values()) <= WHOLE
    count.removed.extend(old.keys() - new.keys())
    with Files() as files:
        for name, place in new.items():
            size = place.end - place.begin
            count.total += size
            if name not in old:
                count.added.append(name)
            else:
                state, signed = _compared(old[name], place, files, whole=whole)
                count.signed += signed
                if state == "same":
                    count.same += 1
                    continue
                (count.changed if state == "different" else count.unknown).append(name)
            count.ship += size


def _compared(old: Span, new: Span, files: Files, *, whole: bool) -> tuple[Same, bool]:
    """Whether the tensors are the same, and whether only digests told."""
    size = new.end - new.begin
    if old.kind != new.kind or old.end - old.begin != size:
        return "different", False

    def unequal(at: int, length: int) -> bool:
        return files.read(old.path, old.begin + at, length) != files.read(new.path, new.begin + at, length)

    if old.path and new.path:
        if unequal(max(0, size // 2 - _SAMPLE // 2), min(_SAMPLE, size)):
            return "different", False
        if whole:
            step = 1 << 20
            differ = any(unequal(at, min(step, size - at)) for at in range(0, size, step))
            return ("different" if differ else "same"), False
    if not old.digest or not new.digest:
        return "unknown", False
    return ("same" if old.digest == new.digest else "different"), True


def _path(side: Side, name: str) -> str:
    file = side.tree.files[name]
    return "" if file.partial else str(file.path)


def together(old: dict[str, Span], new: dict[str, Span]) -> Same:
    """Whether two sets hold the same tensors under the same names. Signatures that nobody verified prove nothing."""
    count = _Count([], [], [], [])
    _compare(count, old, new)
    if count.changed or count.added or count.removed:
        return "different"
    return "unknown" if count.unknown or count.signed else "same"


def of_gguf(side: Side, model: GgufModel) -> dict[str, Span]:
    """The tensors of a GGUF file by name."""
    path = _path(side, model.file)
    return {name: Span(f"{t.type}{t.dims}", path, t.begin, t.end) for name, t in model.tensors.items()}


def of_table(side: Side, table: WeightTable) -> dict[str, Span]:
    """The tensors of a set of safetensors files by name."""
    paths = {name: _path(side, name) for name in table.files}
    digests = side.tensor_digests
    return {
        name: Span(
            f"{tensor.dtype}{tensor.shape}",
            paths[tensor.file],
            tensor.begin,
            tensor.end,
            digests.get(tensor.file, {}).get(name, ""),
        )
        for name, tensor in table.tensors.items()
    }


def _spans(side: Side, model: OnnxModel) -> dict[str, Span]:
    """Initializers by name and constants by the name of the value they make, prefixed with the graph they are in."""
    found: dict[str, Span] = {}
    for number, graph in enumerate(model.graphs()):
        prefix = f"{number}/" if number else ""
        for name, tensor in graph.initializers.items():
            found[prefix + name] = place(side, model, tensor)
        for node in graph.nodes:
            for attribute in node.attributes:
                for tensor in attribute.tensors:
                    label = tensor.name or (node.outputs[0] if node.outputs else node.name)
                    found[f"{prefix}{label}"] = place(side, model, tensor)
    return found


def place(side: Side, model: OnnxModel, tensor: Initializer) -> Span:
    """Where the bytes of a weight lie. Raises UnreadableModel where its external data lies outside the model."""
    kind = f"{tensor.dtype}{tensor.dims}"
    if not tensor.external:
        return Span(kind, _path(side, model.file), tensor.begin, tensor.end)
    from .graph.onx_ext import beside_file, inside, span

    location = inside(side.show(model.file), model, tensor)
    begin, length = span(side.show(model.file), tensor)
    end = begin + length
    if location in side.tree.files:
        return Span(kind, _path(side, location), begin, end)
    if side.tree.files[model.file].partial:
        return Span(kind, "", begin, end)
    path = beside_file(side.tree.files[model.file].path, dict(tensor.external)["location"])
    return Span(kind, "" if path is None else str(path), begin, end)
