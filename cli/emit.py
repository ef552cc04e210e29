"""Runs a verb, turns what stops it into a report, writes the report where asked, returns the exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from ..models.errors import UnreadableModel
from ..report import formats
from ..report.errors import BadInput, InterlockError
from ..report.report import Report, failed
from ..report.style import wants_colour
from .options import Outputs


def run(command: str, outputs: Outputs, verb: Callable[[], Report]) -> int:
    """Call `verb` and write its report.

    Errors of the error tree, unreadable models and operating system errors become a report with the verdict `error`
    in the format asked for; in human format they go to stderr. Anything else is a bug and is raised.
    """
    try:
        targets = _targets(outputs)
        report = verb()
    except InterlockError as error:
        targets, report = _safe_targets(outputs), failed(command, error)
    except UnreadableModel as error:
        reason = error.reason if error.offset is None else f"{error.reason} at byte {error.offset}"
        targets, report = _safe_targets(outputs), failed(command, BadInput(error.what, reason, hint=error.hint))
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        reason = (error.strerror or str(error)).lower()
        targets, report = _safe_targets(outputs), failed(command, BadInput(error.filename or command, reason))
    return _write(report, targets, outputs)


def _targets(outputs: Outputs) -> list[tuple[str, str | None]]:
    """(format, file) pairs; file None is stdout. A bare FILE takes stdout's place."""
    targets: list[tuple[str, str | None]] = []
    stdout: str | None = None
    for item in outputs.files:
        name, equals, file = item.partition("=")
        if not equals:
            stdout = item
        elif name not in formats.NAMES:
            raise BadInput(
                f"--output {item}", f"unknown format '{name}'", hint=f"use one of {', '.join(formats.NAMES)}"
            )
        else:
            targets.append((name, file))
    return [(outputs.format, stdout), *targets]


def _safe_targets(outputs: Outputs) -> list[tuple[str, str | None]]:
    try:
        return _targets(outputs)
    except BadInput:
        return [(outputs.format, None)]


def _write(report: Report, targets: list[tuple[str, str | None]], outputs: Outputs) -> int:
    code = report.exit_code
    for name, file in targets:
        stream = sys.stderr if report.error is not None and name == "human" else sys.stdout
        view = formats.View(
            colour=file is None and name in ("human", "concise") and wants_colour(outputs.color, stream),
            width=shutil.get_terminal_size((100, 24)).columns,
            show_suppressed=outputs.show_suppressed,
        )
        text = formats.render(name, report, view)
        if file is None:
            stream.write(text)
            stream.flush()
        else:
            try:
                _replace(Path(file), text)
            except OSError as error:
                sys.stderr.write(f"error: {file}: cannot write: {(error.strerror or str(error)).lower()}\n")
                code = max(code, BadInput.exit_code)
    return code


def _replace(path: Path, text: str) -> None:
    """Write a whole file or nothing: a reader never sees half a report."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")  # /dev/stdout, a pipe
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
