"""Two values of a setting for a message: of long lists and objects, only what differs."""

from __future__ import annotations

from typing import Any

_MOST = 40
_NAMED = 3


def change(old: Any, new: Any) -> str:
    """`old → new`, in about a line."""
    whole = f"{_text(old)} → {_text(new)}"
    if len(whole) <= 2 * _MOST:
        return whole
    match old, new:
        case {**a}, {**b}:
            other = [_entry(str(key), a[key], b[key]) for key in a if key in b and a[key] != b[key]]
        case [*a], [*b]:
            other = []
        case _:
            return f"{short(old)} → {short(new)}"
    parts = (
        ("without", [str(each) for each in a if each not in b]),
        ("with", [str(each) for each in b if each not in a]),
    )
    said = ", ".join(
        [*(f"{word} {_named(each)}" for word, each in parts if each), *([_listed(other)] if other else [])]
    )
    return f"{len(a)} → {len(b)} entries, {said or 'in another order'}"


def short(value: Any) -> str:
    """A value in a few words; of one that is too long its beginning, and how much it holds."""
    text = _text(value)
    if len(text) <= _MOST:
        return text
    match value:
        case [_, _, *_]:
            return f"{text[: _MOST // 2]}… ({len(value)} entries)"
        case _:
            return text[: _MOST - 1] + "…"


def _entry(key: str, old: Any, new: Any) -> str:
    """What differs under a key: of an object, its keys that do."""
    match old, new:
        case {**a}, {**b}:
            return ", ".join(
                f"{key}/{name} {short(a.get(name))} → {short(b.get(name))}"
                for name in dict.fromkeys([*a, *b])
                if a.get(name) != b.get(name)
            )
        case _:
            return f"{key} {short(old)} → {short(new)}"


def _named(values: list[str]) -> str:
    return _listed([short(each) for each in values])


def _listed(values: list[str]) -> str:
    more = f" and {len(values) - _NAMED} more" if len(values) > _NAMED else ""
    return ", ".join(values[:_NAMED]) + more


def _text(value: Any) -> str:
    return "none" if value is None else str(value)
