"""Added tokens that a directory declares beside a tokenizer of a format without them."""

from __future__ import annotations

from typing import Any

from ..errors import UnreadableModel
from ..hf_config import read_json_config
from ..numerals import whole
from ..strict_json import as_integer, as_object, as_string
from ..tokenizer import MAX_ID, AddedToken
from ..tree import ModelTree


def added_tokens(tree: ModelTree) -> tuple[AddedToken, ...]:
    """From `added_tokens_decoder` of tokenizer_config.json, else from added_tokens.json. Raises UnreadableModel."""
    file = tree.files.get("tokenizer_config.json")
    if file is not None:
        declared: Any = read_json_config(file.path).get("added_tokens_decoder")
        if declared is not None:
            what = str(file.path)
            entries = as_object(declared, what, "added_tokens_decoder")
            return tuple(_entry(key, value, what) for key, value in sorted(entries.items(), key=lambda e: len(e[0])))
    file = tree.files.get("added_tokens.json")
    if file is None:
        return ()
    what = str(file.path)
    return tuple(
        AddedToken(as_integer(number, what, f"/{content}"), content)
        for content, number in read_json_config(file.path).items()
    )


def _entry(key: str, value: Any, what: str) -> AddedToken:
    where = f"added_tokens_decoder[{key[:20]!r}]"
    entry = as_object(value, what, where)
    number = whole(key)
    if number is None or number > MAX_ID:
        raise UnreadableModel(what, f"{where} is not an id")
    special = bool(entry.get("special", False))
    return AddedToken(
        number,
        as_string(entry.get("content"), what, f"{where}.content"),
        special=special,
        single_word=bool(entry.get("single_word", False)),
        lstrip=bool(entry.get("lstrip", False)),
        rstrip=bool(entry.get("rstrip", False)),
        normalized=bool(entry.get("normalized", not special)),
    )
