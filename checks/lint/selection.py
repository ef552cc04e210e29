"""Which rules run: --select, --ignore and --pedantic, the settings, and severities per rule."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...report.errors import BadInput
from ...report.finding import Severity
from .registry import Entry, entries, meaning, names
from .rulebase import FAMILIES


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules of a run in order. `explicit` are those named themselves, which run even when pedantic."""

    entries: tuple[Entry, ...]
    explicit: frozenset[str]
    pedantic: bool


def choose(select: Iterable[str] = (), ignore: Iterable[str] = (), *, pedantic: bool = False) -> Selection:
    """The rules that `select` names less those that `ignore` names; everything when `select` is empty.

    Raises BadInput on a name that is neither a rule nor a family.
    """
    known = entries()
    chosen, dropped = expand(select, "--select"), expand(ignore, "--ignore")
    kept = [
        entry
        for id_, entry in known.items()
        if (not chosen or any(id_.startswith(name) for name in chosen))
        and not any(id_.startswith(name) for name in dropped)
    ]
    return Selection(tuple(kept), frozenset(chosen) & frozenset(known), pedantic)


def expand(selectors: Iterable[str], where: str) -> list[str]:
    """What names mean that are given several times or separated by commas. Raises BadInput on an unknown one."""
    return [resolve(name, where) for item in selectors for name in item.split(",") if name.strip()]


def resolve(name: str, where: str) -> str:
    """The id or family that a name means. Raises BadInput on one that means nothing, with the closest that does."""
    found = meaning(name)
    if found:
        return found
    known = {text.lower(): text for text in (*entries(), *FAMILIES, *names())}
    close = difflib.get_close_matches(name.strip().lower(), known, n=1)
    hint = f"did you mean {known[close[0]]}?" if close else "interlock rules lists them"
    raise BadInput(where, f"no rule or family {name.strip()}", hint=hint)


def severities(settings: Mapping[str, str]) -> dict[str, Severity]:
    """The severities of `lint.severity`; a family sets all its rules. Raises BadInput on an unknown rule."""
    named = [(resolve(name, "lint.severity"), value) for name, value in settings.items()]
    found: dict[str, Severity] = {}
    for name, value in sorted(named, key=lambda item: len(item[0])):
        found.update({id_: Severity(value) for id_ in entries() if id_.startswith(name)})
    return found


def ignored(settings: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """The ids and families of `lint.per_path` by glob pattern. Raises BadInput on an unknown rule."""
    return {pattern: tuple(expand(rules, "lint.per_path")) for pattern, rules in settings.items()}
