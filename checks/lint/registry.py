"""Which rules there are and where. Families list theirs in `RULES`, so that finding a rule imports no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from ...report.finding import Finding
from ...report.rule import Rule
from .rulebase import FAMILIES

FOLDERS = {
    "HU0": "hu0_run",
    "HU1": "hu1_fake_ready",
    "HU2": "hu2_leaked_state",
    "HU3": "hu3_frozen_graph",
    "HU4": "hu4_non_atomic",
    "HU5": "hu5_unlabelled_metrics",
    "HU6": "hu6_unverified_artefact",
    "HU7": "hu7_no_transaction",
}

Check = Callable[[Any, Any], Iterable[Finding] | None]


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule's place: its id, the module that holds it and the subjects it reads."""

    id: str
    module: str
    reads: tuple[str, ...]

    def load(self) -> Rule:
        """Import the rule's module and return its `RULE`."""
        return import_module(self.module, __package__).RULE

    def check(self, kind: str) -> Check:
        """The function that reads subjects of `kind`."""
        module = import_module(self.module, __package__)
        return getattr(module, f"check_{kind}", None) or module.check


@cache
def entries() -> dict[str, Entry]:
    """Every rule by id, in order; imports the families' tables, no rule."""
    found: dict[str, Entry] = {}
    for folder in FOLDERS.values():
        table: dict[str, tuple[str, tuple[str, ...]]] = getattr(import_module(f".{folder}", __package__), "RULES", {})
        for id_, (module, reads) in table.items():
            found[id_] = Entry(id_, f".{folder}.{module}", reads)
    return dict(sorted(found.items()))


def all_rules() -> list[Rule]:
    """Every lint rule with its documentation, in order of id."""
    return [entry.load() for entry in entries().values()]


def meaning(selector: str) -> str:
    """What the ids begin with that a selector means: a rule (`HU103` or its name), a family (`HU1`), everything (`HU`).

    Empty where there is none. Names stand in the rules, so they are all imported for what is no id.
    """
    wanted = selector.strip()
    id_ = wanted.upper()
    if id_ == "HU" or id_ in FAMILIES or id_ in entries():
        return id_
    return names().get(wanted.lower(), "")


@cache
def names() -> dict[str, str]:
    """The id of every rule by its name."""
    return {rule.name: rule.id for rule in all_rules()}
