"""Readers on damaged and hostile input: they read it, or say why not, in bounded time and memory."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from interlock.models import strict_json
from interlock.models.errors import UnreadableModel
from interlock.models.hf_config import read_chat_templates, read_json_config
from interlock.models.tokenizer import read_tokenizers
from interlock.models.tokenizers import consistency, huggingface
from interlock.models.tree import read_tree
from validate.tokenizer import kit

QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def damaged(data: bytes, draw: random.Random) -> bytes:
    """`data` with a few bytes changed, cut, doubled or moved."""
    result = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at, length = draw.randrange(len(result) + 1), draw.choice((1, 1, 2, 4, 8, 64))
        match draw.randrange(5):
            case 0:
                result[at : at + length] = bytes(draw.randrange(256) for _ in range(length))
            case 1:
                del result[at : at + length]
            case 2:
                result[at:at] = result[at : at + length]
            case 3:
                result[at:at] = draw.choice(
                    (b'"', b"{", b"]", b"\\", b"\xff" * 9, b"NaN", b"1e999", b'"vocab": {', b"\0")
                )
            case _:
                del result[at:]
    return bytes(result)


def files(folder: Path) -> dict[str, bytes]:
    (folder / "train").mkdir()
    lines = b"".join(base64.b64encode(bytes([n])) + b" %d\n" % n for n in range(256))
    return {
        "tokenizer.json": json.dumps(kit.byte_level()).encode(),
        "wordpiece/tokenizer.json": json.dumps(kit.wordpiece()).encode(),
        "unigram/tokenizer.json": json.dumps(kit.unigram()).encode(),
        "tokenizer.model": kit.train(folder / "train", "unigram").read_bytes(),
        "tekken.json": json.dumps(kit.tekken()).encode(),
        "x.tiktoken": lines,
        "vocab.txt": "\n".join(kit.wordpiece()["model"]["vocab"]).encode(),
    }


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return files(tmp_path_factory.mktemp("seeds"))


NAMES = (
    *("tokenizer.json", "wordpiece/tokenizer.json", "unigram/tokenizer.json", "tokenizer.model"),
    *("tekken.json", "x.tiktoken", "vocab.txt"),
)


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_read_or_named(tmp_path: Path, seeds: dict[str, bytes], name: str) -> None:
    draw = random.Random(name)
    path = tmp_path / name.rpartition("/")[2]
    for _ in range(250):
        path.write_bytes(damaged(seeds[name], draw))
        try:
            for tokenizer in read_tokenizers(read_tree(tmp_path)):
                consistency.check(tokenizer)
                assert tokenizer.fingerprint()
                assert tokenizer.bound >= -1
        except UnreadableModel as error:
            assert error.reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_strict_json_reads_what_json_reads(value: object) -> None:
    assert strict_json.loads(json.dumps(value).encode(), "x") == value
    assert strict_json.loads(json.dumps(value, ensure_ascii=False, indent=1).encode(), "x") == value


@given(st.binary(max_size=60))
@example(b'{"a": 1, "\\u0061": 2}')
@example(b"\xef\xbb\xbf{}")
@example(b"1e400")
@settings(max_examples=300, deadline=None)
def test_strict_json_is_no_looser_than_json(data: bytes) -> None:
    try:
        ours = strict_json.loads(data, "x")
    except UnreadableModel:
        return
    assert ours == json.loads(data)


KEYS = [
    "model",
    "vocab",
    "merges",
    "type",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "id",
]


@given(
    st.recursive(
        st.none()
        | st.integers(-3, 70000)
        | st.floats()
        | st.sampled_from(["BPE", "Unigram", "WordPiece", "a b", "a", "Sequence"]),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
        max_leaves=25,
    ).map(lambda model: {"model": model, "added_tokens": []})
)
@settings(max_examples=300, deadline=None)
def test_any_structure_is_read_or_named(document: object) -> None:
    try:
        tokenizer = huggingface.parse(json.dumps(document).encode(), "x")
        consistency.check(tokenizer)
        tokenizer.fingerprint()
    except UnreadableModel as error:
        assert error.reason


@given(JSON, st.sampled_from(["tokenizer_config.json", "chat_template.json"]))
@settings(max_examples=100, deadline=None, suppress_health_check=QUIET)
def test_any_template_is_read_or_named(tmp_path: Path, value: object, name: str) -> None:
    (tmp_path / name).write_text(json.dumps({"chat_template": value}))
    other = "chat_template.json" if name == "tokenizer_config.json" else "tokenizer_config.json"
    (tmp_path / other).write_text("{}")
    try:
        found = read_chat_templates(read_tree(tmp_path))
    except UnreadableModel as error:
        assert error.reason
        return
    assert all(isinstance(source, str) for _, source in found.values())


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (lambda path: path.write_bytes(b"{" + b" " * (65 << 20) + b"}"), "larger than the 64 MiB"),
        (lambda path: path.write_bytes(b"[" * 10_000_000), "nested deeper"),
        (lambda path: path.write_bytes(b'{"a": "' + b"\\" * 3_000_001), "invalid JSON"),
    ],
    ids=["large", "deep", "backslashes"],
)
def test_large_hostile_json_is_bounded(tmp_path: Path, write: Callable[[Path], object], reason: str) -> None:
    path = tmp_path / "config.json"
    write(path)
    with pytest.raises(UnreadableModel, match=reason):
        read_json_config(path)


def test_a_piece_that_claims_to_be_huge(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    for data in (
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x0a\x05\x0a\xff\xff\xff\x7f",
        b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    ):
        path.write_bytes(data)
        with pytest.raises(UnreadableModel):
            read_tokenizers(read_tree(path))
