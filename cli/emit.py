"""Runs a verb, turns what stops it into a report, writes the report where asked, returns the exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TextIO

from ..models.errors import UnreadableModel
from ..report import formats
from ..report.errors import BadInput, InterlockError
from ..report.report import Report, failed
from ..report.style import wants_colour
from . import overwrite
from .options import Outputs

_SUMMARY = "$GITHUB_STEP_SUMMARY"


class Target(NamedTuple):
    """A format and the file it goes to; None is stdout."""

    format: str
    file: str | None


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


def _targets(outputs: Outputs) -> list[Target]:
    """Where the report goes: first what replaces stdout, then the FORMAT=FILE pairs.

    Raises BadInput on a wrong option, and where a file that is not an earlier report would be replaced.
    """
    main = Target(outputs.format, None)
    more: list[Target] = []
    for item in outputs.files:
        name, equals, file = item.partition("=")
        if not equals:
            name, file = outputs.format, item
        elif name not in formats.NAMES:
            raise BadInput(
                f"--output {item}", f"unknown format '{name}'", hint=f"use one of {', '.join(formats.NAMES)}"
            )
        if file == _SUMMARY:
            # Written by us, not the shell, so that one command line serves inside and outside of Actions.
            file = os.environ.get("GITHUB_STEP_SUMMARY", "")
            if not file:
                continue
        if not file:
            raise BadInput(f"--output {item}", "no file given", hint="write --output FORMAT=FILE")
        if equals:
            more.append(Target(name, file))
        else:
            main = Target(name, file)
    files = [target.file for target in (main, *more) if target.file is not None]
    twice = next((file for file in files if files.count(file) > 1), None)
    if twice is not None:
        raise BadInput(f"--output {twice}", "two formats would write this file", hint="give each format its own file")
    for target in (main, *more):
        if target.file is not None and target.file != os.environ.get("GITHUB_STEP_SUMMARY"):
            overwrite.check(target.format, target.file)
    return [main, *more]


def _safe_targets(outputs: Outputs) -> list[Target]:
    """Where an error goes: stdout where it is about the files themselves."""
    try:
        return _targets(outputs)
    except BadInput:
        return [Target(outputs.format, None)]


def _write(report: Report, targets: list[Target], outputs: Outputs) -> int:
    code = report.exit_code
    for number, target in enumerate(targets):
        text = _text(report, target, outputs, main=number == 0)
        if target.file is None:
            human = target.format in ("human", "concise")
            _send(sys.stderr if report.error is not None and target.format == "human" else sys.stdout, text, human)
        elif text:
            try:
                _save(target.file, text)
            except OSError as error:
                sys.stderr.write(f"error: {target.file}: cannot write: {(error.strerror or str(error)).lower()}\n")
                code = max(code, BadInput.exit_code)
    return code


def _text(report: Report, target: Target, outputs: Outputs, *, main: bool) -> str:
    """What goes to a target. A payload alone goes to stdout (`render | kubectl apply -f -`), the talk to stderr."""
    on_stderr = report.error is not None or bool(report.payload)
    stream = sys.stderr if on_stderr else sys.stdout
    view = formats.View(
        colour=target.file is None and target.format in ("human", "concise") and wants_colour(outputs.color, stream),
        width=shutil.get_terminal_size((100, 24)).columns,
        show_suppressed=outputs.show_suppressed,
    )
    text = formats.render(target.format, report, view)
    if not main or target.format != "human":
        return text
    if target.file is not None and report.error is not None:
        # The file keeps what it had: a failed run does not replace a result by an error message.
        _send(sys.stderr, text, human=True)
        return ""
    if report.payload:
        if report.findings or report.body or report.verdict != "pass":
            _send(sys.stderr, text, human=True)
        return report.payload
    return text


def _send(stream: TextIO, text: str, human: bool) -> None:
    """Write to a standard stream: what a person reads in the terminal's encoding, what a machine reads in UTF-8."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
    else:
        stream.flush()
        buffer.write(text.encode((human and stream.encoding) or "utf-8", "backslashreplace"))
    stream.flush()


def _save(file: str, text: str) -> None:
    """Write a whole file or nothing: a reader never sees half a report. A job summary is appended to."""
    data = text.encode("utf-8", "backslashreplace")
    path = Path(file).resolve()
    if file == os.environ.get("GITHUB_STEP_SUMMARY"):
        with path.open("ab") as stream:
            stream.write(data)
        return
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # /dev/stdout, a pipe
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
