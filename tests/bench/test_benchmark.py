"""The gate on real sessions: a slower model fails, the same model does not, an undecided one does not pass."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from interlock.bench import measure, rules
from interlock.bench.benchmark import AGAIN, NEW, OLD, Outcome, Settings, _judge
from interlock.bench.footprint import Footprint, child
from interlock.bench.inputs import Plan
from interlock.bench.measure import Samples
from interlock.bench.present import report
from interlock.bench.run import benchmark
from interlock.bench.verdict import Verdict
from interlock.report import formats
from interlock.report.errors import BadInput

QUICK = {"rounds": 6, "max_rounds": 6, "requests": 30, "seconds": 20.0}


def test_alone(silero: Callable[[str], Path]) -> None:
    found = benchmark(str(silero("6.0.0")), domains={"sr": [16000]}, rounds=3, requests=200, seconds=10)
    facts = found.facts
    assert found.exit_code == 0
    assert facts["verdict"] is None
    new = facts["models"]["new"]
    assert new["provider"] == "cpu"
    assert new["nodes"]["cpu"] > 100
    assert 0 < new["latency_ms"]["wall"]["p50"]["value"] <= new["latency_ms"]["wall"]["p99"]["value"]
    assert new["throughput"]["requests_per_second"] > 1
    assert new["load_ms"] > 0
    assert new["rss_peak_bytes"] > 1 << 20
    assert facts["state"] == ["state"]
    for name in formats.NAMES:
        assert formats.render(name, found)
    text = formats.render("human", found)
    assert "requests/s" in text
    assert "█" in text
    json.loads(formats.render("json", found))


def test_a_model_twice_as_deep_is_refused(chain: Callable[..., Path]) -> None:
    found = benchmark(
        str(chain(12, 256)), str(chain(4, 256)), shapes={"x": [4, 256]}, max_regression={"p50": "20%"}, **QUICK
    )
    assert found.facts["verdict"] == "fail"
    assert found.exit_code == 1
    assert [f.rule for f in found.findings] == [rules.REGRESSION.id]
    assert found.facts["comparison"][0]["low"] > 1.2


def test_the_same_model_is_not_failed(chain: Callable[..., Path]) -> None:
    path = str(chain(4, 256))
    found = benchmark(path, path, max_regression={"p50": "50%"}, **QUICK)
    assert found.facts["verdict"] == "pass"
    assert found.exit_code == 0


def test_other_inputs_cannot_be_compared(silero: Callable[[str], Path], chain: Callable[..., Path]) -> None:
    with pytest.raises(BadInput, match="takes other inputs"):
        benchmark(str(chain(2)), str(silero("6.0.0")), **QUICK)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"rounds": 1}, "--rounds"),
        ({"rounds": 5, "max_rounds": 4}, "--max-rounds"),
        ({"requests": -1}, "--requests"),
        ({"seconds": 0.0}, "--seconds"),
        ({"threads": -1}, "--threads"),
        ({"providers": ["tpu"]}, "provider tpu"),
        ({"max_regression": {"p50": "soon"}}, "max_regression p50"),
    ],
)
def test_options_out_of_range(chain: Callable[..., Path], options: dict, what: str) -> None:
    with pytest.raises(BadInput, match=what):
        benchmark(str(chain(1)), **options)


def test_too_few_requests_for_a_percentile_is_said_before_measuring(chain: Callable[..., Path]) -> None:
    path = str(chain(1))
    with pytest.raises(BadInput, match="need 459 a side") as caught:
        benchmark(path, path, rounds=10, requests=10, max_regression={"p99": "10%"})
    assert caught.value.hint == "--requests 46"


def test_undecided_goes_on_and_then_does_not_pass(chain: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Real sessions, but made-up times: on a real machine even a model against itself is now and then decided."""
    import numpy as np

    generator = np.random.default_rng(0)

    def noisy(arms: Any, count: int, requests: int, **_: Any) -> list[dict[str, Samples]]:
        def samples() -> Samples:
            values = np.exp(generator.normal(0, 0.05)) * (1 + 0.01 * generator.random(requests))
            return Samples(list(values), [0.0] * requests, [1.0] * requests)

        return [{arm: samples() for arm in arms} for _ in range(count)]

    monkeypatch.setattr(import_module("interlock.bench.benchmark"), "rounds", noisy)
    path = str(chain(2, 256))
    found = benchmark(
        path, path, max_regression={"p50": "0.001%"}, rounds=3, max_rounds=8, requests=10, seconds=60
    )  # fmt: skip
    assert found.facts["verdict"] == "inconclusive"
    assert found.exit_code == 1
    assert found.facts["method"]["rounds"] == 8
    # Three looks at the growing data share the risk of one.
    assert found.facts["method"]["alpha"] == pytest.approx(0.05 / 3)


def test_a_model_that_fails_after_a_while_is_an_error(tmp_path: Path) -> None:
    # A recurrent counter that picks an element: the fiftieth request picks one that is not there.
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    path = tmp_path / "counter.onnx"
    weights = [numpy_helper.from_array(np.zeros(50, np.float32), "data"), numpy_helper.from_array(np.array([1]), "one")]
    nodes = [helper.make_node("Gather", ["data", "at"], ["y"]), helper.make_node("Add", ["at", "one"], ["atN"])]
    at, next_ = (helper.make_tensor_value_info(name, TensorProto.INT64, [1]) for name in ("at", "atN"))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    graph = helper.make_graph(nodes, "counter", [at], [y, next_], weights)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    path.write_bytes(model.SerializeToString())
    with pytest.raises(BadInput, match="a request failed"):
        benchmark(str(path), rounds=2, requests=100, seconds=5)


