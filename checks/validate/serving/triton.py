"""Triton model configurations of a model: what config.pbtxt says about tensors, against the ONNX files it serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from ....models.errors import UnreadableModel
from ....models.onnx import OnnxModel
from ...lint.sources.pbtxt import Message, PbtxtError, parse
from ..side import Side

# data_type of config.pbtxt by the type ONNX Runtime shows (model_config.proto of triton-inference-server/common).
TYPES = {
    "tensor(bool)": "TYPE_BOOL",
    "tensor(uint8)": "TYPE_UINT8",
    "tensor(uint16)": "TYPE_UINT16",
    "tensor(uint32)": "TYPE_UINT32",
    "tensor(uint64)": "TYPE_UINT64",
    "tensor(int8)": "TYPE_INT8",
    "tensor(int16)": "TYPE_INT16",
    "tensor(int32)": "TYPE_INT32",
    "tensor(int64)": "TYPE_INT64",
    "tensor(float16)": "TYPE_FP16",
    "tensor(float)": "TYPE_FP32",
    "tensor(double)": "TYPE_FP64",
    "tensor(string)": "TYPE_STRING",
    "tensor(bfloat16)": "TYPE_BF16",
}

# The same by the number of the enum, which the text format takes for a name.
_NUMBERED = (
    *(
        "TYPE_INVALID",
        "TYPE_BOOL",
        "TYPE_UINT8",
        "TYPE_UINT16",
        "TYPE_UINT32",
        "TYPE_UINT64",
        "TYPE_INT8",
        "TYPE_INT16",
    ),
    *("TYPE_INT32", "TYPE_INT64", "TYPE_FP16", "TYPE_FP32", "TYPE_FP64", "TYPE_STRING", "TYPE_BF16"),
)

# What backends load from a version's folder where default_model_filename does not say.
FILENAMES = {"onnxruntime": "model.onnx", "tensorrt": "model.plan", "pytorch": "model.pt", "python": "model.py"}

# Backends by the platform that stood for them before Triton had backends (triton-inference-server/backend).
PLATFORMS = {"onnxruntime_onnx": "onnxruntime", "tensorrt_plan": "tensorrt", "pytorch_libtorch": "pytorch"}
FREE = 1 << 62


@dataclass(frozen=True, slots=True)
class Declared:
    """An input or output of config.pbtxt; dims are without the batch dimension where max_batch_size is set."""

    name: str
    type: str
    dims: tuple[int, ...]
    line: int
    optional: bool = False
    reshape: tuple[int, ...] | None = None
    labels: str = ""
    ragged: bool = False
    format: str = ""
    shaping: bool = False
    twisted: bool = False

    def shape(self, batch: int) -> tuple[int, ...]:
        """What clients send or get: with the batch dimension in front where max_batch_size is set."""
        return (-1, *self.dims) if batch > 0 else self.dims

    def inside(self, batch: int) -> tuple[int, ...]:
        """The shape that the model gets or gives."""
        dims = self.dims if self.reshape is None else self.reshape
        return (-1, *dims) if batch > 0 else dims


@dataclass(frozen=True, slots=True)
class Given:
    """An input of the model that Triton fills in itself, for the field that says so; '' and None where that says
    nothing of the type or the dims. `state` is the output that is kept for it."""

    name: str
    field: str
    type: str
    dims: tuple[int, ...] | None
    line: int
    state: str = ""


@dataclass(frozen=True, slots=True)
class TritonModel:
    """One config.pbtxt."""

    file: str
    root: Message
    max_batch_size: int
    inputs: tuple[Declared, ...]
    outputs: tuple[Declared, ...]

    @property
    def backend(self) -> str:
        """The backend that runs the model, which older configurations call by its platform."""
        backend, platform = self.root.get("backend"), self.root.get("platform")
        if backend is not None and backend.value:
            return str(backend.value)
        return "" if platform is None else PLATFORMS.get(str(platform.value), str(platform.value))

    @property
    def filename(self) -> str:
        """The file or folder that the backend loads of a version; empty where that is not known."""
        return str(self.root.scalar("default_model_filename") or FILENAMES.get(self.backend, ""))

    @property
    def folder(self) -> str:
        """The folder of the configuration inside the model; empty at its top."""
        return self.file.rpartition("/")[0]

    @property
    def largest_batch(self) -> int:
        """How many items one request may hold: max_batch_size, or else what the first dimension leaves free."""
        if self.max_batch_size > 0:
            return self.max_batch_size
        first = [each.dims[0] for each in self.inputs if each.dims and not each.optional]
        return FREE if first and all(size == -1 for size in first) else 0

    @property
    def sequences(self) -> bool:
        """Whether the model keeps state per sequence."""
        return self.root.get("sequence_batching") is not None


def read_triton(side: Side) -> dict[str, TritonModel]:
    """Every config.pbtxt of a model by name. Raises UnreadableModel."""
    return {file.name: _read(side, file.name) for file in side.tree.of("triton")}


def _read(side: Side, name: str) -> TritonModel:
    file = side.tree.files[name]
    if file.size > 16 << 20:
        raise UnreadableModel(file.path, f"is {file.size:,} bytes long, too long for a configuration")
    try:
        root = parse(file.path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UnreadableModel(file.path, "is not UTF-8", offset=error.start) from error
    except PbtxtError as error:
        raise UnreadableModel(file.path, f"line {error.line} column {error.column}: {error.reason}") from error
    batch = root.get("max_batch_size")
    size = batch.value if batch is not None and isinstance(batch.value, int) else 0
    return TritonModel(name, root, size, tuple(_declared(root, "input")), tuple(_declared(root, "output")))


def _declared(root: Message, kind: str) -> Iterator[Declared]:
    for field in root.all(kind):
        if not isinstance(field.value, Message):
            continue
        each = field.value
        reshape = each.messages("reshape")
        yield Declared(
            str(each.scalar("name") or ""),
            _type(each.scalar("data_type")),
            sizes(each, "dims"),
            field.name_span.line,
            true(each.scalar("optional")),
            sizes(reshape[-1], "shape") if reshape else None,
            str(each.scalar("label_filename") or ""),
            true(each.scalar("allow_ragged_batch")),
            _layout(each.scalar("format")),
            true(each.scalar("is_shape_tensor")),
            true(each.scalar("is_non_linear_format_io")),
        )


def _layout(value: object) -> str:
    found = ("FORMAT_NONE", "FORMAT_NHWC", "FORMAT_NCHW")[value] if value in (0, 1, 2) else str(value or "")
    return "" if found == "FORMAT_NONE" else found


# The field of a control that gives its two values, and so its type.
SWITCHES = {"int32_false_true": "TYPE_INT32", "fp32_false_true": "TYPE_FP32", "bool_false_true": "TYPE_BOOL"}


def given(config: TritonModel) -> list[Given]:
    """The inputs that clients do not send: controls and states of sequences, and facts about a batch."""
    found: list[Given] = []
    for sequences in config.root.messages("sequence_batching"):
        for field in sequences.all("control_input"):
            if not isinstance(each := field.value, Message):
                continue
            kinds = each.messages("control")
            types = {kind for control in kinds for name, kind in SWITCHES.items() if control.get(name)}
            types |= {_type(control.scalar("data_type")) for control in kinds if control.get("data_type")}
            name, kind = str(each.scalar("name") or ""), types.pop() if len(types) == 1 else ""
            found.append(Given(name, "control_input", kind, (1,), field.name_span.line))
        for field in sequences.all("state"):
            if isinstance(each := field.value, Message):
                name, kept = (str(each.scalar(f"{side}_name") or "") for side in ("input", "output"))
                kind, dims = _type(each.scalar("data_type")), sizes(each, "dims")
                found.append(Given(name, "state", kind, dims, field.name_span.line, kept))
    for field in config.root.all("batch_input"):
        if isinstance(each := field.value, Message):
            kind, line = _type(each.scalar("data_type")), field.name_span.line
            found += [Given(str(target.value), "batch_input", kind, None, line) for target in each.all("target_name")]
    return found


def batch_outputs(config: TritonModel) -> set[str]:
    """The outputs that are cut into the requests of a batch, whose shapes are not those of the graph."""
    return {str(t.value) for each in config.root.messages("batch_output") for t in each.all("target_name")}


def sizes(message: Message, name: str) -> tuple[int, ...]:
    """The numbers of a repeated field."""
    return tuple(each.value for each in message.all(name) if isinstance(each.value, int))


def _type(value: object) -> str:
    if isinstance(value, int) and 0 <= value < len(_NUMBERED):
        return _NUMBERED[value]
    return "" if value is None else str(value)


def true(value: object) -> bool:
    """Whether a field of the type bool is set, in any of the ways that the text format writes it."""
    return value is True or value == 1 or str(value) in ("true", "True", "t")


def served(side: Side, config: TritonModel) -> list[OnnxModel]:
    """The ONNX files in the version folders beside a config.pbtxt."""
    folder = PurePosixPath(config.file).parent
    found: list[OnnxModel] = []
    for name, model in side.onnx.items():
        path = PurePosixPath(name)
        if (
            path.parent.parent == folder
            and path.parent.name.isdigit()
            and path.name == (config.filename or "model.onnx")
        ):
            found.append(model)
    return found


def label_text(side: Side | None, config: TritonModel, name: str) -> bytes:
    """What a file of labels beside a config.pbtxt holds; empty where it is not there."""
    file = side.tree.files.get(f"{config.folder}/{name}".lstrip("/")) if side is not None and name else None
    return b"" if file is None or file.partial or file.size > 16 << 20 else file.path.read_bytes()
