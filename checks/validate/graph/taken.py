"""Settings of operators that work on what a client sends, before anything that was trained."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
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
    # The order in which a layer takes the steps of a sequence that a client sends.
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (0, (("direction", "forward"), ("layout", 0)))),
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


# By operator: from which inputs it takes something, and its settings, in the order of the graph.
_Steps = list[tuple[tuple[str, ...], dict[str, str]]]
_Known = dict[str, _Steps]
# Operators that change a text itself: without one, a text comes as with its defaults.
_TEXTS = ("StringNormalizer", "Tokenizer", "StringSplit")


def changed(old: Reading, new: Reading) -> list[Setting]:
    """Settings that differ between operators of a type that both graphs have equally often, and texts that go through
    an operator in one of the two graphs only."""
    was, now = _read(old), _read(new)
    found: list[Setting] = []
    for op, before in was.items():
        after = now.get(op, [])
        if len(before) != len(after) or _counted(before) == _counted(after):
            continue
        for (_, one), (names, two) in zip(before, after, strict=True):
            found.extend(Setting(names[0], op, key, one[key], two[key]) for key in one if one[key] != two[key])
    both = sorted(set(old.flow.inputs) & set(new.flow.inputs))
    for op in _TEXTS:
        before, after = was.get(op, []), now.get(op, [])
        if len(before) != len(after):
            found.extend(each for name in both for each in _texts(op, name, before, after))
    return list(dict.fromkeys(found))


def _texts(op: str, name: str, before: _Steps, after: _Steps) -> Iterator[Setting]:
    """How the texts of an input are changed, where no branch of the new graph does it as one of the old one did."""
    plain = {key: "none" if isinstance(default, tuple) else str(default) for key, default in _READERS[op][1]}
    one, two = ([_effect(said, plain) for names, said in side if name in names] or [plain] for side in (before, after))
    if not any(each in two for each in one):
        yield from (Setting(name, op, key, one[0][key], two[0][key]) for key in plain if one[0][key] != two[0][key])


def _effect(said: dict[str, str], plain: dict[str, str]) -> dict[str, str]:
    """Settings of an operator, or the defaults where it leaves texts as they are."""
    idle = said.get("case_change_action") == "NONE" and said["stopwords"] == "none"
    return plain if idle else said


def _counted(steps: _Steps) -> Counter[tuple[tuple[str, str], ...]]:
    """In any order: an exporter may write the branches of a graph otherwise."""
    return Counter(tuple(said.items()) for _, said in steps)


def sources(reading: Reading) -> Iterator[tuple[Step, dict[int, tuple[str, ...]]]]:
    """Every step, and the inputs behind the values known so far that nothing trained has made."""
    raw: dict[int, tuple[str, ...]] = {value: (name,) for name, value in reading.flow.inputs.items()}
    for step in reading.flow.steps:
        yield step, raw
        if step.op in _LEARNS or (step.domain and step.domain != "ai.onnx.ml" and step.op != "Tokenizer"):
            continue
        sent = tuple(dict.fromkeys(name for each in step.inputs for name in raw.get(each, ())))
        computed = any(each and each not in raw and reading.held(each) is None for each in step.inputs)
        looked_up = step.op == "Gather" and reading.held(step.inputs[0]) is not None
        if sent and not computed and not looked_up:
            raw.update((each, sent) for each in step.outputs if each)


def _read(reading: Reading) -> _Known:
    found: _Known = defaultdict(list)
    for step, raw in sources(reading):
        reader = _READERS.get(step.op)
        if step.op == "Scan" and not step.domain:
            found[step.op].append(((next(iter(reading.flow.inputs), ""),), _said(reading, step, _SCAN)))
        elif reader is not None and len(step.inputs) > reader[0] and (names := raw.get(step.inputs[reader[0]])):
            found[step.op].append((names, _said(reading, step, reader[1])))
    return found


def _said(reading: Reading, step: Step, settings: _Settings) -> dict[str, str]:
    return {name: _one(reading, step, name, default) for name, default in settings}


def _one(reading: Reading, step: Step, name: str, default: Scalar | tuple[()]) -> str:
    said = reading.setting(step, name)
    if isinstance(default, tuple):
        return ", ".join(map(str, said)) if said and any(said) else "none"
    return _SAME.get(str(said[0]), str(said[0])) if said else str(default)
