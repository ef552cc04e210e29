"""Inference sessions in Python code: where they are made, from what, and who holds them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..sources.python import PythonFile, argument

SESSION = re.compile(r"(^|\.)InferenceSession$")
_RUNNERS = frozenset({"run", "run_with_iobinding", "run_async", "run_with_ort_values"})


def makers(file: PythonFile) -> Iterator[ast.Call]:
    """The calls that make an ONNX Runtime session."""
    for name, call in file.calls:
        if SESSION.search(name):
            yield call


def model_is_variable(file: PythonFile, call: ast.Call) -> bool:
    """Whether the model that a session is made from can be another one without the code changing."""
    model = argument(call, 0, "path_or_bytes")
    if model is None or file.text(model) is not None:
        return False
    return not _built_here(file, model)


def _built_here(file: PythonFile, model: ast.expr) -> bool:
    """Whether the model is made in this file (`model.SerializeToString()`, a path this file exports to)."""
    if isinstance(model, ast.Call):
        return file.name(model.func).rsplit(".", 1)[-1] == "SerializeToString"
    name = file.name(model)
    if not name:
        return False
    exports = (call for callee, call in file.calls if callee in ("torch.onnx.export", "onnx.save", "onnx.save_model"))
    return any(file.name(value) == name for call in exports for value in call.args)


def holder(file: PythonFile, call: ast.Call) -> str:
    """What a session is assigned to (`self.session`, `session`), empty when to nothing with a name."""
    for parent in file.parents(call):
        if isinstance(parent, ast.Assign):
            return file.name(parent.targets[0])
        if isinstance(parent, ast.AnnAssign):
            return file.name(parent.target)
        if isinstance(parent, ast.stmt):
            return ""
    return ""


def runs(file: PythonFile, held: str) -> Iterator[ast.Call]:
    """The calls that run the session held under a name."""
    for callee, call in file.calls:
        owner, _, method = callee.rpartition(".")
        if owner == held and method in _RUNNERS:
            yield call
