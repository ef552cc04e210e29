"""Ways to write the same: scales in several steps, limits by another operator, functions by another name."""

from __future__ import annotations

from math import inf, isclose

from ....models.onnx_flow import Step
from ....models.onnx_values import Values
from .curves import POWERS
from .meanings import meaning
from .prepared import Prepared
from .reading import floats
from .sides import End, Side, settings_of, skip

_CHAIN = 40


def scaled(side: Side, at: End) -> tuple[Prepared, End]:
    """A value as another one that was scaled and shifted by constants, in however many steps."""
    steps: list[tuple[str, int, Values]] = []
    for _ in range(_CHAIN):
        at = skip(side, at)
        made = side.reading.maker(at.value)
        if made is None or made[0].domain:
            break
        step = made[0]
        if step.op == "Neg":
            steps.append(("Mul", 1, (-1.0,)))
            at = at._replace(value=step.inputs[0])
            continue
        place = next((i for i, each in enumerate(step.inputs) if each in side.free.held), -1)
        said = side.reading.values(step.inputs[place]) if place >= 0 else None
        if step.op not in ("Add", "Sub", "Mul", "Div") or len(step.inputs) != 2 or floats(said) is None or not said:
            break
        if step.op == "Div" and (place == 0 or not all(said)):
            break
        steps.append((step.op, place, said))
        at = at._replace(value=step.inputs[1 - place])
    found = Prepared()
    for op, place, said in reversed(steps):
        if op in ("Mul", "Div"):
            found.multiply(said, -1 if op == "Div" else 1)
        elif op == "Sub" and place == 0:
            found.multiply((-1.0,))
            found.add(said)
        else:
            found.add(said, -1 if op == "Sub" else 1)
    return found, at


def limited(side: Side, at: End) -> tuple[tuple[float, float], End]:
    """A value as another one that was kept between two numbers, by whatever operators."""
    low, high = -inf, inf
    for _ in range(_CHAIN):
        at = skip(side, at)
        made = side.reading.maker(at.value)
        if made is None or made[0].domain or made[0].op not in ("Clip", "Relu", "Max", "Min"):
            break
        step = made[0]
        if step.op in ("Max", "Min"):
            place = next((i for i, each in enumerate(step.inputs) if each in side.free.held), -1)
            said = floats(side.reading.values(step.inputs[place])) if place >= 0 else None
            if len(step.inputs) != 2 or not said or len(set(said)) > 1:
                break
            lower, upper = (said[0], inf) if step.op == "Max" else (-inf, said[0])
            at = at._replace(value=step.inputs[1 - place])
        else:
            clip = settings_of(side, step) if step.op == "Clip" else {"min": (0.0,)}
            bounds = [floats(clip.get(name)) for name in ("min", "max")]
            if any(_unread(side, step, place) for place in (1, 2)):
                break
            lower, upper = bounds[0][0] if bounds[0] else -inf, bounds[1][0] if bounds[1] else inf
            at = at._replace(value=step.inputs[0])
        # What comes later in the graph has the last word.
        low, high = max(low, min(lower, high)), min(high, max(upper, low))
    return (max(low, -_HUGE), min(high, _HUGE)), at


_HUGE = 3e38  # what stands for no limit


def _unread(side: Side, step: Step, place: int) -> bool:
    return place < len(step.inputs) and step.inputs[place] > 0 and not side.reading.values(step.inputs[place])


def word(side: Side, at: End) -> tuple[str, list[End]] | None:
    """What an operator means, and of which values: for operators that have several names."""
    found = meaning(side.reading, at.value)
    if found is None:
        return None
    op, inputs = "Add" if found.op == "Sum" else found.op, found.inputs
    power = floats(side.reading.values(inputs[1])) if op == "Pow" and len(inputs) == 2 else None
    if op == "Mul" and len(inputs) == 2 and inputs[0] == inputs[1]:
        op, inputs = "Square", inputs[:1]
    elif power and len(set(power)) == 1 and power[0] in POWERS:
        op, inputs = POWERS[power[0]], inputs[:1]
    elif op == "Div" and len(inputs) == 2 and set(side.reading.values(inputs[0]) or ()) == {1.0}:
        op, inputs = "Reciprocal", inputs[1:]
    if op == "Resize":
        return None  # with settings that this does not look at
    return op, [at._replace(value=each) for each in inputs if each]


def close(was: Values, now: Values) -> bool:
    """Whether two lists are the same, as far as sixteen bits keep numbers; one number may be written out."""
    if len(was) != len(now):
        return len(set(was)) == len(set(now)) == 1 and close(was[:1], now[:1])
    if was == now:
        return True
    one, two = floats(was), floats(now)
    if one is None or two is None or not any(isinstance(each, float) for each in was + now):
        return False
    least = max(map(abs, one), default=0) * _ROUNDING
    return all(isclose(x, y, rel_tol=_SIXTEEN, abs_tol=least) for x, y in zip(one, two, strict=True))


_SIXTEEN = 2e-3  # the same number in sixteen bits
_ROUNDING = 1e-4  # of the largest number of a list
