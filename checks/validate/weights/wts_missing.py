"""WTS-MISSING: tensors that the configuration calls for are not in the weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ....models.hf_config import text_config
from ....models.strict_json import items_of
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .layers import Stack, absent, language, lost, numbers, odd, outside, promised, stacks
from .tables import names as listed

RULE = Rule(
    id="WTS-MISSING",
    name="tensors-missing",
    family="WTS",
    severity=Severity.ERROR,
    summary="weights lack layers, or tensors of a layer, that the model needs",
    what="num_hidden_layers against the layers in the headers; an inner layer that lacks tensors of its neighbours, or "
    "that the live version has there; no final norm, no embedding.",
    why="loaders fill what is missing with random values and only log it, or fail after the old model was let go",
    hint="save the model again, or fetch the shards that are missing",
    bad="num_hidden_layers 4, layers 0, 1 and 2 in the weights",
    good="num_hidden_layers 4, layers 0 to 3 in the weights",
    example="text",
    exemptions=(
        "layers of several kinds that repeat, and first and last layers of their own",
        "models with code of their own or with shared layers, unless the live version holds more",
    ),
    reads=("config", "safetensors"),
)

_TEXT = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForMaskedLM")
_CLASSES = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
# Two norms a layer before its parts: what comes out of the last layer is not normalised yet.
_PRE_NORM = (
    {"input_layernorm.weight", "post_attention_layernorm.weight"},
    {"attention_norm.weight", "ffn_norm.weight"},
)
_UNEVEN = r"num_hidden_groups|block_configs|loop|cycle|recurr"
_EMBEDDING = r"embed_tokens|embeddings?\b|embed_in|tokens?_embed|wte\b|tok_emb|word_emb|shared\.|\bw\.weight$"
_NORM = r"norm\b|norm_f\b|ln_f\b"
_HEAD = r"^(score|classifier|pre_classifier|qa_outputs|classification_head|\w+\.pooler)\."
# Encoders and decoders, by the keys that count their layers.
_HALVES = {
    "encoder.layers": ("encoder_layers",),
    "decoder.layers": ("decoder_layers",),
    "encoder.block": ("num_layers",),
    "decoder.block": ("num_decoder_layers", "num_layers"),
}


def check(ctx: Context) -> Iterator[Finding]:
    """NEW in itself, then what it lost against OLD. What OLD lacks just the same is a note, since it serves."""
    found = faults(ctx.new)
    known = {message for message, _ in faults(ctx.old)} if found and ctx.old is not None else set[str]()
    for message, tensors in found:
        level, more = ("hot", ", as in the live version") if message in known else ("breaks", "")
        yield ctx.finding(RULE, level, message + more, path=_path(ctx.new), tensors=tensors)
    if ctx.old is None or any(message not in known for message, _ in found):
        return
    for message, tensor in _lost(ctx.old, ctx.new):
        yield ctx.finding(RULE, "breaks", message, path=_path(ctx.new), tensor=tensor)


def faults(side: Side) -> list[tuple[str, list[str]]]:
    """(what is missing, the tensors or layers) of a model by itself."""
    config, table = side.config, side.weights
    if config is None or table is None or not _is_text(config) or "fc.weight" in table.tensors:
        return []  # `fc` joins the parts of a draft model, which borrows the rest from its target
    flat = text_config(config)
    if any(re.search(_UNEVEN, key) for key in flat):
        return []  # layers share weights or run in loops, or some are left out on purpose
    found = stacks(table.tensors)
    result: list[tuple[str, list[str]]] = []
    for stack, count in _counted(found, flat):
        gone = absent(stack, count)
        # Code of the model's own may build less than the number says, but not with a hole in it.
        if gone and ("auto_map" not in config or count - 1 in stack.layers):
            message = f"the configuration has {count} layers, '{stack.name}' lacks {numbers(gone)}"
            result.append((message, [f"{stack.name}.{number}" for number in gone]))
    stack = language(found)
    if stack is None or promised(flat) is None:
        return result
    gap = odd(stack) if "auto_map" not in config else None
    if gap is not None:
        result.append((f"layer {gap.layer} lacks {listed(gap.names)}", [f"{stack.name}.{gap.layer}"]))
    return result + [(message, [name]) for message, name in _ends(config, stack, outside(table.tensors, found))]


def _counted(found: dict[str, Stack], flat: dict[str, Any]) -> Iterator[tuple[Stack, int]]:
    """The stacks of which the configuration says how many layers they have."""
    halves = False
    for name, stack in found.items():
        keys = _HALVES.get(name.removeprefix("language_model.").removeprefix("model."), ())
        counts = [flat[key] for key in keys if isinstance(flat.get(key), int)]
        if counts and counts[0] > 0:
            halves = True
            yield stack, counts[0]
    main, count = language(found), promised(flat)
    if not halves and main is not None and count is not None:
        yield main, count


def _ends(config: dict[str, Any], stack: Stack, rest: list[str]) -> Iterator[tuple[str, str]]:
    """The embedding before the layers and the norm behind them."""
    if not _ends_with(config, _TEXT[:3]) or 0 not in stack.layers:
        return
    headed = any(name.endswith("lm_head.weight") for name in rest)
    if not _some(_EMBEDDING, rest) and not (headed and text_config(config).get("tie_word_embeddings") is not False):
        yield "there is no embedding", stack.name
    pre = any(all(norms <= names for names in stack.layers.values()) for norms in _PRE_NORM)
    if pre and not _norms(stack, rest):
        yield "there is no norm behind the last layer", _parent(stack) + "norm.weight"


def _lost(old: Side, new: Side) -> Iterator[tuple[str, str]]:
    """What NEW lost of the layers, the norm and the embedding that OLD has, with as many layers promised."""
    if old.weights is None or new.weights is None or old.weights.tensors.keys() <= new.weights.tensors.keys():
        return
    count = promised(text_config(new.config or {}))
    if count != promised(text_config(old.config or {})):
        return
    found, after = stacks(old.weights.tensors), stacks(new.weights.tensors)
    for name, stack in found.items():
        gap = lost(stack, after[name], count if stack is language(found) else None) if name in after else None
        if gap is not None:
            what = f"{listed(gap.names)}, which other layers still have" if gap.names else "all its tensors"
            yield f"layer {gap.layer} of '{name}' lost {what}", f"{name}.{gap.layer}"
            return
    if gone := _headless(old, new):
        yield "what the classes come from is gone", gone
    stack = language(found)
    if stack is None or stack.name not in after:
        return
    rest = [outside(table.tensors, each) for table, each in ((old.weights, found), (new.weights, after))]
    if _norms(stack, rest[0]) and not _norms(stack, rest[1]):
        yield "the norm behind the last layer is gone", _norms(stack, rest[0])
    if _some(_EMBEDDING, rest[0]) and not _some(_EMBEDDING, rest[1]) and not _retied(new, rest[1]):
        yield "the embedding is gone", _some(_EMBEDDING, rest[0])


def _headless(old: Side, new: Side) -> str:
    """A tensor of OLD's classifier that NEW lacks, with nothing in its place."""
    if old.weights is None or new.weights is None or not _ends_with(new.config or {}, _CLASSES):
        return ""
    lost = [name for name in old.weights.tensors if name not in new.weights.tensors and re.search(_HEAD, name)]
    added = any(re.search(_HEAD, name) for name in new.weights.tensors.keys() - old.weights.tensors.keys())
    return "" if added or not lost else lost[0]


