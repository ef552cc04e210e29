"""HU306: weights loaded with strict=False and nobody looks at what was missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.python import PythonFile, argument

RULE = Rule(
    id="HU306",
    name="partial-state",
    family="HU3",
    severity=Severity.WARNING,
    summary="load_state_dict(strict=False) whose result is not judged",
    what="`load_state_dict(…, strict=False)` whose result is dropped, or kept only to be printed or logged.",
    why="Layers that the new weights do not name keep their random initial values: the server loads, reports ready and "
    "answers nonsense.",
    hint="check missing_keys and unexpected_keys of the result, and refuse what you do not expect",
    example="python",
    bad="""\
import torch

def swap(model, path):
    model.load_state_dict(torch.load(path, weights_only=True), strict=False)
""",
    good="""\
import torch

def swap(model, path):
    result = model.load_state_dict(torch.load(path, weights_only=True), strict=False)
    if result.missing_keys:
        raise RuntimeError(f"weights lack {result.missing_keys}")
""",
    exemptions=("results that are asserted, compared, branched on, returned or passed on", "test suites"),
    reads=("python",),
)

_LOGGERS = ("print", "log", "debug", "info", "warning", "warn", "error", "exception", "write")


def check(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the loads of one file."""
    if file.is_test:
        return
    for name, call in file.calls:
        strict = argument(call, 1, "strict")
        if not name.endswith("load_state_dict") or not isinstance(strict, ast.Constant) or strict.value is not False:
            continue
        parent = next(file.parents(call), None)
        if isinstance(parent, ast.Expr):
            yield ctx.finding(
                RULE, file.location(call), "missing weights are ignored: the result of the load is dropped"
            )
        elif isinstance(parent, ast.Assign) and not _judged(file, parent):
            yield ctx.finding(RULE, file.location(call), "missing weights are only logged, not refused")


def _judged(file: PythonFile, assignment: ast.Assign) -> bool:
    """Whether a name that the result is kept under is used for anything but logging."""
    names = {n.id for target in assignment.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    scope = file.function(assignment) or file.tree
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
            calls = (parent for parent in file.parents(node) if isinstance(parent, ast.Call))
            if not any(file.name(each.func).rsplit(".", 1)[-1] in _LOGGERS for each in calls):
                return True
    return any(not isinstance(target, ast.Name | ast.Tuple) for target in assignment.targets)
