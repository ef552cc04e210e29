"""HU301: buffers bound to one session are kept while the session can be replaced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.python import PythonFile

RULE = Rule(
    id="HU301",
    name="kept-binding",
    family="HU3",
    severity=Severity.WARNING,
    summary="binding or execution context kept while its session can be replaced",
    what="`io_binding()` or a TensorRT execution context stored on `self` or in a module global, in code that assigns "
    "the session or engine again outside its initialiser without making the binding anew beside it.",
    why="A binding belongs to the session that made it: after a swap it writes into freed or differently shaped "
    "buffers, which ends in wrong answers or an access violation (microsoft/onnxruntime#18578).",
    hint="make the binding inside the call, or replace session and binding together as one object",
    example="python",
    bad="""\
import onnxruntime as ort

class Server:
    def __init__(self, path):
        self.session = ort.InferenceSession(path)
        self.binding = self.session.io_binding()

    def reload(self, path):
        self.session = ort.InferenceSession(path)
""",
    good="""\
import onnxruntime as ort

class Server:
    def __init__(self, path):
        self.session = ort.InferenceSession(path)

    def reload(self, path):
        self.session = ort.InferenceSession(path)

    def answer(self, feed):
        session = self.session
        binding = session.io_binding()
""",
    exemptions=("bindings local to a call", "code that makes the binding anew in the same function as the session"),
    references=("https://github.com/microsoft/onnxruntime/issues/18578",),
    reads=("python",),
)

_BINDERS = re.compile(r"\.(io_binding|create_execution_context)$")
_INITIALISERS = frozenset({"__init__", "initialize", "init", "setup", "lifespan", "on_startup", ""})


def check(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the stored bindings of one file."""
    stored: dict[str, list[tuple[str, ast.Assign]]] = {}
    assigned: dict[str, set[str]] = {}
    for node in file.nodes:
        if not isinstance(node, ast.Assign):
            continue
        target, function = file.name(node.targets[0]), file.function(node)
        place = function.name if function else ""
        callee = file.name(node.value.func) if isinstance(node.value, ast.Call) else ""
        if _BINDERS.search(callee) and (target.startswith("self.") or not place or _is_global(function, target)):
            stored.setdefault(callee.rpartition(".")[0], []).append((place, node))
        elif target:
            assigned.setdefault(target, set()).add(place)
    for session, bindings in stored.items():
        rebound = {place for place in assigned.get(session, set()) if place not in _INITIALISERS}
        if rebound - {place for place, _ in bindings}:
            where = sorted(rebound)[0]
            for _, node in bindings:
                message = (
                    f"{file.name(node.targets[0])} stays bound to the old session when {where}() replaces {session}"
                )
                yield ctx.finding(RULE, file.location(node), message)


def _is_global(function: ast.FunctionDef | ast.AsyncFunctionDef | None, name: str) -> bool:
    return function is not None and any(isinstance(n, ast.Global) and name in n.names for n in ast.walk(function))
