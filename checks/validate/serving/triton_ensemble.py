"""Ensembles that Triton refuses: steps that lead nowhere, and tensors that do not fit the models they are given to.

Read from ValidateEnsembleSchedulingConfig (model_config_utils.cc) and ValidateEnsembleConfig (ensemble_utils.cc) of
triton-inference-server/core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...lint.sources.pbtxt import Message
from .triton import Declared, TritonModel

_PLATFORM = "ensemble"
_NEVER = ("instance_group", "optimization", "model_warmup")
# A tensor of an ensemble: its type, its dims without and with a batch dimension, and the model that says so.
Tensor = tuple[str, tuple[int, ...], tuple[int, ...], str]


def steps(config: TritonModel) -> list[Message]:
    """The steps of an ensemble; none of any other model."""
    return [step for each in config.root.messages("ensemble_scheduling") for step in each.messages("step")]


def mapped(step: Message, kind: str) -> list[tuple[str, str]]:
    """(name in the model, name in the ensemble) of a step's inputs or outputs."""
    found = step.messages(f"{kind}_map")
    return list({str(each.scalar("key") or ""): str(each.scalar("value") or "") for each in found}.items())


def names(step: Message, kind: str) -> set[str]:
    """The tensors of the ensemble that a step takes or writes."""
    return {name for _, name in mapped(step, kind)}


def dangling(config: TritonModel) -> Iterator[str]:
    """What is wrong with an ensemble in itself."""
    is_one = bool(config.root.messages("ensemble_scheduling"))
    platform, backend = (str(config.root.scalar(key) or "") for key in ("platform", "backend"))
    if not is_one:
        if platform == _PLATFORM:
            yield "the platform is 'ensemble', but there is no ensemble_scheduling"
        return
    if platform != _PLATFORM:
        yield "ensemble_scheduling stands in a model of another platform, or of none"
    elif backend:
        yield "an ensemble has no backend"
    yield from (f"an ensemble takes no {field}" for field in _NEVER if config.root.get(field) is not None)
    given, written = (
        {each.name for each in config.inputs},
        [out for step in steps(config) for _, out in mapped(step, "output")],
    )
    if not steps(config):
        yield "the ensemble has no step"
    for number, step in enumerate(steps(config)):
        lacks = [kind for kind in ("input", "output") if not mapped(step, kind)]
        lacks = [f"{kind}_map" for kind in lacks] + ([] if step.scalar("model_name") else ["model_name"])
        yield from (f"step {number} of the ensemble has no {field}" for field in lacks)
    yield from (f"'{name}' is written by two steps" for name, times in Counter(written).items() if times > 1)
    yield from _flow(config, given)


def _flow(config: TritonModel, given: set[str]) -> Iterator[str]:
    """Tensors that nothing writes or nothing takes."""
    ready, left = set(given), [tuple(names(step, kind) for kind in ("input", "output")) for step in steps(config)]
    waiting: dict[str, list[int]] = {}
    for number, (takes, _) in enumerate(left):
        for name in takes - ready:
            waiting.setdefault(name, []).append(number)
    lacks = [len(takes - ready) for takes, _ in left]
    able = [number for number, count in enumerate(lacks) if not count]
    while able:
        for name in left[able.pop()][1] - ready:
            ready.add(name)
            for number in waiting.pop(name, []):
                lacks[number] -= 1
                if not lacks[number]:
                    able.append(number)
    taken, made = (set[str]().union(*(each[side] for each in left)) for side in (0, 1))
    promised = {each.name for each in config.outputs}
    yield from (f"nothing writes the output '{each}' of the ensemble" for each in sorted(promised - ready))
    yield from (f"no step takes the input '{each}' of the ensemble" for each in sorted(given - taken - made))
    lost = taken - ready - promised
    yield from (f"nothing writes '{each}', which a step of the ensemble takes" for each in sorted(lost))
    yield from (
        f"no step takes '{each}', which another one writes" for each in sorted((made & ready) - taken - promised)
    )


def unfit(config: TritonModel, called: dict[str, TritonModel]) -> Iterator[str]:
    """Tensors that the called models, by name, do not take or give as the ensemble says."""
    seen: dict[str, Tensor] = {}
    for each in (*config.inputs, *config.outputs):
        seen[each.name] = _of(config, each, each.dims if each.reshape is None else each.reshape, "the ensemble")
    for step in steps(config):
        name = str(step.scalar("model_name") or "")
        model = called.get(name)
        if model is None:
            continue
        if 0 < model.max_batch_size < config.max_batch_size:
            yield f"the ensemble takes batches of {config.max_batch_size}, '{name}' only of {model.max_batch_size}"
        for kind, tensors in (("input", model.inputs), ("output", model.outputs)):
            tables = dict(mapped(step, kind))
            for each in tensors:
                if each.name in tables:
                    own = _of(model, each, each.dims, f"'{name}'")
                    other = seen.setdefault(tables[each.name], own)
                    if not _alike(other, own):
                        yield f"'{tables[each.name]}' is {_show(other)} of {other[3]}, and {_show(own)} of {own[3]}"
                elif kind == "input" and not each.optional:
                    yield f"the ensemble does not give '{name}' its input '{each.name}'"


def circle(config: TritonModel, called: dict[str, TritonModel]) -> bool:
    """Whether an ensemble calls itself, by way of others or at once."""
    own, seen, left = config.folder.rpartition("/")[2], set[str](), [config]
    while left:
        names = {str(step.scalar("model_name") or "") for step in steps(left.pop())} - seen
        seen |= names
        left += [called[name] for name in names if name in called]
    return own in seen


def _of(config: TritonModel, each: Declared, dims: tuple[int, ...], whose: str) -> Tensor:
    return each.type, dims, (-1, *dims) if config.max_batch_size > 0 else dims, whose


def _alike(a: Tensor, b: Tensor) -> bool:
    unsaid = not (a[0] and b[0] and a[1] and b[1])  # the backend completes it
    return unsaid or (
        a[0] == b[0]
        and any(
            len(x) == len(y) and all(p == q or -1 in (p, q) for p, q in zip(x, y, strict=True))
            for x, y in ((a[1], b[1]), (a[2], b[2]))
        )
    )


def _show(tensor: Tensor) -> str:
    return f"{tensor[0]}{list(tensor[2])}"
