"""Which line of a template a line of its rendered text comes from."""

from __future__ import annotations

import re
from bisect import bisect_right
from difflib import SequenceMatcher

from ..lazy import lazy

MAX_LINES = 5000
_ACTION = lazy(r"\{\{.*?\}\}")
_KEY = lazy(r"^(- )*(\"?[\w./$-]+\"?):")


def line_map(template: str, rendered: str) -> list[int]:
    """For each rendered line, counted from 0, the template line it comes from, counted from 1.

    Lines are compared by their key (`replicas:` for `replicas: {{ .Values.n }}`), or whole where they have none. A line
    that an action makes, such as `{{- toYaml .Values.resources | nindent 12 }}`, is the line of that action.
    """
    sources, results = template.split("\n"), rendered.split("\n")
    if len(sources) > MAX_LINES or len(results) > MAX_LINES:
        return [1] * len(results)
    mapped = [0] * len(results)
    matcher = SequenceMatcher(None, [_token(line) for line in sources], [_token(line) for line in results], False)
    for start, at, size in matcher.get_matching_blocks():
        for offset in range(size):
            if results[at + offset].strip():
                mapped[at + offset] = start + offset + 1
    places: dict[str, list[int]] = {}
    for number, line in enumerate(sources, 1):
        token = _token(line)
        if token:
            places.setdefault(token, []).append(number)
    last = 1
    for index, line in enumerate(results):
        if mapped[index]:
            last = mapped[index]
            continue
        following = next((each for each in mapped[index + 1 : index + 200] if each), len(sources) + 1)
        mapped[index] = _made(sources, last, following) or _nearest(places.get(_token(line), []), last) or last
    return mapped


def _token(line: str) -> str:
    """What a line is compared by; empty for lines of control actions and blanks."""
    bare = line.strip()
    if not bare or bare.startswith(("{{", "#")):
        return ""
    found = _KEY.match(bare)
    if found:
        return found.group()
    return _ACTION.sub("", bare).strip()


def _made(sources: list[str], after: int, before: int) -> int:
    """The line between two others that pours text in; 0 where none does."""
    for number in range(after, min(before - 1, len(sources))):
        if re.search(r"toYaml|include|tpl|template|nindent", sources[number]):
            return number + 1
    return 0


def _nearest(numbers: list[int], last: int) -> int:
    """The number at or before `last`, else the first; 0 for none. A loop repeats the lines before."""
    if not numbers:
        return 0
    place = bisect_right(numbers, last)
    return numbers[place - 1] if place else numbers[0]
