"""WTS-FIT: tensors have other shapes than the configuration promises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .misfits import judge
from .promises import Promised, Shape, promised
from .tables import show

RULE = Rule(
    id="WTS-FIT",
    name="weights-do-not-fit",
    family="WTS",
    severity=Severity.ERROR,
    summary="tensors have other shapes than config.json gives them",
    what="The shapes in the safetensors headers against hidden_size, intermediate_size, num_attention_heads, "
    "num_key_value_heads, head_dim and the number of experts, for the families whose shapes `transformers` defines: "
    "Llama, Mistral, Mixtral, Qwen, Gemma, Phi, OLMo, GPT-2, GPT-NeoX, BERT, RoBERTa and more.",
    why="loading stops with a size mismatch after the old model was let go, or heads are cut in the wrong places and "
    "every answer is garbage",
    hint="ship the configuration that was saved with these weights; a matrix that is turned was written by hand",
    bad="intermediate_size 11008, mlp.up_proj.weight [4096, 11008]",
    good="intermediate_size 11008, mlp.up_proj.weight [11008, 4096]",
    example="text",
    exemptions=(
        "families that are not listed, and models with code of their own",
        "quantised tensors",
        "sizes that the configuration does not write",
        "rows of the embedding, which CFG-VOCAB compares",
    ),
    reads=("config", "safetensors"),
)

_PLAIN = frozenset({"F16", "BF16", "F32", "F64"})


def check(ctx: Context) -> Iterator[Finding]:
    """Judge NEW alone, and against an OLD that serves."""
    yield from judge(ctx, RULE, faults)


def faults(side: Side) -> list[tuple[str, list[str]]]:
    """(what does not fit, the tensors), one for each kind of tensor and shape."""
    config, table = side.config, side.weights
    found = promised(config, table) if config is not None and table is not None else None
    if table is None or found is None:
        return []
    odd: dict[tuple[str, tuple[int, ...]], list[str]] = defaultdict(list)
    wanted: dict[str, Shape] = {}
    for tensor, row, shape in found.tensors:
        entry = table.tensors[tensor]
        if entry.dtype in _PLAIN and entry.shape != shape and not _fits(entry.shape, shape):
            odd[row, entry.shape].append(tensor)
            wanted[row] = shape
    result: list[tuple[str, list[str]]] = []
    for (row, _), tensors in odd.items():
        first = min(tensors)
        text = ",".join("?" if size is None else str(size) for size in wanted[row])
        more = f", as {len(tensors) - 1} others" if len(tensors) > 1 else ""
        result.append((f"'{first}' is {show(table, first)}{more}; the configuration makes it [{text}]", tensors))
    return result + list(_experts(found))


def _fits(shape: tuple[int, ...], wanted: Shape) -> bool:
    return len(shape) == len(wanted) and all(b is None or a == b for a, b in zip(shape, wanted, strict=True))


def _experts(found: Promised) -> Iterator[tuple[str, list[str]]]:
    """A layer that holds more or fewer experts than promised."""
    for number, names in sorted(found.stack.layers.items() if found.experts is not None else ()):
        held = [name for name in names if ".experts." in name]
        own = {name.partition(".experts.")[2].partition(".")[0] for name in held}
        if own and all(map(str.isdigit, own)) and len(own) != found.experts:
            message = f"layer {number} holds {len(own)} experts, the configuration has {found.experts}"
            yield message, [f"{found.stack.name}.{number}.{name}" for name in held]
            return
