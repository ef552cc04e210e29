"""GGUF files against the tokenizer.json that they were made of: marks around a text, WordPiece, literals of spaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.checks.validate.tokenizer.library import Library, library
from interlock.models.tokenizer import Tokenizer, read_tokenizer
from interlock.models.tree import read_tree
from validate.tokenizer import kit
from validate.tokenizer.test_formats import (
    CONTROL,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    write_gguf,
)

SPECIALS = ("<|bos|>", "<|eos|>", "<|pad|>")
BASE = kit.byte_level(specials=SPECIALS)
BOS, EOS, PAD = (each["id"] for each in BASE["added_tokens"])
WITH_BOS = kit.changed(BASE, "post_processor", kit.template(cls=(BOS, "<|bos|>")))
WITH_EOS = kit.changed(BASE, "post_processor", kit.template(sep=(EOS, "<|eos|>")))
WITH_PAD = kit.changed(BASE, "post_processor", kit.template(cls=(PAD, "<|pad|>")))


def read(path: Path) -> Tokenizer:
    found = read_tokenizer(read_tree(path))
    assert found is not None
    return found


def byte_gguf(path: Path, **more: Any) -> Path:
    vocab = BASE["model"]["vocab"]
    names = [*vocab, *SPECIALS]
    types = [NORMAL] * len(vocab) + [CONTROL] * len(SPECIALS)
    return write_gguf(path, "gpt2", names, types, merges=BASE["model"]["merges"], bos=BOS, eos=EOS, **more)


def both_ways(one: Path, other: Path) -> list[str | None]:
    return [kit.levels(validate(new, against=old)).get("TOK-POST") for new, old in ((one, other), (other, one))]


@pytest.mark.parametrize(
    ("document", "flags", "same"),
    [
        (BASE, {"add_bos_token": True}, False),
        (WITH_BOS, {"add_bos_token": True}, True),
        (WITH_BOS, {"add_bos_token": False}, False),
        (WITH_PAD, {"add_bos_token": True}, False),
        (WITH_EOS, {"add_eos_token": True}, True),
        (WITH_EOS, {"add_bos_token": True}, False),
        (BASE, {"add_bos_token": False}, True),
        (BASE, {}, True),
        (WITH_BOS, {"pre": "llama-bpe"}, True),
        (BASE, {"pre": "llama-bpe"}, False),
    ],
)
def test_marks_around_a_text_across_formats(
    tmp_path: Path, document: dict[str, Any], flags: dict[str, Any], same: bool
) -> None:
    config = {"bos_token": "<|bos|>", "eos_token": "<|eos|>", "tokenizer_class": "PreTrainedTokenizerFast"}
    folder = kit.model(tmp_path / "json", {"tokenizer.json": document, "tokenizer_config.json": config})
    path = byte_gguf(tmp_path / "m.gguf", **flags)
    assert both_ways(folder, path) == [None if same else "breaks"] * 2
    lone = kit.model(tmp_path / "lone", {"tokenizer.json": document}) / "tokenizer.json"
    assert both_ways(lone, path) == [None if same else "breaks"] * 2


@pytest.mark.parametrize(
    ("more", "flag", "same"),
    [
        ({}, True, True),
        ({"add_bos_token": True}, True, True),
        ({"add_bos_token": False}, True, False),
        ({}, None, True),
    ],
)
def test_a_class_that_puts_bos_by_its_settings(
    tmp_path: Path, more: dict[str, Any], flag: bool | None, same: bool
) -> None:
    config = {"bos_token": "<|bos|>", "eos_token": "<|eos|>", "tokenizer_class": "LlamaTokenizerFast", **more}
    folder = kit.model(tmp_path / "json", {"tokenizer.json": BASE, "tokenizer_config.json": config})
    path = byte_gguf(tmp_path / "m.gguf", **({} if flag is None else {"add_bos_token": flag}))
    assert both_ways(folder, path) == [None if same else "breaks"] * 2


def bert_gguf(path: Path, document: dict[str, Any], **more: Any) -> Path:
    """What llama.cpp's converter writes of a WordPiece vocabulary."""
    specials = {each["content"] for each in document["added_tokens"]}
    tokens, types = [], []
    for token in document["model"]["vocab"]:
        types.append(CONTROL if token in specials else NORMAL)
        inside = token.startswith("##")
        tokens.append(token if token in specials else token[2:] if inside else f"\u2581{token}")
    return write_gguf(path, "bert", tokens, types, bos=2, eos=3, **more)


