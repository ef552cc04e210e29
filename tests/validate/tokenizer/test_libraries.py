"""Witnesses replayed: every format in a library, and the same text alike in each library that can run it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from interlock.checks.validate.run import validate
from interlock.checks.validate.tokenizer import library as libraries
from interlock.checks.validate.tokenizer import library_built, library_pieces, library_ranks, replay
from interlock.checks.validate.tokenizer.library import Library, library
from interlock.models.tokenizer import Tokenizer, read_tokenizer
from interlock.models.tokenizers.huggingface import parse
from interlock.models.tokenizers.spelling import unmapped
from interlock.models.tree import read_tree
from tokenizers import Tokenizer as Real
from validate.tokenizer import kit
from validate.tokenizer.test_formats import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, bpe_tokens, write_gguf
from validate.tokenizer.test_incidents import BASE

TEXT = st.text("abcdher 1.\u00e9\U0001f600\n", max_size=24)


def read(path: Path) -> Tokenizer:
    tokenizer = read_tokenizer(read_tree(path))
    assert tokenizer is not None
    return tokenizer


def loaded(tokenizer: Tokenizer, other: Tokenizer | None = None) -> Library:
    found = library(tokenizer, other)
    assert isinstance(found, Library), found
    return found


def rank_tokens(*more: str) -> list[bytes]:
    return (
        [bytes([n]) for n in range(256)] + [unmapped(a + b) for a, b in kit.MERGES] + [each.encode() for each in more]
    )


def tiktoken_file(path: Path, *more: str) -> Path:
    lines = [b"%s %d" % (base64.b64encode(token), n) for n, token in enumerate(rank_tokens(*more))]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def tekken_file(path: Path, *more: str) -> Path:
    tokens = rank_tokens(*more)
    vocab = [{"rank": n, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for n, t in enumerate(tokens)]
    config = {"pattern": kit.LLAMA3, "default_vocab_size": len(tokens) + 10, "default_num_special_tokens": 10}
    return kit.model(path, {"tekken.json": {"config": config, "vocab": vocab}})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture(scope="module")
def ranked(folder: Path) -> Tokenizer:
    return read(tekken_file(folder / "tekken"))


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_ranks_give_the_same_in_tiktoken_and_in_tokenizers(ranked: Tokenizer, text: str) -> None:
    one = library_ranks.tiktoken(ranked, ranked.pre_tokenizer)
    other = library_built.load(ranked, ranked.pre_tokenizer)
    assert one is not None
    assert isinstance(other, Library)
    assert one.encode(text) == other.encode(text)
    assert one.decode(one.encode(text)) == text == other.decode(other.encode(text))
    assert one.name.startswith("tiktoken ")
    assert other.name.startswith("tokenizers ")


@pytest.fixture(scope="module")
def byte_gguf(folder: Path) -> Tokenizer:
    names, types = bpe_tokens()
    merges = BASE["model"]["merges"]
    return read(write_gguf(folder / "bytes.gguf", "gpt2", names, types, merges=merges, pre="llama-bpe"))


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_a_gguf_gives_what_its_tokenizer_json_gives(byte_gguf: Tokenizer, text: str) -> None:
    document = json.dumps(BASE)
    built = loaded(byte_gguf, parse(document.encode(), "tokenizer.json"))
    assert built.encode(text) == Real.from_str(document).encode(text, add_special_tokens=False).ids


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def trained(folder: Path, request: pytest.FixtureRequest) -> tuple[Any, Tokenizer]:
    """A trained SentencePiece model, and a GGUF file with its pieces."""
    kind = str(request.param)
    (folder / kind).mkdir()
    path = kit.train(folder / kind, kind, byte_fallback=True, vocab_size=320, normalization_rule_name="identity",
                     remove_extra_whitespaces=kind == "unigram", user_defined_symbols=["<tool>"])  # fmt: skip
    real: Any = sentencepiece.SentencePieceProcessor()
    real.Load(str(path))
    count = real.GetPieceSize()
    types = [
        UNKNOWN if real.IsUnknown(n) else CONTROL if real.IsControl(n) else BYTE if real.IsByte(n)
        else USER_DEFINED if real.IdToPiece(n) == "<tool>" else NORMAL
        for n in range(count)
    ]  # fmt: skip
    pieces = [real.IdToPiece(n) for n in range(count)]
    scores = [real.GetScore(n) for n in range(count)]
    name = "llama" if kind == "bpe" else "t5"
    return real, read(write_gguf(folder / f"{kind}.gguf", name, pieces, types, scores=scores))


@settings(max_examples=60, deadline=None)
@given(st.text("the catsodnm \u00e9<tol>", max_size=24))
def test_pieces_of_a_gguf_give_what_sentencepiece_gives(trained: tuple[Any, Tokenizer], text: str) -> None:
    real, tokenizer = trained
    built = loaded(tokenizer)
    assume("<tool>" not in text)  # llama.cpp takes what follows a literal for a text of its own
    assert built.encode(text) == list(real.EncodeAsIds(text))
    assert "given the pieces" in built.name


def test_a_model_of_pieces_is_read_back(trained: tuple[Any, Tokenizer], tmp_path: Path) -> None:
    _, tokenizer = trained
    path = tmp_path / "tokenizer.model"
    path.write_bytes(library_pieces.model(tokenizer))
    again = read(path)
    assert again.algorithm == tokenizer.algorithm
    assert again.vocab.value == tokenizer.vocab.value
    assert again.scores.value == tokenizer.scores.value
    assert again.special == tokenizer.special
    assert again.controls == {each.id for each in tokenizer.added if each.special} | {0}
    assert again.unmatched == tokenizer.unmatched | again.controls
    assert [(each.id, each.content) for each in again.added] == [(3, "<tool>")]


def test_a_vocabulary_file_runs_in_tokenizers(tmp_path: Path) -> None:
    document = kit.wordpiece()
    words = "\n".join(document["model"]["vocab"])
    tokenizer = read(kit.model(tmp_path / "words", {"vocab.txt": words}))
    real = Real.from_str(json.dumps(document))
    for text in ("unaffable", "Want wanted", "zz qq run", "caf\u00e9 !"):
        assert loaded(tokenizer).encode(text) == real.encode(text, add_special_tokens=False).ids


def grown(kind: str) -> tuple[Callable[[Path, bool], Path], str]:
    names, types = bpe_tokens()
    merges = BASE["model"]["merges"]

    def bytes_file(path: Path, more: bool) -> Path:
        tokens, kinds = ([*names, "Zq"], [*types, NORMAL]) if more else (names, types)
        return write_gguf(path, "gpt2", tokens, kinds, merges=[*merges, "Z q"] if more else merges, pre="x")

    def pieces_file(path: Path, more: bool) -> Path:
        pieces = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256)), "\u2581", "Z", "q", "a"]
        kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * 4]
        scores = [0.0] * 259 + [-3.0, -4.0, -5.0, -6.0]
        if more:
            pieces, kinds, scores = [*pieces, "Zq"], [*kinds, NORMAL], [*scores, -7.0]
        return write_gguf(path, "llama", pieces, kinds, scores=scores)

    return {
        "tiktoken": (lambda path, more: tiktoken_file(path.with_suffix(".tiktoken"), *["Zq"] * more), "tiktoken "),
        "tekken": (lambda path, more: tekken_file(path, *["Zq"] * more), "tiktoken "),
        "bytes": (lambda path, more: bytes_file(path.with_suffix(".gguf"), more), "tokenizers "),
        "pieces": (lambda path, more: pieces_file(path.with_suffix(".gguf"), more), "sentencepiece "),
    }[kind]


@pytest.mark.parametrize("kind", ["tiktoken", "tekken", "bytes", "pieces"])
def test_a_live_merge_has_a_replayed_witness_that_names_its_library(tmp_path: Path, kind: str) -> None:
    make, name = grown(kind)
    report = validate(make(tmp_path / "new", True), against=make(tmp_path / "old", False))
    finding = next(f for f in report.findings if f.rule == "TOK-MERGE")
    assert finding.witness is not None
    assert finding.witness["text"] == "Zq"
    assert finding.witness["replayed"]
    assert finding.witness["library"].startswith(name)
    same = validate(make(tmp_path / "same", False), against=make(tmp_path / "live", False))
    assert kit.levels(same) == {}


@pytest.mark.parametrize("kind", ["tiktoken", "tekken", "bytes", "pieces"])
def test_without_the_libraries_the_candidate_is_shown(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "find_spec", lambda _name: None)
    make, _ = grown(kind)
    report = validate(make(tmp_path / "new", True), against=make(tmp_path / "old", False))
    finding = next(f for f in report.findings if f.rule == "TOK-MERGE")
    assert finding.witness is not None
    assert not finding.witness["replayed"]
    assert "interlock[tokenizers]" in finding.message


def test_a_rank_file_is_cut_as_the_one_it_is_compared_with(tmp_path: Path) -> None:
    """The same tokens in tiktoken's form and as tokenizer.json: proven, whatever the pattern, which only one names."""
    document = kit.byte_level()
    tokens = rank_tokens()
    document["model"]["vocab"] = {token: n for n, token in enumerate([*kit.BYTES, *(a + b for a, b in kit.MERGES)])}
    assert len(tokens) == len(document["model"]["vocab"])
    document["added_tokens"] = []
    old = tiktoken_file(tmp_path / "old.tiktoken")
    new = kit.model(tmp_path / "new", {"tokenizer.json": document})
    report = validate(new / "tokenizer.json", against=old)
    assert kit.levels(report).get("TOK-MERGE", "hot") == "hot", [(f.rule, f.message) for f in report.findings]
    first, second = read(old), read(new)
    both = replay.both(first, second)
    assert not isinstance(both, str)
    for text in ("abcd the 111", "he\n  the", "a1b11 er"):
        assert both[0].encode(text) == both[1].encode(text)
