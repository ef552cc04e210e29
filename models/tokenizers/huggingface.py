"""Read tokenizer.json, the serialisation of the `tokenizers` library."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import UnreadableModel
from ..strict_json import as_integer, as_list, as_object, as_string, describe, loads, loads_object
from ..tokenizer import FLAGS, AddedToken, Algorithm, Part, Tokenizer
from ..tree import ModelTree, TreeFile
from . import parts, pipeline, schema
from .cut import Cut, cut, highest

MAX_BYTES = 256 << 20


def read(file: TreeFile, tree: ModelTree) -> Tokenizer:  # noqa: ARG001 - the signature of all readers
    """The tokenizer of a tokenizer.json.

    Vocabulary and merges are digested and dropped, and read again from the file when a rule needs them: two
    tokenizers are then never in memory together for nothing. Raises UnreadableModel.
    """
    if file.size > MAX_BYTES:
        raise UnreadableModel(file.path, f"{file.size} bytes is more than the {MAX_BYTES} a tokenizer may have")
    return parse(file.path.read_bytes(), str(file.path), source=file.path)


def parse(data: bytes, what: str, source: Path | None = None) -> Tokenizer:
    """The tokenizer in the bytes of a tokenizer.json; `source` allows reading its sections again later."""
    sections = cut(data, what)
    document = loads_object(data, what) if sections is None else sections.rest
    _known(document, what)
    model = as_object(document.get("model"), what, "model")
    algorithm = _algorithm(model, what)
    schema.model(model, algorithm, what)
    tokenizer = Tokenizer(
        path=what,
        format="tokenizer.json",
        algorithm=algorithm,
        vocab=Part(dict[str, int]),
        settings=_settings(model, algorithm),
        added=_added(document, what),
        normalizer=pipeline.normalizer(document.get("normalizer"), what),
        pre_tokenizer=pipeline.pre_tokenizer(document.get("pre_tokenizer"), what),
        post_processor=pipeline.post_processor(document.get("post_processor"), what),
        decoder=pipeline.decoder(document.get("decoder"), what),
        truncation=_whole(document, "truncation", what),
        padding=_whole(document, "padding", what),
    )
    if sections is not None:
        _lazily(tokenizer, data, what, sections, source)
    elif algorithm == "Unigram":
        pieces = parts.pieces(model.get("vocab"), what)
        unknown = tokenizer.settings["unk_id"]
        if unknown is not None and not 0 <= as_integer(unknown, what, "model.unk_id") < len(pieces):
            raise UnreadableModel(what, f"model.unk_id is {unknown}, outside the {len(pieces)} pieces")
        tokenizer.vocab = Part(lambda: {piece: number for number, (piece, _) in enumerate(pieces)})
        tokenizer.scores = Part(lambda: {number: score for number, (_, score) in enumerate(pieces)})
    else:
        vocab = parts.vocab(model.get("vocab"), what)
        tokenizer.vocab = Part(lambda: vocab)
        if algorithm == "BPE":
            form, merges = parts.merges(model.get("merges", []), what)
            tokenizer.merge_form, tokenizer.merges = form, Part(lambda: merges)
    return tokenizer


def _whole(document: dict[str, Any], part: str, what: str) -> dict[str, Any] | None:
    if document.get(part) is None:
        return None
    return schema.whole(as_object(document[part], what, part), part, what)


_KEYS = frozenset(
    ("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder")
)


def _known(document: dict[str, Any], what: str) -> None:
    """Refuse what the library refuses: another version, and keys that it does not know."""
    if document.get("version", "1.0") != "1.0":
        raise UnreadableModel(what, f"has the version {str(document['version'])[:20]!r}; the library reads 1.0 only")
    unknown = next((key for key in document if key not in _KEYS and key != "model"), None)
    if unknown is not None:
        raise UnreadableModel(what, f"has the key {unknown[:40]!r}, which the library refuses")


Span = tuple[int, int]
Reread = Callable[[int, int], bytes]


def _lazily(tokenizer: Tokenizer, data: bytes, what: str, sections: Cut, source: Path | None) -> None:
    """Set the parts of `tokenizer` that were cut out. Nothing here may hold on to `data` where there is a file."""
    reread = _of_memory(data) if source is None else _of_file(source, len(data))
    start, end = sections.merges
    head = data[start : min(end, start + 64)].lstrip()[:1]
    tokenizer.merge_form = "pair" if head == b"[" else "string" if head else ""
    tokenizer.vocab = Part(_vocab_part(reread, sections.vocab, what), _digest(data, sections.vocab))
    tokenizer.merges = Part(_merges_part(reread, sections.merges, what), _digest(data, sections.merges))
    tokenizer.top_id = _top_id(reread, sections.vocab)


def _of_memory(data: bytes) -> Reread:
    return lambda start, end: data[start:end]


def _of_file(path: Path, size: int) -> Reread:
    def reread(start: int, end: int) -> bytes:
        with path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            section = os.pread(stream.fileno(), min(end, size) - start, start)
        if status.st_size != size or len(section) != min(end, size) - start:
            raise UnreadableModel(path, "changed while it was read")
        return section

    return reread


def _vocab_part(reread: Reread, span: Span, what: str) -> Callable[[], Mapping[str, int]]:
    return lambda: parts.vocab(_section(b"{" + reread(*span) + b"}", reread, what), what)


def _merges_part(reread: Reread, span: Span, what: str) -> Callable[[], parts.Pairs]:
    return lambda: parts.merges(_section(b"[" + reread(*span) + b"]", reread, what), what)[1]


def _top_id(reread: Reread, span: Span) -> Callable[[], int]:
    return lambda: highest(reread(*span))


def _section(data: bytes, reread: Reread, what: str) -> Any:
    """A parsed section; where it is malformed, the error of the whole file, which has the right line and column."""
    try:
        return loads(data, what)
    except UnreadableModel:
        loads(reread(0, 1 << 62), what)
        raise


def _digest(data: bytes, span: Span) -> str:
    return hashlib.sha256(memoryview(data)[slice(*span)]).hexdigest()


def _algorithm(model: dict[str, Any], what: str) -> Algorithm:
    """The declared type or, for files from before it was written, what the fields tell."""
    declared = model.get("type")
    if declared in ("BPE", "Unigram", "WordPiece", "WordLevel"):
        return declared
    if declared is not None:
        raise UnreadableModel(what, f"unknown model type {declared!r}", hint="is this a tokenizer.json?")
    if isinstance(model.get("vocab"), list):
        return "Unigram"
    if "merges" in model:
        return "BPE"
    return "WordPiece" if "max_input_chars_per_word" in model else "WordLevel"


# What the library fills in for a missing field, where it may be missing; null and "" mean the same for affixes.
_DEFAULTS: dict[Algorithm, dict[str, Any]] = {
    "BPE": {
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
    },
    "Unigram": {"unk_id": None, "byte_fallback": False},
    "WordPiece": {"unk_token": "", "continuing_subword_prefix": "", "max_input_chars_per_word": 0},
    "WordLevel": {"unk_token": ""},
}


def _settings(model: dict[str, Any], algorithm: Algorithm) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, default in _DEFAULTS[algorithm].items():
        value = model.get(key, default)
        if value is None or (algorithm == "BPE" and value == "" and key != "unk_token"):
            value = default
        settings[key] = value
    if settings.get("dropout") in (0, 0.0):
        settings["dropout"] = None
    return settings


def _added(document: dict[str, Any], what: str) -> tuple[AddedToken, ...]:
    result: list[AddedToken] = []
    for index, item in enumerate(as_list(document.get("added_tokens") or [], what, "added_tokens")):
        where = f"added_tokens[{index}]"
        entry: dict[str, Any] = as_object(item, what, where)
        result.append(
            AddedToken(
                id=parts.number(entry.get("id"), what, f"{where}.id"),
                content=as_string(entry.get("content"), what, f"{where}.content"),
                **{flag: _flag(entry, flag, what, where) for flag in FLAGS},
            )
        )
    return tuple(result)


def _flag(entry: dict[str, Any], flag: str, what: str, where: str) -> bool:
    """A flag; the library has no default for any of them."""
    value = entry.get(flag)
    if not isinstance(value, bool):
        raise UnreadableModel(what, f"{where}.{flag} is {describe(value)}, not true or false")
    return value
