"""Wrong values are named with their place and the next step; nothing is guessed, nothing half written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from interlock.cli.main import main
from interlock.report.errors import BadInput
from interlock.templates import context, inputs
from interlock.templates.owned import OWNED
from interlock.templates.run import render

D = "sha256:" + "0f" * 32


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"image": "vllm/vllm-openai:v0.18.0"}, "image: 'vllm/vllm-openai:v0.18.0' is a tag, and a tag can move"),
        ({"image": "vllm/vllm-openai"}, "is a tag"),
        ({"image": f"UPPER/x@{D}"}, "not an image reference by digest"),
        ({"image": "x@sha256:12"}, "not an image reference by digest"),
        ({"interlock_image": ""}, "interlock_image: is required"),
        ({"name": "Not_A_Name"}, "name: 'Not_A_Name' is not a name"),
        ({"name": "a\nb"}, "is not a name"),
        ({"replicas": 0}, "replicas: 0 is not between 1 and 1000"),
        ({"labels": {"app.kubernetes.io/name": "x"}}, "is set by the profile"),
        ({"labels": {"a b": "x"}}, "is not a label"),
        ({"env": {"A-B": "x"}}, "is not a variable name"),
        ({"model": {"version": "1.4.0", "reference": "oci://r.example/m:prod"}}, "is a tag, and a tag can move"),
        ({"model": {"version": "1.4.0", "reference": "./model"}}, "is not a model reference by digest"),
        ({"model": {"version": "v 1", "reference": f"oci://r.example/m@{D}"}}, "is not a label value"),
        ({"model": {"version": "1", "reference": f"oci-layout:/r@{D}"}}, "model.registry_claim: is required"),
        ({"trust": {}}, "nobody may sign"),
        ({"trust": {"keys": ["release.pub"]}}, "trust.keys.0: not a public key in PEM form"),
        ({"trust": {"identities": [{"issuer": "x"}]}}, "needs issuer and subject"),
        ({"resources": {"memory": "lots"}}, "resources.memory: 'lots' is not a quantity"),
        ({"resources": {"gpus": -1}}, "gpus: -1 is not between"),
        ({"resources": {"memory": "0"}}, "resources.memory: 0 is not between 1Mi and 64Ti"),
        ({"resources": {"memory": "500m"}}, "resources.memory: 500m is not between"),
        ({"resources": {"memory": "0Gi"}}, "resources.memory: 0Gi is not between"),
        ({"resources": {"memory": "9999999Ei"}}, "resources.memory: 9999999Ei is not between"),
        ({"resources": {"cpu": "0"}}, "resources.cpu: 0 is not between"),
        ({"resources": {"cpu": "0.0m"}}, "resources.cpu: 0.0m is not between"),
        ({"resources": {"cpu": "4Gi"}}, "resources.cpu: 4Gi is not between"),
        ({"resources": {"cpu": "²"}}, "resources.cpu: '²' is not a quantity"),
        ({"resources": {"shm": "0"}}, "resources.shm: 0 is not between"),
        ({"resources": {"shm": "100Gi"}}, "resources.shm: 100Gi counts against memory, which is 8Gi"),
        ({"resources": {"shm": "8Gi"}}, "nothing would be left for the server"),
        ({"resources": {"shm": "1073742k", "memory": "1Gi"}}, "counts against memory"),
        ({"model": {"version": "1", "reference": f"oci://r.example/m@{D}", "size": "0Gi"}}, "model.size: 0Gi is not"),
        ({"server": {"port": 9000}}, "the vllm profile fixes how its server is started"),
        ({"user": 0}, "user: 0 is not between"),
        ({"pull_secret": "a b"}, "pull_secret: 'a b' is not an object name"),
        ({"timing": {"settle": 0}}, "timing.settle: 0 is not between"),
        ({"imagee": "x"}, "unknown key 'imagee'"),
        ({"replicas": "2"}, "replicas must be a whole number"),
        ({"model": {"version": 1.4}}, "must be a string, not the number 1.4"),
    ],
)
def test_a_wrong_value_is_named(change: dict[str, Any], said: str, values: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as caught:
        render("vllm", values={**values, **change})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("profile", "change", "said", "hint"),
    [
        ("vllm", {"args": ["--model", "other/model"]}, "--model is set by the vllm profile", "model.reference"),
        ("vllm", {"args": ["-O3", "--revision=x"]}, "args.1: --revision=x is set by the vllm profile", "verified"),
        ("vllm", {"args": ["--trust-remote-code"]}, "--trust-remote-code is set by", "code"),
        ("vllm", {"args": ["--trust_remote_code"]}, "--trust_remote_code is set by", "code"),
        ("vllm", {"args": ["--trust"]}, "--trust (short for --trust-remote-code)", "code"),
        ("vllm", {"args": ["--download-dir", "/x"]}, "--download-dir is set by", "model.reference"),
        ("vllm", {"args": ["--served-model-name", "x"]}, "--served-model-name is set by", "model.name"),
        ("vllm", {"args": ["--port=1"]}, "--port=1 is set by", "probes"),
        ("vllm", {"args": ["--shutdown-timeout", "1"]}, "--shutdown-timeout is set by", "timing.request"),
        ("vllm", {"args": ["--config", "/x.yaml"]}, "--config is set by", "under args"),
        ("vllm", {"args": ["other/model"]}, "args.0: 'other/model' is not an option", "model.reference"),
        ("vllm", {"args": ["--seed", "1", "--", "other"]}, "args.2: '--' is not an option", "model.reference"),
        ("vllm", {"args": ["--lora-modules", "a=org/a"]}, "'a=org/a' would be served without", "/models/vad/"),
        ("vllm", {"args": ['--speculative-config={"model": "org/d"}']}, "would be served without", "/models/vad/"),
        ("vllm", {"args": ["--lora-modules", "a=org/models/vad/a"]}, "would be served without", "/models/vad/"),
        ("vllm", {"args": ["--lora-modules", "a=/models/vad/../x"]}, "would be served without", "/models/vad/"),
        ("vllm", {"args": ["--speculative-config.model", "org/d"]}, "would be served without", "/models/vad/"),
        ("vllm", {"env": {"HF_HUB_OFFLINE": "0"}}, "env.HF_HUB_OFFLINE: HF_HUB_OFFLINE is set by", "model.reference"),
        ("triton", {"args": ["--model-repository=/x"]}, "--model-repository=/x is set by the triton", "reference"),
        ("triton", {"args": ["--model-control=poll"]}, "(short for --model-control-mode)", "new pod"),
        ("triton", {"args": ["--exit-timeout-secs=1"]}, "--exit-timeout-secs=1 is set by", "timing.request"),
        ("onnxruntime", {"env": {"MODEL_DIR": "/x"}}, "MODEL_DIR is set by", "model.reference"),
        ("onnxruntime", {"env": {"PORT": "1"}}, "PORT is set by the onnxruntime profile", "server.port"),
    ],
)
def test_what_the_profile_sets_itself_is_refused(
    profile: str, change: dict[str, Any], said: str, hint: str, values: dict[str, Any]
) -> None:
    with pytest.raises(BadInput) as caught:
        render(profile, values={**values, **change})
    assert said in str(caught.value) and hint in caught.value.hint


@pytest.mark.parametrize("profile", sorted(OWNED))
def test_every_option_that_a_template_gives_is_owned(profile: str, values: dict[str, Any]) -> None:
    payload = render(profile, values={**values, "args": [], "env": {}}).payload
    (deployment,) = (o for o in yaml.safe_load_all(payload) if o["kind"] == "Deployment")
    (server,) = deployment["spec"]["template"]["spec"]["containers"]
    given = {text.partition("=")[0] for text in server.get("args", ()) if text.startswith("--")}
    assert given <= set(OWNED[profile].args)


@pytest.mark.parametrize(
    "args",
    [
        ["--max-model-len", "4096", "-tp", "2", "--compilation-config.level", "3"],
        ["--enable-lora", "--lora-modules", "a=/models/vad/a", '{"name": "b", "path": "/models/vad/b"}'],
        ["--speculative-config", '{"model": "/models/vad/draft"}'],
        ["--speculative-config", '{"method": "ngram", "num_speculative_tokens": 4}'],
        ["--speculative-config.method", "ngram", "--tokenizer-mode", "slow"],
    ],
)
def test_other_arguments_stay_the_users(args: list[str], values: dict[str, Any]) -> None:
    (deployment,) = (
        o for o in yaml.safe_load_all(render("vllm", values={**values, "args": args}).payload)
        if o["kind"] == "Deployment"
    )  # fmt: skip
    assert deployment["spec"]["template"]["spec"]["containers"][0]["args"][-len(args) :] == args


@pytest.mark.parametrize(
    ("item", "said", "hint"),
    [
        ('trust.identities=[{issuer: x, subject_pattern: ".*"}]', "subject_pattern '.*' is weak", "escape dots"),
        ("trust.identities=[{issuer: x, subject: a, subject_pattern: b}]", "either subject or", "exactly one"),
        ('trust.keys=["-----BEGIN PUBLIC KEY-----\\nAAAA\\n-----END PUBLIC KEY-----"]', "is not a public key", "key"),
    ],
)
def test_signers_that_verify_refuses_are_refused(
    item: str, said: str, hint: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(file).with_name("deploy")
    assert _run("vllm", "--values", file, "--set", item, "--output-dir", str(folder)) == 2
    out, err = capsys.readouterr()
    reason, _, step = err.partition("hint: ")
    assert out == "" and said in reason and hint in step and not folder.exists()
    assert item.partition("=")[0] + ".0: " in reason


def test_the_python_api_judges_signers_too(values: dict[str, Any]) -> None:
    import interlock

    assert interlock.render("vllm", values=values).payload == render("vllm", values=values).payload
    values["trust"] = {"identities": [{"issuer": "x", "subject_pattern": ".*"}]}
    with pytest.raises(BadInput, match="is weak") as caught:
        interlock.render("vllm", values=values)
    assert caught.value.code == "VER-WEAK-PATTERN"


def test_errors_say_the_next_step(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("")
    for args in (
        ("--values", str(tmp_path / "nosuch")),
        ("--values", file, "--output-dir", str(tmp_path / "taken")),
        ("--values", file, "--output-dir", str(tmp_path / "taken" / "below")),
        ("--values", file, "--set", "replicas=two"),
        ("--values", file, "--check", "a", "--diff", "b"),
    ):
        assert _run("vllm", *args) == 2
        assert "\nhint: " in capsys.readouterr().err
    assert (tmp_path / "taken").read_text() == ""


def test_a_wrong_value_in_a_file_has_its_line(values: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({**values, "replicas": 0}, sort_keys=False), encoding="utf-8")
    line = next(i for i, text in enumerate(file.read_text().splitlines(), 1) if text.startswith("replicas"))
    with pytest.raises(BadInput) as caught:
        render("vllm", values_file=str(file))
    assert str(caught.value) == f"{file}:{line}:1: replicas: 0 is not between 1 and 1000"


@pytest.mark.parametrize(
    ("item", "said", "hint"),
    [
        ("replicas", "not KEY=VALUE", ""),
        ("=x", "not KEY=VALUE", ""),
        ("replcas=3", "unknown key 'replcas'", "did you mean 'replicas'?"),
        ("model.versoin=3", "unknown key 'model.versoin'", "did you mean 'model.version'?"),
        ("replicas=two", "must be a whole number", ""),
        ("replicas=²", "must be a whole number", ""),
        ("read_only_root=yes", "must be true or false", ""),
        ("args=a", "must be a list", ""),
        ("args=[a", "invalid YAML", ""),
        ("name.x=a", "'name' has no keys below it", ""),
        ("args=[[a]]", "args.0 must be a string", ""),
    ],
)
def test_a_wrong_assignment_is_named(item: str, said: str, hint: str, values: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as caught:
        render("vllm", values=values, sets=[item])
    assert said in str(caught.value) and hint in caught.value.hint


def test_assignments_are_typed_by_the_key(values: dict[str, Any]) -> None:
    sets = ["model.version=1e3", "replicas=3", "node_selector.a\\.b/c=d.e", "args=[x, '1']", "read_only_root=false"]
    read, _, _ = inputs.read(None, values, sets)
    assert read.model.version == "1e3" and read.replicas == 3 and read.args == ["x", "1"] and not read.read_only_root
    assert read.node_selector["a.b/c"] == "d.e"


def test_credentials_reach_the_init_container_only(values: dict[str, Any]) -> None:
    objects = list(yaml.safe_load_all(render("vllm", values=values).payload))
    pod = next(o for o in objects if o["kind"] == "Deployment")["spec"]["template"]["spec"]
    mounts = [[m["name"] for m in c["volumeMounts"]] for c in (pod["initContainers"][0], pod["containers"][0])]
    assert "credentials" in mounts[0] and "credentials" not in mounts[1]
    assert pod["imagePullSecrets"] == [{"name": "registry"}]


def test_times_add_up(values: dict[str, Any]) -> None:
    for load, request, settle in [(1, 1, 1), (90, 20, 10), (7200, 3600, 600)]:
        read, _, _ = inputs.read(None, {**values, "timing": {"load": load, "request": request, "settle": settle}}, [])
        times = context.times(read)
        assert times["grace"] > times["settle"] + times["drain"]
        assert 10 * times["startup_failures"] >= max(60, 2 * load)
        assert times["progress_deadline"] > 10 * times["startup_failures"] + times["min_ready"]


def test_unknown_profile_suggests() -> None:
    with pytest.raises(BadInput) as caught:
        render("vlm")
    assert caught.value.hint == "did you mean 'vllm'?"


def _run(*args: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["render", *args])
    return int(caught.value.code or 0)


@pytest.fixture
def file(values: dict[str, Any], tmp_path: Path) -> str:
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return str(path)


def test_drift_is_seen_shown_and_mended(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "deploy"
    args = ["triton", "--values", file]
    assert _run(*args, "--check", str(folder)) == 2
    assert "no such directory" in capsys.readouterr().err
    assert _run(*args, "--output-dir", str(folder)) == 0
    assert _run(*args, "--check", str(folder)) == _run(*args, "--diff", str(folder)) == 0
    capsys.readouterr()
    deployment = folder / "deployment.yaml"
    deployment.write_text(deployment.read_text().replace("replicas: 2", "replicas: 1"))
    (folder / "service.yaml").unlink()
    (folder / "other.yaml").write_text("kind: Mine\n")
    (folder / "old.yaml").write_text((folder / "service-account.yaml").read_text())
    assert _run(*args, "--check", str(folder)) == 1
    said = capsys.readouterr().out
    assert "deployment.yaml: differs" in said and "service.yaml: missing" in said and "old.yaml: not rendered" in said
    assert "other.yaml" not in said
    assert _run(*args, "--diff", str(folder)) == 1
    out, err = capsys.readouterr()
    assert "-  replicas: 1\n+  replicas: 2\n" in out and "--- /dev/null" in out and "refused" in err
    (folder / "old.yaml").unlink()
    assert _run(*args, "--output-dir", str(folder)) == 0 == _run(*args, "--check", str(folder))
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_refused_value_writes_nothing(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "deploy"
    assert _run("vllm", "--values", file, "--set", "image=x:latest", "--output-dir", str(folder)) == 2
    assert not folder.exists()
    assert "a tag can move" in capsys.readouterr().err
    assert _run("vllm", "--values", file, "--check", "a", "--diff", "b") == 2
    assert _run("vllm", "--values", str(tmp_path / "none.yaml")) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("args: &a [*a]", "nested too deep"),
        (
            "\n".join(["a0: &a0 [x]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9))]),
            "too many",
        ),
        ("name: " + "[" * 5000 + "]" * 5000, "invalid YAML"),
        ("name: a\nname: b", "duplicate key 'name'"),
        ("name: !!python/object:os.system x", "invalid YAML"),
        ("- a", "the top level must be a mapping"),
        ("name: a\n---\nname: b", "invalid YAML"),
        ("<<: {name: x}", "unknown key '<<'"),
        ("? [a]\n: b", "unknown key"),
        ("name: 2024-01-01 10:00:00", "name must be a string"),
        ("\tname: x", "invalid YAML"),
        ("", "name: is required"),
    ],
)
def test_a_hostile_file_is_bad_input(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        render("vllm", values_file=str(file))


def test_a_device_is_bad_input() -> None:
    with pytest.raises(BadInput, match="larger than 4 MiB"):
        render("vllm", values_file="/dev/zero")


def test_stdout_is_the_manifests_alone(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("onnxruntime", "--values", file) == 0
    out, err = capsys.readouterr()
    assert err == "" and len(list(yaml.safe_load_all(out))) == 7


def test_show_values_is_a_values_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("vllm", "--show-values") == 0
    path = tmp_path / "values.yaml"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    read, _, _ = inputs.read(str(path), None, [])
    assert read == type(read)()


def test_example_manifests_are_what_would_be_rendered(root: Path) -> None:
    example = root / "examples"
    report = render("onnxruntime", values_file=str(example / "values.yaml"), check=str(example / "deploy"))
    assert report.facts["drift"] == [], report.refused
