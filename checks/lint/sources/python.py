"""Python serving code: a cheap filter for files that mention a model library, then the syntax tree.

Only constants are resolved: a name assigned once in its function or at module level, an f-string of constants.
Anything else is unknown, and unknown is never a finding.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ....report.finding import Location
from ..lazy import lazy
from ..paths import is_test
from .text import TextFile, Unreadable

MAX_PYTHON = 2 * 2**20

_MENTIONS = lazy(
    r"\b(torch|tensorflow|keras|onnxruntime|onnx|transformers|diffusers|sentence_transformers|vllm|sglang|huggingface_hub|"
    r"peft|safetensors|joblib|pickle|cloudpickle|dill|sklearn|xgboost|lightgbm|catboost|mlflow|triton_python_backend_utils|"
    r"tritonclient|kserve|mlserver|bentoml|ray|litserve|seldon_core|ts|tensorrt|prometheus_client|spacy|jax|flax|openvino|"
    r"llama_cpp|ctranslate2|faster_whisper|whisper|ultralytics|timm|paddle|paddleocr|fasttext|gensim)\b"
)


@dataclass
class PythonFile:
    """A file of Python. `imports` maps a local name to what it stands for (`np` to `numpy`, `load` to `joblib.load`).

    The syntax tree is a hundred times the text, so it lives only while rules look at the file.
    """

    file: TextFile
    parsed: ast.Module | None = None
    _parents: dict[ast.AST, ast.AST] = field(default_factory=dict[ast.AST, ast.AST])
    _scopes: dict[ast.AST, dict[str, ast.expr | None]] = field(
        default_factory=dict[ast.AST, dict[str, "ast.expr | None"]]
    )

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises Unreadable on what Python 3 cannot parse."""
        if self.parsed is None:
            self.parsed = _parse(self.file)
        return self.parsed

    @property
    def is_test(self) -> bool:
        """Whether it belongs to a test suite, by its path or by what it imports."""
        return is_test(self.path) or bool(self.modules & {"pytest", "unittest"})

    def release(self) -> None:
        """Let go of the tree and of everything that was found in it."""
        self.parsed = None
        self._parents.clear()
        self._scopes.clear()
        for name in ("nodes", "calls", "imports", "modules", "constants"):
            self.__dict__.pop(name, None)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node, parents before children."""
        found: list[ast.AST] = [self.tree]
        for node in found:
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
                found.append(child)
        return found

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """(dotted name with imports resolved, call) of every call whose callee is a plain dotted name."""
        return [(self.name(node.func), node) for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def imports(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    local = alias.asname or alias.name.split(".", 1)[0]
                    found[local] = alias.name if alias.asname else local
            elif isinstance(node, ast.ImportFrom):
                base = "." * node.level + (node.module or "")
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{base}.{alias.name}"
        return found

    @cached_property
    def modules(self) -> frozenset[str]:
        """The top-level packages it imports."""
        return frozenset(name.split(".", 1)[0] for name in self.imports.values())

    def name(self, node: ast.expr | None) -> str:
        """The dotted name of an expression with imports resolved; empty when it is not one."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.imports.get(node.id, node.id), *reversed(parts)])

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """What encloses a node, from the inside out."""
        _ = self.nodes
        while node in self._parents:
            node = self._parents[node]
            yield node

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function around a node."""
        found = (p for p in self.parents(node) if isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef))
        return next(found, None)

    @cached_property
    def constants(self) -> dict[str, ast.expr]:
        """Module-level names that are assigned exactly once in the whole file."""
        values: dict[str, ast.expr] = {}
        counts: dict[str, int] = {}
        for node in self.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                counts[node.id] = counts.get(node.id, 0) + 1
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target, value = statement.targets[0], statement.value
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                target, value = statement.target, statement.value
            else:
                continue
            if isinstance(target, ast.Name) and counts.get(target.id) == 1:
                values[target.id] = value
        return values

    def _value(self, name: ast.Name) -> ast.expr | None:
        """What a name stands for: the only assignment of the function around it, else of the module."""
        function = self.function(name)
        if function is None:
            return self.constants.get(name.id)
        local = self._locals(function)
        return local[name.id] if name.id in local else self.constants.get(name.id)

    def _locals(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr | None]:
        """The names a function binds, each with its value where that is one plain assignment in its own body."""
        if function not in self._scopes:
            arguments = [each for each in ast.walk(function.args) if isinstance(each, ast.arg)]
            bound: dict[str, ast.expr | None] = {each.arg: None for each in arguments}
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    parent = self._parents.get(node)
                    plain = isinstance(parent, ast.Assign) and parent in function.body and parent.targets == [node]
                    once = plain and node.id not in bound
                    bound[node.id] = parent.value if once and isinstance(parent, ast.Assign) else None
            self._scopes[function] = bound
        return self._scopes[function]

    def text(self, node: ast.expr | None, depth: int = 0) -> str | None:
        """The text an expression is known to have, None when unknown."""
        if depth > 8:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.text(self._value(node), depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.text(node.left, depth + 1), self.text(node.right, depth + 1)
            return None if left is None or right is None else left + right
        if isinstance(node, ast.JoinedStr):
            parts = [self.text(part, depth + 1) for part in node.values]
            return None if None in parts else "".join(part for part in parts if part is not None)
        if isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
            return self.text(node.value, depth + 1)
        if isinstance(node, ast.Call) and self.name(node.func) in ("os.getenv", "os.environ.get"):
            return None  # the default is only a default: what runs is unknown
        return None

    def location(self, node: ast.AST) -> Location:
        """Where a node stands; `object` is the qualified name of the function or class around it."""
        line = getattr(node, "lineno", 1)
        names = [
            p.name for p in self.parents(node) if isinstance(p, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.insert(0, node.name)
        end_line = getattr(node, "end_lineno", None)
        one_line = end_line == line
        source = self.file.lines[line - 1] if line <= len(self.file.lines) else ""
        return self.file.location(
            line,
            _column(source, getattr(node, "col_offset", 0)),
            end_line if one_line else None,
            _column(source, getattr(node, "end_col_offset", 0)) if one_line else None,
            object=".".join(reversed(names)),
        )


def argument(call: ast.Call, position: int | None, *names: str) -> ast.expr | None:
    """A call's argument by keyword or position; None when absent or hidden behind `*args`."""
    for keyword in call.keywords:
        if keyword.arg in names:
            return keyword.value
    if position is not None and position < len(call.args):
        before = call.args[: position + 1]
        return None if any(isinstance(arg, ast.Starred) for arg in before) else call.args[position]
    return None


def has_unpacked(call: ast.Call) -> bool:
    """Whether `**kwargs` may hold any keyword."""
    return any(keyword.arg is None for keyword in call.keywords)


def _column(line: str, offset: int) -> int:
    """A UTF-8 byte offset of `ast` as a column from 1."""
    if line.isascii():
        return offset + 1
    return len(line.encode("utf-8")[:offset].decode("utf-8", "ignore")) + 1


def from_file(file: TextFile) -> Iterator[PythonFile]:
    """The file, if it mentions a model library; it is parsed when a rule first looks at it."""
    if _MENTIONS.search(file.text):
        yield PythonFile(file)


def _parse(file: TextFile) -> ast.Module:
    if len(file.text) > MAX_PYTHON:
        raise Unreadable(f"Python file larger than {MAX_PYTHON // 2**20} MiB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings are not our subject
            return ast.parse(file.text)
    except SyntaxError as error:
        reason = (error.msg or "invalid syntax").lower().rstrip(".")
        raise Unreadable(f"not Python 3: {reason}", line=error.lineno, column=error.offset) from error
    except (RecursionError, MemoryError, ValueError) as error:
        raise Unreadable("not parseable as Python: nested too deeply") from error
