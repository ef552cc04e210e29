"""What must not be called a break: rewritten files, dead merges, pieces that never win, growth at the end."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.checks.validate.tokenizer import library
from interlock.config.settings import Contract
from tokenizers import Tokenizer as Real
from validate.tokenizer import kit
from validate.tokenizer.kit import changed
from validate.tokenizer.test_incidents import BASE, CONFIG, FIRST, files

Harmless = tuple[str, dict[str, Any], dict[str, Any]]


def rewritten() -> Iterator[Harmless]:
    """The same tokenizer in other words."""
    for name, base in (("bpe", BASE), ("wordpiece", kit.wordpiece()), ("unigram", kit.unigram())):
        texts = {
            "indented": json.dumps(base, indent=2),
            "escaped": json.dumps(base, ensure_ascii=True),
            "sorted": json.dumps(base, sort_keys=True, ensure_ascii=False),
            "reversed": json.dumps(dict(reversed(base.items())), ensure_ascii=False),
            "shuffled vocabulary": json.dumps(shuffled(base), ensure_ascii=False),
        }
        for how, text in texts.items():
            yield f"{name} {how}", files(base), files(base) | {"tokenizer.json": text}
        nested = base["pre_tokenizer"]
        for depth in range(1, 4):
            nested = {"type": "Sequence", "pretokenizers": [nested]}
            yield f"{name} nested {depth}", files(base), files(changed(base, "pre_tokenizer", nested))
        empty = {"type": "Sequence", "normalizers": []}
        if base["normalizer"] is None:
            yield f"{name} empty normalizer", files(base), files(changed(base, "normalizer", empty))
    for lowercase in (True, False):
        cased = changed(kit.wordpiece(), "normalizer.lowercase", lowercase)
        said = changed(cased, "normalizer.strip_accents", lowercase)
        yield f"accents as capitals, {lowercase}", files(cased), files(said)
        yield f"accents as capitals, left out, {lowercase}", files(said), files(cased)
        keys = ({"do_lower_case": lowercase}, {"do_lower_case": lowercase, "strip_accents": lowercase})
        old, new = ({**files(said), "tokenizer_config.json": {**CONFIG, **each}} for each in keys)
        yield f"accents as capitals, configured, {lowercase}", old, new
    for key in ("dropout", "fuse_unk", "byte_fallback", "ignore_merges", "continuing_subword_prefix"):
        less = changed(BASE, "padding", None)
        del less["model"][key]
        yield f"default {key} left out", files(), files(less)
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        yield f"{affix} written as empty", files(), files(changed(BASE, f"model.{affix}", ""))
    yield "dropout of 0", files(), files(changed(BASE, "model.dropout", 0.0))
    trimmed = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    yield "trims offsets", files(), files(changed(BASE, "post_processor", trimmed))
    yield "decoder's unread fields", files(), files(changed(BASE, "decoder", {**trimmed, "add_prefix_space": False}))


def shuffled(document: kit.Json) -> kit.Json:
    vocab = document["model"]["vocab"]
    if isinstance(vocab, list):
        return document
    items = list(vocab.items())
    random.Random(3).shuffle(items)
    return changed(document, "model.vocab", dict(items))


def proven() -> Iterator[Harmless]:
    """Changes that a lemma shows to change nothing for old text."""
    merges = [("a", "b"), ("b", "c"), ("ab", "c")]
    base = kit.byte_level(merges)
    # abc is ab+c by rank, so a+bc never meets.
    yield "dead merge appended", files(base), files(appended(base, [("a", "bc")]))
    yield "dead merges in the middle", files(base), files(changed(base, "model.merges", ["a b", "b c", "a bc", "ab c"]))
    for flag in ("fuse_unk", "byte_fallback"):
        yield f"{flag} of a complete vocabulary", files(), files(changed(BASE, f"model.{flag}", True))
    yield "ignore_merges where every token is its own", files(), files(changed(BASE, "model.ignore_merges", True))
    for low in (-9.0, -12.5, -40.0):
        pieces = [*kit.PIECES, ("bc", low)]
        yield f"piece of {low} never wins", files(kit.unigram()), files(kit.unigram(pieces))
    yield "longer context", files(), files() | {"tokenizer_config.json": {**CONFIG, "model_max_length": 8192}}
    cut = {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}
    old, new = changed(BASE, "truncation", cut), changed(BASE, "truncation", {**cut, "max_length": 256})
    yield "cuts later", files(old), files(new)
    yield "no longer cuts", files(old), files()
    one = {**CONFIG, "chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"}
    two = {**CONFIG, "chat_template": "{%- for m in messages -%}{{- m['content'] -}}{%- endfor -%}"}
    yield "template in other words", files() | {"tokenizer_config.json": one}, files() | {"tokenizer_config.json": two}
    moved = files() | {"tokenizer_config.json": CONFIG, "chat_template.jinja": one["chat_template"]}
    yield "template in a file of its own", files() | {"tokenizer_config.json": one}, moved
    objects = {key: {"content": value, "lstrip": False} if "token" in key else value for key, value in CONFIG.items()}
    yield "special tokens as objects", files(), files() | {"tokenizer_config.json": objects}


def appended(document: kit.Json, merges: list[tuple[str, str]]) -> kit.Json:
    return changed(document, "model.merges", [*document["model"]["merges"], *(f"{a} {b}" for a, b in merges)])


ALL = [pytest.param(*each[1:], id=each[0]) for source in (rewritten, proven) for each in source()]


@pytest.mark.parametrize(("old", "new"), ALL)
def test_harmless(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    report = kit.judge(tmp_path, old, new)
    assert kit.verdict(report) in ("equal", "hot"), [(f.rule, f.message) for f in report.findings]


def test_the_same_bytes_are_equal(tmp_path: Path) -> None:
    assert kit.verdict(kit.judge(tmp_path, files(), files())) == "equal"


def test_a_live_merge_restarts_the_server_and_breaks_clients_that_tokenize(tmp_path: Path) -> None:
    new = kit.byte_level([*kit.MERGES, ("x", "y")], specials=())
    old = kit.byte_level(specials=())
    report = kit.judge(tmp_path / "a", files(old), files(new))
    finding = next(f for f in report.findings if f.rule == "TOK-MERGE")
    assert finding.level == "restart"
    assert finding.witness is not None
    assert finding.witness.pop("library").startswith("tokenizers ")
    assert finding.witness == {
        "kind": "encode", "text": "xy", "old": [120, 121], "new": [old_size(old)], "replayed": True,
    }  # fmt: skip
    for level, expected in (("wire", "restart"), ("ids", "breaks"), ("strict", "breaks")):
        report = kit.judge(tmp_path / level, files(old), files(new), Contract(level=level))
        assert kit.levels(report)["TOK-MERGE"] == expected


def old_size(document: kit.Json) -> int:
    return len(document["model"]["vocab"])


def test_reserved_slots_restart(tmp_path: Path) -> None:
    names = ("<|bos|>", "<|eos|>", "<|pad|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>")
    old = kit.byte_level(specials=names)
    new = kit.byte_level(specials=(*names[:4], "<|tool|>"))
    report = kit.judge(tmp_path, files(old), files(new))
    assert kit.levels(report) == {"TOK-RESERVED": "restart"}
    witness = report.findings[0].witness
    assert witness is not None
    assert witness["replayed"]
    assert witness["new"] == [FIRST + 4]


def test_without_the_library_a_candidate_is_no_replayed_witness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "find_spec", lambda _: None)
    new = kit.byte_level([*kit.MERGES, ("x", "y")], specials=())
    report = kit.judge(tmp_path, files(kit.byte_level(specials=())), files(new))
    finding = next(f for f in report.findings if f.rule == "TOK-MERGE")
    assert finding.level == "restart"
    assert finding.witness is not None
    assert finding.witness["replayed"] is False
    assert "interlock[tokenizers]" in finding.message


LETTERS = "abcd"


@st.composite
def pairs(draw: st.DrawFn) -> tuple[kit.Json, kit.Json]:
    """Two tokenizers, the second a mutant of the first in merges, flags, added tokens or pipeline."""
    tokens = list(LETTERS)
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(1, 6))):
        pair = (draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens)))
        if pair not in merges:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
    old = kit.byte_level(merges)
    kind = draw(st.sampled_from(["append", "drop", "swap", "flag", "literal", "lstrip", "regex", "norm", "none"]))
    if kind == "append":
        extra = (draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens)))
        new = kit.byte_level([*merges, extra], specials=())
        new["added_tokens"] = old["added_tokens"]
        if extra[0] + extra[1] not in old["model"]["vocab"]:
            new["model"]["vocab"][extra[0] + extra[1]] = FIRST + 20
    elif kind == "drop":
        at = draw(st.integers(0, len(merges) - 1))
        new = changed(old, "model.merges", [m for i, m in enumerate(old["model"]["merges"]) if i != at])
    elif kind == "swap":
        new = changed(old, "model.merges", draw(st.permutations(old["model"]["merges"])))
    elif kind == "flag":
        new = changed(old, "model.ignore_merges", True)
    elif kind == "literal":
        new = changed(
            old, "added_tokens", [*old["added_tokens"], kit.added(FIRST + 30, draw(st.sampled_from(["ab", "<x>"])))]
        )
    elif kind == "lstrip":
        new = changed(old, "added_tokens.0.lstrip", True)
    elif kind == "regex":
        new = changed(
            old, "pre_tokenizer.pretokenizers.0.pattern.Regex", draw(st.sampled_from([r"\s+", "a", r"\p{L}"]))
        )
    elif kind == "norm":
        new = changed(
            old, "normalizer", draw(st.sampled_from([{"type": "Lowercase"}, {"type": "NFC"}, {"type": "NFKC"}]))
        )
    else:
        new = changed(old, "padding", None)
    return old, new


@given(pairs(), st.lists(st.text(LETTERS + " A1\u00e9e\u0301<x>", max_size=10), min_size=20, max_size=20))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_never_hot_where_the_library_tells_them_apart(
    tmp_path_factory: pytest.TempPathFactory, pair: tuple[kit.Json, kit.Json], texts: list[str]
) -> None:
    old, new = pair
    report = kit.judge(tmp_path_factory.mktemp("pair") / "x", files(old), files(new))
    before, after = Real.from_str(json.dumps(old)), Real.from_str(json.dumps(new))
    if kit.verdict(report) in ("equal", "hot"):
        for text in [*texts, "<|bos|>", " <|bos|> a", *(a + b for a in LETTERS for b in LETTERS)]:
            assert before.encode(text).ids == after.encode(text).ids, (text, kit.levels(report))
    for finding in report.findings:
        witness = finding.witness or {}
        if witness.get("kind") == "encode":
            assert witness["replayed"], finding.message
            text = witness["text"]
            assert before.encode(text).ids[:16] == witness["old"]
            assert after.encode(text).ids[:16] == witness["new"]
