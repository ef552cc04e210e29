"""Settings of operators that work on what a client sends, before anything that was trained."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

from ....models.onnx_flow import Step
from ....models.onnx_values import Scalar
from .reading import Reading

# By operator: which of its inputs must come from a client, and its settings with their defaults (() for lists).
_Settings = tuple[tuple[str, Scalar | tuple[()]], ...]
_READERS: dict[str, tuple[int, _Settings]] = {
    "NonMaxSuppression": (0, (("center_point_box", 0),)),
    "RoiAlign": (1, (("spatial_scale", 1.0), ("mode", "avg"), ("sampling_ratio", 0))),
    "MaxRoiPool": (1, (("spatial_scale", 1.0),)),
    "GridSample": (1, (("mode", "linear"), ("padding_mode", "zeros"), ("align_corners", 0))),
    "StringNormalizer": (
        0,
        (("case_change_action", "NONE"), ("is_case_sensitive", 0), ("locale", "en_US"), ("stopwords", ())),
    ),
    "StringSplit": (0, (("delimiter", ""), ("maxsplit", -1))),
    "RegexFullMatch": (0, (("pattern", ""),)),
    "Imputer": (0, (("replaced_value_float", 0.0), ("replaced_value_int64", 0))),
    "Tokenizer": (
        0,
        (("tokenexp", ""), ("separators", ()), ("stopwords", ()), ("mincharnum", 1), ("mark", 0), ("pad_value", "")),
    ),
}
# Directions of a Scan are those of the answer, whatever it takes.
_SCAN: _Settings = (("scan_input_directions", ()), ("scan_output_directions", ()))
_SAME = {"bilinear": "linear", "bicubic": "cubic"}  # as GridSample has named them since operator set 20
_LEARNS = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose", "ConvInteger", "MatMulInteger", "QLinearConv"}) | {
    *("QLinearMatMul", "LSTM", "GRU", "RNN", "BatchNormalization", "LayerNormalization", "TfIdfVectorizer"),
    *("If", "Loop", "Scan", "LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier", "LinearRegressor"),
    *("SVMRegressor", "TreeEnsembleRegressor", "TreeEnsemble", "EmbedLayerNormalization"),
}


class Setting(NamedTuple):
    """One setting that is not what it was."""

    input: str
    op: str
    name: str
    old: str
    new: str


_Known = dict[str, list[tuple[str, dict[str, str]]]]


def changed(old: Reading, new: Reading) -> list[Setting]:
    """Settings that differ between operators of a type that both graphs have equally often."""
    was, now = _read(old), _read(new)
    found: list[Setting] = []
    for op, before in was.items():
        after = now.get(op, [])
        if len(before) != len(after) or _counted(before) == _counted(after):
            continue
        for (_, one), (name, two) in zip(before, after, strict=True):
            found.extend(Setting(name, op, key, one[key], two[key]) for key in one if one[key] != two[key])
    return list(dict.fromkeys(found))


def _counted(steps: list[tuple[str, dict[str, str]]]) -> Counter[tuple[tuple[str, str], ...]]:
    """In any order: an exporter may write the branches of a graph otherwise."""
    return Counter(tuple(said.items()) for _, said in steps)


def _read(reading: Reading) -> _Known:
    """By operator: from which input it takes something, and its settings, in the order of the graph."""
    raw = {value: name for name, value in reading.flow.inputs.items()}
    found: _Known = defaultdict(list)
    for step in reading.flow.steps:
        reader = _READERS.get(step.op)
        if step.op == "Scan" and not step.domain:
            found[step.op].append((next(iter(reading.flow.inputs), ""), _said(reading, step, _SCAN)))
        elif reader is not None and len(step.inputs) > reader[0] and step.inputs[reader[0]] in raw:
            found[step.op].append((raw[step.inputs[reader[0]]], _said(reading, step, reader[1])))
        if step.op in _LEARNS or (step.domain and step.domain != "ai.onnx.ml" and step.op != "Tokenizer"):
            continue
        sent = next((raw[each] for each in step.inputs if each in raw), None)
        computed = any(each and each not in raw and reading.held(each) is None for each in step.inputs)
        looked_up = step.op == "Gather" and reading.held(step.inputs[0]) is not None
        if sent is not None and not computed and not looked_up:
            raw.update((each, sent) for each in step.outputs if each)
    return found


def _said(reading: Reading, step: Step, settings: _Settings) -> dict[str, str]:
    return {name: _one(reading, step, name, default) for name, default in settings}


def _one(reading: Reading, step: Step, name: str, default: Scalar | tuple[()]) -> str:
    said = reading.setting(step, name)
    if isinstance(default, tuple):
        return ", ".join(map(str, said)) if said and any(said) else "none"
    return _SAME.get(str(said[0]), str(said[0])) if said else str(default)
