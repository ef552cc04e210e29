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


SEQUENCES = 'control_input [{ name: "S" control [{ kind: CONTROL_SEQUENCE_START int32_false_true: [0, 1] }] }]'
OLDEST = f"sequence_batching {{ {SEQUENCES} oldest {{ max_candidate_sequences: 8 }} }}"


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (OLDEST, OLDEST.replace("[0, 1]", "[1, 0]"), "unproven"),
        (OLDEST, OLDEST.replace("sequences: 8", "sequences: 32 max_queue_delay_microseconds: 50"), "hot"),
        (OLDEST, OLDEST.replace("oldest", "max_sequence_idle_microseconds: 5 oldest"), "unproven"),
        (OLDEST, OLDEST.replace("oldest { max_candidate_sequences: 8 }", "direct { }"), "unproven"),
        ("", 'metric_tags { key: "team" value: "a" }', "hot"),
        ("dynamic_batching { }", "dynamic_batching { max_queue_delay_microseconds: 90 }", "hot"),
        ("dynamic_batching { }", "dynamic_batching { default_queue_policy { max_queue_size: 1 } }", "unproven"),
        ("dynamic_batching { default_queue_policy { max_queue_size: 1 } }", "dynamic_batching { }", "unproven"),
    ],
)
def test_settings_of_the_schedulers(old: str, new: str, verdict: str, tmp_path: Path) -> None:
    test_promises(config(8, "1, 32, 100", more=old), config(8, "1, 32, 100", more=new), verdict, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("format: FORMAT_NCHW", "format: FORMAT_NHWC", "breaks"),
        ("format: FORMAT_NCHW", "", "unproven"),
        ("", "format: FORMAT_NCHW", "hot"),
        ("format: FORMAT_NONE", "format: 0", "hot"),
        ("format: FORMAT_NCHW", "format: 2", "hot"),
    ],
)
def test_the_layout_of_images(old: str, new: str, verdict: str, tmp_path: Path) -> None:
    texts = [config(8, f"3, 8, 8 ] {each} dims: [") for each in (old, new)]
    test_promises(texts[0], texts[1], verdict, tmp_path)


@pytest.mark.parametrize(
    ("named", "text", "verdict"),
    [
        ('label_filename: "l"', "a\nb\nc\n", "hot"),
        ('label_filename: "k"', "a\nb\nc\n", "hot"),
        ('label_filename: "k"', "b\na\nc\n", "breaks"),
        ("", "a\nb\nc\n", "breaks"),
    ],
)
def test_the_file_of_labels_that_is_named(tmp_path: Path, named: str, text: str, verdict: str) -> None:
    tensor = 'name: "m" backend: "x" max_batch_size: 8 output [{name: "y" data_type: TYPE_FP32 dims: [3] LABELS}]'
    for side, field in (("old", 'label_filename: "l"'), ("new", named)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "config.pbtxt").write_text(tensor.replace("LABELS", field) + "\n" * (side == "new"))
        (tmp_path / side / "l").write_text("a\nb\nc\n")
    (tmp_path / "new" / "k").write_text(text)
    report = validate(tmp_path / "new", tmp_path / "old", contract=Contract())
    assert report.facts["verdict"] == verdict, [finding.message for finding in report.findings]


def test_an_optional_input_says_nothing_about_batches(tmp_path: Path) -> None:
    old = config(0, "-1, 32", out="-1, 37")
    more = 'input { name: "o" data_type: TYPE_FP32 dims: [1] optional: true }'
    test_promises(old, config(0, "-1, 32", out="-1, 37", more=more), "hot", tmp_path)
