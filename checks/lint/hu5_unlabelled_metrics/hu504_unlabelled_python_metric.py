"""HU504: serving code whose own metrics cannot tell model versions apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.python import PythonFile, argument

RULE = Rule(
    id="HU504",
    name="unlabelled-python-metric",
    family="HU5",
    severity=Severity.INFO,
    summary="metric of serving code without a model or version label",
    what="prometheus_client Counter, Histogram, Summary and Gauge objects for requests, latency, errors or "
    "predictions, in a module that loads a model, whose label names hold no model, version or revision.",
    why="During a swap old and new version write into one series: a new version that fails one request in five looks "
    "like a slightly worse service, and no canary analysis can be built on it.",
    hint="add a model_version label and set it from the loaded model",
    example="python",
    bad="""\
import onnxruntime as ort
from prometheus_client import Histogram

LATENCY = Histogram("predict_latency_seconds", "time to answer")
session = ort.InferenceSession("/models/live/model.onnx")
""",
    good="""\
import onnxruntime as ort
from prometheus_client import Histogram

LATENCY = Histogram("predict_latency_seconds", "time to answer", ["model_version"])
session = ort.InferenceSession("/models/live/model.onnx")
""",
    exemptions=(
        "collections.Counter and other classes of the same name",
        "metrics that are not about answers (queue sizes, memory, build info)",
        "modules that load no model, and label names that are not written out",
    ),
    reads=("python",),
)

_CLASSES = re.compile(r"^prometheus_client\.(metrics\.)?(Counter|Histogram|Summary|Gauge)$")
_ANSWERS = re.compile(r"latenc|duration|seconds|predict|infer|request|error|fail|exception|score|token", re.IGNORECASE)
_TELLS = re.compile(r"model|version|revision|digest|variant|deployment", re.IGNORECASE)
_LOADS = re.compile(
    r"(^|\.)(InferenceSession|from_pretrained|load_model|AsyncEngineArgs|LLM|SentenceTransformer|load_state_dict|"
    r"from_engine_args|pipeline)$|^(torch\.(load|jit\.load)|joblib\.load|pickle\.load|tensorflow\.saved_model\.load)$"
)


def check(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the metrics of one module."""
    metrics = [call for name, call in file.calls if _CLASSES.match(name)]
    if not metrics or not any(_LOADS.search(name) for name, _ in file.calls):
        return
    for call in metrics:
        name = file.text(argument(call, 0, "name")) or ""
        labels = _labels(file, argument(call, 2, "labelnames"))
        if _ANSWERS.search(name) and labels is not None and not any(map(_TELLS.search, labels)):
            yield ctx.finding(RULE, file.location(call), f"metric {name} does not say which model version answered")


def _labels(file: PythonFile, node: ast.expr | None) -> list[str] | None:
    """The label names; None where they are not written out."""
    if node is None:
        return []
    if isinstance(node, ast.Name):
        node = file.constants.get(node.id)
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    names = [file.text(item) for item in node.elts]
    return None if None in names else [name for name in names if name is not None]
