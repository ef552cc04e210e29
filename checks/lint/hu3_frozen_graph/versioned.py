"""Whether a path or a name carries the version of the model it belongs to."""

from __future__ import annotations

import ast
import re

from ..sources.python import PythonFile

# `/engines/llama/3`, `/cache/v2`, `…/a1b2c3d`, `…/2026-11-01`, `…@sha256`
_SEGMENT = re.compile(
    r"^(v?\d+([._-]\d+)*|[0-9a-f]{7,64}|sha256.*|\d{4}-\d{2}-\d{2}.*)$|[-_.]v\d+|\d+\.\d+\.\d+", re.IGNORECASE
)
_WORD = re.compile(
    r"version|revision|digest|sha256|commit|release|fingerprint|uuid|tempfile|mkdtemp|(?<![a-z])(tag|hash|md5|sha)(?![a-z])",
    re.IGNORECASE,
)


def path_is_versioned(path: str) -> bool:
    """Whether a segment of a path is a version, or a variable that is named after one."""
    return any(_SEGMENT.search(segment) or _WORD.search(segment) for segment in path.split("/") if segment)


def names_a_version(file: PythonFile, node: ast.AST) -> bool:
    """Whether an expression is built from something called a version, digest or revision."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and (_WORD.search(part.id) or _from_version(file, part)):
            return True
        if isinstance(part, ast.Attribute) and _WORD.search(part.attr):
            return True
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and path_is_versioned(part.value):
            return True
    return False


def _from_version(file: PythonFile, name: ast.Name) -> bool:
    value = file.constants.get(name.id)
    return value is not None and not isinstance(value, ast.Name) and names_a_version(file, value)
