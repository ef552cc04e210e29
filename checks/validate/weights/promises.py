"""Tensors whose shapes the configuration of a model decides: what they must be, by family (`families`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ....models.hf_config import text_part
from ....models.strict_json import items_of
from ....models.weights import WeightTable
from .families import ALL_HEADS, FAMILIES, OWN_HEADS, Family
from .layers import Stack, language, stacks

Shape = tuple[int | None, ...]


class Promise(NamedTuple):
    """The shape that a tensor must have; None is a size that the configuration does not say. `row` is the tensor's
    name below its layer, with a star for the number of an expert."""

    tensor: str
    row: str
    shape: Shape


class Promised(NamedTuple):
    """What a configuration promises: tensors, and how many experts the layers of a stack have (None: no telling)."""

    tensors: list[Promise]
    stack: Stack
    experts: int | None


# The keys of sizes (see `families`); the first that is there counts, and others must agree with it.
_KEYS: Mapping[str, str] = {
    "h": "hidden_size",
    "a": "num_attention_heads",
    "g": "num_key_value_heads",
    "d": "head_dim",
    "i": "intermediate_size",
    "v": "vocab_size",
    "e": "num_experts num_local_experts",
    "m": "moe_intermediate_size",
    "s": "shared_expert_intermediate_size",
    "p": "max_position_embeddings",
    "t": "type_vocab_size",
}
# Multimodal models whose language part is a family of its own, as it is built alone.
_AROUND = frozenset(
    ("llava", "llava_next", "llava_onevision", "mistral3", "gemma3", "paligemma", "qwen3_vl", "qwen2_vl", "qwen2_5_vl")
)
_CLASSES = (
    *("ForCausalLM", "Model", "LMHeadModel", "DoubleHeadsModel", "ForSequenceClassification", "ForMaskedLM"),
    *("ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice", "ForPreTraining", "TextModel"),
    *("ForNextSentencePrediction", "ForConditionalGeneration"),
)
_HEADS = ("lm_head.", "embed_out.")
_HUGE = 1 << 31  # beyond any size
_TERM = re.compile(r"(\d*)([a-z]?)")
# What only draft models hold: they take more than a hidden state and borrow the rest of their target.
_DRAFTS = ("fc.weight", "d2t")


def promised(config: dict[str, Any], table: WeightTable) -> Promised | None:
    """The tensors of the language model that are listed for its family.

    None where the family is not listed, or the model has code of its own.
    """
    found = _family(config)
    if found is None or any(name in table.tensors for name in _DRAFTS) or "draft_vocab_size" in config:
        return None
    family, sizes = found
    stack = language(stacks(table.tensors))
    if stack is None or not f".{stack.name}".endswith(f".{family.stack}"):
        return None
    shapes = _shapes(family, family.layer, sizes)
    tensors: list[Promise] = []
    for number, names in stack.layers.items():
        for name in names:
            row = name
            if ".experts." in name:
                start, _, rest = name.partition(".experts.")
                row = f"{start}.experts.*.{rest.partition('.')[2]}"
            shape = shapes.get(row)
            if shape is not None:
                tensors.append(Promise(f"{stack.name}.{number}.{name}", row, shape))
    root = stack.name.removesuffix(family.stack)
    sizes["v"] = _rows(family, root, table, sizes["h"]) or sizes["v"]
    for row, shape in _shapes(family, family.beside, sizes).items():
        starts = {"", root, "language_model."} if row.startswith(_HEADS) else {root}
        tensors += [Promise(f"{start}{row}", row, shape) for start in starts if f"{start}{row}" in table.tensors]
    return Promised(tensors, stack, sizes["e"] if any(".experts.*." in row for row in shapes) else None)


def _rows(family: Family, root: str, table: WeightTable, hidden: int | None) -> int | None:
    """The rows of the embedding, which a head must have too; whether they are as many as promised says CFG-VOCAB."""
    for module, row in family.beside.items():
        tensor = table.tensors.get(f"{root}{module}.weight") if row == "v h" else None
        if tensor is not None and f"{module}." not in _HEADS and len(tensor.shape) == 2:
            return tensor.shape[0] if tensor.shape[1] == hidden else None
    return None


def _family(config: dict[str, Any]) -> tuple[Family, dict[str, int | None]] | None:
    part, top = text_part(config), str(config.get("model_type"))
    own = cast("dict[str, Any]", config[part]) if part else config
    name = str(own.get("model_type")) if part and top in _AROUND else top
    family = FAMILIES.get(name)
    if family is None or config.get("auto_map") or not _built_in(config, top):
        return None
    return family, _sizes(own, family, name)


def _built_in(config: dict[str, Any], family: str) -> bool:
    """Whether the classes that the configuration names are those of the family."""
    start = re.sub("[-_]", "", family.removesuffix("_text"))
    names = [str(name).replace("_", "") for name in items_of(config.get("architectures"))]
    return bool(names) and all(name.lower().startswith(start) and name[len(start) :] in _CLASSES for name in names)


def _sizes(config: dict[str, Any], family: Family, name: str) -> dict[str, int | None]:
    sizes = {letter: _size(config, family.keys.get(letter, keys)) for letter, keys in _KEYS.items()}
    hidden, heads = sizes["h"], sizes["a"]
    if sizes["g"] is None and ("num_key_value_heads" in config or name in ALL_HEADS):
        sizes["g"] = heads if config.get("num_key_value_heads") is None else None
    if config.get("head_dim") is None and hidden and heads and name not in OWN_HEADS:
        sizes["d"] = hidden // heads
    if name == "gpt2" and hidden and "n_inner" in config and config["n_inner"] is None:
        sizes["i"] = 4 * hidden
    wide = sizes["d"]
    sizes["q"] = heads * wide if heads and wide else None
    sizes["k"] = sizes["g"] * wide if sizes["g"] and wide else None
    return sizes


def _size(config: dict[str, Any], keys: str) -> int | None:
    found = {config[key] for key in keys.split() if isinstance(config.get(key), int) and config[key] is not True}
    value = found.pop() if len(found) == 1 else None
    return value if value is not None and 0 < value < _HUGE else None


def _shapes(family: Family, rows: Mapping[str, str], sizes: dict[str, int | None]) -> dict[str, Shape]:
    """Every tensor of these rows with its shape; a bias is as long as what comes out."""
    shapes: dict[str, Shape] = {}
    for module, row in rows.items():
        shape = tuple(_length(expression, sizes) for expression in row.split())
        shapes[f"{module}.weight"] = shape
        shapes[f"{module}.bias"] = shape[-1:] if family.turned else shape[:1]
    return shapes


def _length(expression: str, sizes: dict[str, int | None]) -> int | None:
    total = 0
    for term in expression.split("+"):
        match = _TERM.fullmatch(term)
        count, letter = match.groups() if match else ("", "")
        size = sizes[letter] if letter else 1
        if size is None:
            return None
        total += int(count or 1) * size
    return total
