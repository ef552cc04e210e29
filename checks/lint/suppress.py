"""Silencing findings: comments on or above a line, annotations on an object, and paths in the settings.

A comment is `# interlock: ignore[HU103] reason` or `ignore[HU103,HU2] until=2027-01-31 reason`; an annotation is
`interlock.dev/ignore.HU103: reason` on the object (its pod templates included) or on one pod template. A rule's name
does as well as its id. The reason is mandatory. What has none, is past its date, names no rule or silences nothing is
reported, and silences nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from ...report.finding import Finding, Location
from .collect import Inputs, excluded
from .lazy import lazy
from .registry import meaning
from .sources.kubernetes import Resource
from .sources.text import TextFile, Unreadable
from .sources.yamlnodes import Map, dig, pointer, text

PREFIX = "interlock.dev/ignore."
_COMMENT = lazy(r"(?:#|//)\s*interlock:\s*ignore(?:\[(?P<rules>[^\]\n]*)\])?(?P<rest>[^\n]*)", re.IGNORECASE)
_UNTIL = lazy(r"\buntil=(\S+)")


@dataclass
class Suppression:
    """One directive. It silences `rules` on `lines` (from, to) of a file, or in an object below `pointer`."""

    path: str
    where: Location
    rules: tuple[str, ...]
    reason: str
    lines: tuple[int, int] | None = None
    object: str = ""
    pointer: str = ""
    problem: str = ""
    used: bool = False

    def covers(self, finding: Finding) -> bool:
        """Whether the directive is about this finding."""
        where = finding.where
        if self.problem or where is None or not finding.rule.startswith(self.rules):
            return False
        if where.path != self.path:
            return False
        if self.lines is not None:
            return where.line is not None and self.lines[0] <= where.line <= self.lines[1]
        return where.object == self.object and where.pointer.startswith(self.pointer)


def apply(
    findings: list[Finding], inputs: Inputs, per_path: dict[str, tuple[str, ...]], ran: Iterable[str], today: date
) -> tuple[list[Finding], list[tuple[str, Unreadable]]]:
    """The findings with what is silenced marked, and what is wrong with the directives themselves."""
    directives = [*_in_comments(inputs.files, today), *_in_annotations(inputs.resources, today)]
    by_path: dict[str, list[Suppression]] = {}
    for directive in directives:
        by_path.setdefault(directive.path, []).append(directive)
    kept: list[Finding] = []
    for finding in findings:
        path = finding.where.path if finding.where else ""
        if any(finding.rule.startswith(rules) and excluded(path, [glob]) for glob, rules in per_path.items()):
            continue
        hits = [directive for directive in by_path.get(path, []) if directive.covers(finding)]
        for hit in hits:
            hit.used = True
        kept.append(replace(finding, suppressed=hits[0].reason) if hits else finding)
    active = tuple(ran)
    return kept, [(d.path, note) for d in directives for note in _complaint(d, active)]


def _complaint(directive: Suppression, ran: tuple[str, ...]) -> Iterator[Unreadable]:
    line, column = directive.where.line, directive.where.column
    if directive.problem:
        yield Unreadable(directive.problem, line=line, column=column, hint="write: ignore[HU103] why it is accepted")
    elif not directive.used and any(rule.startswith(directive.rules) for rule in ran):
        rules = ", ".join(directive.rules)
        yield Unreadable(f"the suppression of {rules} silences nothing", line=line, column=column, hint="remove it")


def _directive(rules: str, rest: str, today: date) -> tuple[tuple[str, ...], str, str]:
    """(rules, reason, problem) of a directive's text."""
    given = [name.strip() for name in rules.split(",") if name.strip()]
    names = tuple(meaning(name) for name in given)
    until = _UNTIL.search(rest)
    reason = _UNTIL.sub("", rest).strip(" \t:-")
    if not names:
        return names, reason, "the suppression names no rule"
    if "" in names:
        return names, reason, f"the suppression names an unknown rule {given[names.index('')]}"
    if not reason:
        return names, reason, f"the suppression of {', '.join(names)} has no reason: not applied"
    if until is not None:
        try:
            end = date.fromisoformat(until.group(1).rstrip(",;"))
        except ValueError:
            return names, reason, f"until={until.group(1)} is not a date like 2027-01-31: not applied"
        if end < today:
            return names, reason, f"the suppression of {', '.join(names)} ended on {end}: not applied"
    return names, reason, ""


def _in_comments(files: Iterable[TextFile], today: date) -> Iterator[Suppression]:
    for file in files:
        if "interlock:" not in file.text:
            continue
        for number, line in enumerate(file.lines, 1):
            match = _COMMENT.search(line)
            if match is None:
                continue
            rules, reason, problem = _directive(match["rules"] or "", match["rest"], today)
            where = file.location(number, match.start() + 1)
            first = last = number
            if not line[: match.start()].strip():  # a line of its own speaks for the next line with code
                last = _next_code(file.lines, number)
            lines = file.location(first).line or first, file.location(last).line or last
            yield Suppression(where.path, where, rules, reason, lines, problem=problem)


def _next_code(lines: list[str], number: int) -> int:
    for index in range(number, len(lines)):
        code = lines[index].strip()
        if code and not code.startswith(("#", "//")):
            return index + 1
    return number


def _in_annotations(resources: Iterable[Resource], today: date) -> Iterator[Suppression]:
    for resource in resources:
        holders = [(resource.meta, "")]
        if "template" in resource.spec:
            meta = dig(resource.spec, "template", "metadata")
            if isinstance(meta, Map) and meta.parent is not None:
                holders.append((meta, pointer(meta).removesuffix("/metadata")))
        for meta, below in holders:
            annotations = meta.get_map("annotations")
            for key, value in annotations.items():
                if key.startswith(PREFIX):
                    rules, reason, problem = _directive(key.removeprefix(PREFIX), text(value), today)
                    where = resource.at_key(annotations, key)
                    base = below or pointer(resource.root)
                    yield Suppression(where.path, where, rules, reason, None, resource.identity, base, problem)
