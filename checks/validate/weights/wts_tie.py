"""WTS-TIE: the configuration and the weights disagree on whether the output head is the embedding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.weights import WeightTable
from ....report.finding import Severity
from ..contents import Same
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side

RULE = Rule(
    id="WTS-TIE",
    name="tied-head-disagrees",
    family="WTS",
    severity=Severity.ERROR,
    summary="tie_word_embeddings does not agree with the presence of an output head",
    what="tie_word_embeddings of config.json (or the family's default) against the head tensor in the headers.",
    why="the server initialises the head at random, or ignores the trained one: it serves normally, and all is garbage",
    hint="set tie_word_embeddings to what the weights say, or save the head",
    references=("https://github.com/huggingface/transformers/pull/43429",),
    exemptions=(
        "a stored head that equals the embedding",
        "families whose default is not known, without the key",
        "draft models, which borrow the head of their target",
    ),
)

HEADS = ("lm_head.weight", "language_model.lm_head.weight", "model.lm_head.weight", "output.weight", "embed_out.weight")
EMBEDDINGS = (
    "model.embed_tokens.weight",
    "embed_tokens.weight",
    "model.language_model.embed_tokens.weight",
    "language_model.model.embed_tokens.weight",
    "transformer.wte.weight",
    "wte.weight",
    "gpt_neox.embed_in.weight",
    "tok_embeddings.weight",
)
# What the configuration classes of `transformers` fill in where the key is missing.
_UNTIED = {"llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "phi", "phi3", "olmo"}
_TIED = {"gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "cohere", "opt"}


def check(ctx: Context) -> Iterator[Finding]:
    """Judge NEW; what OLD has just the same is a note, since it serves."""
    fault = _fault(ctx.new)
    if fault is None:
        return
    message, tensor, level = fault
    known = ctx.old is not None and _fault(ctx.old) == fault
    yield ctx.finding(
        RULE,
        "hot" if known else level,
        message + (", as in the live version" if known else ""),
        path="config.json",
        pointer="/tie_word_embeddings",
        tensor=tensor,
    )


def _fault(side: Side) -> tuple[str, str, Level] | None:
    config, table = side.config, side.weights
    if config is None or table is None or not _generates(config):
        return None
    embedding = next((name for name in EMBEDDINGS if name in table.tensors), None)
    head = next((name for name in HEADS if name in table.tensors), None)
    tied = _tied(config)
    if embedding is None or tied is None:
        return None
    if not tied and head is None and not _heads(table):
        return "tie_word_embeddings is false, but there is no output head", embedding, "breaks"
    if tied and head is not None:
        state = _compared(side, table, head, embedding)
        if state == "different":
            return f"tie_word_embeddings is true, but {head} has values of its own", head, "breaks"
        if state == "unknown":
            return f"tie_word_embeddings is true, and {head} may have values of its own", head, "unproven"
    return None


def _heads(table: WeightTable) -> bool:
    """Whether there are heads under other names, or the parts of a draft model, which borrows its target's head."""
    return any("lm_head" in name or name == "fc.weight" for name in table.tensors)


def _generates(config: dict[str, Any]) -> bool:
    names = config.get("architectures")
    marks = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
    return isinstance(names, list) and any(str(name).endswith(marks) for name in names)  # pyright: ignore


def _tied(config: dict[str, Any]) -> bool | None:
    text: Any = config.get("text_config")
    for part in (config, text if isinstance(text, dict) else {}):  # pyright: ignore
        flag: Any = part.get("tie_word_embeddings")  # pyright: ignore
        if isinstance(flag, bool):
            return flag
    family = str(config.get("model_type"))
    return False if family in _UNTIED else True if family in _TIED else None


def _compared(side: Side, table: WeightTable, head: str, embedding: str) -> Same:
    """Whether the two tensors hold the same values, by samples: a copy of the embedding is tied in fact."""
    a, b = table.tensors[head], table.tensors[embedding]
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return "different"
    if side.tree.files[a.file].partial or side.tree.files[b.file].partial:
        return "unknown"
    size = min(4096, a.size)
    with side.tree.files[a.file].path.open("rb") as one, side.tree.files[b.file].path.open("rb") as two:
        for step in range(16):
            at = (a.size - size) * step // 15
            one.seek(a.begin + at)
            two.seek(b.begin + at)
            if one.read(size) != two.read(size):
                return "different"
    return "same"
