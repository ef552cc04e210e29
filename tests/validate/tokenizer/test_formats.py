"""GGUF and SentencePiece tokenizers, pairs across formats, twins, probes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import gguf
import pytest
import sentencepiece
from interlock.checks.validate.run import validate
from interlock.checks.validate.side import Side
from interlock.checks.validate.tokenizer import model
from interlock.config.settings import Contract
from interlock.models.errors import UnreadableModel
from interlock.models.tokenizer import Tokenizer, read_tokenizer
from interlock.models.tree import read_tree
from validate.tokenizer import kit
from validate.tokenizer.test_incidents import BASE, files

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def write_gguf(path: Path, kind: str, tokens: list[str], types: list[int], **more: Any) -> Path:
    """A GGUF file with a tokenizer and one tensor."""
    import numpy as np

    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model(kind)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    if "merges" in more:
        writer.add_token_merges(more["merges"])
    if "scores" in more:
        writer.add_token_scores(more["scores"])
    writer.add_bos_token_id(more.get("bos", 0))
    writer.add_eos_token_id(more.get("eos", 1))
    if more.get("pre"):
        writer.add_tokenizer_pre(more["pre"])
    for key in ("add_bos_token", "add_eos_token", "add_space_prefix"):
        if key in more:
            writer.add_bool(f"tokenizer.ggml.{key}", more[key])
    if "template" in more:
        writer.add_chat_template(more["template"])
    writer.add_tensor("token_embd.weight", np.zeros((len(tokens), 4), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def read(path: Path) -> Tokenizer:
    tokenizer = read_tokenizer(read_tree(path))
    assert tokenizer is not None
    return tokenizer


def bpe_tokens() -> tuple[list[str], list[int]]:
    vocab = BASE["model"]["vocab"]
    names = [*vocab, *(each["content"] for each in BASE["added_tokens"])]
    return names, [NORMAL] * len(vocab) + [CONTROL] * 3


def test_a_gguf_has_the_fingerprint_of_its_tokenizer_json(tmp_path: Path) -> None:
    names, types = bpe_tokens()
    path = write_gguf(tmp_path / "m.gguf", "gpt2", names, types, merges=BASE["model"]["merges"], pre="llama-bpe")
    other = kit.model(tmp_path / "json", {"tokenizer.json": BASE})
    a, b = read(path), read(other)
    assert a.fingerprint() == b.fingerprint()
    assert a.merges.value == b.merges.value
    assert (a.special["bos"], a.special["eos"]) == (0, 1)


def test_gguf_pairs(tmp_path: Path) -> None:
    names, types = bpe_tokens()
    merges = BASE["model"]["merges"]
    old = write_gguf(tmp_path / "old.gguf", "gpt2", names, types, merges=merges, pre="llama-bpe", bos=264, eos=265)
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"eos": 266}, "TOK-EOS", "breaks"),
        ({"bos": 266}, "TOK-BOS", "breaks"),
        ({"merges": merges[:-1]}, "TOK-MERGE", "restart"),
        ({"add_bos_token": False}, "TOK-POST", "breaks"),
        ({"tokens": [names[1], names[0], *names[2:]]}, "TOK-ID", "breaks"),
        ({"tokens": names[:-1], "types": types[:-1]}, "TOK-DEL", "breaks"),
        ({"pre": "qwen2"}, "GGF-PRE", "breaks"),
    ]
    for number, (change, rule, level) in enumerate(cases):
        options: dict[str, Any] = {"merges": merges, "pre": "llama-bpe", "bos": 264, "eos": 265, **change}
        new = write_gguf(
            tmp_path / f"{number}.gguf", "gpt2", options.pop("tokens", names), options.pop("types", types), **options
        )
        found = kit.levels(validate(new, against=old))
        # Without the library that runs GGUF a candidate stays a candidate, and the level is that of a witness.
        assert found.get(rule) == level, (change, found)
    same = write_gguf(tmp_path / "same.gguf", "gpt2", names, types, merges=merges, pre="llama-bpe", bos=264, eos=265)
    assert kit.verdict(validate(same, against=old)) == "equal"


@pytest.mark.parametrize(
    ("pre", "adds", "whole"),
    [("llama-bpe", True, True), ("tekken", True, True), ("chameleon", True, False), ("qwen2", False, False)],
)
def test_what_llama_cpp_does_where_the_file_does_not_say(pre: str, adds: bool, whole: bool, tmp_path: Path) -> None:
    names, types = bpe_tokens()
    more: dict[str, Any] = {"merges": BASE["model"]["merges"], "pre": pre, "bos": 264, "eos": 265}
    old = write_gguf(tmp_path / "old.gguf", "gpt2", names, types, **more)
    assert bool(read(old).settings.get("ignore_merges")) == whole
    for flag in (True, False):
        new = write_gguf(tmp_path / "new.gguf", "gpt2", names, types, **more, add_bos_token=flag)
        report = validate(new, against=old)
        assert kit.verdict(report) == ("hot" if flag == adds else "breaks"), kit.levels(report)


def test_hostile_gguf_tokenizers_are_named(tmp_path: Path) -> None:
    names, types = bpe_tokens()
    for tokens, kinds, reason in (
        (names, types[:-1], "different lengths"),
        ([*names[:-1], "a"], [*types[:-1], NORMAL], "twice"),
    ):
        path = write_gguf(tmp_path / "m.gguf", "gpt2", tokens, kinds, merges=["a b"])
        with pytest.raises(UnreadableModel, match=reason):
            read(path)
    path = write_gguf(tmp_path / "m.gguf", "strange", names, types)
    with pytest.raises(UnreadableModel, match="not known"):
        read(path)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_our_model_of_sentencepiece_is_the_library_s(tmp_path: Path, kind: str) -> None:
    """Merges derived from scores, and best segmentations, on words of the training text."""
    path = kit.train(tmp_path, kind, normalization_rule_name="identity", add_dummy_prefix=False)
    real = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ours = read(path)
    for word in ("the", "cat", "hat", "tact", "mat", "ate", "dog", "hahat", "thethe", "sattos", "atta"):
        pieces = real.EncodeAsPieces(word)
        if kind == "bpe":
            assert model.table(ours).encode(word) == pieces
        else:
            from interlock.checks.validate.tokenizer.proofs import unigram

            scored = unigram.Pieces({t: ours.scores.value[n] for t, n in ours.vocab.value.items() if n > 2})
            assert sum(scored.scores[p] for p in pieces) == pytest.approx(scored.best(word))


def test_sentencepiece_pairs(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    old = kit.train(tmp_path / "a", "bpe", vocab_size=25)
    assert kit.verdict(validate(old, against=old)) == "equal"
    larger = kit.train(tmp_path / "b", "bpe", vocab_size=35)
    # Trained with more pieces the characters move behind them.
    assert "TOK-ID" in kit.levels(validate(larger, against=old))
    other = kit.train(tmp_path / "c", "bpe", vocab_size=25, user_defined_symbols=["<tool>"])
    assert "TOK-ID" in kit.levels(validate(other, against=old))


def test_another_format_restarts_and_the_same_ids_do_not_break(tmp_path: Path) -> None:
    plain = kit.byte_level(specials=())
    extra = {"vocab.json": plain["model"]["vocab"], "merges.txt": "\n".join(plain["model"]["merges"])}
    new = kit.model(tmp_path / "new", {"tokenizer.json": plain})
    old = kit.model(tmp_path / "old", extra)
    found = kit.levels(validate(new, against=old))
    assert found["TOK-FMT"] == "restart"
    assert "TOK-ID" not in found


def test_twins_that_agree_are_silent(tmp_path: Path) -> None:
    extra = {"vocab.json": BASE["model"]["vocab"], "merges.txt": "\n".join(BASE["model"]["merges"])}
    folder = kit.model(tmp_path / "m", {**files(), **extra})
    assert "TOK-TWIN" not in kit.levels(validate(folder))


def test_probes(tmp_path: Path) -> None:
    old = kit.model(tmp_path / "old", files(kit.byte_level(specials=())))
    dead = kit.byte_level([*kit.MERGES, ("x", "y")], specials=())
    new = kit.model(tmp_path / "new", files(dead))
    report = validate(new, against=old, probe=True)
    probe = next(f for f in report.findings if f.rule == "TOK-PROBE")
    assert probe.level == "restart"
    assert probe.witness is not None
    assert probe.witness["text"] == "xy"
    inert = kit.changed(kit.byte_level(specials=()), "model.ignore_merges", True)
    same = kit.model(tmp_path / "same", files(inert))
    report = validate(same, against=old, probe=True)
    probe = next(f for f in report.findings if f.rule == "TOK-PROBE")
    assert (probe.level, "probes encode alike" in probe.proof) == ("hot", True)


@pytest.mark.parametrize(
    ("runtimes", "level"), [({}, "restart"), ({"tokenizers": "0.19.1"}, "restart"), ({"tokenizers": "0.20.3"}, None)]
)
def test_declared_runtimes_decide_on_pairs(tmp_path: Path, runtimes: dict[str, str], level: str | None) -> None:
    paired = kit.changed(BASE, "model.merges", [m.split(" ") for m in BASE["model"]["merges"]])
    report = kit.judge(tmp_path, files(), files(paired), Contract(runtimes=runtimes))
    assert kit.levels(report).get("TOK-FMT") == level


def test_padding_sides_and_limits(tmp_path: Path) -> None:
    config = {"padding_side": "left", "truncation_side": "right", "model_max_length": 512}
    cut = {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}
    pad = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0}
    old = {"tokenizer.json": BASE, "tokenizer_config.json": config}
    shorter = {**cut, "max_length": 64}
    for number, (before, after, level) in enumerate(
        (
            (old, old | {"tokenizer_config.json": {**config, "padding_side": "right"}}, "breaks"),
            (old, old | {"tokenizer_config.json": {**config, "truncation_side": "left"}}, "breaks"),
            (old, old | {"tokenizer_config.json": {**config, "model_max_length": 511}}, "breaks"),
            (old, old | {"tokenizer_config.json": {**config, "model_max_length": 1024}}, None),
            (old, old | {"tokenizer.json": kit.changed(BASE, "padding", {**pad, "pad_token": "<|pad|>"})}, "restart"),
            (old, old | {"tokenizer.json": kit.changed(BASE, "truncation", cut)}, "breaks"),
            (
                old | {"tokenizer.json": kit.changed(BASE, "truncation", cut)},
                old | {"tokenizer.json": kit.changed(BASE, "truncation", shorter)},
                "breaks",
            ),
        )
    ):
        report = kit.judge(tmp_path / str(number), before, after)
        assert kit.levels(report).get("TOK-SIDE") == level, number


PAD = {
    "strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None,
    "pad_id": 2, "pad_type_id": 0, "pad_token": "<|pad|>",
}  # fmt: skip
CUT = {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}


@pytest.mark.parametrize(
    ("part", "before", "after", "level", "says"),
    [
        (
            "padding",
            None,
            PAD,
            "restart",
            "pads the texts of a batch to one length now, on the right with '<|pad|>', id 2",
        ),
        ("padding", None, {**PAD, "strategy": {"Fixed": 64}}, "restart", "pads texts to 64 tokens now"),
        ("padding", PAD, None, "restart", "pads no more"),
        ("padding", PAD, {**PAD, "direction": "Left"}, "breaks", "pads on the left, the other side"),
        ("padding", PAD, {**PAD, "pad_id": 3}, "breaks", "pads with another token"),
        ("padding", PAD, {**PAD, "pad_type_id": 1}, "breaks", "another type id"),
        ("padding", PAD, {**PAD, "strategy": {"Fixed": 64}}, "breaks", "pads to other lengths"),
        ("padding", PAD, {**PAD, "pad_to_multiple_of": 8}, "breaks", "pads to other lengths"),
        ("truncation", None, CUT, "breaks", "cuts texts at 128 tokens now"),
        ("truncation", CUT, None, "hot", "cuts texts no more"),
        ("truncation", CUT, {**CUT, "max_length": 64}, "breaks", "cuts earlier"),
        ("truncation", CUT, {**CUT, "max_length": 256}, "hot", "cuts later"),
        ("truncation", CUT, {**CUT, "direction": "Left"}, "breaks", "cuts the other end"),
        ("truncation", CUT, {**CUT, "strategy": "OnlyFirst"}, "breaks", "cuts in another way"),
    ],
)
def test_padding_and_truncation_are_told_in_words(
    tmp_path: Path, part: str, before: Any, after: Any, *, level: str, says: str
) -> None:
    old, new = (files(kit.changed(BASE, part, each)) for each in (before, after))
    report = kit.judge(tmp_path, old, new)
    assert [f.level for f in report.findings if f.rule == "TOK-SIDE"] == [level]
    assert [says in f.message for f in report.findings if f.rule == "TOK-SIDE"] == [True], report.findings
    if part == "padding":
        strict = kit.judge(tmp_path / "ids", old, new, Contract(level="ids"))
        assert kit.levels(strict)["TOK-SIDE"] == "breaks"


def test_a_lost_tokenizer_breaks(tmp_path: Path) -> None:
    report = kit.judge(tmp_path, files(config__json={"a": 1}), {"config.json": {"a": 1}})
    assert kit.levels(report)["TOK-DEL"] == "breaks"


def test_a_damaged_tokenizer_is_never_a_pass(tmp_path: Path) -> None:
    old = kit.model(tmp_path / "old", files())
    new = kit.model(tmp_path / "new", files())
    path = new / "tokenizer.json"
    path.write_bytes(path.read_bytes()[:-1])
    report = validate(new, against=old)
    assert report.exit_code == 2
    shutil.copy(old / "tokenizer.json", path)
    document = json.loads(path.read_text())
    document["model"]["vocab"]["zz"] = "1"
    path.write_text(json.dumps(document))
    assert validate(new, against=old).exit_code == 2
    assert validate(new).exit_code == 2


def test_an_unchanged_tokenizer_is_read_once(tmp_path: Path) -> None:
    folders = [kit.model(tmp_path / name, files()) for name in ("old", "new")]
    old, new = (Side(read_tree(folder), folder.name) for folder in folders)
    old.share_tokenizer(new, "tokenizer.json")
    assert old.tokenizer is new.tokenizer
    # Where another file serves on one side, each side keeps its own.
    (folders[0] / "tekken.json").write_text("{}")
    old = Side(read_tree(folders[0]), "old")
    old.share_tokenizer(new, "tokenizer.json")
    assert old.tokenizer is not new.tokenizer
    (folders[0] / "tekken.json").unlink()
    for folder in folders:
        (folder / "tokenizer.json").write_text("{")
    report = validate(folders[1], against=folders[0])
    assert report.exit_code == 2
