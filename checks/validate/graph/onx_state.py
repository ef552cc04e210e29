"""ONX-STATE: the graph feeds state back to itself through the client, and the state of two versions differs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....models.onnx import OnnxModel, Value
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule, Step
from ..side import Side
from .carried import carried
from .contract import fits, pairs, promised, show, unchanged

RULE = Rule(
    id="ONX-STATE",
    name="recurrent-state",
    family="ONX",
    severity=Severity.INFO,
    summary="clients carry recurrent state or a KV cache from one request to the next",
    what="An output of the type and shape of an input, named as its successor: state/stateN, h/hn, past/present; or, "
    "whatever the names, an input that is the first state of an LSTM, GRU or RNN whose last state is an output.",
    why="values of the old weights fed to the new ones give wrong answers without any error: the contract is equal",
    hint="end or reset running sessions at the swap: let them drain on the old version, or send zeros to the new one",
    references=("https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_management.md",),
)

_PAST = re.compile(r"past|cache", re.IGNORECASE)


def check(ctx: Context) -> Iterator[Finding]:
    """Recurrent pairs of either version, where the two are not the same file."""
    for pair in pairs(ctx):
        if unchanged(ctx, pair):
            continue
        loops = _loops(ctx.new, pair.new) or (_loops(ctx.old, pair.old) if ctx.old is not None else [])
        if not loops:
            continue
        cached = any(_PAST.search(value.name) for value, _ in loops)
        steps: tuple[Step, ...] = ("flush-kv", "drain-sessions") if cached else ("drain-sessions",)
        names = ", ".join(f"{a.name} → {b.name}" for a, b in loops[:3])
        more = f" and {len(loops) - 3} more" if len(loops) > 3 else ""
        yield ctx.finding(
            RULE,
            "hot",
            f"state goes around through the client ({names}{more}); it is not portable between versions",
            path=pair.new.file,
            tensor=loops[0][0].name,
            why=f"'{loops[0][0].name}' {show(loops[0][0])} is recurrent: {RULE.why}",
            plan=steps,
        )


def _loops(side: Side, model: OnnxModel) -> list[tuple[Value, Value]]:
    """Recurrent pairs by their names, or else by what the graph does with them."""
    if found := recurrent(model):
        return found
    inputs = {value.name: value for value in promised(model, "inputs")}
    outputs = {value.name: value for value in promised(model, "outputs")}
    pairs = carried(side.onnx_flow(model.file)) if len(inputs) > 1 and len(outputs) > 1 else []
    return [(inputs[a], outputs[b]) for a, b in pairs if a in inputs and b in outputs]


def recurrent(model: OnnxModel) -> list[tuple[Value, Value]]:
    """(input, output) pairs where the output is the input's next value."""
    outputs = promised(model, "outputs")
    found: list[tuple[Value, Value]] = []
    for value in promised(model, "inputs"):
        for output in outputs:
            if (
                value.type == output.type
                and _numbers(value)
                and _fits(value, output)
                and follows(value.name, output.name)
            ):
                found.append((value, output))
                break
    return found


def _numbers(value: Value) -> bool:
    """Whether a value can be a state: nothing carries texts from one request to the next."""
    return "string" not in value.type


def _fits(value: Value, output: Value) -> bool:
    return value.shape is None or output.shape is None or fits(value, output) or _grows(value, output)


def _grows(value: Value, output: Value) -> bool:
    """A KV cache grows along one axis: same rank is enough where the names say past and present."""
    return len(value.shape or ()) == len(output.shape or ()) and bool(_PAST.search(value.name))


_MARKS = re.compile(r"past_key_values|present_key_values|past_key|past|present|input|output|prev|next|new|old|cache")


def follows(name: str, successor: str) -> bool:
    """Whether `successor` names the next value of `name`: `n`, `nN`, `n_out`, `new_n`, `past.n` and `present.n` …"""
    a, b = name.lower(), successor.lower()
    if not a or not b or a in ("in", "x") or _numbered(a):
        return False
    if a == b:
        return True
    for prefix in ("new_", "next_", "out_", "output_", "updated_", "present_"):
        if b == prefix + a:
            return True
    for suffix in ("n", "_n", "out", "_out", "_output", "_next", "_new", "_o", "'", ".1", "_1"):
        if b == a + suffix:
            return True
    for start, end in (("in", "out"), ("past", "present"), ("prev", "next"), ("old", "new"), ("past", "new")):
        if start in a and re.sub(start, end, a) == b:
            return True
    return a != _bare(a) and _bare(a) == _bare(b) and re.search(r"\w", _bare(a)) is not None


def _numbered(name: str) -> bool:
    """Whether a name only counts inputs: `input:0`, `INPUT0`, `input_1`. So do names of outputs, and mean no pair."""
    return re.fullmatch(r"inputs?[._:/-]*\d*(:\d+)?", name) is not None


def _bare(name: str) -> str:
    """A name without the words for before and after: `past_key_values.0.key` and `present.0.key` are `0.key`."""
    return re.sub(r"[._/-]+", ".", _MARKS.sub("", name)).strip(".")
