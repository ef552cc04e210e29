"""What each ONNX Runtime release loads: the newest IR version and operator sets.

Measured by loading minimal models into each release; the newest patch of each minor version. tests/validate loads
models at and above these limits into an old and a new release.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Limits(NamedTuple):
    """The newest version of each thing that a release loads."""

    ir: int
    opset: int
    ml: int


RELEASES: dict[tuple[int, int], Limits] = {
    (1, 15): Limits(9, 18, 3),
    (1, 16): Limits(9, 19, 3),
    (1, 17): Limits(9, 20, 4),
    (1, 18): Limits(10, 21, 5),
    (1, 19): Limits(10, 21, 5),
    (1, 20): Limits(10, 21, 5),
    (1, 21): Limits(10, 22, 5),
    (1, 22): Limits(10, 22, 5),
    (1, 23): Limits(11, 23, 5),
    (1, 24): Limits(13, 25, 5),
    (1, 25): Limits(13, 26, 5),
    (1, 32): Limits(14, 28, 5),
}
OLDEST = min(RELEASES)
NAME = "onnxruntime"


def floor(what: str, version: int) -> tuple[int, int] | None:
    """The first release that loads version `version` of `what` (a field of Limits); None where none known does."""
    return next((release for release, limits in RELEASES.items() if getattr(limits, what) >= version), None)


def parse(version: str) -> tuple[int, int] | None:
    """Major and minor of a version such as `1.18`, `>=1.18.0` or `v1.18`; None where it is none."""
    match = re.search(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else None


def show(release: tuple[int, int] | None) -> str:
    """A release for people."""
    return "newer than any known release" if release is None else f">= {release[0]}.{release[1]}"