def test_wordpiece_in_gguf_has_the_pieces_of_tokenizer_json(tmp_path: Path) -> None:
    document = kit.wordpiece()
    folder = kit.model(tmp_path / "json", {"tokenizer.json": document})
    path = bert_gguf(tmp_path / "m.gguf", document)
    assert read(path).vocab.value == document["model"]["vocab"]
    assert read(path).fingerprint() == read(folder).fingerprint()
    for new, old in ((path, folder), (folder, path)):
        found = {rule: level for rule, level in kit.levels(validate(new, against=old)).items() if level != "hot"}
        assert found.keys().isdisjoint({"TOK-ID", "TOK-DEL", "TOK-ADD", "TOK-MERGE", "TOK-POST", "TOK-BOS", "TOK-EOS"})


@pytest.mark.parametrize(
    ("pieces", "rules"),
    [
        (("un", "##aff", "##able", "want", "##ed", "run", "##ning"), {"TOK-MERGE"}),
        (("un", "##aff", "##able", "want", "##ed", "run", "afford"), {"TOK-MERGE"}),
        (("un", "##aff", "##able", "want", "##ed", "##run"), {"TOK-ID"}),
        (("un", "##aff", "##able", "want", "##ed"), {"TOK-DEL"}),
    ],
)
@pytest.mark.parametrize("to_gguf", [True, False])
def test_other_pieces_are_told(tmp_path: Path, pieces: tuple[str, ...], rules: set[str], to_gguf: bool) -> None:
    old, new = kit.wordpiece(), kit.wordpiece(pieces)
    before, after = tmp_path / "old.gguf", tmp_path / "new.gguf"
    if to_gguf:
        before = kit.model(tmp_path / "old", {"tokenizer.json": old})
        bert_gguf(after, new)
    else:
        bert_gguf(before, old)
        after = kit.model(tmp_path / "new", {"tokenizer.json": new})
    found = {rule for rule, level in kit.levels(validate(after, against=before)).items() if level != "hot"}
    assert rules <= found
    witness = next((f.witness for f in validate(after, against=before).findings if f.rule == "TOK-MERGE"), None)
    if witness is not None:
        assert "None" not in witness["text"]


def test_marks_around_a_bert_text(tmp_path: Path) -> None:
    document = kit.wordpiece()
    path = bert_gguf(tmp_path / "m.gguf", document, add_bos_token=False)  # llama.cpp puts them all the same
    bare = kit.model(tmp_path / "bare", {"tokenizer.json": kit.changed(document, "post_processor", None)})
    assert both_ways(bare, path) == ["breaks"] * 2
    assert both_ways(bert_gguf(tmp_path / "n.gguf", document, add_bos_token=True), path) == [None] * 2


NAMES = ["<unk>", "<s>", "</s>", "\u2581", "a", "\u2581a", "\u2581\u2581", "<img>"]
KINDS = [UNKNOWN, CONTROL, CONTROL, NORMAL, NORMAL, NORMAL, USER_DEFINED, USER_DEFINED]
SCORES = [0.0, 0.0, 0.0, -1.0, -2.0, -3.0, 0.0, 0.0]


