"""The fields that the `tokenizers` library wants in each component of tokenizer.json; it refuses a file without them.

Measured by leaving out and changing each field (tests/models/tokenizer repeats that with the installed library).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from ..errors import UnreadableModel
from ..strict_json import describe, items_of

Test = Callable[[Any], bool]


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _character(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _pattern(value: Any) -> bool:
    match value:
        case {"String": str()} | {"Regex": str()}:
            return True
        case _:
            return False


def _token(value: Any) -> bool:
    match value:
        case [str(), int(number)]:
            return _count(number)
        case _:
            return False


def _one_of(*names: str) -> Test:
    return lambda value: value in names if isinstance(value, str) else False


def _optional(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _step(value: Any) -> bool:
    if not isinstance(value, dict) or len(cast("dict[str, Any]", value)) != 1:
        return False
    match cast("dict[str, Any]", value):
        case {"Sequence": {"id": "A" | "B", "type_id": kind}} | {"SpecialToken": {"id": str(), "type_id": kind}}:
            return _count(kind)
        case _:
            return False


def _steps(value: Any) -> bool:
    return isinstance(value, list) and all(map(_step, items_of(value)))


def _special(value: Any) -> bool:
    match value:
        case {"id": str(), "ids": [*ids], "tokens": [*tokens]}:
            return all(map(_count, ids)) and all(map(_text, tokens))
        case _:
            return False


def _specials(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_special, cast("dict[str, Any]", value).values()))


def _strategy(value: Any) -> bool:
    match value:
        case "BatchLongest":
            return True
        case {"Fixed": int(length)}:
            return _count(length)
        case _:
            return False


Fields = Mapping[str, Test]
_METASPACE: Fields = {"replacement": _character}
_BYTES: Fields = {"add_prefix_space": _flag, "trim_offsets": _flag}
_REPLACE: Fields = {"pattern": _pattern, "content": _text}
_NONE: Fields = {}
_BEHAVIOUR = _one_of("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")

REQUIRED: Mapping[str, Mapping[str, Fields]] = {
    "normalizer": {
        "BertNormalizer": {"clean_text": _flag, "handle_chinese_chars": _flag, "lowercase": _flag},
        "Strip": {"strip_left": _flag, "strip_right": _flag},
        **dict.fromkeys(("StripAccents", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "ByteLevel"), _NONE),
        "Precompiled": {"precompiled_charsmap": _text},
        "Replace": _REPLACE,
        "Prepend": {"prepend": _text},
    },
    "pre_tokenizer": {
        **dict.fromkeys(("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts"), _NONE),
        **dict.fromkeys(("Punctuation", "FixedLength"), _NONE),
        "ByteLevel": _BYTES,
        "CharDelimiterSplit": {"delimiter": _character},
        "Metaspace": _METASPACE,
        "Split": {"pattern": _pattern, "behavior": _BEHAVIOUR, "invert": _flag},
        "Digits": {"individual_digits": _flag},
    },
    "post_processor": {
        "RobertaProcessing": {"sep": _token, "cls": _token},
        "BertProcessing": {"sep": _token, "cls": _token},
        "ByteLevel": _BYTES,
        "TemplateProcessing": {"single": _steps, "pair": _steps, "special_tokens": _specials},
    },
    "decoder": {
        "BPEDecoder": {"suffix": _text},
        "ByteLevel": _BYTES,
        "WordPiece": {"prefix": _text, "cleanup": _flag},
        "Metaspace": _METASPACE,
        "CTC": {"pad_token": _text, "word_delimiter_token": _text, "cleanup": _flag},
        "Replace": _REPLACE,
        "Fuse": _NONE,
        "Strip": {"content": _character, "start": _count, "stop": _count},
        "ByteFallback": _NONE,
    },
}
_OPTIONAL: Mapping[tuple[str, str], Fields] = {
    ("normalizer", "BertNormalizer"): {"strip_accents": _optional(_flag)},
    ("pre_tokenizer", "ByteLevel"): {"use_regex": _flag},
    ("decoder", "ByteLevel"): {"use_regex": _flag},
    ("post_processor", "ByteLevel"): {"use_regex": _flag},
    ("pre_tokenizer", "Punctuation"): {"behavior": _BEHAVIOUR},
    **{
        (part, "Metaspace"): {
            "prepend_scheme": _one_of("always", "first", "never"),
            "split": _optional(_flag),
            "add_prefix_space": _flag,
        }
        for part in ("pre_tokenizer", "decoder")
    },
}
_SIDE = _one_of("Left", "Right")
_WHOLE: Mapping[str, tuple[Fields, Fields]] = {
    "truncation": (
        {"max_length": _count, "strategy": _one_of("LongestFirst", "OnlyFirst", "OnlySecond"), "stride": _count},
        {"direction": _SIDE},
    ),
    "padding": (
        {"strategy": _strategy, "direction": _SIDE, "pad_id": _count, "pad_type_id": _count, "pad_token": _text},
        {"pad_to_multiple_of": _optional(_count)},
    ),
}


def _share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


# (required, optional) settings of each model.
MODELS: Mapping[str, tuple[Fields, Fields]] = {
    "BPE": (
        {},
        {
            "dropout": _optional(_share),
            **dict.fromkeys(("unk_token", "continuing_subword_prefix", "end_of_word_suffix"), _optional(_text)),
            **dict.fromkeys(("fuse_unk", "byte_fallback", "ignore_merges"), _optional(_flag)),
        },
    ),
    "Unigram": ({}, {"unk_id": _optional(_count), "byte_fallback": _optional(_flag)}),
    "WordPiece": ({"unk_token": _text, "continuing_subword_prefix": _text, "max_input_chars_per_word": _count}, {}),
    "WordLevel": ({"unk_token": _text}, {}),
}


def model(entry: Mapping[str, Any], kind: str, what: str) -> None:
    """The same for the settings of a model."""
    required, optional = MODELS[kind]
    _fields(entry, required, f"model {kind}", what, required=True)
    _fields(entry, optional, f"model {kind}", what, required=False)


def check(entry: Mapping[str, Any], part: str, kind: str, what: str) -> None:
    """Refuse a component of an unknown kind, without a field that it needs, or with a field of another type."""
    known = REQUIRED[part]
    if kind not in known:
        raise UnreadableModel(what, f"{part} has the unknown type {kind[:40]!r}", hint="the library refuses to load it")
    _fields(entry, known[kind], f"{part} {kind}", what, required=True)
    _fields(entry, _OPTIONAL.get((part, kind), {}), f"{part} {kind}", what, required=False)


def whole(entry: Mapping[str, Any], part: str, what: str) -> dict[str, Any]:
    """`truncation` or `padding`, checked likewise, with its default filled in and nothing else."""
    required, optional = _WHOLE[part]
    _fields(entry, required, part, what, required=True)
    _fields(entry, optional, part, what, required=False)
    defaults = {"direction": "Right", "pad_to_multiple_of": None}
    return {key: entry.get(key, defaults.get(key)) for key in (*required, *optional)}


def _fields(entry: Mapping[str, Any], fields: Fields, name: str, what: str, *, required: bool) -> None:
    for field, test in fields.items():
        if field not in entry:
            if required:
                raise UnreadableModel(what, f"{name} has no {field}", hint="the library refuses to load it")
        elif not test(entry[field]):
            raise UnreadableModel(
                what,
                f"{name} has {describe(entry[field])} it cannot use as {field}",
                hint="the library refuses to load it",
            )
