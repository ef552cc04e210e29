"""Recurrent state that a client carries from one request to the next, by what the graph does with it.

The initial state of an LSTM, GRU or RNN comes from an input, and its last state goes to an output: whatever the two are
called, the second is the first of the next request.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx_flow import Flow, Step
from .reading import SHAPING, TRANSPARENT

# Where the first state lies among the inputs, and the last among the outputs: (initial_h, Y_h), (initial_c, Y_c).
_STATES = {"LSTM": ((5, 1), (6, 2)), "GRU": ((5, 1),), "RNN": ((5, 1),)}
_MOVES = SHAPING | TRANSPARENT | {"Transpose", "Slice", "Split", "Gather", "Concat"}  # layers lie side by side
_FAR = 200


def carried(flow: Flow) -> list[tuple[str, str]]:
    """(input, output) pairs, where the input is the state before what the output is the state after."""
    inputs = {value: name for name, value in flow.inputs.items()}
    outputs = {value: name for name, value in flow.outputs.items()}
    found: dict[tuple[str, str], None] = {}
    for step in flow.steps:
        for first, last in _STATES.get(step.op, ()) if not step.domain else ():
            if first < len(step.inputs) and last < len(step.outputs):
                before = [inputs[each] for each in _sent(flow, step.inputs[first]) if each in inputs]
                after = [outputs[each] for each in _given(flow, step.outputs[last]) if each in outputs]
                found.update(dict.fromkeys((a, b) for a in before for b in after))
    return list(found)


def _moves(step: Step) -> bool:
    return step.op in _MOVES and not step.domain


def _sent(flow: Flow, value: int) -> Iterator[int]:
    """A value and those that it is a part or another shape of."""
    for _ in range(_FAR):
        if not value:
            return
        yield value
        made = flow.maker.get(value)
        if made is None or not _moves(made[0]) or not made[0].inputs:
            return
        value = made[0].inputs[0]


def _given(flow: Flow, value: int) -> Iterator[int]:
    """A value and those that are made of it alone, or of it and other layers."""
    todo, seen = [value], set[int]()
    while todo and len(seen) < _FAR:
        each = todo.pop()
        if not each or each in seen:
            continue
        seen.add(each)
        yield each
        todo.extend(made for step, _ in flow.users[each] if _moves(step) for made in step.outputs)
