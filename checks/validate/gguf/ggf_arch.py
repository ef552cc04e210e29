"""GGF-ARCH: the architecture or its geometry changed."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.gguf import GgufArray, GgufModel, read_array
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule, Step
from ..side import Side
from .files import pairs

RULE = Rule(
    id="GGF-ARCH",
    name="architecture-changed",
    family="GGF",
    severity=Severity.WARNING,
    summary="the architecture or its geometry is another one",
    what="general.architecture and the sizes below its prefix: layers, heads, embedding, experts, rope.",
    why="graphs and buffers are built for these numbers when the server loads the model; rotary settings and the "
    "window of attention belong to a llama.cpp context, which owns the KV cache and takes no others while it runs, "
    "where servers of a Hugging Face folder load a version with other ones beside the live one",
    hint="restart the server with the new file",
    exemptions=("a default that is only written out",),
)

_SIZES = (
    *("block_count", "embedding_length", "feed_forward_length", "attention.head_count", "attention.head_count_kv"),
    *("attention.key_length", "attention.value_length", "expert_count", "expert_used_count", "vocab_size"),
    *("rope.dimension_count", "attention.layer_norm_rms_epsilon", "pooling_type", "attention.causal"),
)
_ROPE = ("rope.freq_base", "rope.scaling.type", "rope.scaling.factor", "attention.sliding_window")
# What llama.cpp takes where a key is not written, the same for every architecture.
_DEFAULTS: dict[str, object] = {
    "rope.scaling.type": "none",
    "rope.freq_base": 10000.0,
    "attention.causal": True,
    "expert_count": 0,
    "expert_used_count": 0,
    "rope.scaling.factor": 1.0,
    "pooling_type": 0,
}
# Keys below the architecture's prefix that rules judge.
JUDGED = frozenset({*_SIZES, *_ROPE, "context_length"})


def check(ctx: Context) -> Iterator[Finding]:
    """Numbers that differ."""
    for pair in pairs(ctx):
        if pair.old.architecture != pair.new.architecture:
            yield ctx.finding(
                RULE,
                "restart",
                "another architecture",
                old=pair.old.architecture,
                new=pair.new.architecture,
                path=pair.new.file,
                pointer="general.architecture",
            )
            continue
        for key in (*_SIZES, *_ROPE):
            old, new = (_value(*each, key) for each in ((ctx.old, pair.old), (ctx.new, pair.new)))
            if old != new:
                steps: tuple[Step, ...] = ("flush-kv",) if key in _ROPE else ()
                yield ctx.finding(
                    RULE, "restart", f"{key} changed", old=old, new=new, path=pair.new.file, pointer=key, plan=steps
                )


def _value(side: Side | None, model: GgufModel, key: str) -> object:
    """A number, or a list of them, one a block, where they differ."""
    value = model.get(key)
    if isinstance(value, GgufArray) and side is not None:
        found = read_array(side.tree.files[model.file], model, value)
        return found[0] if len(found) == model.get("block_count") and len(set(found)) == 1 else found
    return _derived(side, model, key) if value is None else value


def width(model: GgufModel, key: str) -> int | None:
    """A size in force, None where it is a list or nothing says."""
    value = _value(None, model, key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _derived(side: Side | None, model: GgufModel, key: str) -> object:
    """What llama.cpp takes where a key is not written, from others where it does (load_hparams in llama-model.cpp)."""
    if key == "attention.head_count_kv":
        return _value(side, model, "attention.head_count")
    if key == "rope.dimension_count":
        return _value(side, model, "attention.key_length")
    if key in ("attention.key_length", "attention.value_length"):
        width, heads = model.get("embedding_length"), model.get("attention.head_count")
        return width // heads if isinstance(width, int) and isinstance(heads, int) and heads > 0 else None
    if key == "vocab_size":
        tokens = model.metadata.get("tokenizer.ggml.tokens")
        return tokens.length if isinstance(tokens, GgufArray) else None
    return _DEFAULTS.get(key)
