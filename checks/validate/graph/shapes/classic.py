"""Operators of ai.onnx.ml: how many features their weights ask for, and the shapes that come out.

ONNX Runtime fails where a row has more features than linear models and other than support vectors and scalers have
weights for; with fewer a linear model gives wrong numbers. Trees fail on rows that are too short for their features.
"""

from __future__ import annotations

from .....models.onnx_lists import largest, length
from .elementwise import same, show_shape
from .engine import UNKNOWN, Call, Fact, Step
from .terms import Shape, Term, fixed, whole


def _length(call: Call, name: str) -> int:
    """How many entries a list has, 0 where it has none or that is not known."""
    attribute = call.attribute(name)
    if attribute is None or call.source is None:
        return 0
    return length(call.source, attribute) or 0


def _wide(call: Call, total: int, rows: int) -> Shape | None:
    """The input's shape, whose rows must be as long as the weights say: `total` in `rows` rows."""
    before = call.shape(0)
    if before and total and rows > 0 and total % rows == 0:
        width = total // rows
        call.meet(before[-1], whole(width), lambda: f"has {width} weights a row for {show_shape(before)}")
    return before


def _rows(before: Shape | None) -> Term | None:
    """The number of rows of a table."""
    return before[0] if before is not None and len(before) == 2 else None


def _table(call: Call, rows: Term | None, width: int) -> Fact:
    if rows is None:
        return UNKNOWN
    return Fact((rows, whole(width) if width > 0 else call.fresh(1)))


def _labelled(call: Call, rows: Term | None, classes: int) -> list[Fact]:
    """A label and scores a row. How many scores one weight row gives depends on labels, so that is left open."""
    if rows is None:
        return [UNKNOWN]
    scores = (rows, whole(classes) if classes > 1 else call.fresh(1))
    return [Fact((rows,)), Fact(scores)]


def linear_regressor(call: Call) -> list[Fact]:
    """One row of weights a target."""
    targets = call.integer("targets", 1)
    before = _wide(call, _length(call, "coefficients"), targets)
    return [_table(call, _rows(before), targets)]


def linear_classifier(call: Call) -> list[Fact]:
    """One row of weights an intercept."""
    classes = _length(call, "intercepts")
    before = _wide(call, _length(call, "coefficients"), classes)
    return _labelled(call, _rows(before), classes)


def support_regressor(call: Call) -> list[Fact]:
    """Support vectors, or one weight a feature."""
    vectors = call.integer("n_supports", 0)
    total = _length(call, "support_vectors" if vectors else "coefficients")
    return [_table(call, _rows(_wide(call, total, vectors or 1)), 1)]


def support_classifier(call: Call) -> list[Fact]:
    """Support vectors of all classes; without them nothing is asked for."""
    counts = call.integers("vectors_per_class") or []
    whole_list = len(counts) == _length(call, "vectors_per_class")
    before = _wide(call, _length(call, "support_vectors"), sum(counts) if whole_list else 0)
    rows = _rows(before)
    return [UNKNOWN] if rows is None else [Fact((rows,))]


def scaler(call: Call) -> list[Fact]:
    """One offset and factor a feature, or one for all."""
    count = _length(call, "scale")
    if count > 1 and _length(call, "offset") == count:
        _wide(call, count, 1)
    return same(call)


def _deep(call: Call, at_least: int) -> None:
    before = call.shape(0)
    if not before or at_least < 1:
        return
    told = f"reads feature {at_least - 1} of {show_shape(before)}"
    width = before[-1]
    known = fixed(width)
    if known is not None and known < at_least:
        call.fault(told)
    elif width[0] == 1 and len(width[1]) == 1:
        call.at_least(width[1][0], at_least, told)


def trees(call: Call) -> list[Fact]:
    """Rows must be long enough for every feature that a tree asks for."""
    attribute = call.attribute("nodes_featureids")
    if attribute is not None and call.source is not None:
        found = largest(call.source, attribute)
        _deep(call, 0 if found is None else found + 1)
    rows = _rows(call.shape(0))
    if call.node.op == "TreeEnsembleRegressor":
        return [_table(call, rows, call.integer("n_targets", 0))]
    return [UNKNOWN] if rows is None else [Fact((rows,))]


def extract(call: Call) -> list[Fact]:
    """The features at the positions that the second input holds, along the last axis."""
    before, where = call.shape(0), call.shape(1)
    numbers = call.numbers(1)
    if numbers:
        _deep(call, max(numbers) + 1)
    if before is None or where is None or len(before) < 2:
        return [UNKNOWN]
    size = where[-1] if where else whole(1)
    if len(where) > 1 and any(term != whole(1) for term in where[:-1]):
        return [Fact((*before[:-1], call.fresh(len(before) - 1)))]
    return [Fact((*before[:-1], size))]


_ML = "ai.onnx.ml"
STEPS: dict[tuple[str, str], Step] = {
    (_ML, "LinearRegressor"): linear_regressor,
    (_ML, "LinearClassifier"): linear_classifier,
    (_ML, "SVMRegressor"): support_regressor,
    (_ML, "SVMClassifier"): support_classifier,
    (_ML, "Scaler"): scaler,
    (_ML, "TreeEnsembleRegressor"): trees,
    (_ML, "TreeEnsembleClassifier"): trees,
    (_ML, "ArrayFeatureExtractor"): extract,
    **{(_ML, name): same for name in ("Imputer", "Normalizer", "Binarizer", "LabelEncoder")},
}
