"""Scan: a body that is run once a slice, with what the graph around it knows."""

from __future__ import annotations

from .engine import UNKNOWN, Call, Fact, Inferred, Step, follow


def scan(call: Call) -> list[Fact]:
    """State goes from slice to slice in one shape; what the body asks of the sizes around it is asked of the graph.

    Slices along other axes than the first, and Scan before version 9, are not worked out.
    """
    attribute = call.attribute("body")
    if attribute is None or len(attribute.graphs) != 1 or call.opset < 9:
        return [UNKNOWN]
    body, sliced = attribute.graphs[0], call.integer("num_scan_inputs", 0)
    other = [call.integers(f"scan_{what}_axes") for what in ("input", "output")]
    state = len(call.inputs) - sliced
    if any(any(each or ()) for each in other) or sliced < 1 or state < 0 or len(body.inputs) != len(call.inputs):
        return [UNKNOWN]
    inner = Inferred(required=call.result.required, either=call.result.either, least=call.result.least)
    inner.facts.update(call.result.facts)
    for i, (value, fact) in enumerate(zip(body.inputs, call.inputs, strict=True)):
        shape = fact.shape if i < state or not fact.shape else fact.shape[1:]
        inner.facts[value.name] = Fact(shape)
    follow(body, call, inner)
    call.result.blind |= inner.blind or bool(inner.faults)
    first = call.inputs[state].shape
    length = first[0] if first else None
    if inner.faults or length is None:
        return [UNKNOWN]
    made: list[Fact] = []
    for i, value in enumerate(body.outputs):
        shape = inner.shape(value.name)
        if i < state:
            made.append(Fact(call.inputs[i].shape) if shape == call.inputs[i].shape else UNKNOWN)
        else:
            made.append(UNKNOWN if shape is None else Fact((length, *shape)))
    return made


STEPS: dict[tuple[str, str], Step] = {("", "Scan"): scan}
