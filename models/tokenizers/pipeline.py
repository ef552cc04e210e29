"""Canonical JSON of a tokenizer.json's pipeline: normalizer, pre-tokenizer, post-processor and decoder.

Identities are removed: a sequence of one is that one, an empty sequence is nothing, nested sequences are flat, and a
field that changes no id is left out. Sources: the serde definitions of the `tokenizers` library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UnreadableModel
from ..strict_json import as_list, as_object
from . import schema

MAX_PARTS = 256


def normalizer(value: Any, what: str) -> Any:
    """The canonical normalizer, None for none."""
    return _sequence(value, "normalizers", "normalizer", what)


def pre_tokenizer(value: Any, what: str) -> Any:
    """The canonical pre-tokenizer; trimming of offsets moves no boundary and is left out."""
    return _sequence(value, "pretokenizers", "pre_tokenizer", what)


def post_processor(value: Any, what: str) -> Any:
    """The canonical post-processor; byte-level post-processing only trims offsets and is nothing here."""
    return _sequence(value, "processors", "post_processor", what)


def decoder(value: Any, what: str) -> Any:
    """The canonical decoder; the fields of the byte-level decoder are not read by it."""
    return _sequence(value, "decoders", "decoder", what)


def parts(component: Any) -> list[dict[str, Any]]:
    """The steps of a canonical pre-tokenizer in order, none for None."""
    if component is None:
        return []
    return component["pretokenizers"] if component.get("type") == "Sequence" else [component]


_INERT: dict[tuple[str, str], tuple[str, ...]] = {
    ("pre_tokenizer", "ByteLevel"): ("trim_offsets",),
    ("decoder", "ByteLevel"): ("trim_offsets", "add_prefix_space", "use_regex"),
    ("post_processor", "RobertaProcessing"): ("trim_offsets", "add_prefix_space"),
}
_DEFAULTS: dict[tuple[str, str], Mapping[str, Any]] = {
    ("pre_tokenizer", "ByteLevel"): {"add_prefix_space": True, "use_regex": True},
    ("pre_tokenizer", "Split"): {"invert": False},
    ("pre_tokenizer", "Metaspace"): {"replacement": "▁", "prepend_scheme": "always", "split": True},
    ("decoder", "Metaspace"): {"replacement": "▁", "prepend_scheme": "always", "split": True},
    ("pre_tokenizer", "Digits"): {"individual_digits": False},
    ("decoder", "WordPiece"): {"prefix": "##", "cleanup": True},
    ("normalizer", "BertNormalizer"): {
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
}
_NOTHING = {("post_processor", "ByteLevel")}


def _sequence(value: Any, key: str, part: str, what: str) -> Any:
    flat: list[dict[str, Any]] = []
    _flatten(value, key, part, what, flat)
    if not flat:
        return None
    return flat[0] if len(flat) == 1 else {"type": "Sequence", key: flat}


def _flatten(value: Any, key: str, part: str, what: str, into: list[dict[str, Any]], depth: int = 0) -> None:  # noqa: PLR0917
    if value is None:
        return
    entry: dict[str, Any] = as_object(value, what, part)
    kind = entry.get("type")
    if not isinstance(kind, str):
        raise UnreadableModel(what, f"{part} has no type", hint="tokenizers of before 0.10 must be saved again")
    if kind == "Sequence" and depth <= MAX_PARTS:
        for item in as_list(entry.get(key), what, f"{part}.{key}"):
            _flatten(item, key, part, what, into, depth + 1)
        return
    if len(into) >= MAX_PARTS or depth > MAX_PARTS:
        raise UnreadableModel(what, f"{part} has more than {MAX_PARTS} parts")
    schema.check(entry, part, kind, what)
    if (part, kind) not in _NOTHING:
        into.append(_component(entry, part, kind))


def _component(entry: dict[str, Any], part: str, kind: str) -> dict[str, Any]:
    inert = _INERT.get((part, kind), ())
    result = {**_DEFAULTS.get((part, kind), {}), **{k: v for k, v in entry.items() if k not in inert}}
    if kind == "Metaspace":
        # Before 0.15 the choice was a flag.
        old = result.pop("add_prefix_space", None)
        result.pop("str_rep", None)
        if old is not None and "prepend_scheme" not in entry:
            result["prepend_scheme"] = "always" if old else "never"
    if kind == "BertNormalizer" and result["strip_accents"] is None:
        result["strip_accents"] = result["lowercase"]  # the library strips them where it lowercases
    if kind == "TemplateProcessing":
        result["special_tokens"] = _used_tokens(result)
    return result


def _used_tokens(template: dict[str, Any]) -> Any:
    """The special tokens that the template uses; others are declared for nothing."""
    if not isinstance(template.get("special_tokens"), dict):
        return template.get("special_tokens")
    tokens: dict[str, Any] = template["special_tokens"]
    used: set[str] = set()
    for side in ("single", "pair"):
        items: list[Any] = template.get(side) or []
        for item in items:
            match item:
                case {"SpecialToken": {"id": str(name)}}:
                    used.add(name)
                case _:
                    pass
    return {name: value for name, value in tokens.items() if name in used}
