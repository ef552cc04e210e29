"""MEM-FIT: whether both versions, and the KV cache promised to clients, fit into GPU memory during the swap."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .estimate import Estimate, Strategy, estimate, show_bytes

RULE = Rule(
    id="MEM-FIT",
    name="swap-does-not-fit",
    family="MEM",
    severity=Severity.WARNING,
    summary="old and new weights together leave too little memory for the promised KV cache",
    what="Bytes of weights from the headers, or of TensorRT-LLM engines, with those of --draft, and KV bytes per token "
    "from config.json or a GGUF file, against contract.gpu_memory, gpus, gpu_utilisation and kv_tokens. Heads are not "
    "split over GPUs, nor is the latent vector of multi-head latent attention.",
    why="the load runs out of memory with the old version still serving, or requests wait for KV pages that are gone",
    hint="roll the servers one by one, spread over more GPUs, or lower contract.kv_tokens",
    exemptions=(
        "without contract.gpu_memory nothing is judged",
        "adapters for themselves: the base that they sit on decides",
        "kv_tokens, for models that keep no KV cache: graphs that take and give none, classifiers, embedding models",
    ),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Judge the pointer swap; say which other way would fit."""
    if ctx.old is None or _only_adapters(ctx.new):
        return
    found = estimate(ctx)
    if found is None:
        return
    pointer, *others = found.strategies
    wanted = ctx.contract.kv_tokens
    if wanted and found.kv_per_token is None:
        yield ctx.finding(RULE, "unproven", "KV bytes per token are not known, so kv_tokens cannot be checked")
        return
    if pointer.fits:
        yield ctx.finding(RULE, "hot", f"a pointer swap fits: {_numbers(pointer, found, ctx.contract.gpus)}")
        return
    other = [each for each in others if each.fits]
    hint = RULE.hint
    if other:
        hint = f"swap by {other[0].name} ({_numbers(other[0], found, ctx.contract.gpus)}), or {hint}"
    message = f"a pointer swap does not fit: {_numbers(pointer, found, ctx.contract.gpus)}"
    promised = f", {wanted:,} are promised" if wanted and found.kv_per_token else ""
    yield ctx.finding(RULE, "restart", message + promised, hint=hint)


def _numbers(strategy: Strategy, found: Estimate, gpus: int) -> str:
    tokens = "" if strategy.tokens is None else f", {strategy.tokens:,} tokens of KV"
    room = f"{show_bytes(strategy.peak)} of weights of {show_bytes(found.capacity)} usable on each of {gpus} GPUs"
    return f"{room}, leaves {show_bytes(strategy.left)}{tokens}"


def _only_adapters(side: Side) -> bool:
    files = side.tree.of("safetensors")
    return side.config is None and bool(files) and all("adapter" in file.name.rpartition("/")[2] for file in files)
