"""JSON as the serving stacks read it, and no looser: duplicate keys, NaN, lone surrogates and deep nesting are errors.

Two readers that resolve a duplicate key differently see two models in one file, so a duplicate is never accepted.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, cast

from .errors import UnreadableModel

Value = Any

MAX_DEPTH = 200
_SURROGATE = re.compile(rb"\\u[dD][89abAB]|\\u[dD][c-fC-F]")
_LARGE = 1 << 20
# A list of two bytes takes 64 in memory. Smaller documents do no harm, larger ones hold at most so many values: more
# than twice what the largest tokenizer in public use has.
_HUGE, MAX_VALUES = 16 << 20, 6_000_000


def loads(data: bytes, what: object, *, limit: int = 0) -> Value:
    """Parse a whole JSON document.

    `what` names the file in errors; `limit` refuses more bytes than that (0: no limit). Raises UnreadableModel with
    line and column for a syntax error, a duplicate key, NaN or Infinity, invalid UTF-8, a lone surrogate, or nesting
    deeper than MAX_DEPTH.
    """
    if limit and len(data) > limit:
        raise UnreadableModel(what, f"{len(data)} bytes is more than the {limit} such a file may have")
    if data.startswith(b"\xef\xbb\xbf"):
        raise UnreadableModel(what, "starts with a UTF-8 byte order mark", hint="save it without one", offset=0)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableModel(what, "not UTF-8", offset=error.start) from None
    bounded(data, what)
    # Without that many brackets nothing can be nested that deep; counting them is a hundred times cheaper.
    if len(data) < _LARGE and text.count("[") + text.count("{") > MAX_DEPTH:
        _shallow(text, what)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            _duplicate(items, text, what)
        return result

    def constant(name: str) -> NoReturn:
        raise UnreadableModel(what, f"{name} is not JSON{_place(text, text.find(name))}")

    try:
        # In large files, which are vocabularies, the readers check the few numbers themselves.
        finite = _finite if len(data) < _LARGE else None
        value: Any = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_float=finite)
    except UnreadableModel:
        raise
    except json.JSONDecodeError as error:
        reason = f"invalid JSON at line {error.lineno} column {error.colno}: {error.msg.lower()}"
        raise UnreadableModel(what, reason, hint="is the file complete?") from None
    except RecursionError:
        raise UnreadableModel(what, f"JSON nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:  # an integer of thousands of digits, a float beyond all bounds
        raise UnreadableModel(what, f"invalid JSON: {str(error).split(';', maxsplit=1)[0].lower()}") from None
    if len(data) >= _LARGE:
        _few_levels(value, what)
    if _SURROGATE.search(data):
        _whole_characters(value, what)
    return value


def bounded(data: bytes, what: object) -> None:
    """Raises UnreadableModel where a large document holds more values than memory should be spent on."""
    if len(data) > _HUGE and sum(data.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise UnreadableModel(what, f"holds more than {MAX_VALUES:,} values", hint="is this such a file?")


def loads_object(data: bytes, what: object, *, limit: int = 0) -> dict[str, Value]:
    """`loads`, and the document must be an object."""
    return as_object(loads(data, what, limit=limit), what, "the document")


def as_object(value: Value, what: object, where: str) -> dict[str, Value]:
    """`value` if it is an object, else UnreadableModel naming `where` in file `what`; so are the next three."""
    if isinstance(value, dict):
        return cast("dict[str, Value]", value)
    raise UnreadableModel(what, f"{where} is {describe(value)}, not an object")


def as_list(value: Value, what: object, where: str) -> list[Value]:
    """`value` if it is a list."""
    if isinstance(value, list):
        return cast("list[Value]", value)
    raise UnreadableModel(what, f"{where} is {describe(value)}, not a list")


def as_string(value: Value, what: object, where: str) -> str:
    """`value` if it is a string."""
    if isinstance(value, str):
        return value
    raise UnreadableModel(what, f"{where} is {describe(value)}, not a string")


def as_integer(value: Value, what: object, where: str) -> int:
    """`value` if it is an integer; true and false are none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise UnreadableModel(what, f"{where} is {describe(value)}, not an integer")


_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "a string", int: "an integer", bool: "true or false"}


def describe(value: Value) -> str:
    """A JSON value's type in words, for messages."""
    if value is None:
        return "null"
    for kind in (bool, int, str, dict, list):
        if isinstance(value, kind):
            return _NAMES[kind]
    return "a number"


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise ValueError(f"{text[:20]} is too large a number")
    return value


def _duplicate(items: list[tuple[str, Any]], text: str, what: object) -> NoReturn:
    seen: set[str] = set()
    for key, _ in items:
        if key in seen:
            quoted = json.dumps(key, ensure_ascii=False)
            first = text.find(quoted)
            raise UnreadableModel(
                what,
                f"duplicate key {quoted[:80]}{_place(text, text.find(quoted, first + 1))}",
                hint="readers disagree on which one counts: remove one",
            )
        seen.add(key)
    raise AssertionError("no duplicate")


def _place(text: str, index: int) -> str:
    if index < 0:
        return ""
    return f" at line {text.count(chr(10), 0, index) + 1} column {index - text.rfind(chr(10), 0, index)}"


def _few_levels(value: Value, what: object) -> None:
    """Refuse deep nesting after parsing: level by level, which costs less than looking at every bracket."""
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH + 1):
        # `isinstance` would double the time, and the parser makes no subclasses.
        level = [each for item in level for each in _inner(item) if type(each) is list or type(each) is dict]
        if not level:
            return
    raise UnreadableModel(what, f"JSON nested deeper than {MAX_DEPTH} levels")


def _inner(item: Any) -> Any:
    return item.values() if type(item) is dict else item  # pyright: ignore[reportUnknownVariableType]


def _shallow(text: str, what: object) -> None:
    """Refuse deep nesting before the parser recurses. Large files rely on the parser's own recursion limit first."""
    depth = 0
    for mark in _MARKS.finditer(text):
        character = mark.group()[0]
        if character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise UnreadableModel(
                    what, f"JSON nested deeper than {MAX_DEPTH} levels{_place(text, mark.start())}"
                ) from None
        elif character in "]}":
            depth -= 1


# Written so that the matcher keeps nothing per character of a string: a bundle holds strings of megabytes.
_MARKS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')


def _whole_characters(value: Value, what: object) -> None:
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            try:
                item.encode("utf-8")
            except UnicodeEncodeError:
                raise UnreadableModel(what, f"lone surrogate in the string {item[:40]!r}") from None
        elif isinstance(item, dict):
            for pair in cast("dict[str, Any]", item).items():
                stack.extend(pair)
        elif isinstance(item, list):
            stack.extend(cast("list[Any]", item))


def items_of(value: Value) -> list[Value]:
    """The items of a list; a single value is a list of one, null of none."""
    if value is None:
        return []
    return cast("list[Value]", value) if isinstance(value, list) else [value]
