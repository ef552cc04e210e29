"""Python serving code: a cheap filter for files that mention a model library, then the syntax tree.

Only constants are resolved: a name assigned once at module level, an argument default, an f-string of constants.
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
    """A parsed file. `imports` maps a local name to what it stands for (`np` to `numpy`, `load` to `joblib.load`)."""

    file: TextFile
    tree: ast.Module
    _parents: dict[ast.AST, ast.AST] = field(default_factory=dict[ast.AST, ast.AST])

    @property
    def path(self) -> str:
        return self.file.path

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

    def text(self, node: ast.expr | None, depth: int = 0) -> str | None:
        """The text an expression is known to have, None when unknown."""
        if depth > 8:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.text(self.constants.get(node.id), depth + 1)
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
    """The parsed file, if it mentions a model library. Raises Unreadable on what Python 3 cannot parse."""
    if not _MENTIONS.search(file.text):
        return
    if len(file.text) > MAX_PYTHON:
        raise Unreadable(f"Python file larger than {MAX_PYTHON // 2**20} MiB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings are not our subject
            tree = ast.parse(file.text)
    except SyntaxError as error:
        reason = (error.msg or "invalid syntax").lower().rstrip(".")
        raise Unreadable(f"not Python 3: {reason}", line=error.lineno, column=error.offset) from error
    except (RecursionError, MemoryError, ValueError) as error:
        raise Unreadable("not parseable as Python: nested too deeply") from error
    yield PythonFile(file, tree)
