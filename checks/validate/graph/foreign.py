"""Operators of domains that only their own library knows: what each is told by its attributes and constants.

Nobody else can say what a setting does, so each counts. What was trained does not: weights among the inputs, and long
lists of numbers with a fraction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from ....models.onnx import Attribute, Initializer
from ....models.onnx_flow import Step
from ....models.onnx_values import Values, setting, values
from ....models.protobuf import BYTES, fields
from ....models.source import Window
from .built_in import DOMAINS
from .reading import Reading

# Of ONNX and of ONNX Runtime itself.
_KNOWN = frozenset({"", "ai.onnx.ml", "com.ms.internal.nhwc", *DOMAINS})
_FEW = 4  # numbers with a fraction that an operator takes as an input, such as a threshold
_LIST = 64  # and as an attribute, such as the anchors of a detector
_SHOWN = 60
_PART = 1 << 20
_LONGEST = 64 << 20
_BYTES = frozenset({"int8", "uint8", "int4", "uint4", "int2", "uint2"})
_TEXTS, _INTEGERS = (4, 9), 8  # AttributeProto.s, .strings and .ints
ANY = "…"  # what training moves, or a graph computes


class Told(NamedTuple):
    """One operator: its settings as words by attribute or input, and what it takes from others of its kind."""

    op: str
    domain: str
    settings: dict[str, str]
    weighty: bool  # it takes weights

    @property
    def key(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """What two operators that do the same share."""
        return self.op, frozenset(self.settings.items())


class Changed(NamedTuple):
    """Something that an operator is told otherwise."""

    text: str
    old: str | None = None
    new: str | None = None


def foreign(step: Step) -> bool:
    """Whether only a library that comes with the operator knows what it does."""
    return step.domain not in _KNOWN or step.op.endswith("_TRT")


def changed(old: Reading, new: Reading) -> Iterator[Changed]:
    """What differs between the operators of two graphs, in whatever order these name them."""
    was, now = _all(old), _all(new)
    counts = Counter(each.op for each in was), Counter(each.op for each in now)
    spare, fresh = _without(was, now), _without(now, was)
    known = {"", *(each.domain for each in was)}
    for op in dict.fromkeys([each.op for each in (*was, *now) if each.domain in known]):
        before, after = ([each for each in side if each.op == op] for side in (spare, fresh))
        if not counts[0][op] or not counts[1][op]:
            gone = not counts[1][op]
            yield Changed(f"'{op}' is in one of the two graphs only", *((op, None) if gone else (None, op)))
        elif counts[0][op] == counts[1][op]:
            for one, two in zip(before, after, strict=True):
                yield from _settings(one, two)
        elif {each.key for each in was if each.op == op} != {each.key for each in now if each.op == op} and not any(
            each.weighty for each in (*before, *after)
        ):
            yield Changed(f"'{op}' is there another number of times", str(counts[0][op]), str(counts[1][op]))
    for name in old.flow.outputs:
        one, two = (_made(side, side.flow.outputs.get(name, 0)) for side in (old, new))
        if one and two and one != two:
            yield Changed(f"output '{name}' is another one of theirs", one, two)


def _without(one: list[Told], two: list[Told]) -> list[Told]:
    """Those of `one` that `two` does not have."""
    spare = Counter(each.key for each in two)
    found: list[Told] = []
    for each in one:
        if spare[each.key]:
            spare[each.key] -= 1
        else:
            found.append(each)
    return found


def _settings(one: Told, two: Told) -> Iterator[Changed]:
    for name in sorted(one.settings.keys() | two.settings.keys()):
        was, now = one.settings.get(name), two.settings.get(name)
        if was != now and ANY not in (was, now):
            yield Changed(f"'{one.op}' has another {name}", was, now)


def _all(reading: Reading) -> list[Told]:
    return [_told(reading, step) for step in reading.flow.steps if foreign(step)]


def _told(reading: Reading, step: Step) -> Told:
    held = [reading.held(each) for each in step.inputs]
    tensors = [each.tensor for each in held if each is not None and each.tensor is not None]
    weighty = any(map(weight, tensors)) or "quant" in step.op.lower()
    settings = {name: _attribute(reading, each) for name, each in step.attributes.items() if not name.startswith("__")}
    for i, (value, constant) in enumerate(zip(step.inputs, held, strict=True)):
        if constant is None:
            settings[f"input {i}"] = _made(reading, value) or ANY
        elif constant.tensor is not None:
            settings[f"input {i}"] = _tensor(reading, constant.tensor, _FEW, weighty)
        elif constant.attribute is not None:
            settings[f"input {i}"] = _attribute(reading, constant.attribute)
    return Told(f"{step.domain}.{step.op}" if step.domain else step.op, step.domain, settings, weighty)


def _made(reading: Reading, value: int) -> str:
    """Of which foreign operator a value is an output, and the how manieth."""
    made = reading.maker(reading.plain(value))
    return f"{made[0].op}, output {made[1]}" if made is not None and foreign(made[0]) else ""


def weight(tensor: Initializer) -> bool:
    """Whether a constant was trained: numbers with a fraction, or a matrix of bytes."""
    if tensor.dtype in _BYTES:
        return len(tensor.dims) > 1
    return tensor.dtype.startswith(("float", "double", "bfloat")) and tensor.numel > _FEW


def _attribute(reading: Reading, each: Attribute) -> str:
    if each.graphs:
        return "; ".join(" ".join(node.op for node in graph.nodes) for graph in each.graphs)
    if each.tensors:
        return "; ".join(_tensor(reading, tensor, _LIST, False) for tensor in each.tensors)
    window = Window(reading.source)
    written = list(fields(window, each.begin, each.end))
    spans = [(a, b) for number, wire, a, b in written if number in _TEXTS and wire == BYTES]
    if spans:
        return ", ".join(_shown(reading, a, b) for a, b in spans)
    said = setting(reading.source, each)
    if said is None and any(number == _INTEGERS for number, *_ in written):
        return _shown(reading, each.begin, each.end)  # too many to name
    return ANY if said is None or (len(said) > _LIST and any(isinstance(one, float) for one in said)) else _list(said)


def _tensor(reading: Reading, tensor: Initializer, few: int, weighty: bool) -> str:
    if weight(tensor) and (tensor.dtype in _BYTES or tensor.numel > few):
        return ANY
    if weighty and tensor.dtype != "string" and not tensor.dtype.startswith(("int64", "int32", "bool")):
        return ANY  # a scale, zero point or bias of the weights
    said = values(reading.source, tensor)
    if said is not None:
        return _list(said)
    return ANY if tensor.external else _shown(reading, tensor.begin, tensor.end)


def _list(said: Values) -> str:
    """Values for people; all of them count."""
    shown = ", ".join(f"{each:.5g}" if isinstance(each, float) else str(each) for each in said)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN // 2]}… ({_digest([shown.encode()])})"


def _shown(reading: Reading, begin: int, end: int) -> str:
    """Text as it is, or by its beginning and a digest."""
    if end - begin <= _SHOWN:
        return reading.source.read(begin, end - begin).decode("utf-8", "backslashreplace")
    stop = min(end, begin + _LONGEST)
    parts = (reading.source.read(at, min(_PART, stop - at)) for at in range(begin, stop, _PART))
    return f"{end - begin:,} bytes ({_digest(parts)})"


def _digest(parts: Iterator[bytes] | list[bytes]) -> str:
    digest = blake2b(digest_size=4)
    for each in parts:
        digest.update(each)
    return digest.hexdigest()
