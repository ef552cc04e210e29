"""Shared fixtures. A test that needs a service or the shared corpus says what is missing when it skips."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def unavailable(what: str, how: str) -> NoReturn:
    """Skip, saying what is missing and how to get it; fail instead where CI promised that services are there."""
    if os.environ.get("INTERLOCK_REQUIRE_SERVICES"):
        pytest.fail(f"{what} is missing: {how}")
    pytest.skip(f"{what} is missing: {how}")


@pytest.fixture(scope="session")
def require() -> Callable[[str, str], NoReturn]:
    """`require(what, how)`: say that a service is missing; skips here, fails in CI."""
    return unavailable


@pytest.fixture(scope="session")
def unprivileged() -> list[str]:
    """What a command starts with so that permissions of files count for it, whoever runs the tests.

    Root gives up the capabilities that override them.
    """
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        unavailable("setpriv", "install util-linux, or do not run the tests as root")
    capabilities = "-dac_override,-dac_read_search"
    return ["setpriv", f"--inh-caps={capabilities}", f"--bounding-set={capabilities}"]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository root, which is the package."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real-world data beside the checkout; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("../shared is absent: the real-world corpus is not part of this checkout")
    return SHARED


@pytest.fixture(autouse=True)
def _quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on the caller's colour, config or CI variables."""
    for name in list(os.environ):
        if name.startswith("INTERLOCK_") and name != "INTERLOCK_REQUIRE_SERVICES":
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
