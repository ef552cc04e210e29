"""interlock decides whether a new model version may replace the live one under traffic, and swaps it safely.

The verbs are functions that return a `Report`; the command line calls exactly these. Importing this package
loads nothing else (PEP 562): a verb's room is imported when the verb is first used.

    >>> import interlock
    >>> report = interlock.lint(["deploy/"])
    >>> report.exit_code
    0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .bench.run import benchmark, drill
    from .checks.lint.run import lint
    from .checks.validate.run import validate
    from .release.run import gate, history, promote, publish, pull, rollback, status
    from .report.report import Report
    from .signing.look import digest, inspect
    from .signing.run import sign, verify
    from .templates.run import render

# `bench` is the room's name, so the verb that runs it is spelled `benchmark` here.
_VERBS = {
    "Report": ".report.report",
    "benchmark": ".bench.run",
    "digest": ".signing.look",
    "drill": ".bench.run",
    "gate": ".release.run",
    "history": ".release.run",
    "inspect": ".signing.look",
    "lint": ".checks.lint.run",
    "promote": ".release.run",
    "publish": ".release.run",
    "pull": ".release.run",
    "render": ".cli.manifests",
    "rollback": ".release.run",
    "sign": ".signing.run",
    "status": ".release.run",
    "validate": ".checks.validate.run",
    "verify": ".signing.run",
}

__all__ = [
    "Report",
    "__version__",
    "benchmark",
    "digest",
    "drill",
    "gate",
    "history",
    "inspect",
    "lint",
    "promote",
    "publish",
    "pull",
    "render",
    "rollback",
    "sign",
    "status",
    "validate",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import the room behind a verb on first use."""
    if name not in _VERBS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_VERBS[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_VERBS})