def spaces_json(path: Path, *, literal: bool) -> Path:
    """A tokenizer.json in which a pair of spaces is a literal, or else a merge."""
    ids = (0, 1, 2, *((6,) if literal else ()), 7)
    document = {
        "version": "1.0",
        "added_tokens": [kit.added(i, NAMES[i], special=i < 3) for i in ids],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
        "decoder": {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        "model": {
            "type": "BPE",
            "vocab": {name: i for i, name in enumerate(NAMES)},
            "merges": ["\u2581 \u2581", "\u2581 a"],
            "unk_token": "<unk>",
            "fuse_unk": True,
        },
    }
    return kit.model(path, {"tokenizer.json": document}) / "tokenizer.json"


def spaces_gguf(path: Path, **more: Any) -> Path:
    plain = [name.replace("\u2581\u2581", "  ") for name in NAMES]
    more = {"add_space_prefix": False, "add_bos_token": False, **more}
    return write_gguf(path, "llama", plain, KINDS, scores=SCORES, bos=1, eos=2, **more)


def test_literals_of_spaces_are_the_same_in_two_spellings(tmp_path: Path) -> None:
    """SentencePiece writes its own space in a literal, the GGUF made of it a plain one."""
    path, other = spaces_gguf(tmp_path / "m.gguf"), spaces_json(tmp_path / "j", literal=True)
    for new, old in ((path, other), (other, path)):
        assert "TOK-ID" not in kit.levels(validate(new, against=old))


@pytest.mark.parametrize("text", ["  ", "a", "  a", " a", "a  a", "<img>", " <img> a", "<img>  ", "a<img>a"])
def test_literals_of_spaces_encode_as_tokenizer_json_does(tmp_path: Path, text: str) -> None:
    runs = [
        library(read(path)) for path in (spaces_gguf(tmp_path / "m.gguf"), spaces_json(tmp_path / "j", literal=False))
    ]
    assert all(isinstance(each, Library) for each in runs)
    first, second = (each.encode(text) for each in runs if isinstance(each, Library))
    assert first == second


def test_no_witness_of_such_a_pair_is_made_of_spaces(tmp_path: Path) -> None:
    """Three spaces are a pair and one on both sides; only SentencePiece's own space in a text is read otherwise."""
    path = spaces_gguf(tmp_path / "m.gguf")
    run = library(read(path))
    assert isinstance(run, Library)
    assert run.encode("   a") == [6, 5]
    for number, literal in enumerate((True, False)):
        other = spaces_json(tmp_path / str(number), literal=literal)
        for new, old in ((path, other), (other, path)):
            for finding in validate(new, against=old).findings:
                if finding.witness and finding.witness.get("replayed"):
                    assert " " not in finding.witness["text"].strip("\u2581"), finding.message


def test_a_space_before_each_part_of_the_text(tmp_path: Path) -> None:
    run = library(read(spaces_gguf(tmp_path / "m.gguf", add_space_prefix=True)))
    assert isinstance(run, Library)
    assert run.encode("a") == [5]
    assert run.encode("a<img>a") == [5, 7, 5]


def test_a_literal_that_is_none_any_more_is_told(tmp_path: Path) -> None:
    types = [kind if name != "<img>" else NORMAL for kind, name in zip(KINDS, NAMES, strict=True)]
    old = spaces_gguf(tmp_path / "old.gguf")
    plain = [name.replace("\u2581\u2581", "  ") for name in NAMES]
    more = {"add_space_prefix": False, "add_bos_token": False}
    new = write_gguf(tmp_path / "new.gguf", "llama", plain, types, scores=SCORES, bos=1, eos=2, **more)
    found = next(f for f in validate(new, against=old).findings if f.rule == "TOK-ADDED")
    assert found.level == "restart"
    assert found.witness is not None
    assert found.witness["replayed"]
    assert "<img>" in found.witness["text"]


def test_the_unknown_token_that_llama_cpp_takes_by_default(tmp_path: Path) -> None:
    path, other = spaces_gguf(tmp_path / "m.gguf"), spaces_json(tmp_path / "j", literal=False)
    assert read(path).special["unk"] == 0
    for new, old in ((path, other), (other, path)):
        assert "TOK-UNK" not in kit.levels(validate(new, against=old))
