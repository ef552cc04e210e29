"""HU706: an ensemble or business-logic model that calls whatever version of a member is newest."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....report.finding import Edit, Finding, Fix, Severity
from ....report.rule import Rule
from ..paths import is_test
from ..rulebase import Context
from ..sources.pbtxt import Message, ModelConfig
from ..sources.python import PythonFile, argument, has_unpacked

RULE = Rule(
    id="HU706",
    name="floating-ensemble-member",
    family="HU7",
    severity=Severity.WARNING,
    summary="ensemble step or BLS call without a fixed member version",
    what="Steps of a Triton ensemble with model_version -1 or none, and pb_utils.InferenceRequest calls without "
    "model_version.",
    why="Members are updated one by one, so between two updates the ensemble runs a pair of versions that nobody "
    "tested, and "
    "reloading a member can leave the ensemble unloaded (triton-inference-server/server#4828). The maintainers "
    "advise a new "
    "ensemble per set of versions (#6630).",
    hint="name the member's version, and publish a new ensemble for a new set of versions",
    bad='ensemble_scheduling { step [ { model_name: "encoder" model_version: -1 } ] }\n',
    good='ensemble_scheduling { step [ { model_name: "encoder" model_version: 3 } ] }\n',
    example="protobuf",
    exemptions=(
        "versions that come from a variable",
        "calls whose arguments are unpacked from a mapping",
        "test suites",
    ),
    references=(
        "https://github.com/triton-inference-server/server/issues/4828",
        "https://github.com/triton-inference-server/server/issues/6630",
    ),
    reads=("pbtxt", "python"),
    fix="unsafe",
)


def check_pbtxt(config: ModelConfig, ctx: Context) -> Iterator[Finding]:
    """Judge the steps of one ensemble."""
    if is_test(config.path):
        return
    for scheduling in config.root.messages("ensemble_scheduling"):
        for index, step in enumerate(scheduling.messages("step")):
            field = step.get("model_version")
            name = step.get("model_name")
            if name is None or (field is not None and field.value != -1):
                continue
            span = (field or name).name_span
            pointer = f"ensemble_scheduling.step[{index}].model_version"
            message = f"step {index} runs whatever version of {name.value} is newest"
            yield ctx.finding(RULE, config.at(span, pointer), message, fix=_fix(step, str(name.value), config, ctx))


def _fix(step: Message, member: str, config: ModelConfig, ctx: Context) -> Fix | None:
    """Fix the member's version where its directory holds exactly one."""
    found = [other for other in ctx.index.of("pbtxt") if other.name == member and _siblings(other, config)]
    versions = ctx.index.versions(found[0].folder) if len(found) == 1 else []
    field = step.get("model_version")
    if len(versions) != 1 or field is None:
        return None
    span = field.value_span
    edit = Edit(span.line, span.column, span.end_line, span.end_column, str(versions[0]))
    return Fix((edit,), safe=False, title=f"fix {member} to version {versions[0]}")


def _siblings(one: ModelConfig, other: ModelConfig) -> bool:
    return one.folder.rpartition("/")[0] == other.folder.rpartition("/")[0]


def check_python(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the calls one Python backend makes to other models."""
    if "triton_python_backend_utils" not in file.modules or is_test(file.path):
        return
    for name, call in file.calls:
        if not name.endswith("triton_python_backend_utils.InferenceRequest") or has_unpacked(call):
            continue
        version = argument(call, None, "model_version")
        if version is not None and not _is_newest(version):
            continue
        member = file.text(argument(call, None, "model_name")) or "another model"
        yield ctx.finding(RULE, file.location(call), f"the call runs whatever version of {member} is newest")


def _is_newest(version: ast.expr) -> bool:
    return (
        isinstance(version, ast.UnaryOp)
        and isinstance(version.op, ast.USub)
        and isinstance(version.operand, ast.Constant)
        and version.operand.value == 1
    )
