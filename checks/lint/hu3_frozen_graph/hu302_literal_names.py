"""HU302: tensor names written into code that runs whatever model it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.python import PythonFile
from .sessions import holder, makers, model_is_variable, runs

RULE = Rule(
    id="HU302",
    name="literal-tensor-names",
    family="HU3",
    severity=Severity.WARNING,
    summary="literal tensor names for a model that is not fixed",
    what="`session.run` and `bind_input`/`bind_output` with input or output names as literals, where the session is "
    "made from a variable path (an argument, the environment, a registry).",
    why="Re-exports rename tensors: the new version loads, then every request fails with an invalid feed "
    "(snakers4/silero-vad#472, pytorch/pytorch#148629).",
    hint="take the names from session.get_inputs() and get_outputs(), or check them after loading, before the swap",
    example="python",
    bad="""\
import os
import onnxruntime as ort

session = ort.InferenceSession(os.environ["MODEL_PATH"])

def answer(samples):
    return session.run(["output"], {"input": samples})
""",
    good="""\
import os
import onnxruntime as ort

session = ort.InferenceSession(os.environ["MODEL_PATH"])
NAME = session.get_inputs()[0].name

def answer(samples):
    return session.run(None, {NAME: samples})
""",
    exemptions=(
        "files that read get_inputs() or get_outputs()",
        "models with a constant path, and models built or exported in the same file",
    ),
    references=(
        "https://github.com/snakers4/silero-vad/issues/472",
        "https://github.com/pytorch/pytorch/issues/148629",
    ),
    reads=("python",),
)


def check(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the runs of every session that is made from a variable path."""
    if any(callee.endswith((".get_inputs", ".get_outputs", ".get_modelmeta")) for callee, _ in file.calls):
        return
    for maker in makers(file):
        held = holder(file, maker)
        if not held or not model_is_variable(file, maker):
            continue
        for call in runs(file, held):
            names = sorted({text for node in call.args for text in _names(node)})
            if names:
                shown = ", ".join(names[:3])
                yield ctx.finding(RULE, file.location(call), f"{held} runs any model but expects tensors named {shown}")


def _names(node: ast.expr) -> Iterator[str]:
    """Literal names in `["output"]` or in the keys of `{"input": x}`."""
    items = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.List | ast.Tuple) else []
    for item in items:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item.value
