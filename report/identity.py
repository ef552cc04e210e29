"""What a finding is called outside: a path relative to the run, and a fingerprint that survives moved lines."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath

from .finding import Finding, Location


def relative(path: str) -> str:
    """A path below the working directory relative to it, with forward slashes; any other path unchanged."""
    if os.path.isabs(path):  # noqa: PTH117
        here = os.getcwd()  # noqa: PTH109
        if path.startswith(here + os.sep):
            path = path[len(here) + 1 :]
    elif path.startswith(("./", ".\\")):
        path = os.path.normpath(path)
    return PurePath(path).as_posix() if os.sep == "\\" else path


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """32 hex digits a finding, unique within the report, in the order given.

    A finding is the rule at an object and a pointer of a file; line numbers do not count, so a comment added above
    changes nothing. The message counts only where neither object nor pointer is known. Equal findings are numbered
    in order.
    """
    seen: Counter[str] = Counter()
    result: list[str] = []
    for finding in findings:
        where = finding.where or Location("")
        parts = [finding.rule, relative(where.path), where.object, where.pointer]
        if not (where.object or where.pointer):
            parts.append(finding.message)
        key = "\0".join(parts)
        seen[key] += 1
        data = f"{key}\0{seen[key]}".encode("utf-8", "surrogatepass")
        result.append(hashlib.sha256(data).hexdigest()[:32])
    return result
