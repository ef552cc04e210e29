"""Limits of the policy on a signature that is otherwise good: how old, how new, and not on the deny list."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ..models.numerals import whole
from ..report.errors import BadInput
from .allow import Allowed
from .reasons import refusal
from .signer import Signer
from .statement import SIGNED_AT, VERSION, Statement

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def duration(text: str, what: str) -> timedelta:
    """A duration such as 30m, 12h, 90d or 2w. Raises BadInput on anything else."""
    match = re.fullmatch(r"([0-9]{1,6})([smhdw])", text)
    if match is None:
        raise BadInput(what, f"{text!r} is not a duration", hint="write a number and s, m, h, d or w, such as 90d")
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def check_age(signer: Signer, statement: Statement, most: timedelta, allowed: Allowed, what: str) -> None:
    """Raises Refused (VER-TOO-OLD) on a signature older than `most`, or one that does not say how old it is.

    The age counts from the proven time where there is one, else from the time that the signer signed as its own.
    """
    claimed = statement.annotations.get(SIGNED_AT)
    moment = signer.time
    if moment is None and isinstance(claimed, str):
        try:
            moment = datetime.fromisoformat(claimed)
        except ValueError:
            moment = None
    if moment is not None and moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if moment is None:
        problem = "the signature does not say when it was made"
    elif datetime.now(UTC) - moment > most:
        problem = f"signed on {moment:%Y-%m-%d}, longer ago than {most.days} days"
    elif moment - datetime.now(UTC) > timedelta(minutes=10):
        problem = f"signed in the future, on {moment:%Y-%m-%d %H:%M} UTC"
    else:
        return
    if not allowed("VER-TOO-OLD"):
        raise refusal("VER-TOO-OLD", what, problem)


def check_version(statement: Statement, lowest: str, what: str) -> None:
    """Raises Refused (VER-ROLLBACK) unless the signed version is at least `lowest`, BadInput if that is none."""
    floor = _version(lowest)
    if floor is None:
        raise BadInput("trust.minimum_version", f"{lowest!r} is not a version", hint="write numbers and dots: 1.4.0")
    given = statement.annotations.get(VERSION)
    version = _version(given) if isinstance(given, str) else None
    if version is None:
        said = "no version" if given is None else f"{given!r}, which cannot be compared,"
        raise refusal("VER-ROLLBACK", what, f"{said} was signed; at least {lowest} is required")
    if version < floor:
        raise refusal("VER-ROLLBACK", what, f"version {given} was signed; at least {lowest} is required")


def _version(text: str) -> tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]] | None:
    """A version as a sort key: numbers, then whether it is final, then the pre-release's parts (semver.org order)."""
    match = re.fullmatch(r"v?([0-9]+(?:\.[0-9]+)*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?", text)
    if match is None:
        return None
    said = match[1].split(".")
    numbers = [number for part in said if (number := whole(part)) is not None]
    if len(numbers) < len(said):
        return None
    while numbers and numbers[-1] == 0:
        numbers.pop()
    parts = match[2].split(".") if match[2] else []
    key = tuple((whole(part) is None, whole(part) or 0, part) for part in parts)
    return tuple(numbers), not parts, key
