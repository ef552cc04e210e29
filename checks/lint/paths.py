"""What a path says that the rules have in common: whether it belongs to a test suite."""

from __future__ import annotations

from posixpath import dirname

from .lazy import lazy

_TESTS = frozenset({"qa", "test", "tests", "testing", "e2e", "testdata"})
_TEST_FILE = lazy(r"(^|/)(test[_-][^/]*|[^/]*[_-]test|test|conftest)\.\w+$|(^|/)L0_")


def is_test(path: str) -> bool:
    """Whether a file belongs to a test suite: its name says so, or one of the three folders nearest to it."""
    return bool(_TEST_FILE.search(path)) or bool(_TESTS & set(dirname(path).split("/")[-3:]))
