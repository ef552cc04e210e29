"""Configurations that Triton refuses whatever model they describe: sizes, reshapes, batches, sequences, schedulers.

Read from ValidateModelConfig and ValidateModelIOConfig in model_config_utils.cc of triton-inference-server/core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod

from ...lint.sources.pbtxt import Message
from .triton import PLATFORMS, SWITCHES, Declared, TritonModel, sizes, true

_KINDS = ("CONTROL_SEQUENCE_START", "CONTROL_SEQUENCE_READY", "CONTROL_SEQUENCE_END", "CONTROL_SEQUENCE_CORRID")


def refused(config: TritonModel) -> Iterator[tuple[str, str]]:
    """What Triton does not take, each with the field that says it."""
    if config.max_batch_size < 0:
        yield "max_batch_size is negative", "max_batch_size"
    for kind, tensors in (("input", config.inputs), ("output", config.outputs)):
        for each in tensors:
            yield from ((f"{kind} '{each.name}' {what}", kind) for what in _tensor(config, each))
    yield from _batches(config)
    for each in config.root.messages("sequence_batching"):
        yield from ((what, "sequence_batching") for what in _sequences(each))
    yield from _schedulers(config)
    yield from _groups(config)
    yield from _warmups(config)
    platform, backend = (str(config.root.scalar(key) or "") for key in ("platform", "backend"))
    known = {"tensorflow_graphdef": "tensorflow", "tensorflow_savedmodel": "tensorflow", **PLATFORMS}
    if backend in known.values() and platform and known.get(platform) != backend:
        yield f"the platform '{platform}' is none of the backend '{backend}'", "platform"
    elif not (
        backend or platform in {"", *known, "ensemble", "torch_aoti"} or config.root.get("default_model_filename")
    ):
        yield f"there is no platform '{platform}'", "platform"


def _tensor(config: TritonModel, each: Declared) -> Iterator[str]:
    # Other backends complete what is missing; this one does where all inputs, or all outputs, are missing.
    if config.backend == "onnxruntime" and config.inputs and config.outputs:
        lacks = [field for field, value in (("data_type", each.type), ("dims", each.dims)) if not value]
        yield from (f"has no {field}" for field in lacks)
    if config.backend not in ("tensorrt", "") and (each.shaping or each.twisted):
        yield "is a shape tensor or has a format of its own, which only TensorRT knows"
    if any(size < 1 and size != -1 for size in (*each.dims, *(each.reshape or ()))):
        yield "has a size that is neither -1 nor positive"
    elif each.reshape == () and config.max_batch_size == 0:
        yield "is reshaped to nothing, which only a batch allows"
    elif each.reshape is not None and each.dims and _pieces(each.dims) != _pieces(each.reshape):
        yield f"holds another number of elements as {list(each.reshape)}, its reshape, than as {list(each.dims)}"


def _pieces(dims: Sequence[int]) -> list[int]:
    """How many elements there are before, between and behind the open sizes."""
    found = [1]
    for size in dims:
        found = [*found, 1] if size == -1 else [*found[:-1], prod((found[-1], size))]
    return found


def _batches(config: TritonModel) -> Iterator[tuple[str, str]]:
    inputs, outputs = ({each.name for each in tensors} for tensors in (config.inputs, config.outputs))
    for field in ("batch_input", "batch_output"):
        for each in config.root.messages(field):
            sources = [str(source.value) for source in each.all("source_input")]
            if len(sources) != 1:
                yield f"{field} has {len(sources)} source_input, not one", field
            yield from (
                (f"{field} names an input '{name}' that is not there", field) for name in sources if name not in inputs
            )
            targets = [str(target.value) for target in each.all("target_name")]
            if field == "batch_output":
                lost = [name for name in targets if name not in outputs]
                yield from ((f"{field} names an output '{name}' that is not there", field) for name in lost)
                if len(set(targets)) < len(targets):
                    yield f"{field} names an output twice", field
            elif str(each.scalar("data_type")) not in ("TYPE_INT32", "TYPE_FP32", "8", "11"):
                yield f"{field} is neither TYPE_INT32 nor TYPE_FP32", field


def _sequences(sequences: Message) -> Iterator[str]:
    controls = sequences.messages("control_input")
    names = [str(each.scalar("name") or "") for each in controls]
    for name in (name for name, times in Counter(names).items() if times > 1):
        yield f"the control '{name}' is given twice"
    if "" in names:
        yield "a control has no name"
    seen: list[str] = []
    for name, control in (
        (name, control) for name, each in zip(names, controls, strict=True) for control in each.messages("control")
    ):
        said = control.scalar("kind")
        kind = _KINDS[said] if isinstance(said, int) and 0 <= said < len(_KINDS) else str(said or _KINDS[0])
        seen.append(kind)
        given = [switch for switch in SWITCHES if control.get(switch)]
        if kind != _KINDS[3] and len(given) != 1:
            yield f"the control '{name}' needs one of {', '.join(SWITCHES)}, and has {len(given)}"
        elif kind != _KINDS[3] and len(control.all(given[0])) != 2:
            yield f"the control '{name}' needs two values, for false and for true"
        elif kind == _KINDS[3] and given:
            yield f"the control '{name}' is a number, and no switch"
    for kind in (kind for kind, times in Counter(seen).items() if times > 1):
        yield f"{kind} is given by more than one control"
    for direct in sequences.messages("direct"):
        share = direct.scalar("minimum_slot_utilization")
        if isinstance(share, int | float) and not 0 <= share <= 1:
            yield "minimum_slot_utilization is not between 0 and 1"


def _schedulers(config: TritonModel) -> Iterator[tuple[str, str]]:
    dynamic, sequences = config.root.messages("dynamic_batching"), config.root.messages("sequence_batching")
    cached = any(true(each.scalar("enable")) for each in config.root.messages("response_cache"))
    decoupled = any(true(each.scalar("decoupled")) for each in config.root.messages("model_transaction_policy"))
    if cached and (sequences or decoupled):
        yield "answers of sequences and of decoupled models cannot be cached", "response_cache"
    completed = not config.inputs or not config.outputs or config.backend == "python"
    for each in (*dynamic, *(oldest for batcher in sequences for oldest in batcher.messages("oldest"))):
        preferred = sizes(each, "preferred_batch_size")
        if any(size < 1 for size in preferred):
            yield "preferred_batch_size is not positive", "preferred_batch_size"
        elif not completed and any(size > config.max_batch_size for size in preferred):
            yield f"preferred_batch_size is over max_batch_size, {config.max_batch_size}", "preferred_batch_size"
    for each in dynamic:
        levels, usual = each.scalar("priority_levels") or 0, each.scalar("default_priority_level") or 0
        if isinstance(levels, int) and isinstance(usual, int) and levels:
            if not 0 < usual <= levels:
                yield f"default_priority_level is not between 1 and {levels}", "dynamic_batching"
            if levels > 1 and true(each.scalar("preserve_ordering")):
                yield "preserve_ordering allows one priority level only", "dynamic_batching"


def _groups(config: TritonModel) -> Iterator[tuple[str, str]]:
    for each in config.root.messages("instance_group"):
        kind = str(each.scalar("kind") or "")
        if kind in ("KIND_CPU", "KIND_MODEL", "2", "3") and each.all("gpus"):
            yield f"an instance group of {kind} names GPUs", "instance_group"
        if any(isinstance(gpu.value, int) and gpu.value < 0 for gpu in each.all("gpus")):
            yield "an instance group names a GPU below zero", "instance_group"


def _warmups(config: TritonModel) -> Iterator[tuple[str, str]]:
    needed = {each.name for each in config.inputs if not each.optional}
    for warmup in config.root.messages("model_warmup"):
        name, given = str(warmup.scalar("name") or ""), warmup.messages("inputs")
        if not warmup.scalar("batch_size"):
            continue  # skipped
        lost = needed - {str(each.scalar("key") or "") for each in given}
        yield from ((f"the warm-up '{name}' does not give '{each}'", "model_warmup") for each in sorted(lost))
        if any(-1 in sizes(value, "dims") for each in given for value in each.messages("value")):
            yield f"the warm-up '{name}' leaves a size open", "model_warmup"
