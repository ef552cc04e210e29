"""Settings of standard operators that are one of a few words, of which runtimes refuse any other."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import Graph
from ....models.onnx_values import setting
from ....models.source import Source
from .scopes import Fault

_TRANSFORM = "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT"
_MODES = "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ BRANCH_MEMBER LEAF"
_AROUND = {"auto_pad": "NOTSET SAME_UPPER SAME_LOWER VALID"}
_STEPS = {"direction": "forward reverse bidirectional"}
_TREES = {"nodes_modes": _MODES, "post_transform": _TRANSFORM}
# By operator and attribute, in any version; tests/validate loads each with words that are here and one that is not.
WORDS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("Conv", "ConvTranspose", "AveragePool", "MaxPool", "LpPool"), _AROUND),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _STEPS),
    "Resize": {
        "mode": "nearest linear cubic",
        "nearest_mode": "round_prefer_floor round_prefer_ceil floor ceil",
        "coordinate_transformation_mode": "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "
        "tf_crop_and_resize tf_half_pixel_for_nn",
    },
    "Pad": {"mode": "constant reflect edge wrap"},
    "DepthToSpace": {"mode": "DCR CRD"},
    "GridSample": {"mode": "linear bilinear nearest cubic bicubic", "padding_mode": "zeros border reflection"},
    "Normalizer": {"norm": "MAX L1 L2"},
    "StringNormalizer": {"case_change_action": "LOWER UPPER NONE"},
    "LinearClassifier": {"post_transform": _TRANSFORM},
    "LinearRegressor": {"post_transform": _TRANSFORM},
    "SVMRegressor": {"kernel_type": "LINEAR POLY RBF SIGMOID", "post_transform": _TRANSFORM},
    "TreeEnsembleClassifier": _TREES,
    "TreeEnsembleRegressor": {**_TREES, "aggregate_function": "AVERAGE SUM MIN MAX"},
}
# Words that changed: those before and from a version of the default domain on.
_CHANGED = {("GridSample", "mode"): (20, "bilinear nearest bicubic", "linear nearest cubic")}
_LONG = 1 << 20  # a forest's list of modes that is longer is not read
_SHOWN = 40


def faults(root: Graph, source: Source, opset: int) -> Iterator[Fault]:
    """Words that an operator does not know in version `opset` of the default domain, in a graph and the bodies in it.
    An empty one is the default."""
    for graph in root.walk():
        for node in graph.nodes:
            known = WORDS.get(node.op, {}) if node.domain in ("", "ai.onnx.ml") else {}
            for each in node.attributes if known else ():
                if each.name not in known or each.reference or each.end - each.begin > _LONG:
                    continue
                words, at = _words(known[each.name], (node.op, each.name), opset)
                strange = next((word for word in setting(source, each) or () if word not in words and word), None)
                if strange is not None:
                    text = f"{node.op}{at} has the {each.name} {str(strange)[:_SHOWN]!r}, which is none of its words"
                    yield Fault(text, next(iter(node.outputs), ""))


def _words(known: str, of: tuple[str, str], opset: int) -> tuple[list[str], str]:
    """The words of a setting, and the version where it matters."""
    if of not in _CHANGED:
        return known.split(), ""
    version, before, after = _CHANGED[of]
    return (before if opset < version else after).split(), f" at version {opset}"
