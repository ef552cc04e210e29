"""Verdict, plan, exceptions, references and exit codes of `validate`."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from interlock.checks.validate import registry
from interlock.checks.validate.contents import same_bytes
from interlock.checks.validate.run import validate
from interlock.cli.command import run
from interlock.cli.table import BY_NAME
from interlock.config.settings import Accepted, Contract
from interlock.models.errors import UnreadableModel
from interlock.models.tree import read_tree
from interlock.report import exits
from interlock.report.errors import BadInput, NothingToCheck
from validate.build import folder, llama, llama_tensors, onnx_model, safetensors

IO = {"x": ("float", ["batch", 4])}
OUT = {"y": ("float", ["batch", 2])}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return folder(tmp_path / "old", {"model.onnx": onnx_model(IO, OUT)})


@pytest.fixture
def breaking(tmp_path: Path) -> Path:
    return folder(tmp_path / "new", {"model.onnx": onnx_model({"z": ("int64", ["batch"])}, OUT)})


def test_identical_models_are_equal_and_need_no_plan(old: Path) -> None:
    report = validate(old, old, contract=Contract())
    assert report.facts["verdict"] == "equal"
    assert report.facts["plan"] == []
    assert report.headline == "verdict: equal"
    assert report.exit_code == exits.PASS


def test_a_single_model_is_checked_alone(old: Path, tmp_path: Path) -> None:
    report = validate(old, contract=Contract())
    assert report.headline == "verdict: consistent"
    assert report.exit_code == exits.PASS
    broken = folder(
        tmp_path / "m", {"config.json": llama(), "model.safetensors": safetensors(llama_tensors(head=False))}
    )
    report = validate(broken, contract=Contract())
    assert {f.rule for f in report.findings if f.level == "breaks"} == {"WTS-TIE"}
    assert report.exit_code == exits.REFUSED


@pytest.mark.parametrize(
    ("level", "fail_on", "code"),
    [
        ("breaks", "breaks", 1),
        ("breaks", "any", 1),
        ("restart", "breaks", 0),
        ("restart", "unproven", 0),
        ("restart", "restart", 1),
        ("hot", "restart", 0),
        ("hot", "any", 1),
        ("equal", "restart", 0),
    ],
)
def test_fail_on(old: Path, breaking: Path, level: str, fail_on: str, code: int) -> None:
    rules = [f.rule for f in validate(breaking, old, contract=Contract()).findings]
    contract = Contract(levels=dict.fromkeys(rules, level))
    report = validate(breaking, old, contract=contract, fail_on=fail_on)  # pyright: ignore[reportArgumentType]
    # A project's own level lowers a rule, but bytes that differ are never equal.
    assert report.facts["verdict"] == ("hot" if level == "equal" else level)
    assert report.exit_code == code


@pytest.mark.parametrize(
    ("level", "fail_on", "says"),
    [
        ("restart", "restart", "the verdict is restart; with --fail-on restart only equal and hot may pass"),
        (
            "breaks",
            "breaks",
            "the verdict is breaks; with --fail-on breaks only equal, hot, unproven and restart may pass",
        ),
        ("hot", "any", "the verdict is hot; with --fail-on any only equal may pass"),
        ("restart", "breaks", ""),
    ],
)
def test_a_refusal_says_what_may_pass(old: Path, breaking: Path, level: str, fail_on: str, says: str) -> None:
    rules = [f.rule for f in validate(breaking, old, contract=Contract()).findings]
    contract = Contract(levels=dict.fromkeys(rules, level))
    report = validate(breaking, old, contract=contract, fail_on=fail_on)  # pyright: ignore[reportArgumentType]
    assert report.refused == says


def test_an_accepted_finding_ends_on_its_day(old: Path, breaking: Path) -> None:
    rules = {f.rule for f in validate(breaking, old, contract=Contract()).findings}
    today = datetime.now(UTC).date()

    def contract(days: int, path: str = "") -> Contract:
        until = (today + timedelta(days=days)).isoformat()
        return Contract(
            accept=[Accepted(rule=r, reason="clients moved", until=until, path=path) for r in sorted(rules)]
        )

    report = validate(breaking, old, contract=contract(1))
    assert report.facts["verdict"] == "hot"
    assert report.exit_code == exits.PASS
    assert "accepted" in report.headline
    assert all(f.suppressed and "clients moved" in f.suppressed for f in report.findings)
    late = validate(breaking, old, contract=contract(-1))
    assert late.exit_code == exits.REFUSED
    yesterday = (today - timedelta(days=1)).isoformat()
    assert late.facts["ended"] == [f"the exception for {rule} ended on {yesterday}" for rule in sorted(rules)]
    assert f"the exception for {min(rules)} ended on {yesterday}" in late.headline
    assert report.facts["ended"] == []
    assert validate(breaking, old, contract=contract(1, "other.onnx")).exit_code == exits.REFUSED


@pytest.mark.parametrize(
    ("paths", "level"),
    [
        (["lm_head.weight"], "breaks"),
        (["del.safetensors"], "breaks"),
        (["lm_head.weight", "model.norm.weight"], "breaks"),
        (list(llama_tensors()), "hot"),
        (["model.safetensors"], "hot"),
        (["./model.safetensors"], "hot"),
        (["lm_head.weight", ""], "hot"),
    ],
)
def test_one_tensor_of_many_is_accepted_alone(tmp_path: Path, paths: list[str], level: str) -> None:
    new, old = (
        folder(tmp_path / kind, {"config.json": llama(), "model.safetensors": safetensors(llama_tensors(kind))})
        for kind in ("F16", "BF16")
    )
    rules = ("WTS-DTYPE", "WTS-DTYPE-RANGE")
    accepted = [Accepted(rule=rule, reason="r", until="2999-01-01", path=path) for rule in rules for path in paths]
    assert validate(new, old, contract=Contract(accept=accepted)).facts["verdict"] == level


@pytest.mark.parametrize(
    ("path", "level"),
    [("model-00001-of-00002.safetensors", "breaks"), ("new/model-00002-of-00002.safetensors", "breaks"), ("", "hot")],
)
def test_one_shard_of_two_is_accepted_alone(tmp_path: Path, path: str, level: str) -> None:
    names = list(llama_tensors())
    shards = {f"model-0000{at}-of-00002.safetensors": names[at - 1 :: 2] for at in (1, 2)}
    index = {"weight_map": {name: file for file, held in shards.items() for name in held}}

    def model(kind: str) -> dict[str, object]:
        tensors = llama_tensors(kind)
        data = {file: safetensors({name: tensors[name] for name in held}) for file, held in shards.items()}
        return {"config.json": llama(), "model.safetensors.index.json": index, **data}

    new, old = folder(tmp_path / "new", model("F16")), folder(tmp_path / "old", model("BF16"))
    rules = ("WTS-DTYPE", "WTS-DTYPE-RANGE")
    accepted = [Accepted(rule=rule, reason="r", until="2999-01-01", path=path) for rule in rules]
    assert validate(new, old, contract=Contract(accept=accepted)).facts["verdict"] == level


@pytest.mark.parametrize(
    "broken", [{"rule": "FIL-SET", "reason": "r", "until": "soon"}, {"rule": "FIL-SET", "until": "2099-01-01"}]
)
def test_an_exception_without_reason_or_day_is_refused(old: Path, broken: dict[str, str]) -> None:
    with pytest.raises(BadInput, match=r"until|reason"):
        validate(old, old, contract=Contract(accept=[Accepted(**broken)]))


@pytest.mark.parametrize(
    ("name", "hint"), [("ONX-DTYP", "did you mean 'ONX-DTYPE'?"), ("zzz", "interlock rules lists them")]
)
def test_a_rule_that_does_not_exist_is_refused(old: Path, name: str, hint: str) -> None:
    accepted = [Accepted(rule=name, reason="r", until="2099-01-01")]
    for contract in (Contract(levels={name: "hot"}), Contract(accept=accepted)):
        with pytest.raises(BadInput, match=name) as caught:
            validate(old, contract=contract)
        assert caught.value.hint == hint


def test_there_is_no_plan_for_what_may_not_go_live(old: Path, breaking: Path, tmp_path: Path) -> None:
    assert validate(breaking, old, contract=Contract()).facts["plan"] == []
    cut = folder(tmp_path / "cut", {"model.onnx": (old / "model.onnx").read_bytes()[:-20]})
    report = validate(cut, old, contract=Contract())
    assert report.facts["plan"] == []
    assert "plan" not in report.headline
    assert not any("swap plan" in str(getattr(block, "title", "")) for block in report.body)


def test_a_broken_file_is_a_finding_and_never_a_pass(old: Path, tmp_path: Path) -> None:
    whole = (old / "model.onnx").read_bytes()
    good = safetensors({"w": ("F32", [64])})
    new = folder(tmp_path / "new", {"model.onnx": whole[:-20], "model.safetensors": good[:-1]})
    report = validate(new, old, contract=Contract())
    assert report.exit_code == exits.BAD_INPUT
    assert report.headline == "verdict: none — 2 files could not be read"
    assert {f.rule for f in report.findings} >= {"FIL-TRUNC"}
    assert report.unread == 2


def test_no_model_at_all(tmp_path: Path) -> None:
    with pytest.raises(UnreadableModel, match="not found"):
        validate(tmp_path / "absent")
    with pytest.raises(NothingToCheck):
        validate(folder(tmp_path / "m", {"README.md": "hello"}))


def test_external_data_is_checked(tmp_path: Path) -> None:
    import onnx

    def save(name: str) -> Path:
        proto = onnx.load_from_string(onnx_model(IO, OUT))
        path = tmp_path / name
        path.mkdir()
        convert = {"all_tensors_to_one_file": True, "location": "w.bin", "size_threshold": 0}
        onnx.save(proto, path / "model.onnx", save_as_external_data=True, **convert)
        return path

    old, new = save("old"), save("new")
    assert validate(new, old, contract=Contract()).facts["verdict"] == "equal"
    assert validate(new / "model.onnx", old / "model.onnx", contract=Contract()).facts["verdict"] == "hot"
    (new / "w.bin").write_bytes(b"\x07" * 8)
    assert validate(new, old, contract=Contract()).facts["verdict"] == "hot"
    (new / "w.bin").write_bytes(b"\x07" * 7)
    report = validate(new, old, contract=Contract())
    assert ("ONX-EXT", "breaks") in {(f.rule, f.level) for f in report.findings}
    (new / "w.bin").unlink()
    assert validate(new, old, contract=Contract()).facts["verdict"] == "breaks"
    for location in ("../old/w.bin", "/etc/passwd", "model.onnx"):
        proto = onnx.load(old / "model.onnx", load_external_data=False)
        proto.graph.initializer[0].external_data[0].value = location
        (new / "model.onnx").write_bytes(proto.SerializeToString())
        report = validate(new, old, contract=Contract())
        assert report.exit_code == exits.BAD_INPUT, location


def test_external_data_behind_a_link_is_refused(tmp_path: Path) -> None:
    import onnx

    (tmp_path / "m").mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(8))
    proto = onnx.load_from_string(onnx_model(IO, OUT))
    onnx.save(proto, tmp_path / "m" / "a.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    (tmp_path / "m" / "w.bin").unlink()
    (tmp_path / "m" / "w.bin").symlink_to("../secret.bin")
    assert validate(tmp_path / "m" / "a.onnx", contract=Contract()).exit_code == exits.BAD_INPUT
    with pytest.raises(UnreadableModel, match="out of the model"):
        validate(tmp_path / "m", contract=Contract())


def test_large_files_are_only_sampled(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with (tmp_path / f"{name}.bin").open("wb") as stream:
            stream.truncate(1 << 30)
    a, b = (read_tree(tmp_path).files[f"{name}.bin"] for name in ("a", "b"))
    assert same_bytes(a, b) == "unknown"
    with (tmp_path / "b.bin").open("r+b") as stream:
        stream.seek((1 << 30) - 1)
        stream.write(b"x")
    assert same_bytes(a, b) == "different"
    assert same_bytes(a, a) == "same"


def test_memory_as_in_the_worked_example(tmp_path: Path) -> None:
    """70 B parameters in bf16 on 80 GB GPUs at 0.9: two GPUs do not do, four leave 1.4 GB, eight plenty."""
    config = llama(num_hidden_layers=80, num_attention_heads=64, num_key_value_heads=8, hidden_size=8192)
    header = {"model.embed_tokens.weight": {"dtype": "BF16", "shape": [141_100 // 2, 1_000_000]}}
    size = 141_100 * 1_000_000
    header["model.embed_tokens.weight"]["data_offsets"] = [0, size]  # pyright: ignore[reportArgumentType]
    text = json.dumps(header).encode()
    for name in ("old", "new"):
        path = folder(tmp_path / name, {"config.json": config})
        with (path / "model.safetensors").open("wb") as stream:
            stream.write(len(text).to_bytes(8, "little") + text)
            stream.truncate(8 + len(text) + size)
    fits: dict[int, tuple[str, float, int]] = {}
    for gpus in (2, 4, 8):
        contract = Contract(gpu_memory="80GB", gpus=gpus, kv_tokens=30_000)
        report = validate(tmp_path / "new", tmp_path / "old", contract=contract)
        pointer = report.facts["memory"]["strategies"][0]
        (finding,) = [f for f in report.findings if f.rule == "MEM-FIT"]
        fits[gpus] = (finding.level, round(pointer["left"] / 1e9, 1), pointer["tokens"])
        assert report.facts["memory"]["kv_per_token"] == 327_680
    assert fits[2] == ("restart", -69.1, 0)
    assert fits[4][:2] == ("restart", 1.4)
    assert 17_000 < fits[4][2] < 18_000
    assert fits[8][:2] == ("hot", 36.7)


def test_delta_names_what_changed(tmp_path: Path) -> None:
    tensors = llama_tensors()
    old = folder(tmp_path / "old", {"config.json": llama(), "model.safetensors": safetensors(tensors)})
    changed = safetensors(tensors, fills={"model.norm.weight": 9})
    new = folder(tmp_path / "new", {"config.json": llama(), "model.safetensors": changed})
    delta = validate(new, old, contract=Contract()).facts["delta"]
    assert delta["tensors"] == {"changed": 1, "added": 0, "removed": 0, "unknown": 0, "same": len(tensors) - 1}
    assert delta["changed"] == ["model.norm.weight"]
    assert delta["bytes_to_ship"] == 16
    assert delta["exact"]


def _empty(folder: Path) -> str:
    (folder / "interlock.yaml").write_text("contract: {}\n")
    return str(folder / "interlock.yaml")


def test_delta_believes_bytes_before_signed_digests(tmp_path: Path) -> None:
    """A signature that is older than the file says nothing about it."""
    tensors = llama_tensors()
    for name in ("old", "new"):
        path = folder(tmp_path / name, {"config.json": llama(), "model.safetensors": safetensors(tensors)})
        key = str(tmp_path / f"{name}-key")
        assert run(BY_NAME["sign"], [str(path), "--generate-key", key, "--tensor-digests"]) == exits.PASS
    (tmp_path / "new" / "model.safetensors").write_bytes(safetensors(tensors, fills={"model.norm.weight": 9}))
    delta = validate(tmp_path / "new", tmp_path / "old", contract=Contract()).facts["delta"]
    assert (delta["changed"], delta["exact"], delta["digests"]) == (["model.norm.weight"], True, None)


def test_delta_by_signed_digests_is_exact_for_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors = llama_tensors()
    paths: list[Path] = []
    for name, fills in (("old", {}), ("new", {"model.norm.weight": 9})):
        content = {"config.json": llama(), "model.safetensors": safetensors(tensors, fills=fills)}
        paths.append(folder(tmp_path / name, content))
    monkeypatch.setattr("interlock.checks.validate.delta.WHOLE", 0)
    assert not validate(paths[1], paths[0], contract=Contract()).facts["delta"]["exact"]
    for path in paths:
        key = str(tmp_path / f"{path.name}-key")
        assert run(BY_NAME["sign"], [str(path), "--generate-key", key, "--tensor-digests"]) == exits.PASS
    delta = validate(paths[1], paths[0], contract=Contract()).facts["delta"]
    assert delta["exact"]
    assert delta["changed"] == ["model.norm.weight"]
    assert delta["digests"] == "signed, not verified here"
    assert run(BY_NAME["validate"], [str(paths[1]), "--against", str(paths[0]), "--config", _empty(tmp_path)]) == 0
    assert (
        "by digests in model.sig (signed, not verified here; interlock verify checks them)" in capsys.readouterr().out
    )
    (paths[1] / "model.sig").write_text("{")
    assert validate(paths[1], paths[0], contract=Contract()).facts["delta"] is None


def test_delta_names_the_changed_subgraph(old: Path, tmp_path: Path) -> None:
    new = folder(tmp_path / "new", {"model.onnx": onnx_model(IO, OUT, node=("Neg", ""))})
    delta = validate(new, old, contract=Contract()).facts["delta"]
    assert [(group["operators"], group["types"]) for group in delta["subgraphs"]] == [(1, {"Neg": 1})]
    assert delta["tensors"]["same"] == 1


def test_strict_contract_counts_bytes(old: Path, tmp_path: Path) -> None:
    new = folder(tmp_path / "new", {"model.onnx": onnx_model(IO, OUT, weight=3.0)})
    assert validate(new, old, contract=Contract()).facts["verdict"] == "hot"
    report = validate(new, old, contract=Contract(level="strict"))
    assert ("FIL-BYTES", "breaks") in {(f.rule, f.level) for f in report.findings}


@pytest.mark.parametrize("text", ["80 apples", "-1GB", ""])
def test_a_size_that_is_none(old: Path, text: str) -> None:
    if text:
        with pytest.raises(BadInput, match="size"):
            validate(old, old, contract=Contract(gpu_memory=text))
    else:
        assert validate(old, old, contract=Contract(gpu_memory=text)).facts["memory"] is None


def test_rules_are_documented_and_named_once() -> None:
    rules = registry.all_rules()
    assert {rule.id for rule in rules} == registry.ids()
    assert len(registry.ids()) == len(rules)
    for rule in rules:
        assert rule.id.split("-")[0] == rule.family
        assert rule.summary
        assert rule.what
        assert rule.why
        assert rule.hint
        assert not rule.summary.endswith(".")
        assert rule.summary[0].islower() or rule.summary.split()[0][0].isupper()


def test_command_line(old: Path, breaking: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(BY_NAME["validate"], [str(old), "--against", str(old)]) == exits.PASS
    assert capsys.readouterr().out.strip().endswith("verdict: equal")
    assert run(BY_NAME["validate"], [str(breaking), "--against", str(old), "-f", "json"]) == exits.REFUSED
    document = json.loads(capsys.readouterr().out)
    assert document["facts"]["verdict"] == "breaks"
    assert document["refused"] == "the verdict is breaks; with --fail-on restart only equal and hot may pass"
    assert run(BY_NAME["validate"], [str(old / "absent")]) == exits.BAD_INPUT
    captured = capsys.readouterr()
    assert "not found" in captured.err
    assert "Traceback" not in captured.err
    for fail_on in ("breaks", "unproven", "any"):
        assert run(BY_NAME["validate"], [str(breaking), "-a", str(old), "--fail-on", fail_on]) == exits.REFUSED
