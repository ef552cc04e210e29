"""Which rules run: --select, --ignore and --pedantic, the settings, and severities per rule."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...report.errors import BadInput
from ...report.finding import Severity
from .registry import Entry, entries, is_known


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules of a run in order. `explicit` are those named by id, which run even when pedantic."""

    entries: tuple[Entry, ...]
    explicit: frozenset[str]
    pedantic: bool


def choose(select: Iterable[str] = (), ignore: Iterable[str] = (), *, pedantic: bool = False) -> Selection:
    """The rules that `select` names less those that `ignore` names; everything when `select` is empty.

    Raises BadInput on a name that is neither a rule nor a family.
    """
    known = entries()
    chosen, dropped = list(expand(select)), list(expand(ignore))
    for option, names in (("select", chosen), ("ignore", dropped)):
        for name in names:
            check_name(name, known, f"--{option}")
    kept = [
        entry
        for id_, entry in known.items()
        if (not chosen or any(id_.startswith(name) for name in chosen))
        and not any(id_.startswith(name) for name in dropped)
    ]
    return Selection(tuple(kept), frozenset(chosen) & frozenset(known), pedantic)


def expand(names: Iterable[str]) -> Iterable[str]:
    """Names given several times or separated by commas, in upper case."""
    for item in names:
        yield from (name.strip().upper() for name in item.split(",") if name.strip())


def check_name(name: str, known: Mapping[str, Entry], where: str) -> None:
    """Raise BadInput on a name that is neither a rule nor a family, with the closest that is."""
    if is_known(name, known):
        return
    close = difflib.get_close_matches(name, [*known, *{id_[:3] for id_ in known}], n=1)
    hint = f"did you mean {close[0]}?" if close else "interlock rules lists them"
    raise BadInput(where, f"no rule or family {name}", hint=hint)


def severities(settings: Mapping[str, str]) -> dict[str, Severity]:
    """The severities of `lint.severity`. Raises BadInput on an unknown rule; a family sets all its rules."""
    known = entries()
    found: dict[str, Severity] = {}
    for name, value in sorted(settings.items(), key=lambda item: len(item[0])):
        check_name(name, known, "lint.severity")
        found.update({id_: Severity(value) for id_ in known if id_.startswith(name)})
    return found
