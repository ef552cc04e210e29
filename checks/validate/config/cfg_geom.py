"""CFG-GEOM: another size of layers, heads or experts than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.hf_config import text_config
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .fields import NAMES, effective, value

RULE = Rule(
    id="CFG-GEOM",
    name="geometry-changed",
    family="CFG",
    severity=Severity.WARNING,
    summary="layers, heads, sizes or experts differ",
    what="The sizes and switches of config.json that decide the shape of weights, KV cache and kernels, under every "
    "name the model families use, with the defaults of `transformers` filled in.",
    why="the running graph and its KV cache have the old shape; weights of the new one do not fit in",
    hint="start new replicas for the new version and move traffic to them",
    bad='{"num_key_value_heads": 4}   (was 8)',
    good='{"num_key_value_heads": 8}',
    example="json",
    exemptions=("a default that is only written out",),
    reads=("config",),
)

_FLOATS = frozenset(("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"))


def check(ctx: Context) -> Iterator[Finding]:
    """Compare quantity by quantity, each once, whatever key it is written under."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    before, after = (_tied(config) for config in (ctx.old.config, ctx.new.config))
    if before is not None and after is not None and before != after:
        pointer = "/tie_word_embeddings"
        yield ctx.finding(
            RULE, "restart", "the head is tied differently", path="config.json", pointer=pointer, old=before, new=after
        )
    for quantity in NAMES:
        old, new = effective(ctx.old.config, quantity), effective(ctx.new.config, quantity)
        if old == new or (quantity == "number type" and _plain(ctx.old, old) and _plain(ctx.new, new)):
            continue
        key = value(ctx.new.config, quantity)[0] or value(ctx.old.config, quantity)[0]
        yield ctx.finding(
            RULE, "restart", f"{quantity} differs", path="config.json", pointer=f"/{key}", old=old, new=new
        )


def _plain(side: Side, kind: Any) -> bool:
    """Whether the model computes in float32, written or not.

    Where nothing is written, releases 4 of `transformers` do so, and later ones take the type of the weights.
    """
    if kind is not None:
        return kind == "float32"
    tables = side.weight_sets.values()
    return {each.dtype for table in tables for each in table.tensors.values()} & _FLOATS <= {"F32"}


def _tied(config: dict[str, Any]) -> Any:
    """tie_word_embeddings; what stands at the top counts before the language model's part."""
    own = config.get("tie_word_embeddings")
    return text_config(config).get("tie_word_embeddings") if own is None else own
