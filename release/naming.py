"""Messages about a version say its reference, not the folder where its bytes lay while they were read: that folder is
nobody's concern, and gone or renamed by the time anyone reads the message."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..models.errors import UnreadableModel
from ..report.errors import InterlockError
from ..report.finding import Location
from ..report.report import Report

Names = Mapping[Path, str]


def named(text: str, names: Names) -> str:
    """A message with each folder written as the name it goes by."""
    for folder, name in names.items():
        text = text.replace(str(folder), name)
    return text


@contextmanager
def errors_named(names: Names) -> Generator[None]:
    """Errors raised in the block name what `names` says."""
    try:
        yield
    except (InterlockError, UnreadableModel) as error:
        error.what, error.reason, error.hint = (named(part, names) for part in (error.what, error.reason, error.hint))
        raise


def report_named(verb: Callable[[], Report], names: Names) -> Report:
    """What a verb reports or raises, with its lines and the places of its findings as `names` says."""

    def place(where: Location) -> Location:
        return replace(where, path=named(where.path, names))

    with errors_named(names):
        report = verb()
    report.findings = [
        replace(
            finding,
            message=named(finding.message, names),
            hint=named(finding.hint, names),
            where=finding.where and place(finding.where),
            related=tuple(map(place, finding.related)),
        )
        for finding in report.findings
    ]
    report.refused, report.headline = named(report.refused, names), named(report.headline, names)
    return report


def why_not(report: Report, name: str) -> str:
    """Why a report about `name` does not pass, in one line: what it says itself, else the first finding that fails it,
    placed by its path inside `name`."""
    failing = [finding for finding in report.findings if report.fails(finding)]
    if report.refused or report.error is not None or not failing:
        return report.refused or str(report.error or "") or report.headline or "did not pass"
    first = failing[0]
    place = first.where.path.removeprefix(name).lstrip("/") if first.where else ""
    more = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
    return f"{place}{': ' if place else ''}{first.message} [{first.rule}]{more}"
