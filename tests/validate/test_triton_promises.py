"""What config.pbtxt promises clients: batches that are written in two ways, backends with two names, sequences."""

from __future__ import annotations

from pathlib import Path

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract

SEQUENCE = "sequence_batching { oldest {} }"


def config(
    batch: int,
    dims: str,
    *,
    out: str = "26, 37",
    kind: str = 'backend: "onnxruntime"',
    more: str = "",
    bare: bool = False,
) -> str:
    tensors = (
        f'input [ {{ name: "x" data_type: TYPE_FP32 dims: [ {dims} ] }} ]\n'
        f'output [ {{ name: "y" data_type: TYPE_FP32 dims: [ {out} ] }} ]\n'
    )
    return f'name: "m"\n{kind}\nmax_batch_size: {batch}\n{"" if bare else tensors}{more}\n'


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        # a fixed batch of one becomes a batch dimension, with its answers
        (config(0, "1, 1, 32, 100", out="1, 26, 37"), config(8, "1, 32, 100"), "hot"),
        (config(0, "-1, 1, 32, 100", out="-1, 26, 37"), config(0, "-1, 1, 32, 100", out="-1, 26, 37"), "equal"),
        (config(8, "1, 32, 100"), config(256, "1, 32, 100"), "hot"),
        (config(8, "1, 32, 100"), config(0, "-1, 1, 32, 100", out="-1, 26, 37"), "hot"),
        # nobody knows who sends more than 256
        (config(0, "-1, 1, 32, 100", out="-1, 26, 37"), config(256, "1, 32, 100"), "unproven"),
        (config(8, "1, 32, 100"), config(4, "1, 32, 100"), "breaks"),
        (config(8, "1, 32, 100"), config(0, "1, 1, 32, 100", out="1, 26, 37"), "breaks"),
        # a batch dimension where requests had none
        (config(0, "32, 100"), config(8, "32, 100"), "breaks"),
        (config(0, "1, 32, 100", out="1, 26, 37"), config(8, "32, 100", out="37"), "breaks"),
        (config(8, "1, 32, 100"), config(8, "1, 32, 100", kind='platform: "onnxruntime_onnx"'), "hot"),
        (config(8, "1, 32, 100"), config(8, "1, 32, 100", kind='platform: "tensorrt_plan"'), "unproven"),
        (config(0, "-1, 32"), config(0, "-1, 32", bare=True), "hot"),
        (config(8, "1, 32, 100"), config(8, "1, 32, 100", more=SEQUENCE), "breaks"),
        (config(8, "1, 32, 100", more=SEQUENCE), config(8, "1, 32, 100"), "unproven"),
        (config(8, "1, 32, 100"), config(8, "1, 32, 100", more="dynamic_batching {}"), "hot"),
    ],
)
def test_promises(old: str, new: str, verdict: str, tmp_path: Path) -> None:
    for side, text in (("old", old), ("new", new)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "config.pbtxt").write_text(text)
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract())
    assert report.facts["verdict"] == verdict, [finding.message for finding in report.findings]
