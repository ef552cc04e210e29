"""What a path says that the rules have in common: whether it belongs to a test suite, whether it names one version."""

from __future__ import annotations

import re
from posixpath import dirname

from .lazy import lazy

_TESTS = frozenset({"qa", "test", "tests", "testing", "e2e", "testdata"})
_TEST_FILE = lazy(r"(^|/)(test[_-][^/]*|[^/]*[_-]test|test|conftest)\.\w+$|(^|/)L0_")

# A segment that is a version: 3, v2, 1.0.2, 2024-05-01, a digest, a commit; or one whose name ends in it or holds it
# where no model's name would: ranker-v2, ranker-1.0.2, ranker-20240501, release-7. The 3.1 of llama-3.1 is a name.
_VERSION = lazy(
    r"^(v?\d+([._-]\d+)*|v\d[\w.-]*|\d{4}-?\d\d-?\d\d[\w.-]*|(sha256[-:_])?[0-9a-f]{7,64}|snapshots|revisions?|versions?)$"
    r"|@[0-9a-f]{7,}$|@sha256:|[-_@]v\d+(\.\d+)*$"
    r"|(^|[-_.])(v?\d+\.\d+\.\d+|\d{8}|\d{4}-\d\d-\d\d|(rev|version|release)[-_]?\d+)($|[-_.])",
    re.IGNORECASE,
)
_HOLE = lazy(r"\$\{?\(?[^/}]*|\{[^{}]*\}|<[^<>]*>|%[A-Z_]+%")
_VERSION_HOLE = lazy(
    r"version|revision|digest|commit|sha\d*\b|hash|timestamp|\btag|release|date|build|run_?id|uuid", re.IGNORECASE
)


def is_test(path: str) -> bool:
    """Whether a file belongs to a test suite: its name says so, or one of the three folders nearest to it."""
    return bool(_TEST_FILE.search(path)) or bool(_TESTS & set(dirname(path).split("/")[-3:]))


def has_version(path: str) -> bool:
    """Whether a path has a segment that names one version: a number, date, digest, or a variable that is called so."""
    return any(_VERSION.search(part) for part in path.split("/") if part) or any(
        _VERSION_HOLE.search(hole.group()) for hole in _HOLE.finditer(path)
    )
