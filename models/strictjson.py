"""JSON as artefacts must write it: no duplicate keys, no NaN, bounded size and depth."""

from __future__ import annotations

import json
from typing import Any

from .errors import UnreadableModel


class _Duplicate(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Duplicate(f"key {key[:80]!r} occurs twice")
            seen.add(key)
    return result


def _constant(text: str) -> Any:
    raise _Duplicate(f"{text} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


def parse(data: bytes, name: str, *, offset: int = 0) -> Any:
    """The value of a JSON text in UTF-8.

    Readers that disagree on a duplicate key would serve different models from one file, so it is refused, as are
    NaN and Infinity (RFC 8259 has no such numbers). Raises UnreadableModel with the byte position.
    """
    try:
        text = data.decode("utf-8-sig" if offset == 0 else "utf-8")
        return _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise UnreadableModel(name, "is not UTF-8", offset=offset + error.start) from error
    except json.JSONDecodeError as error:
        at = offset + len(error.doc[: error.pos].encode())
        raise UnreadableModel(name, f"invalid JSON: {error.msg.lower()}", offset=at) from error
    except (_Duplicate, ValueError) as error:
        raise UnreadableModel(name, f"invalid JSON: {error}") from error
    except RecursionError as error:
        raise UnreadableModel(name, "invalid JSON: nested too deeply") from error
