"""How much GPU memory a swap takes, from headers and configuration alone.

A replica spreads W bytes of weights over T GPUs. While it swaps, each GPU holds: both versions (pointer swap), the new
one and the largest shard in flight (shard map), or the old one and the adapter (adapter swap), and the draft model if
there is one. What the server may use beyond that is KV cache, in pages of 16 tokens.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from ....report.errors import BadInput
from ..rulebase import Context
from ..side import Side
from .cache import kv_bytes, kv_share

PAGE = 16  # tokens; vLLM's block size
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to swap: bytes of weights on each GPU at the worst moment, bytes left for KV there, tokens in them."""

    name: str
    peak: int
    left: int
    tokens: int | None
    fits: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """The numbers of a swap, in bytes. `kv_per_token` is 0 for a model without KV cache, None where it is not known."""

    old: int
    new: int
    largest_shard: int
    kv_per_token: int | None
    capacity: int
    strategies: tuple[Strategy, ...]


def parse_size(text: str, name: str) -> int:
    """Bytes of `80GiB`, `80 GB` or `85899345920`. Raises BadInput."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", text, re.IGNORECASE)
    if match is None or match[2].lower() not in _UNITS:
        raise BadInput(name, f"{text!r} is not a size", hint="write 80GiB or 80GB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def estimate(ctx: Context) -> Estimate | None:
    """The estimate by contract.gpu_memory, which must be declared; None where the weights of a version are not known.

    Raises BadInput on a gpu_memory that is not a size.
    """
    new = weight_bytes(ctx.new)
    old = weight_bytes(ctx.old) if ctx.old is not None else 0
    if not new or (ctx.old is not None and not old):
        return None
    contract = ctx.contract
    shard = _largest_shard(ctx.new)
    kv = kv_bytes(ctx.new)
    gpus = max(1, contract.gpus)
    capacity = int(parse_size(contract.gpu_memory, "contract.gpu_memory") * contract.gpu_utilisation)
    share = kv_share(ctx.new, kv, gpus) if kv else kv
    draft = ctx.options.get("draft")
    beside = weight_bytes(draft) if isinstance(draft, Side) else 0
    adapters = sum(adapter.size for adapter in ctx.new.adapters.values())
    peaks = {"pointer swap": old + new, "shard map": max(old, new) + shard}
    if adapters:
        peaks["adapter swap"] = new + adapters
    strategies = tuple(
        _strategy(name, peak + beside, capacity=capacity, gpus=gpus, kv=share, wanted=contract.kv_tokens)
        for name, peak in peaks.items()
    )
    return Estimate(old, new, shard, kv, capacity, strategies)


def _strategy(name: str, peak: int, *, capacity: int, gpus: int, kv: int | None, wanted: int) -> Strategy:
    """One strategy on each of `gpus` GPUs that may use `capacity` bytes and hold `kv` bytes of each token there;
    `wanted` tokens are promised."""
    share = -(-peak // gpus)
    left = capacity - share
    tokens = max(0, left // kv // PAGE * PAGE) if kv else None
    enough = left >= 0 and (not wanted or kv == 0 or (tokens is not None and tokens >= wanted))
    return Strategy(name, share, left, tokens, enough)


def weight_bytes(side: Side) -> int:
    """Bytes of the weights a server loads, over all files."""
    kinds = side.tree.kinds
    if not kinds.isdisjoint({"safetensors", "index"}):
        main = side.weights
        sizes = [main.size] if main else [table.size for table in side.weight_sets.values()]
        return sum(sizes)
    if "gguf" in kinds:
        return sum(t.end - t.begin for model in side.gguf.values() for t in model.tensors.values())
    if "onnx" in kinds:
        return sum(model.weight_bytes for model in side.onnx.values())
    if "engine" in kinds:
        return sum(file.size for file in side.tree.of("engine"))
    return 0


def _largest_shard(side: Side) -> int:
    table = side.weights if not side.tree.kinds.isdisjoint({"safetensors", "index"}) else None
    if table is None:
        return max((file.size for file in side.tree.files.values()), default=0)
    return max(side.tree.files[name].size for name in table.files)


def document(ctx: Context) -> dict[str, Any] | None:
    """The estimate as JSON facts."""
    found = estimate(ctx)
    return None if found is None else asdict(found)


def show_bytes(size: int) -> str:
    """Bytes for people, in GB or MB as data sheets count them."""
    return f"{size / 1e9:.1f} GB" if abs(size) >= 1e9 else f"{size / 1e6:.1f} MB"
