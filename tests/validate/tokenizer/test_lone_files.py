"""Tokenizers given as one file, and tokens of no bytes: what a file cannot say is not called a change."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import sentencepiece
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.models.tokenizer import read_tokenizer
from interlock.models.tree import read_tree
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from validate.tokenizer import kit

LINES = b"".join(base64.b64encode(bytes([n])) + b" %d\n" % n for n in range(256))


def spm(path: Path) -> Path:
    texts = [f"{a}{b} {b}{a}" for a in "abcdefgh" for b in "ijklmnop"]
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(texts), model_prefix=str(path), vocab_size=60, model_type="bpe", minloglevel=2
    )
    return path.with_suffix(".model")


def byte_level(path: Path) -> Path:
    """The 256 bytes at their ids in a tokenizer.json."""
    vocab = {character: number for number, character in enumerate(kit.BYTES)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(path))
    return path


def levels(new: Path, old: Path) -> dict[str, str | None]:
    report = validate(new, old, contract=Contract())
    return {finding.rule: finding.level for finding in report.findings}


def test_a_lone_tokenizer_json_does_not_say_where_text_ends(tmp_path: Path) -> None:
    """SentencePiece says bos and eos; tokenizer.json leaves that to tokenizer_config.json."""
    old, new = spm(tmp_path / "old"), byte_level(tmp_path / "tokenizer.json")
    found = levels(new, old)
    assert (found["TOK-BOS"], found["TOK-EOS"]) == ("unproven", "unproven")


def test_a_folder_whose_tokenizer_says_no_eos_has_lost_it(tmp_path: Path) -> None:
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        byte_level(tmp_path / side / "tokenizer.json")
        config = '{"eos_token": "A"}' if side == "old" else "{}"
        (tmp_path / side / "tokenizer_config.json").write_text(config)
    assert levels(tmp_path / "new", tmp_path / "old")["TOK-EOS"] == "breaks"


def test_a_lone_file_that_can_say_eos_and_does_not_has_lost_it(tmp_path: Path) -> None:
    old = spm(tmp_path / "old")
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter([f"{a}{b} {b}{a}" for a in "abcdefgh" for b in "ijklmnop"]),
        model_prefix=str(tmp_path / "new"),
        vocab_size=60,
        model_type="bpe",
        eos_id=-1,
        minloglevel=2,
    )
    assert levels(tmp_path / "new.model", old)["TOK-EOS"] == "breaks"


@pytest.mark.parametrize("last", [b"= 256\n", b""])
def test_a_rank_of_no_bytes_is_a_token_that_no_text_becomes(tmp_path: Path, last: bytes) -> None:
    path = tmp_path / "gpt2.tiktoken"
    path.write_bytes(LINES + last)
    found = read_tokenizer(read_tree(path))
    assert found is not None
    assert found.largest == 255 + bool(last)
    assert validate(path, contract=Contract()).findings == []


def test_bytes_and_their_stand_ins_are_not_called_different_symbols(tmp_path: Path) -> None:
    """The file says no pattern and no names, so the formats differ; the symbols do not."""
    old = tmp_path / "base.tiktoken"
    old.write_bytes(LINES)
    report = validate(byte_level(tmp_path / "tokenizer.json"), old, contract=Contract())
    assert report.facts["verdict"] == "restart"
    (merges,) = [finding for finding in report.findings if finding.rule == "TOK-MERGE"]
    assert (merges.level, merges.witness) == ("hot", None)
    assert merges.proof


def test_one_change_of_many_literals_is_one_finding(tmp_path: Path) -> None:
    for side, special, kept in (("old", True, False), ("new", False, True)):
        tokenizer = Tokenizer.from_file(str(byte_level(tmp_path / f"{side}.json")))
        names = [f"<unused{number}>" for number in range(40)]
        tokenizer.add_tokens([AddedToken(name, special=special, normalized=False) for name in names])
        tokenizer.add_tokens([AddedToken("<image>", special=kept, normalized=False)])
        (tmp_path / side).mkdir()
        tokenizer.save(str(tmp_path / side / "tokenizer.json"))
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract())
    found = {finding.message: finding for finding in report.findings}
    many, one = sorted(found, key=len, reverse=True)
    assert "and 35 more: special was true and is false; a decoder that skips special tokens keeps them now" in many
    assert one == "'<image>': special was false and is true; a decoder that skips special tokens drops it now"
    assert found[many].witness == {"kind": "decode", "ids": [256], "old": "", "new": "<unused0>"}
    assert {(each.rule, each.level) for each in report.findings} == {("TOK-ADDED", "restart")}
