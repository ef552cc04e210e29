"""What is known of a path in Python code: its constant text, with the names of the variables in the unknown places."""

from __future__ import annotations

import ast
from posixpath import normpath

from ..sources.python import PythonFile

_MAX_DEPTH = 8
_JOINS = ("os.path.join", "posixpath.join", "pathlib.Path", "pathlib.PurePath", "Path")
_PLAIN = ("os.fspath", "str", "os.path.abspath", "os.path.realpath", "os.path.expanduser", "os.path.normpath")
_ENV = ("os.environ.get", "os.getenv")


def describe(source: PythonFile, node: ast.expr | None, depth: int = 0) -> str:
    """`/models/{version}/model.pt` for a path expression: constants as they are, all else in braces by its name."""
    if node is None or depth > _MAX_DEPTH:
        return "{?}"
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else str(node.value)
    if isinstance(node, ast.Name | ast.Attribute):
        value = _assigned(source, node)
        return "{" + _last(node) + "}" if value is None else describe(source, value, depth + 1)
    if isinstance(node, ast.JoinedStr):
        return "".join(describe(source, part, depth + 1) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return describe(source, node.value, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        glue = "/" if isinstance(node.op, ast.Div) else ""
        return _normal(describe(source, node.left, depth + 1) + glue + describe(source, node.right, depth + 1))
    if isinstance(node, ast.Call):
        return _call(source, node, depth)
    if isinstance(node, ast.Subscript):
        key = source.text(node.slice)
        return "{" + (key or _last(node.value)) + "}"
    return "{?}"


def _call(source: PythonFile, node: ast.Call, depth: int) -> str:
    name = source.name(node.func)
    if name in _JOINS:
        return _normal("/".join(describe(source, part, depth + 1) for part in node.args))
    if name in _PLAIN and node.args:
        return describe(source, node.args[0], depth + 1)
    if name in _ENV and node.args:
        return "{" + (source.text(node.args[0]) or "?") + "}"
    if isinstance(node.func, ast.Attribute):
        if node.func.attr == "joinpath":
            return _normal("/".join(describe(source, part, depth + 1) for part in [node.func.value, *node.args]))
        if node.func.attr in ("resolve", "absolute", "as_posix", "expanduser", "rstrip", "strip"):
            return describe(source, node.func.value, depth + 1)
    return "{" + (_last(node.func) or "?") + "}"


def _assigned(source: PythonFile, node: ast.Name | ast.Attribute) -> ast.expr | None:
    """The one value that a name has: a module constant, or assigned once in the function around its use."""
    if isinstance(node, ast.Attribute):
        return None
    function = source.function(node)
    if function is not None:
        values = [
            item.value
            for item in ast.walk(function)
            if isinstance(item, ast.Assign)
            for target in item.targets
            if isinstance(target, ast.Name) and target.id == node.id
        ]
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        if values or any(argument.arg == node.id for argument in named):
            return values[0] if len(values) == 1 and not any(argument.arg == node.id for argument in named) else None
    return source.constants.get(node.id)


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else "?"


def _normal(path: str) -> str:
    return normpath(path) if path else path
