"""TRI-CFG: config.pbtxt does not describe the model it serves, or promises clients something else than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import OnnxModel, Value
from ....report.finding import Severity
from ...lint.sources.pbtxt import Message
from ..graph.contract import dynamic, optional, promised
from ..rulebase import Context, Finding, Level, Rule
from .triton import TYPES, Declared, TritonModel, read, served

RULE = Rule(
    id="TRI-CFG",
    name="triton-config-mismatch",
    family="TRI",
    severity=Severity.WARNING,
    summary="config.pbtxt and the model disagree, or its promises to clients changed",
    what="Names, data types, dims and max_batch_size of config.pbtxt against the model.onnx of each version, and "
    "against the configuration that serves now.",
    why="one config.pbtxt serves all versions: Triton refuses the new version, or clients get another contract",
    hint="write config.pbtxt for the new model, or let the ONNX backend complete it (leave inputs and outputs out)",
    references=("https://github.com/triton-inference-server/server/issues/7406",),
    exemptions=("a configuration that leaves inputs and outputs to auto-completion", "edits of instance groups"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """NEW's configuration against NEW's models and OLD's configuration."""
    configs = read(ctx.new)
    before = read(ctx.old) if ctx.old is not None else {}
    for name, config in configs.items():
        for model in served(ctx.new, config):
            for message, line in _mismatches(config, model):
                yield ctx.finding(RULE, "restart", f"{message} in {model.file}", path=name, line=line)
        if name in before:
            yield from _promises(ctx, before[name], config)
    for name in before.keys() - configs.keys():
        assert ctx.old is not None  # noqa: S101
        yield ctx.finding(
            RULE, "unproven", "config.pbtxt is gone; Triton completes one if it can", path=name, side=ctx.old
        )


def _mismatches(config: TritonModel, model: OnnxModel) -> Iterator[tuple[str, int]]:
    for kind, declared in (("input", config.inputs), ("output", config.outputs)):
        values = {value.name: value for value in promised(model, "inputs" if kind == "input" else "outputs")}
        for each in declared:
            value = values.get(each.name)
            if value is None:
                yield f"{kind} '{each.name}' is not", each.line
            elif TYPES.get(value.type) != each.type:
                yield f"{kind} '{each.name}' is {each.type} here, {value.type}", each.line
            elif not _fits(each, value, config.max_batch_size):
                yield f"{kind} '{each.name}' has dims {list(each.dims)} here, {list(value.shape or ())}", each.line
        names = {each.name for each in declared}
        for name, value in values.items():
            if kind == "input" and declared and name not in names and not optional(model, value):
                yield f"config.pbtxt lacks the input '{name}'", declared[0].line


def _fits(declared: Declared, value: Value, batch: int) -> bool:
    if value.shape is None:
        return True
    dims = (-1, *declared.dims) if batch > 0 else declared.dims
    if len(dims) != len(value.shape):
        return declared.dims == (1,) and not value.shape  # Triton has no scalars: it reshapes
    return all(dynamic(b) or a in (b, -1) for a, b in zip(dims, value.shape, strict=True))


def _promises(ctx: Context, old: TritonModel, new: TritonModel) -> Iterator[Finding]:
    """What clients of the old configuration rely on, and settings whose meaning is not known here."""
    for key in sorted(_unjudged(old).keys() | _unjudged(new).keys()):
        if _unjudged(old).get(key) != _unjudged(new).get(key):
            yield ctx.finding(RULE, "unproven", f"'{key}' changed", path=new.file, pointer=key)
    level: Level = ctx.client_level("tensor")
    if new.max_batch_size < old.max_batch_size:
        yield ctx.finding(
            RULE, level, "max_batch_size shrank", old=old.max_batch_size, new=new.max_batch_size, path=new.file
        )
    for kind, before, after in (("input", old.inputs, new.inputs), ("output", old.outputs, new.outputs)):
        found = {each.name: each for each in after}
        for each in before:
            now = found.pop(each.name, None)
            if now is None and after:
                yield ctx.finding(RULE, level, f"{kind} '{each.name}' is gone", path=new.file)
            elif now is not None and (now.type, now.dims) != (each.type, each.dims):
                was, is_ = f"{each.type}{list(each.dims)}", f"{now.type}{list(now.dims)}"
                wider = now.type == each.type and kind == "input" and _wider(each.dims, now.dims)
                message = f"{kind} '{each.name}' changed"
                how: Level = "hot" if wider else level
                yield ctx.finding(RULE, how, message, old=was, new=is_, path=new.file, line=now.line)
        if before and kind == "input":
            for each in found.values():
                yield ctx.finding(RULE, level, f"input '{each.name}' is new", path=new.file, line=each.line)


_JUDGED = frozenset({"input", "output", "max_batch_size", "name"})
_TUNING = frozenset({"instance_group", "dynamic_batching", "optimization", "model_warmup", "response_cache"})


def _unjudged(config: TritonModel) -> dict[str, list[object]]:
    """Every other field, in a form that compares by value."""
    found: dict[str, list[object]] = {}
    for field in config.root.fields:
        if field.name not in _JUDGED | _TUNING:
            found.setdefault(field.name, []).append(_plain(field.value))
    return found


def _plain(value: object) -> object:
    if not isinstance(value, Message):
        return value
    return sorted((field.name, str(_plain(field.value))) for field in value.fields)


def _wider(old: tuple[int, ...], new: tuple[int, ...]) -> bool:
    return len(old) == len(new) and all(b in (a, -1) for a, b in zip(old, new, strict=True))