def test_too_little_time_is_said_before_measuring(chain: Callable[..., Path]) -> None:
    path = str(chain(8, 768))
    with pytest.raises(BadInput, match="are too short") as caught:
        benchmark(path, path, shapes={"x": [512, 768]}, seconds=1)
    assert "--max-regression p50=5%" in caught.value.hint


def outcome(new: float, old: float, again: float, noise: float) -> Outcome:
    """An outcome with made-up series: median of each arm, and how much rounds differ."""
    import numpy as np

    generator = np.random.default_rng(1)

    def samples(middle: float) -> Samples:
        values = middle * np.exp(generator.normal(0, noise)) * (1 + 0.01 * generator.random(50))
        return Samples(list(values), [0.0] * 50, [1.0] * 50)

    made = [{NEW: samples(new), OLD: samples(old), AGAIN: samples(again)} for _ in range(12)]
    foot = Footprint("cpu", "cpu", 1.0, 1.0, 1 << 20, 1 << 20, {"cpu": 3})
    plan = Plan({"x": (1,)}, {}, {"x": "uniform -1 to 1"})
    return Outcome({NEW: foot, OLD: foot}, plan, made, 50, "corrected", {NEW: 1.0, OLD: 1.0}, 2)


@pytest.mark.parametrize(
    ("new", "again", "noise", "verdict", "rule"),
    [
        (1.0, 1.0, 0.001, Verdict.PASS, None),
        (1.2, 1.0, 0.001, Verdict.FAIL, rules.REGRESSION),
        (1.05, 1.0, 0.02, Verdict.INCONCLUSIVE, rules.INCONCLUSIVE),
        # The old version against itself tells a difference that is not there: neither pass nor fail counts.
        (1.0, 1.3, 0.001, Verdict.INCONCLUSIVE, rules.MACHINE),
        (1.2, 0.7, 0.001, Verdict.INCONCLUSIVE, rules.MACHINE),
        (0.5, 1.0, 0.2, Verdict.INCONCLUSIVE, rules.MACHINE),
    ],
)
def test_verdicts(new: float, again: float, noise: float, verdict: Verdict, rule: object) -> None:
    measured = outcome(new, 1.0, again, noise)
    settings = Settings(margins={"p50": 0.05})
    _judge(measured, settings)
    found = report(measured, settings, {NEW: "new.onnx", OLD: "old.onnx"})
    assert measured.verdict is verdict
    assert found.exit_code == (0 if verdict is Verdict.PASS else 1)
    assert [f.rule for f in found.findings] == ([rule.id] if rule else [])
    if verdict is Verdict.INCONCLUSIVE:
        assert "not a pass" in found.headline
        assert "--max-rounds" in found.findings[0].hint or rule is rules.MACHINE


def test_a_changed_placement_is_a_finding() -> None:
    measured = outcome(1.0, 1.0, 1.0, 0.001)
    measured.footprints[NEW] = Footprint("cuda", "gpu-partial", 1, 1, 0, 0, {"cuda": 3, "cpu": 1}, ["Shape s"])
    measured.footprints[OLD] = Footprint("cuda", "gpu-full", 1, 1, 0, 0, {"cuda": 4})
    settings = Settings(margins={"p50": 0.05})
    _judge(measured, settings)
    found = report(measured, settings, {NEW: "new.onnx", OLD: "old.onnx"})
    assert {f.rule for f in found.findings} == {rules.PARTIAL.id, rules.PLACEMENT.id}
    assert found.exit_code == 1


def test_delay_is_taken_off_and_never_more_than_the_wall_time() -> None:
    samples = Samples([2.0, 2.0], [0.5, 3.0], [1.0, 1.0])
    assert samples.corrected == [1.5, 2.0]


def test_run_delay_grows_when_cores_are_short() -> None:
    counter = measure.run_delay()
    if counter is None:
        pytest.skip("this kernel keeps no schedstat")
    before = counter()
    assert counter() >= before
    counter.close()


def test_a_crash_of_the_child_is_an_error_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crasher.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(BadInput, match="SIGSEGV"):
        child("crasher", {}, "model.onnx")


def interlock(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "interlock", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_command_line(chain: Callable[..., Path], tmp_path: Path) -> None:
    path = str(chain(2))
    done = interlock("bench", path, "--rounds", "2", "--requests", "20", "--seconds", "5", "-f", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["facts"]["models"]["new"]["model"] == path
    for arguments, words in (
        ([str(tmp_path / "absent.onnx")], "no such file"),
        ([path, "--shape", "x"], "NAME=VALUE"),
        ([path, "--shape", "z=1,2"], "no such input"),
        ([path, "--max-regression", "p50=x", "--against", path], "not a percentage"),
    ):
        done = interlock("bench", *arguments)
        assert done.returncode == 2, (arguments, done.stdout, done.stderr)
        assert words in done.stderr
        assert "Traceback" not in done.stderr


def test_without_onnxruntime_the_way_to_get_it_is_said(chain: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'onnxruntime':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
    )
    command = [sys.executable, "-m", "interlock", "bench", str(chain(1))]
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "onnxruntime: not installed" in done.stderr
    assert 'pip install "interlock[cpu]"' in done.stderr


def test_config_gives_the_defaults(chain: Callable[..., Path], tmp_path: Path) -> None:
    config = tmp_path / "interlock.yaml"
    config.write_text("bench: {providers: [cpu], rounds: 2, inputs: {x: [3, 64]}}\ncontract: {domains: {x: [0.5]}}\n")
    found = benchmark(str(chain(1)), requests=10, seconds=5, config=str(config))
    assert found.facts["inputs"]["x"] == {"shape": [3, 64], "values": "one of 0.5", "guessed": False}
    assert found.facts["method"]["rounds"] == 2
