"""The large parts of tokenizer.json, checked item by item: vocabulary, merges, scored pieces."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, repeat
from typing import Any, Literal, cast

from ..errors import UnreadableModel
from ..strict_json import as_integer, as_list, as_object, describe
from ..tokenizer import MAX_ID

_MAX_SCORE = 1e308  # an integer may be larger than every float
Pairs = tuple[tuple[str, str], ...]


def number(value: Any, what: str, where: str) -> int:
    """An id: an integer of 32 bits. Raises UnreadableModel, as all of these do, naming `where` in file `what`."""
    found = as_integer(value, what, where)
    if not 0 <= found <= MAX_ID:
        raise UnreadableModel(what, f"{where} is {found}, outside 0 to {MAX_ID}")
    return found


def vocab(value: Any, what: str) -> Mapping[str, int]:
    """Token to id."""
    table: dict[str, int] = as_object(value, what, "model.vocab")
    if set(map(type, table.values())) == {int} and min(table.values()) >= 0 and max(table.values()) <= MAX_ID:
        return table
    for token, found in table.items():
        if type(found) is not int or not 0 <= found <= MAX_ID:
            raise UnreadableModel(what, f"model.vocab[{token[:40]!r}] is {_shown(found)}, not an id")
    return table


def _shown(value: Any) -> str:
    return str(value)[:40] if isinstance(value, int | float) else describe(value)


def merges(value: Any, what: str) -> tuple[Literal["", "string", "pair"], Pairs]:
    """Merges as pairs: from "left right" strings, or lists of two strings (tokenizers >= 0.20)."""
    items: list[Any] = as_list(value, what, "model.merges")
    kinds = set(map(type, items))
    if kinds == {str}:
        split = tuple(map(tuple, map(str.split, items, repeat(" "))))
        if set(map(len, split)) == {2}:
            return "string", cast("Pairs", split)
    elif kinds == {list} and set(map(len, items)) == {2} and set(map(type, chain.from_iterable(items))) == {str}:
        return "pair", cast("Pairs", tuple(map(tuple, cast("list[list[str]]", items))))
    # Something is wrong, or there is nothing: item by item, to say what and where.
    pairs: list[tuple[str, str]] = []
    strings = 0
    for index, item in enumerate(items):
        if isinstance(item, str):
            strings += 1
            left, space, right = item.partition(" ")
            if not space or " " in right:
                raise UnreadableModel(what, f"model.merges[{index}] is {item[:40]!r}, not two tokens and one space")
            pairs.append((left, right))
        else:
            match item:
                case [str(left), str(right)]:
                    pairs.append((left, right))
                case _:
                    raise UnreadableModel(what, f"model.merges[{index}] is {describe(item)}, not two tokens")
    if strings and strings != len(items):
        raise UnreadableModel(what, "model.merges mixes strings and pairs")
    return ("string" if strings else "pair" if items else ""), tuple(pairs)


def pieces(value: Any, what: str) -> list[tuple[str, float]]:
    """(piece, log probability) by id."""
    found: list[tuple[str, float]] = []
    for index, item in enumerate(as_list(value, what, "model.vocab")):
        match item:
            case [str(piece), int() | float() as score] if type(score) is not bool and abs(score) <= _MAX_SCORE:
                found.append((piece, float(score)))
            case _:
                raise UnreadableModel(what, f"model.vocab[{index}] is not a piece and a finite score")
    return found
