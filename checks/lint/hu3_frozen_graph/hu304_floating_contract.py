"""HU304: a model configuration that leaves inputs and outputs to be guessed from the model."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pbtxt import ModelConfig

RULE = Rule(
    id="HU304",
    name="floating-contract",
    family="HU3",
    severity=Severity.INFO,
    summary="model configuration without inputs or outputs",
    what="A config.pbtxt of a single model (no ensemble, no Python backend) that declares no `input` or no `output`, "
    "so that Triton completes them from whatever model file is there.",
    why="The contract then moves with the model: a version with other names or shapes loads without complaint and "
    "breaks its clients, where a written contract would have refused the load.",
    hint="write input and output with names, data types and dims",
    example="protobuf",
    bad="""\
name: "ranker"
platform: "onnxruntime_onnx"
max_batch_size: 8
""",
    good="""\
name: "ranker"
platform: "onnxruntime_onnx"
max_batch_size: 8
input [ { name: "features" data_type: TYPE_FP32 dims: [ 128 ] } ]
output [ { name: "score" data_type: TYPE_FP32 dims: [ 1 ] } ]
""",
    exemptions=("ensembles, and backends whose models state their own contract (python, vllm)",),
    reads=("pbtxt",),
    pedantic=True,
)

_COMPLETED = frozenset({"onnxruntime", "tensorrt", "tensorflow", "openvino", "onnxruntime_onnx", "tensorrt_plan"})


def check(config: ModelConfig, ctx: Context) -> Iterator[Finding]:
    """Judge one model configuration."""
    kind = str(config.root.scalar("backend") or config.root.scalar("platform") or "")
    if kind not in _COMPLETED and not kind.startswith("tensorflow_"):
        return
    missing = [name for name in ("input", "output") if not config.root.all(name)]
    if missing:
        where = config.at(config.root.fields[0].name_span) if config.root.fields else config.at(config.root.span)
        yield ctx.finding(RULE, where, f"model {config.name} declares no {' and no '.join(missing)}")
