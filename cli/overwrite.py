"""Which existing files a report may replace: earlier reports. A slip of --output must not cost a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..report.errors import BadInput

# How a report of each format begins. Text for people begins with anything, so there the name has to say it.
_STARTS = {
    "json": rb'\s*\{\s*"schema":\s*"interlock\.report/',
    "sarif": rb'\s*\{\s*"\$schema":[^{]*"runs":\s*\[\s*\{\s*"tool":\s*\{\s*"driver":\s*\{\s*"name":\s*"interlock"',
    "gitlab": rb'\s*\[\s*(\]\s*$|\{\s*"description":.*?"check_name":)',
    "junit": rb'\s*<\?xml[^>]*>\s*<testsuites name="interlock"',
    "markdown": rb"### \S+ interlock ",
}
_SUFFIXES = {".txt", ".text", ".log", ".out", ".report"}
_RENDERED = rb"# rendered by interlock|--- [^\n]*\n\+\+\+ "
_HEAD = 64 << 10
# Arguments that name models: a text file inside one is part of it, whatever it is called.
_MODELS = frozenset({"model", "new", "against", "base", "adapter", "draft"})


def check(form: str, file: str) -> None:
    """Raise BadInput where writing a report in format `form` to `file` would replace something that is not one."""
    path = Path(file)
    try:
        if not path.is_file() or path.stat().st_size == 0:
            return
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise BadInput(f"--output {file}", f"cannot be read: {reason}", hint="choose another name") from error
    inside = None
    for name, given in _given():
        if _same(path, given):
            raise _refusal(file, f"is what this command reads ({name})", "choose another name")
        inside = inside or (given if name in _MODELS and _below(path, given) else None)
    if form in _STARTS:
        if not re.match(_STARTS[form], head, re.DOTALL):
            raise _refusal(file, f"exists and is not a {form} report of interlock")
    elif inside is not None:
        raise _refusal(file, f"exists and is part of {inside}", "choose a name outside of it")
    elif not re.match(_RENDERED, head) and (path.suffix.lower() not in _SUFFIXES or b"\0" in head):
        hint = f"choose a name that ends in {', '.join(sorted(_SUFFIXES))}, or remove the file first"
        raise _refusal(file, "exists and does not look like a report", hint)


def _refusal(file: str, reason: str, hint: str = "choose another name, or remove the file first") -> BadInput:
    return BadInput(f"--output {file}", f"{reason}; it was left alone", hint=hint)


def _given() -> Iterator[tuple[str, Path]]:
    """Name and value of every text given on the command line that may be a path; nothing outside of one."""
    from typer._click.globals import get_current_context

    context = get_current_context(silent=True)
    for name, value in (context.params if context is not None else {}).items():
        if name not in ("output", "output_format", "color"):
            values: list[Any] = [*value] if isinstance(value, list | tuple) else [value]
            for each in values:
                if isinstance(each, str) and each and "\0" not in each:
                    yield name, Path(each.removeprefix("@"))


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # not a path, or not there
        return False


def _below(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
