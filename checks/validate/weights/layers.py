"""Numbered layers in the names of tensors: which of them a model holds, and what each is made of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ....models.numerals import whole

# `model.layers.3.mlp.up_proj.weight`, `transformer.h.3.…`, `blk.3.…`: only the first number counts, later ones are
# experts and the like.
_NUMBERED = r"((?:[^.\d][^.]*\.)*?(?:layers?|h|blocks?|blk))\.(\d+)\.(.+)"
# Stacks beside the language model's own.
_TOWERS = ("vi[st]", "image", "audio", "speech", "mtp", "qformer", "resampler", "project", "perceiver", "clip", "sam_")

_MOST = 10_000  # layers that are looked for: a configuration may claim any number
_SHOWN = 5


class Stack(NamedTuple):
    """The layers below one name, such as `model.layers`: number → the names of its tensors below that number."""

    name: str
    layers: dict[int, set[str]]


class Gap(NamedTuple):
    """Tensors that a layer lacks: its number, and the names below it."""

    layer: int
    names: frozenset[str]


def stacks(names: Iterable[str]) -> dict[str, Stack]:
    """Every stack of numbered layers by name."""
    match = re.compile(_NUMBERED).fullmatch
    found: dict[str, Stack] = {}
    for name in names:
        parts = match(name)
        if parts is None:
            continue
        stack, digits, rest = parts.groups()
        number = whole(digits)
        if number is None:
            continue
        if stack not in found:
            found[stack] = Stack(stack, {})
        found[stack].layers.setdefault(number, set()).add(rest)
    return found


def language(found: Mapping[str, Stack]) -> Stack | None:
    """The stack of the language model: the longest one outside vision towers and the like."""
    own = [stack for name, stack in found.items() if not beside(name)]
    return max(own, key=lambda stack: len(stack.layers), default=None)


def beside(name: str) -> bool:
    """Whether a tensor or stack belongs to a tower beside the language model, by its name."""
    return re.search("|".join(_TOWERS), name.lower()) is not None


def outside(names: Iterable[str], found: Mapping[str, Stack]) -> list[str]:
    """The tensors of the language model that belong to no layer."""
    starts = tuple(f"{name}." for name in found)
    return [name for name in names if not name.startswith(starts) and not beside(name)]


def absent(stack: Stack, count: int) -> list[int]:
    """Which of `count` layers hold no tensor; none where the stack holds none of them, so is no part of them."""
    wanted = set(range(min(count, _MOST)))
    return sorted(wanted - stack.layers.keys()) if wanted & stack.layers.keys() else []


def numbers(layers: list[int]) -> str:
    """The first few numbers of layers and how many more there are."""
    more = f" and {len(layers) - _SHOWN} more" if len(layers) > _SHOWN else ""
    return ", ".join(map(str, layers[:_SHOWN])) + more


def odd(stack: Stack) -> Gap | None:
    """An inner layer that lacks tensors which the layers of its kind have.

    Only one layer that differs from all others counts, whose tensors are a part of those of two others at least:
    families mix kinds of layer, but repeat each; and first and last layers are often of their own.
    """
    kinds = Counter(frozenset(each) for each in stack.layers.values())
    if len(kinds) < 2:
        return None
    usual = [kind for kind, count in kinds.items() if count > 1]
    for number in sorted(stack.layers)[1:-1]:
        own = stack.layers[number]
        for kind in usual if kinds[frozenset(own)] == 1 else ():
            lost = lacking(own, kind) if own < kind else frozenset[str]()
            if lost:
                return Gap(number, lost)
    return None


def lost(old: Stack, new: Stack, count: int | None) -> Gap | None:
    """A layer that NEW lost, or what it lost of a layer while other layers of NEW still have it.

    Of layers beyond `count`, which predict further tokens, servers do without.
    """
    kinds = {frozenset(names) for number, names in old.layers.items() if number in new.layers}
    for number, before in sorted(old.layers.items()):
        own = new.layers.get(number)
        if own is None:
            if number < count if count is not None else frozenset(before) in kinds:
                return Gap(number, frozenset())
            continue
        if not own < before:
            continue  # a layer that also gained tensors was built otherwise
        kept = {name for each, names in new.layers.items() if each != number for name in names}
        gone = lacking(own, before) & kept
        if gone:
            return Gap(number, frozenset(gone))
    return None


def lacking(own: set[str], other: Iterable[str]) -> frozenset[str]:
    """The names in `other` that a layer with the tensors `own` cannot do without.

    What a quantised module has besides its weight is not among them: single modules are often left unquantised.
    """
    modules = {name.rpartition(".")[0] for name in own}
    return frozenset(
        name
        for name in set(other) - own
        if name.rpartition(".")[0] not in modules or name.endswith((".weight", ".bias"))
    )


def promised(flat: Mapping[str, Any]) -> int | None:
    """How many layers a configuration, or the language model's part of one, says there are."""
    for key in ("num_hidden_layers", "n_layer", "num_layers", "n_layers"):
        value = flat.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
