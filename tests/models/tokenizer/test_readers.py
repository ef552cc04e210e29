"""Readers of tokenizer formats against the libraries that own them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from interlock.models.errors import UnreadableModel
from interlock.models.tokenizer import Tokenizer, read_tokenizer, read_tokenizers
from interlock.models.tokenizers import consistency, huggingface
from interlock.models.tokenizers.cut import cut
from interlock.models.tree import read_tree
from tokenizers import Tokenizer as Real
from validate.tokenizer import kit


def parse(document: Any) -> Tokenizer:
    return huggingface.parse(json.dumps(document).encode(), "tokenizer.json")


@pytest.mark.parametrize(
    "document", [kit.byte_level(), kit.wordpiece(), kit.unigram()], ids=["bpe", "wordpiece", "unigram"]
)
def test_vocabulary_is_that_of_the_library(document: kit.Json) -> None:
    real = Real.from_str(json.dumps(document))
    ours = parse(document)
    assert {token: number for number, token in ours.tokens.items()} == real.get_vocab(with_added_tokens=True)
    assert ours.largest == max(real.get_vocab().values())
    assert ours.bound >= ours.largest


def test_the_cut_gives_what_a_full_parse_gives() -> None:
    document = kit.byte_level()
    data = json.dumps(document).encode()
    assert cut(data, "x") is not None
    whole = dict(reversed(list(document.items())))  # the model first: cannot be cut
    assert cut(json.dumps(whole).encode(), "x") is None
    a, b = huggingface.parse(data, "x"), parse(whole)
    assert (a.vocab.value, a.merges.value, a.settings, a.added) == (b.vocab.value, b.merges.value, b.settings, b.added)
    assert (a.pre_tokenizer, a.decoder, a.merge_form) == (b.pre_tokenizer, b.decoder, b.merge_form)


@pytest.mark.parametrize("key", ['x"vocab', 'x"merges', '}, "merges": [', '"vocab": {', "\\", '\\"merges": ['])
def test_the_cut_is_not_misled_by_tokens(key: str) -> None:
    document = kit.byte_level()
    document["model"]["vocab"][key] = 999
    data = json.dumps(document).encode()
    assert huggingface.parse(data, "x").vocab.value == document["model"]["vocab"]


def test_a_second_vocab_key_is_not_cut() -> None:
    document = kit.byte_level()
    document["model"]["note"] = {"vocab": {"a": 1}}
    assert cut(json.dumps(document).encode(), "x") is None
    assert parse(document).vocab.value == document["model"]["vocab"]


def test_merges_as_pairs_and_strings_are_the_same() -> None:
    document = kit.byte_level()
    paired = kit.changed(document, "model.merges", [m.split(" ") for m in document["model"]["merges"]])
    a, b = parse(document), parse(paired)
    assert a.merges.same(b.merges)
    assert (a.merge_form, b.merge_form) == ("string", "pair")


def test_pipeline_identities() -> None:
    base = kit.byte_level()
    same = kit.changed(base, "pre_tokenizer", {"type": "Sequence", "pretokenizers": [base["pre_tokenizer"]]})
    same["normalizer"] = {"type": "Sequence", "normalizers": []}
    same["post_processor"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    a, b = parse(base), parse(same)
    assert (a.normalizer, a.pre_tokenizer, a.post_processor) == (b.normalizer, b.pre_tokenizer, b.post_processor)


BAD: list[tuple[bytes, str]] = [
    (b"", "invalid JSON"),
    (b"[]", "not an object"),
    (b'{"model": {}', "invalid JSON"),
    (b'{"model": 3}', "model is an integer"),
    (b'{"model": {"type": "X"}}', "unknown model type"),
    (b'{"model": {"type": "BPE", "vocab": {"a": 0, "a": 1}, "merges": []}}', 'duplicate key "a" at line 1 column'),
    (b'{"model": {"type": "BPE", "vocab": {"a": NaN}, "merges": []}}', "NaN is not JSON"),
    (b'{"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}', "-1, not an id"),
    (b'{"model": {"type": "BPE", "vocab": {"a": 1.5}, "merges": []}}', "1.5, not an id"),
    (b'{"model": {"type": "BPE", "vocab": {"a": true}, "merges": []}}', "not an id"),
    (b'{"model": {"type": "BPE", "vocab": {"a": 4294967296}, "merges": []}}', "not an id"),
    (b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["ab"]}}', "two tokens and one space"),
    (b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]}}', "not two tokens"),
    (b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b", ["a", "b"]]}}', "mixes"),
    (b'{"model": {"type": "Unigram", "vocab": [["a", "b"]]}}', "not a piece and a finite score"),
    (b'{"model": {"type": "BPE", "vocab": {}}, "added_tokens": [{"id": "1"}]}', "added_tokens[0].id is a string"),
    (b'{"model": {"type": "BPE", "vocab": {}}, "normalizer": {}}', "normalizer has no type"),
    (b'{"model": {"type": "BPE", "vocab": {"\\ud800": 1}}}', "lone surrogate"),
    (b'{"version": "2", "model": {}}', "has the version '2'"),
    (b'{"extra": 1, "model": {}}', "the key 'extra'"),
    (
        b'{"added_tokens": [{"id": 1, "content": "a"}], "model": {"vocab": {}, "merges": []}}',
        "special is null, not true or false",
    ),
    (b'{"model": {"type": "Unigram", "unk_id": 3, "vocab": [["a", 0]]}}', "outside the 1 pieces"),
    (b"\xff\xfe{}", "not UTF-8"),
    (b"[" * 1_000_000, "nested deeper"),
    (b'{"a":' * 1_000_000, "nested deeper"),
]


@pytest.mark.parametrize(("data", "reason"), BAD, ids=[reason[:24] for _, reason in BAD])
def test_bad_input_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableModel) as caught:
        tokenizer = huggingface.parse(data, "tokenizer.json")
        _ = (tokenizer.vocab.value, tokenizer.merges.value)
    assert reason in str(caught.value)


def test_added_tokens_get_the_ids_that_the_library_gives() -> None:
    document = kit.byte_level()
    entries = [kit.added(900, "<x>"), kit.added(5, "<y>"), kit.added(0, "ab"), kit.added(1, "<x>"), kit.added(7, "<z>")]
    document["added_tokens"] += entries
    real = Real.from_str(json.dumps(document))
    ours = parse(document)
    assert {t: n for n, t in ours.tokens.items()} == real.get_vocab(with_added_tokens=True)


def test_merges_of_unknown_tokens_are_refused() -> None:
    document = kit.byte_level()
    document["model"]["merges"].append("x y")
    with pytest.raises(UnreadableModel, match="'xy' is no token"):
        consistency.check(parse(document))
    with pytest.raises(Exception, match="out of vocabulary"):
        Real.from_str(json.dumps(document))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("fallback", [False, True])
def test_sentencepiece_is_read_as_its_library_does(tmp_path: Path, kind: str, fallback: bool) -> None:
    path = kit.train(
        tmp_path, kind, byte_fallback=fallback, vocab_size=330 if fallback else 60,
        user_defined_symbols=["<tool>"], control_symbols=["<ctl>"], pad_id=3,
    )  # fmt: skip
    real = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ours = read_tokenizer(read_tree(path))
    assert ours is not None
    assert [ours.tokens[n] for n in range(real.GetPieceSize())] == [
        real.IdToPiece(n) for n in range(real.GetPieceSize())
    ]
    assert [ours.scores.value[n] for n in range(real.GetPieceSize())] == [
        pytest.approx(real.GetScore(n)) for n in range(real.GetPieceSize())
    ]
    ids = {"unk": real.unk_id(), "bos": real.bos_id(), "eos": real.eos_id(), "pad": real.pad_id()}
    assert ours.special == ids
    assert ours.controls == {n for n in range(real.GetPieceSize()) if real.IsControl(n) or real.IsUnknown(n)}
    assert [each.content for each in ours.added] == ["<tool>"]


def test_truncated_sentencepiece_is_refused(tmp_path: Path) -> None:
    path = kit.train(tmp_path, "bpe")
    data = path.read_bytes()
    for size in (*range(1, 1500, 37), *range(1500, len(data), 4999)):
        path.write_bytes(data[:size])
        try:
            ours = read_tokenizer(read_tree(path))
        except UnreadableModel:
            continue
        # A cut between two pieces is a shorter message; it has lost its trainer_spec, and with it nothing is hidden.
        assert ours is not None
        assert len(ours.vocab.value) > 0


def test_tekken_and_tiktoken(tmp_path: Path) -> None:
    folder = kit.model(tmp_path / "m", {"tekken.json": kit.tekken()})
    ours = read_tokenizer(read_tree(folder))
    assert ours is not None
    assert (ours.largest, ours.tokens[20 + 65], ours.tokens[20 + 256]) == (299, "A", "w0")
    assert ours.special == {"unk": 0, "bos": 1, "eos": 2, "pad": 11}
    lines = b"".join(base64.b64encode(bytes([n])) + b" %d\n" % n for n in range(256))
    folder = kit.model(tmp_path / "t", {"tokenizer.model": lines + b"YWI= 256\n"})
    ours = read_tokenizer(read_tree(folder))
    assert ours is not None
    assert (ours.format, ours.tokens[256]) == ("tiktoken", "ab")
    (folder / "tokenizer.model").write_bytes(lines + b"YWI= 257\n")  # 256 is a special token's, as in p50k_base
    ours = read_tokenizer(read_tree(folder))
    assert ours is not None
    assert (ours.largest, ours.tokens.get(256), ours.tokens[257]) == (257, None, "ab")
    (folder / "tokenizer.model").write_bytes(lines + b"YWI= 400\n")
    with pytest.raises(UnreadableModel, match="gaps"):
        read_tokenizer(read_tree(folder))


def test_plain_vocabularies(tmp_path: Path) -> None:
    folder = kit.model(tmp_path / "w", {"vocab.txt": "[PAD]\n[UNK]\na\n##b\n"})
    ours = read_tokenizer(read_tree(folder))
    assert ours is not None
    assert (ours.algorithm, ours.tokens) == ("WordPiece", {0: "[PAD]", 1: "[UNK]", 2: "a", 3: "##b"})
    folder = kit.model(tmp_path / "b", {"vocab.json": {"a": 0, "b": 1, "ab": 2}, "merges.txt": "#version: 0.2\na b\n"})
    ours = read_tokenizer(read_tree(folder))
    assert ours is not None
    assert (ours.algorithm, ours.merges.value) == ("BPE", (("a", "b"),))


def test_one_fingerprint_across_formats(tmp_path: Path) -> None:
    """The same vocabulary as tiktoken ranks, tekken without special tokens, and a byte-level tokenizer.json."""
    merges = [("a", "b"), ("c", "d"), ("ab", "cd")]
    document = kit.byte_level(merges, specials=())
    # tokenizer.json numbers bytes by value here, as the other two formats do.
    tokens = [bytes([n]) for n in range(256)] + [(a + b).encode() for a, b in merges]
    lines = b"".join(base64.b64encode(token) + b" %d\n" % n for n, token in enumerate(tokens))
    ranked = [{"rank": n, "token_bytes": base64.b64encode(t).decode()} for n, t in enumerate(tokens)]
    config = {"pattern": "x", "default_vocab_size": len(tokens), "default_num_special_tokens": 0}
    folder = kit.model(
        tmp_path / "m",
        {
            "tokenizer.json": document,
            "x.tiktoken": lines,
            "tekken.json": {"config": config, "vocab": ranked},
        },
    )
    found = read_tokenizers(read_tree(folder))
    assert [each.format for each in found] == ["tokenizer.json", "tekken", "tiktoken"]
    assert len({each.fingerprint() for each in found}) == 1


COMPONENTS: list[tuple[str, kit.Json]] = [
    ("normalizer", kit.wordpiece()["normalizer"]),
    ("normalizer", {"type": "Strip", "strip_left": True, "strip_right": True}),
    ("normalizer", {"type": "NFC"}),
    ("normalizer", {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}),
    ("normalizer", {"type": "Prepend", "prepend": "_"}),
    ("pre_tokenizer", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}),
    ("pre_tokenizer", {"type": "CharDelimiterSplit", "delimiter": "-"}),
    ("pre_tokenizer", {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}),
    ("pre_tokenizer", {"type": "Split", "pattern": {"Regex": " "}, "behavior": "Removed", "invert": False}),
    ("pre_tokenizer", {"type": "Punctuation", "behavior": "Isolated"}),
    ("pre_tokenizer", {"type": "Digits", "individual_digits": True}),
    ("pre_tokenizer", {"type": "Sequence", "pretokenizers": []}),
    ("post_processor", {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}),
    ("post_processor", {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]}),
    ("post_processor", kit.template(cls=(264, "<|bos|>"))),
    ("decoder", {"type": "BPEDecoder", "suffix": "</w>"}),
    ("decoder", {"type": "WordPiece", "prefix": "##", "cleanup": True}),
    ("decoder", {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}),
    ("decoder", {"type": "Strip", "content": " ", "start": 1, "stop": 0}),
    ("truncation", {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}),
    ("padding", {"strategy": "BatchLongest", "direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}),
]  # fmt: skip


LEVELS: kit.Json = {
    **kit.byte_level(),
    "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1}, "unk_token": "<unk>"},
}


@pytest.mark.parametrize("document", [kit.byte_level(), kit.wordpiece(), kit.unigram(), LEVELS])
def test_no_model_is_read_that_the_library_refuses(document: kit.Json) -> None:
    for model in damaged({key: value for key, value in document["model"].items() if key not in ("vocab", "merges")}):
        parts = {key: value for key, value in document["model"].items() if key in ("vocab", "merges")}
        each = {**document, "model": {**model, **parts}}
        try:
            Real.from_str(json.dumps(each))
        except BaseException:  # noqa: BLE001 - the library panics, which is no Exception
            with pytest.raises(UnreadableModel):
                consistency.check(parse(each))


def damaged(component: kit.Json) -> list[kit.Json]:
    """The component without each field, with fields of other types, and as an unknown kind."""
    result = [component, {**component, "type": "Foo"}] if "type" in component else [component]
    for key in component.keys() - {"type"}:
        result.append({name: value for name, value in component.items() if name != key})
        result += [{**component, key: value} for value in (None, "zz", [], {}, -1)]
    return result


@pytest.mark.parametrize(("part", "component"), COMPONENTS, ids=[f"{p} {c.get('type', '')}" for p, c in COMPONENTS])
def test_nothing_is_read_that_the_library_refuses(part: str, component: kit.Json) -> None:
    for each in damaged(component):
        document = kit.changed(kit.byte_level(), part, each)
        try:
            Real.from_str(json.dumps(document))
        except Exception:  # noqa: BLE001 - what the library raises
            with pytest.raises(UnreadableModel):
                parse(document)
    parse(kit.changed(kit.byte_level(), part, component))


def test_special_tokens_of_a_word_piece_vocabulary_match_in_text(tmp_path: Path) -> None:
    """BertTokenizer and BertWordPieceTokenizer keep them whole, under the names that their files give."""
    from tokenizers import BertWordPieceTokenizer

    words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n<s>\n"
    folder = kit.model(tmp_path / "w", {"vocab.txt": words})
    ours = read_tokenizer(read_tree(folder))
    theirs = BertWordPieceTokenizer(str(folder / "vocab.txt")).get_added_tokens_decoder()
    assert ours is not None
    assert {each.id: each.content for each in ours.literals} == {number: t.content for number, t in theirs.items()}
    assert {each.flags for each in ours.literals} == {(True, False, False, False, False)}
    said = {"cls_token": "<s>", "mask_token": {"content": "[MASK]", "lstrip": True}, "pad_token": "nowhere"}
    folder = kit.model(tmp_path / "n", {"vocab.txt": words, "tokenizer_config.json": said})
    ours = read_tokenizer(read_tree(folder))
    assert ours is not None
    assert [(each.content, each.lstrip) for each in ours.literals] == [
        ("[UNK]", False), ("[SEP]", False), ("<s>", False), ("[MASK]", True),
    ]  # fmt: skip
