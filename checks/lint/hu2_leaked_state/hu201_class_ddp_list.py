"""HU201: one list of ignored DDP parameters shared by every model of a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.python import PythonFile, argument

RULE = Rule(
    id="HU201",
    name="shared-ddp-ignore-list",
    family="HU2",
    severity=Severity.WARNING,
    summary="list of ignored DDP parameters shared between modules",
    what="`_ddp_params_and_buffers_to_ignore` as a mutable class attribute, its assignment on a class, or one list "
    "variable handed to two modules by `_set_params_and_buffers_to_ignore_for_model`.",
    why="The list belongs to one module instance. Shared, the second version of a model is trained or synchronised "
    "with the first one's names: parameters silently diverge between ranks (pytorch/torchrec#2103, "
    "pytorch/pytorch#114857).",
    hint="build the list per instance and set it on the instance",
    example="python",
    bad="""\
import torch

class Ranker(torch.nn.Module):
    _ddp_params_and_buffers_to_ignore = ["cache"]
""",
    good="""\
import torch

class Ranker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._ddp_params_and_buffers_to_ignore = ["cache"]
""",
    exemptions=("assignment on an instance, which is how DistributedDataParallel does it itself",),
    references=(
        "https://github.com/pytorch/torchrec/issues/2103",
        "https://github.com/pytorch/pytorch/issues/114857",
    ),
    reads=("python",),
)

_NAME = "_ddp_params_and_buffers_to_ignore"
_SETTER = "_set_params_and_buffers_to_ignore_for_model"


def check(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge one file."""
    if _NAME not in file.file.text and _SETTER not in file.file.text:
        return
    classes = {node.name for node in file.nodes if isinstance(node, ast.ClassDef)}
    for node in file.nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if _on_a_class(file, node, target, classes):
                    yield ctx.finding(RULE, file.location(node), f"{ast.unparse(target)} is shared by every instance")
    seen: dict[str, ast.expr] = {}
    for name, call in file.calls:
        if name.endswith(_SETTER):
            names = argument(call, 1, "params_and_buffers_to_ignore")
            if isinstance(names, ast.Name):
                if names.id in seen:
                    yield ctx.finding(RULE, file.location(names), f"list {names.id} is handed to two modules")
                seen[names.id] = names


def _on_a_class(file: PythonFile, node: ast.stmt, target: ast.expr, classes: set[str]) -> bool:
    """Whether an assignment puts a mutable list on a class: in its body, or through its name, `cls` or `type(self)`."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if isinstance(target, ast.Name):
        in_body = isinstance(next(file.parents(node), None), ast.ClassDef)
        return target.id == _NAME and in_body and not isinstance(value, ast.Tuple | ast.Constant)
    if not isinstance(target, ast.Attribute) or target.attr != _NAME:
        return False
    owner = target.value
    if isinstance(owner, ast.Name):
        return owner.id in classes or owner.id == "cls"
    if isinstance(owner, ast.Attribute):
        return owner.attr == "__class__"
    return isinstance(owner, ast.Call) and file.name(owner.func) == "type"
