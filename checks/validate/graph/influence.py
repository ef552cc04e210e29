"""Which inputs a graph's answers depend on: an input may be declared, accepted, and multiplied by zero."""

from __future__ import annotations

from ....models.onnx_flow import Step
from .reading import MEASURES, Reading

_ROUNDS = frozenset({"Loop", "Scan"})


def mattering(reading: Reading) -> set[str] | None:
    """The inputs whose values reach an output; None where the graph could not be followed to its end.

    An input is left out only where no value of it can change an answer: nothing reads it, only its size is read, or
    what is read is multiplied by zero.
    """
    steps = reading.flow.steps
    # A body that was not joined to the flow may use any value around it.
    if not reading.flow.complete or any(each.graphs for step in steps for each in step.attributes.values()):
        return None
    rounds = [step for step in steps if step.op in _ROUNDS and not step.domain]
    seen: set[int] = set()
    todo = list(reading.flow.outputs.values())
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        made = reading.maker(value)
        if made is None:
            continue
        step = made[0]
        if rounds and step.op in _ROUNDS and not step.domain:
            # What one round carries over may depend on any other output of the round before.
            todo.extend(each for other in rounds for each in other.inputs)
            rounds = []
        if not step.domain and (step.op in MEASURES or _nothing(reading, step)):
            continue
        todo.extend(step.inputs)
    return {name for name, value in reading.flow.inputs.items() if value in seen}


def _nothing(reading: Reading, step: Step) -> bool:
    """Whether an operator multiplies by zero."""
    if step.op != "Mul":
        return False
    factors = [reading.values(each) for each in step.inputs]
    return any(said and not any(said) for said in factors)