def _retied(side: Side, rest: list[str]) -> bool:
    """Whether a head is left that the embedding may be tied to."""
    flat = text_config(side.config or {})
    return flat.get("tie_word_embeddings") is not False and any(name.endswith("lm_head.weight") for name in rest)


def _norms(stack: Stack, rest: list[str]) -> str:
    """A norm beside the layers: not that of the embedding."""
    beside = [name for name in rest if name.startswith(_parent(stack)) and "embed" not in name.lower()]
    return _some(_NORM, beside)


def _some(pattern: str, names: list[str]) -> str:
    return next((name for name in names if re.search(pattern, name.lower())), "")


def _parent(stack: Stack) -> str:
    parent = stack.name.rpartition(".")[0]
    return f"{parent}." if parent else ""


def _is_text(config: dict[str, Any]) -> bool:
    """Whether the number of layers counts transformer blocks of a language model, not stages of an image one."""
    return _ends_with(config, _TEXT + _CLASSES) or ("vocab_size" in config and _ends_with(config, ("Model",)))


def _ends_with(config: dict[str, Any], endings: tuple[str, ...]) -> bool:
    return any(str(name).endswith(endings) for name in items_of(config.get("architectures")))


def _path(side: Side) -> str:
    table = side.weights
    return (table.index or table.files[0]) if table is not None else ""
