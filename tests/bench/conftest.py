"""Small ONNX models made on the spot, and the real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from services import packages

SILERO = {
    "5.1.2": "2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f",
    "6.0.0": "597d30b3ec076608d059477bb14cfeffdf951bf5cae370d38f65d33bbfe82004",
}


@pytest.fixture(scope="session")
def silero() -> Callable[[str], Path]:
    """silero-vad's ONNX model of a version: input f32[?,?], state f32[2,?,128], sr i64[]."""
    return lambda version: packages.pypi("silero-vad", version, "silero_vad/data/silero_vad.onnx", SILERO[version])


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """A model x[batch, 64] -> y of `depth` matrix products in a row: its latency grows with depth."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    folder = tmp_path_factory.mktemp("chain")

    def make(depth: int, width: int = 64) -> Path:
        path = folder / f"chain-{depth}-{width}.onnx"
        if path.exists():
            return path
        generator = np.random.default_rng(depth)
        nodes, weights, last = [], [], "x"
        for i in range(depth):
            values = (generator.standard_normal((width, width)) / width**0.5).astype(np.float32)
            weights.append(numpy_helper.from_array(values, f"w{i}"))
            name = "y" if i == depth - 1 else f"h{i}"
            nodes.append(helper.make_node("MatMul", [last, f"w{i}"], [name]))
            last = name
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", width]) for n in "xy")
        graph = helper.make_graph(nodes, "chain", [x], [y], weights)
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
        path.write_bytes(model.SerializeToString())
        return path

    return make
