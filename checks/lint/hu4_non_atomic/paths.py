"""Paths that the rules on writes have in common: what is a test, what names a version, what is a staging place."""

from __future__ import annotations

from posixpath import dirname

from ..lazy import lazy

_TESTS = frozenset({"qa", "test", "tests", "testing", "e2e", "testdata"})
_TEST_FILE = lazy(r"(^|/)(test[_-][^/]*|[^/]*[_-]test|test|conftest)\.\w+$|(^|/)L0_")

COPIES = lazy(
    r"\b(cp|rsync|aws|gsutil|gcloud|hf|huggingface-cli|modelscope|aibrix_download|downloader|rclone|mc|s3cmd|s5cmd|azcopy"
    r"|tar|unzip|wget|curl|git)\b"
)
"""A cheap test for texts that may hold one of the commands that `copies` knows."""


def is_test(path: str) -> bool:
    """Whether a file belongs to a test suite: its name says so, or one of the three folders nearest to it."""
    return bool(_TEST_FILE.search(path)) or bool(_TESTS & set(dirname(path).split("/")[-3:]))
