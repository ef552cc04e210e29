"""Applies the fixes of findings to files, or shows them as a unified diff."""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from ...report.errors import BadInput
from ...report.finding import Edit, Finding

_BOM = b"\xef\xbb\xbf"


def wanted(findings: Iterable[Finding], *, unsafe: bool) -> dict[str, list[Finding]]:
    """The findings that can be fixed, by file; suppressed ones are left alone."""
    found: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.fix and finding.where and finding.suppressed is None and (unsafe or finding.fix.safe):
            found[finding.where.path].append(finding)
    return dict(found)


def applied(text: str, findings: Iterable[Finding]) -> tuple[str, int]:
    """The text with the fixes done, and how many. Of fixes that overlap the first wins; a second run does the other."""
    chosen: list[Edit] = []
    count = 0
    for finding in findings:
        edits = finding.fix.edits if finding.fix else ()
        new = [edit for edit in edits if edit not in chosen]
        if any(_overlap(one, other) for one in new for other in chosen):
            continue
        chosen.extend(new)
        count += 1
    starts = _line_starts(text)
    for edit in sorted(chosen, key=lambda e: (e.line, e.column), reverse=True):
        begin, end = starts[edit.line - 1] + edit.column - 1, starts[edit.end_line - 1] + edit.end_column - 1
        inserted = edit.text.replace("\n", "\r\n") if "\r\n" in text else edit.text
        text = text[:begin] + inserted + text[end:]
    return text, count


def _overlap(one: Edit, other: Edit) -> bool:
    first, second = sorted((one, other), key=lambda e: (e.line, e.column, e.end_line, e.end_column))
    start = (second.line, second.column)
    # Two insertions at one place have no order of their own.
    return start < (first.end_line, first.end_column) or start == (first.line, first.column)


def _line_starts(text: str) -> list[int]:
    starts = [0]
    position = text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    return starts


def rewrite(path: str, findings: list[Finding]) -> tuple[str, str, int]:
    """(old text, new text, fixes done) of one file. Raises BadInput where it is not a plain UTF-8 file."""
    if path.startswith("<"):
        raise BadInput(path, "standard input cannot be fixed in place", hint="use --diff, or give a file")
    try:
        old = Path(path).read_bytes().removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(path, f"not UTF-8 at byte {error.start}: not fixed", hint="save it as UTF-8") from error
    if "\r" in old.replace("\r\n", ""):
        return old, old, 0  # lines that end in a lone carriage return: edits count line feeds
    new, count = applied(old, findings)
    return old, new, count


def write(path: str, text: str) -> None:
    """Replace a file's text whole or not at all, keeping its mode and BOM; a link keeps pointing where it did."""
    target = Path(path).resolve()
    data = text.encode("utf-8")
    if target.read_bytes().startswith(_BOM):
        data = _BOM + data
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def diff(path: str, old: str, new: str) -> str:
    """A unified diff that `patch -p0` and `git apply -p0` take."""
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), path, path)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
