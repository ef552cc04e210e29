"""Applies the fixes of findings to files, or shows them as a unified diff."""

from __future__ import annotations

import difflib
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from ...report.errors import BadInput
from ...report.finding import Edit, Finding
from .sources.text import STDIN, Unreadable, read_bytes

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


class Drafts:
    """What fixes make of files, pass after pass; nothing is written before `write`.

    `read` gives the bytes of a file as the fixes so far leave it, for the next pass.
    """

    def __init__(self) -> None:
        self._old: dict[str, bytes] = {}
        self._new: dict[str, bytes] = {}
        self._stdin: bytes | Unreadable | None = None

    def read(self, path: str) -> bytes:
        """The bytes of a file or of standard input. Raises Unreadable."""
        if path in self._new:
            return self._new[path]
        return self._standard_input() if path == STDIN else read_bytes(path)

    def _standard_input(self) -> bytes:
        """Standard input can be read only once, and every pass needs it."""
        if self._stdin is None:
            try:
                self._stdin = read_bytes(STDIN)
            except Unreadable as error:
                self._stdin = error
        if isinstance(self._stdin, Unreadable):
            raise self._stdin
        return self._stdin

    def fix(self, findings: Iterable[Finding], *, unsafe: bool) -> int:
        """Do what can be done in one pass; returns how many fixes. Raises BadInput on a file that is not UTF-8."""
        total = 0
        for path, group in wanted(findings, unsafe=unsafe).items():
            old = self.read(path)
            new, count = _rewritten(path, old, group)
            if new != old:
                self._old.setdefault(path, old)
                self._new[path] = new
                total += count
        return total

    def write(self) -> None:
        """Write the files. Raises BadInput on standard input, before anything is written."""
        if STDIN in self._new:
            raise BadInput(STDIN, "standard input cannot be fixed in place", hint="use --diff, or give a file")
        for path, data in self._new.items():
            _write(path, data)

    def diff(self) -> str:
        """What `write` changes, as a unified diff."""
        return "".join(_diff(path, _text(old), _text(self._new[path])) for path, old in sorted(self._old.items()))


def _rewritten(path: str, old: bytes, findings: list[Finding]) -> tuple[bytes, int]:
    """A file with the fixes done and how many. Raises BadInput where it is not a plain UTF-8 file."""
    try:
        text = _text(old)
    except UnicodeDecodeError as error:
        raise BadInput(path, f"not UTF-8 at byte {error.start}: not fixed", hint="save it as UTF-8") from error
    if "\r" in text.replace("\r\n", ""):
        return old, 0  # lines that end in a lone carriage return: edits count line feeds
    new, count = applied(text, findings)
    return (_BOM if old.startswith(_BOM) else b"") + new.encode("utf-8"), count


def _text(data: bytes) -> str:
    return data.removeprefix(_BOM).decode("utf-8")


def _write(path: str, data: bytes) -> None:
    """Replace a file whole or not at all, keeping its mode; a link keeps pointing where it did."""
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _diff(path: str, old: str, new: str) -> str:
    """A unified diff that `patch -p0` and `git apply -p0` take."""
    lines = difflib.unified_diff(_lines(old), _lines(new), path, path)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines as `patch` counts them: a line feed ends one and nothing else does."""
    return [line for line in re.split(r"(?<=\n)", text) if line]
