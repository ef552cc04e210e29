"""Whether a path or a name carries the version of the model it belongs to."""

from __future__ import annotations

import ast
import re

from ..paths import has_version
from ..sources.python import PythonFile

# What a cache folder or a variable is called that differs from version to version.
_WORD = re.compile(
    r"version|revision|digest|sha256|commit|release|fingerprint|uuid|tempfile|mkdtemp|(?<![a-z])(tag|hash|md5|sha)(?![a-z])",
    re.IGNORECASE,
)


def path_is_versioned(path: str) -> bool:
    """Whether a path names a version, or says by a word that it differs from version to version."""
    return has_version(path) or bool(_WORD.search(path))


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
