"""A baseline: the findings a project has accepted, so that only new ones fail.

Keyed by rule, path and object, not by line: moving code about does not bring findings back. Where one object has the
same finding several times they are counted.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...report.errors import BadInput
from ...report.finding import Finding
from .sources.text import STDIN

SCHEMA = "interlock.baseline/1"
_AGAIN = "write it again with --update-baseline"


def key(finding: Finding, root: str) -> str:
    """`rule path object` of a finding, the path relative to `root`."""
    where = finding.where
    path = where.path if where else ""
    if path and path != STDIN:
        # A folder link on the way to a file must not make it another file.
        folder, name = os.path.split(path)
        path = os.path.relpath(os.path.join(os.path.realpath(folder), name), os.path.realpath(root))  # noqa: PTH118
        path = path.replace(os.sep, "/")
    return f"{finding.rule} {path} {where.object if where else ''}".rstrip()


def count(findings: Iterable[Finding], root: str) -> Counter[str]:
    """How often each key occurs; notices of the run and suppressed findings are no part of a baseline."""
    return Counter(key(f, root) for f in findings if f.suppressed is None and not f.rule.startswith("HU0"))


def read(path: str) -> Counter[str]:
    """The accepted findings of a baseline file. Raises BadInput on anything that is not one."""
    try:
        document: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        hint = "write it with interlock lint --update-baseline --baseline " + path
        raise BadInput(path, "no such baseline file", hint=hint) from error
    except (ValueError, OSError) as error:
        raise BadInput(
            path, "not a baseline file: invalid JSON", hint="write it again with --update-baseline"
        ) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:  # pyright: ignore
        raise BadInput(
            path, f"not a baseline file: schema is not {SCHEMA}", hint="write it again with --update-baseline"
        )
    accepted: Any = document.get("findings")  # pyright: ignore
    if not isinstance(accepted, dict) or not all(isinstance(n, int) for n in accepted.values()):  # pyright: ignore
        raise BadInput(path, "not a baseline file: findings must map keys to counts", hint=_AGAIN)
    return Counter(accepted)  # pyright: ignore


def write(path: str, findings: Iterable[Finding]) -> int:
    """Write the findings that stand as the new baseline; returns how many."""
    counts = count(findings, root_of(path))
    text = json.dumps({"schema": SCHEMA, "findings": dict(sorted(counts.items()))}, indent=2, ensure_ascii=False)
    draft = Path(f"{path}.{os.getpid()}")
    try:
        draft.write_text(text + "\n", encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return counts.total()


def root_of(path: str) -> str:
    """The folder that a baseline's paths are relative to: its own."""
    return os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120


def apply(findings: list[Finding], accepted: Counter[str], root: str) -> tuple[list[Finding], int]:
    """The findings with accepted ones marked as suppressed, and how many accepted ones no longer occur."""
    left = Counter(accepted)
    result: list[Finding] = []
    for finding in findings:
        name = key(finding, root)
        if finding.suppressed is None and left[name] > 0:
            left[name] -= 1
            finding = replace(finding, suppressed="in the baseline")  # noqa: PLW2901
        result.append(finding)
    return result, sum(number for number in left.values() if number > 0)


def subtract(findings: list[Finding], earlier: Counter[str], root: str) -> list[Finding]:
    """The findings that `earlier` does not hold; notices of the run stay."""
    left = Counter(earlier)
    result: list[Finding] = []
    for finding in findings:
        name = key(finding, root)
        if left[name] > 0:
            left[name] -= 1
        else:
            result.append(finding)
    return result
