"""Labels that a graph itself gives its answers: class names in classifiers, encoders, lookups and constants."""

from __future__ import annotations

from ....models.numerals import whole
from ....models.onnx_flow import Step
from ....models.onnx_values import Values
from .reading import SHAPING, TRANSPARENT, Reading, integral, textual

Labels = tuple[str, ...]

CLASSIFIERS = frozenset({"LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier"})
LOOKUPS = frozenset({"Gather", "GatherElements", "GatherND", "ArrayFeatureExtractor"})
MAPS = frozenset({"LabelEncoder", "CategoryMapper"})
# One input's values come through, in the order given; of the others only their number or place does.
_FIRST = (
    SHAPING
    | TRANSPARENT
    | {
        *(
            "Transpose",
            "Tile",
            "Compress",
            "Slice",
            "Split",
            "StringSplit",
            "Normalizer",
            "SequenceAt",
            "SequenceErase",
        ),
        *("OptionalGetElement", "Scatter", "ConcatFromSequence", "SplitToSequence"),
    }
)
_ALL = frozenset(
    {"Concat", "If", "Loop", "Scan", "SequenceConstruct", "SequenceInsert", "StringConcat", "Optional"}
) | {"Where"}
# Columns keep their meaning through these.
_COLUMNS = frozenset({"Softmax", "LogSoftmax", "Sigmoid", "Mul", "Div", "Add", "Sub", "Scaler", "Imputer", "Binarizer"})
_NAMED = CLASSIFIERS | {"ZipMap", "OneHotEncoder", "DictVectorizer"}
_KEYS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_LONG = 4096
_NESTED = 20


def labels(reading: Reading, value: int, depth: int = 0) -> list[Labels]:
    """Every list of labels that comes out at a value, in the order of the graph. What training moves is none."""
    found: list[Labels] = []
    seen: set[int] = set()
    todo = [value]
    while todo and len(seen) < _LONG:
        value = todo.pop()
        if value in seen or not value:
            continue
        seen.add(value)
        said, further = _at(reading, value, depth)
        if said and (listed := tuple(map(str, said))) not in found:
            found.append(listed)
        todo.extend(reversed(further))
    return found


def _at(reading: Reading, value: int, depth: int) -> tuple[Values | None, tuple[int, ...]]:
    """The labels that a value has itself, and the values whose labels come out there."""
    held = reading.flow.held.get(value)
    if held is not None:
        plain = held.attribute is not None and held.attribute.name in ("value_string", "value_strings")
        return (reading.values(value) if plain or textual(held) or integral(held) else None), ()
    made = reading.maker(value)
    if made is None or made[0].domain not in ("", "ai.onnx.ml") or not made[0].inputs:
        return None, ()
    step = made[0]
    op, inputs = step.op, step.inputs
    if op == "TfIdfVectorizer":
        return _grams(reading, step), ()
    if op in _NAMED:
        return named(reading, step), ()
    if op in MAPS:
        return (_mapped(reading, step, depth) if depth < _NESTED else None), ()
    if op == "StringNormalizer":
        return (str(reading.scalar(step, "case_change_action", "NONE")),), inputs[:1]
    if op in LOOKUPS or op in _FIRST:
        return None, inputs[:1]
    if op in _ALL:
        return None, inputs[1:] if op in ("If", "Where", "Loop") else inputs
    return None, tuple(each for each in inputs if reading.held(each) is None) if op in _COLUMNS else ()


def named(reading: Reading, step: Step) -> Values | None:
    """Names of classes or columns that an operator of ai.onnx.ml carries."""
    names = _KEYS if step.op in CLASSIFIERS or step.op == "ZipMap" else ("cats_strings", "cats_int64s")
    if step.op == "DictVectorizer":
        names = ("string_vocabulary", "int64_vocabulary")
    return next((found for name in names if (found := reading.setting(step, name))), None)


def _grams(reading: Reading, step: Step) -> Values | None:
    """The words of each column that a TfIdfVectorizer makes. Its pool holds all single words first, then pairs, …;
    `ngram_counts` tells where each length starts."""
    pool = reading.setting(step, "pool_strings") or reading.setting(step, "pool_int64s")
    starts, places = reading.integers(step, "ngram_counts"), reading.integers(step, "ngram_indexes")
    if not pool or not starts or not places or not 0 <= min(starts) <= max(starts) <= len(pool):
        return None
    grams: list[str] = []
    for k, start in enumerate(starts, 1):
        end = starts[k] if k < len(starts) else len(pool)
        grams.extend(" ".join(map(str, pool[i : i + k])) for i in range(start, end, k))
    order = sorted(zip(places, grams, strict=False), key=lambda each: each[0])
    return tuple(gram for _, gram in order)


def table(reading: Reading, step: Step) -> dict[str, str] | None:
    """What a LabelEncoder or CategoryMapper turns into what, None where it cannot be read."""
    if step.op == "CategoryMapper":
        keys, values = reading.setting(step, "cats_strings"), reading.setting(step, "cats_int64s")
    else:
        kinds = ("tensor", "strings", "int64s", "floats")
        keys, values = (
            next((found for kind in kinds if (found := reading.setting(step, f"{side}_{kind}"))), None)
            for side in ("keys", "values")
        )
        old = reading.setting(step, "classes_strings")  # version 1: the index of each string
        if keys is None and old is not None:
            keys, values = old, tuple(range(len(old)))
    if keys is None or values is None:
        return None
    return {str(key): str(value) for key, value in zip(keys, values, strict=False)}


def default(reading: Reading, step: Step) -> str:
    """What a LabelEncoder gives for keys it does not know, '' where it does not say."""
    for name in ("default_string", "default_int64", "default_float", "default_tensor"):
        if found := reading.setting(step, name):
            return str(found[0])
    return ""


def _mapped(reading: Reading, step: Step, depth: int) -> Values | None:
    mapping = table(reading, step)
    if mapping is None:
        return None
    before = labels(reading, step.inputs[0], depth + 1)
    other = default(reading, step)
    if len(before) == 1:
        return tuple(mapping.get(name, other) for name in before[0])
    more = (f"otherwise {other}",) if other else ()
    places = {key: whole(key) for key in mapping}
    if None not in places.values():
        order = sorted(mapping, key=lambda key: places[key] or 0)
        if order == [str(i) for i in range(len(order))]:
            return (*(mapping[key] for key in order), *more)
        return (*(f"{key} is {mapping[key]}" for key in order), *more)
    return (*(f"{key} is {mapping[key]}" for key in sorted(mapping)), *more)
