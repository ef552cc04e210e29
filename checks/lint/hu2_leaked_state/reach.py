"""Which functions of a Python file run while it serves: those behind routes, threads, schedulers and file watchers."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from ..lazy import lazy
from ..sources.python import PythonFile

_ROUTES = frozenset({
    "get", "post", "put", "patch", "delete", "route", "api_route", "websocket", "add_url_rule", "add_api_route", "head",
    "task", "scheduled_job", "repeat_every", "every",
})  # fmt: skip
_RUNS = frozenset({"target", "func", "callback", "on_change", "handler", "args"})
_RELOAD = lazy(
    r"(^|_)(re_?load|refresh|swap|hot_?(swap|load|reload)|switch|on_(modified|created|moved|any_event))", re.IGNORECASE
)
INIT = lazy(
    r"^(__init__|__new__|__enter__|__aenter__|init\w*|initiali[sz]e\w*|setup\w*|lifespan\w*|on_?start(up)?|start(up)?(_\w+)?"
    r"|startup_event|main|create_app|warm_?up|load_context|configure|worker_init|post_fork)$",
    re.IGNORECASE,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(source: PythonFile) -> list[Function]:
    """Every function and method, in order."""
    return [node for node in source.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def is_route(function: Function) -> bool:
    """Whether a decorator makes it a request handler or a scheduled task."""
    for decorator in function.decorator_list:
        callee = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(callee, ast.Attribute) and callee.attr in _ROUTES:
            return True
    return False


def while_serving(source: PythonFile) -> dict[Function, str]:
    """The functions that run after start-up, with how they come to run, as a phrase for a message."""
    named: dict[str, list[Function]] = defaultdict(list)
    for function in functions(source):
        named[function.name].append(function)
    found: dict[Function, str] = {}
    for function in functions(source):
        if is_route(function):
            found[function] = f"the request handler {function.name}"
        elif _RELOAD.search(function.name):
            found[function] = f"{function.name}, which runs while requests are served"
    for name in _handed_over(source):
        for function in named.get(name, []):
            found.setdefault(function, f"{name}, which a thread or scheduler runs")
    queue = list(found)
    for caller in queue:
        if INIT.match(caller.name):
            continue
        for name in _called(caller):
            for function in named.get(name, []):
                if function not in found:
                    found[function] = found[caller]
                    queue.append(function)
    return {function: how for function, how in found.items() if not INIT.match(function.name)}


def _handed_over(source: PythonFile) -> set[str]:
    """Names of functions given to a thread, scheduler or watcher to run."""
    names: set[str] = set()
    for name, call in source.calls:
        last = name.rsplit(".", 1)[-1]
        if last not in ("Thread", "Timer", "add_job", "add_task", "submit", "run_in_executor", "create_task", "signal"):
            continue
        values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in _RUNS)]
        for value in values:
            if isinstance(value, ast.Name):
                names.add(value.id)
            elif isinstance(value, ast.Attribute):
                names.add(value.attr)
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
                names.add(value.func.id)
    return names


def _called(function: Function) -> set[str]:
    """Names of the functions of this file that a function calls: `f()`, `self.f()`, `cls.f()`, or hands on."""
    names: set[str] = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            names.add(node.func.id)
        elif isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) in ("self", "cls"):
            names.add(node.func.attr)
        names.update(argument.id for argument in node.args if isinstance(argument, ast.Name))
    return names
