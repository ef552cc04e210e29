"""Small tokenizers and model directories for the tests of this folder and its neighbours."""

from __future__ import annotations

import base64
import copy
import json
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import sentencepiece
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.models.tokenizers.spelling import mapped
from interlock.report.report import Report

Json = dict[str, Any]
BYTES = [mapped(bytes([byte])) for byte in range(256)]
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
MERGES = [("a", "b"), ("c", "d"), ("ab", "cd"), ("e", "r"), ("\u0120", "t"), ("h", "e"), ("\u0120t", "he"), ("1", "1")]


def added(number: int, content: str, **flags: bool) -> Json:
    """An entry of added_tokens."""
    entry = {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False}
    return {**entry, "normalized": False, "special": True, **flags}


def byte_level(
    merges: Iterable[tuple[str, str]] = MERGES,
    specials: Iterable[str] = ("<|bos|>", "<|eos|>", "<|pad|>"),
    **model: Any,
) -> Json:
    """A byte-level BPE tokenizer.json: 256 bytes, then a token a merge, then the special tokens."""
    pairs = list(merges)
    tokens = [*BYTES]
    tokens += [token for token in dict.fromkeys(a + b for a, b in pairs) if token not in tokens]
    first = len(tokens)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(first + i, content) for i, content in enumerate(specials)],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
            ],
        },
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            **model,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [f"{a} {b}" for a, b in pairs],
        },
    }


def wordpiece(pieces: Iterable[str] = ("un", "##aff", "##able", "want", "##ed", "run"), **model: Any) -> Json:
    """A WordPiece tokenizer.json over the letters a to z."""
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{c}" for c in letters), *pieces]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(number, tokens[number]) for number in range(4)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": template(cls=(2, "[CLS]"), sep=(3, "[SEP]")),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            **model,
            "vocab": {token: number for number, token in enumerate(dict.fromkeys(tokens))},
        },
    }


PIECES = [("<unk>", 0.0), ("\u2581", -2.0), ("a", -3.0), ("b", -3.1), ("c", -3.2), ("ab", -4.0), ("abc", -5.5)]


def unigram(pieces: Iterable[tuple[str, float]] = PIECES, **model: Any) -> Json:
    """A Unigram tokenizer.json."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(0, "<unk>")],
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        "post_processor": None,
        "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": 0, **model, "vocab": [[piece, score] for piece, score in pieces]},
    }


def template(cls: tuple[int, str] | None = None, sep: tuple[int, str] | None = None) -> Json:
    """A TemplateProcessing that puts `cls` before and `sep` after."""
    text: list[Json] = [{"Sequence": {"id": "A", "type_id": 0}}]
    other: list[Json] = [{"Sequence": {"id": "B", "type_id": 1}}]
    before = [{"SpecialToken": {"id": cls[1], "type_id": 0}}] if cls else []
    after = [{"SpecialToken": {"id": sep[1], "type_id": 0}}] if sep else []
    tokens = {each[1]: {"id": each[1], "ids": [each[0]], "tokens": [each[1]]} for each in (cls, sep) if each}
    single = [*before, *text, *after]
    return {"type": "TemplateProcessing", "single": single, "pair": [*single, *other, *after], "special_tokens": tokens}


def changed(document: Json, path: str, value: Any) -> Json:
    """A copy of `document` with the value at `a.b.0` replaced."""
    result = copy.deepcopy(document)
    *parents, last = path.split(".")
    place: Any = result
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    place[int(last) if isinstance(place, list) else last] = value
    return result


def safetensors(tensors: Mapping[str, tuple[str, tuple[int, ...]]]) -> bytes:
    """A safetensors file of zeros with tensors of (dtype, shape)."""
    sizes = {"F32": 4, "F16": 2, "BF16": 2, "I8": 1}
    header: Json = {}
    offset = 0
    for name, (dtype, shape) in tensors.items():
        count = sizes[dtype]
        for dim in shape:
            count *= dim
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + count]}
        offset += count
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(offset)


def model(folder: Path, files: Mapping[str, Any]) -> Path:
    """A model directory: bytes and text as they are, everything else as JSON."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            path.write_text(text, encoding="utf-8")
    return folder


def judge(folder: Path, old: Mapping[str, Any], new: Mapping[str, Any], contract: Contract | None = None) -> Report:
    """The report on NEW against OLD."""
    return validate(model(folder / "new", new), against=model(folder / "old", old), contract=contract or Contract())


def levels(report: Report) -> dict[str, str]:
    """The worst level of every rule that spoke."""
    order = ("equal", "hot", "unproven", "restart", "breaks")
    found: dict[str, str] = {}
    for finding in report.findings:
        known = found.get(finding.rule, "equal")
        found[finding.rule] = max(known, finding.level or "breaks", key=order.index)
    return found


def verdict(report: Report) -> str:
    """The verdict on the pair."""
    return str(report.facts["verdict"])


def train(folder: Path, kind: str, **options: Any) -> Path:
    """A SentencePiece model trained on a few sentences."""
    text = folder / "text.txt"
    text.write_text("the cat sat on the mat\nthe dog ate the cat\na hat is a hat\n" * 30)
    sentencepiece.SentencePieceTrainer.Train(
        input=str(text), model_prefix=str(folder / "tokenizer"), vocab_size=options.pop("vocab_size", 60),
        model_type=kind, minloglevel=2, hard_vocab_limit=False, **options,
    )  # fmt: skip
    return folder / "tokenizer.model"


def tekken(size: int = 300, specials: int = 20) -> Json:
    """A tekken.json of all bytes and a few words."""
    tokens = [bytes([n]) for n in range(256)] + [f"w{n}".encode() for n in range(100)]
    vocab = [{"rank": n, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for n, t in enumerate(tokens)]
    config = {"pattern": r"\p{L}+|\p{N}", "default_vocab_size": size, "default_num_special_tokens": specials}
    return {"config": config, "vocab": vocab}
