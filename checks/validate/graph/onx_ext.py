"""ONX-EXT: external data that the graph names is missing or too short."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ....models.errors import UnreadableModel
from ....models.onnx import Initializer, OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .contract import beside

RULE = Rule(
    id="ONX-EXT",
    name="external-data-missing",
    family="ONX",
    severity=Severity.ERROR,
    summary="external data of the graph is missing or shorter than its tensors",
    what="location, offset and length of every tensor with external data against the files beside the graph.",
    why="the graph loads by itself and fails, or serves wrong weights, when the session is made",
    hint="copy the .onnx file together with its data files",
    references=("https://github.com/onnx/onnx/blob/main/docs/ExternalData.md",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Each data file once. Raises UnreadableModel for a location that leads out of the model or to the graph."""
    for model in ctx.new.onnx.values():
        seen: set[str] = set()
        for tensor in model.weights():
            if not tensor.external:
                continue
            location = dict(tensor.external).get("location", "")
            fault = _fault(ctx.new, model, tensor, location)
            if fault and location not in seen:
                seen.add(location)
                yield ctx.finding(RULE, "breaks", fault, path=model.file, tensor=tensor.name)


def _fault(side: Side, model: OnnxModel, tensor: Initializer, location: str) -> str:
    where = side.tree.files[model.file].path
    name = inside(where, model, tensor)
    if name == model.file:
        raise UnreadableModel(where, f"tensor {tensor.name[:80]!r} has the graph itself for external data")
    if name in side.tree.files and side.tree.files[name].kind == "onnx":
        raise UnreadableModel(where, f"tensor {tensor.name[:80]!r} has another graph, {location!r}, for external data")
    if side.tree.single:
        path = beside_file(where, location)
        size = path.stat().st_size if path is not None else -1
    else:
        size = side.tree.files[name].size if name in side.tree.files else -1
    if size < 0:
        return f"external data '{location}' is missing"
    begin, length = span(where, tensor)
    if begin + length > size:
        return f"external data '{location}' is truncated: '{tensor.name}' ends at byte {begin + length:,} of {size:,}"
    if tensor.nbytes and length < tensor.nbytes:
        return f"tensor '{tensor.name}' takes {tensor.nbytes:,} bytes, but its external data has {length:,}"
    return ""


def inside(where: object, model: OnnxModel, tensor: Initializer) -> str:
    """The file in the model that external data is in. Raises UnreadableModel where it would lie outside."""
    location = dict(tensor.external).get("location", "")
    if not location or location[0] in "/\\" or {"\\", "\0"} & set(location) or ".." in PurePosixPath(location).parts:
        raise UnreadableModel(
            where, f"tensor {tensor.name[:80]!r} has external data at {location[:200]!r}, outside the model"
        )
    return beside(model, location)


def beside_file(graph: Path, location: str) -> Path | None:
    """The data file of a graph that was given without its folder; None where there is no regular file.

    Raises UnreadableModel for a link that leads out of the folder, or nowhere.
    """
    path = graph.parent / location
    if path.is_symlink() and not path.exists():
        raise UnreadableModel(path, "is a link to nowhere", hint="was the download complete?")
    if not path.resolve().is_relative_to(graph.parent.resolve()):
        raise UnreadableModel(path, "is a link that leads out of the model's folder", hint="copy the file in its place")
    return path if path.is_file() else None


def span(where: object, tensor: Initializer) -> tuple[int, int]:
    """Offset and length of external data; a missing length means the tensor's own size."""
    keys = dict(tensor.external)
    try:
        begin, length = int(keys.get("offset") or 0), int(keys.get("length") or tensor.nbytes)
    except ValueError:
        begin = length = -1
    if begin < 0 or length < 0 or begin + length >= 1 << 63:
        raise UnreadableModel(where, f"tensor {tensor.name[:80]!r} has no readable offset or length of external data")
    return begin, length
