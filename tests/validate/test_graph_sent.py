"""Output sizes that are open now, for the sizes that clients of the old graph can send at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from validate.graphs import judge, model, node, np, onnx, session, value, weight, whole

RULE = "ONX-DIM-WIDEN"


def pinned(*, works: bool = True) -> bytes:
    """Declared for any batch and length; works with one of each, or gives the mean of them all."""
    outputs = [value("y", (1, 1, 4))]
    if works:
        nodes = [node("Relu", ["x"], ["a"]), node("Reshape", ["a", "s"], ["y"])]
        return model(nodes, [value("x", ("batch", "time", 4))], outputs, [whole("s", [1, 1, 4])])
    return model([node("ReduceMean", ["x"], ["y"], axes=[0, 1])], [value("x", ("batch", "time", 4))], outputs)


def free() -> bytes:
    return model([node("Relu", ["x"], ["y"])], [value("x", ("batch", "time", 4))], [value("y", ("batch", "time", 4))])


def detector(size: Any, rows: Any, stride: int = 2, seed: int = 0) -> bytes:
    """Rows of numbers for each place of an image."""
    nodes = [
        node("Conv", ["x", "w"], ["a"], strides=[stride, stride], pads=[1, 1, 1, 1]),
        node("Conv", ["a", "v"], ["b"], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Transpose", ["b"], ["c"], perm=[0, 2, 3, 1]),
        node("Reshape", ["c", "s"], ["y"]),
    ]
    weights = [weight("w", 4, 3, 3, 3), weight("v", 6, 4, 3, 3), whole("s", [0, -1, 6])]
    weights[0].CopyFrom(onnx.numpy_helper.from_array(np.full((4, 3, 3, 3), seed + 0.5, np.float32), "w"))
    batch = 1 if isinstance(size, int) else "batch"
    return model(nodes, [value("x", (batch, 3, size, size))], [value("y", (batch, rows, 6))], weights)


def runs(data: bytes, *dims: int) -> tuple[int, ...] | None:
    """The shape that comes out, None where the runtime refuses the request."""
    try:
        return session(data).run(None, {"x": np.zeros(dims, np.float32)})[0].shape
    except Exception:  # noqa: BLE001 - the runtime raises its own kinds
        return None


def test_sizes_that_only_worked_as_one_are_what_clients_send(tmp_path: Path) -> None:
    assert runs(pinned(), 1, 1, 4) == runs(free(), 1, 1, 4)
    assert runs(pinned(), 2, 1, 4) is None
    assert runs(pinned(), 1, 2, 4) is None
    assert RULE not in judge(tmp_path, free(), pinned())


def test_sizes_that_clients_vary_are_really_gone(tmp_path: Path) -> None:
    assert runs(pinned(works=False), 2, 3, 4) == (1, 1, 4)
    assert runs(free(), 2, 3, 4) == (2, 3, 4)
    assert judge(tmp_path, free(), pinned(works=False))[RULE][0] == "breaks"


@pytest.mark.parametrize("size", [64, 96, 640])
def test_rows_follow_from_the_fixed_image_of_the_old_graph(size: int, tmp_path: Path) -> None:
    rows = (size // 4) ** 2
    old, new = detector(size, rows), detector("side", "dim", seed=1)
    assert runs(old, 1, 3, size, size) == runs(new, 1, 3, size, size) == (1, rows, 6)
    assert judge(tmp_path, new, old) == {}


def test_rows_of_another_number_are_told(tmp_path: Path) -> None:
    old, new = detector(64, 256), detector("side", "dim", stride=1)
    assert runs(old, 1, 3, 64, 64) != runs(new, 1, 3, 64, 64)
    assert judge(tmp_path, new, old)[RULE][0] == "breaks"


def test_an_open_image_says_nothing_of_a_fixed_number(tmp_path: Path) -> None:
    old, new = detector("side", 256), detector("side", "dim", seed=1)
    assert judge(tmp_path, new, old).get(RULE, ("", ""))[0] != "hot"
