"""PEFT adapters: adapter_config.json and the names and shapes of the adapter's tensors.

LoRA adds B·A·(alpha / r) to a weight W of shape [out, in]: A is [r, in], B is [out, r]. PEFT stores them as
`base_model.model.<module>.lora_A.weight` and `.lora_B.weight` (lora_embedding_A/B for embeddings).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from .errors import UnreadableModel
from .hf_config import read_json_config
from .safetensors import Tensor, read_header
from .tree import ModelTree

_NAME = re.compile(
    r"(?:base_model\.model\.)?(?P<module>.+?)\.lora_(?P<kind>embedding_)?(?P<side>[AB])(?P<name>\.default)?(?:\.weight)?"
)

_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin", "adapter_model.pt")


@dataclass(slots=True)
class Lora:
    """The pair of one module: shapes of A and B, None where that side is missing."""

    a: tuple[int, ...] | None = None
    b: tuple[int, ...] | None = None
    embedding: bool = False

    @property
    def rank(self) -> int | None:
        """The inner dimension r: rows of A; of an embedding's A likewise."""
        return self.a[0] if self.a else None

    @property
    def base_shape(self) -> tuple[int, int] | None:
        """[out, in] that the base weight must have; of an embedding [rows, width]."""
        if self.a is None or self.b is None or len(self.a) < 2 or len(self.b) < 2:
            return None
        return (self.a[1], self.b[0]) if self.embedding else (self.b[0], self.a[1])


@dataclass(slots=True)
class Adapter:
    """One adapter: its folder in the model, its configuration, LoRA pairs by module, and every other tensor.

    `weights` is the name of its weights inside the folder. Of those that are not safetensors nothing is read.
    `dtypes` are the number types of the pairs. `named` are the tensors whose names hold the adapter's own name,
    `default`, as they do in a model that trains. `configured` is False where there are only weights: then `config`
    is empty and says nothing.
    """

    folder: str
    config: dict[str, Any]
    modules: dict[str, Lora] = field(default_factory=dict[str, Lora])
    others: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    named: list[str] = field(default_factory=list[str])
    dtypes: set[str] = field(default_factory=set[str])
    size: int = 0
    weights: str = "adapter_model.safetensors"
    configured: bool = True

    @property
    def readable(self) -> bool:
        """Whether the tensors are known; a pickle's are not."""
        return self.weights.endswith(".safetensors")

    @property
    def kind(self) -> str:
        """peft_type, LORA where it is not written."""
        return str(self.config.get("peft_type") or "LORA").upper()

    @property
    def rank(self) -> int:
        """The largest rank: r of the configuration, rank_pattern and the tensors."""
        ranks = [lora.rank for lora in self.modules.values() if lora.rank is not None]
        pattern = self.config.get("rank_pattern")
        if isinstance(pattern, dict):
            ranks.extend(each for each in cast("dict[str, Any]", pattern).values() if isinstance(each, int))
        declared = self.config.get("r")
        return max([*ranks, declared if isinstance(declared, int) else 0])

    @property
    def base(self) -> str:
        """base_model_name_or_path."""
        return str(self.config.get("base_model_name_or_path") or "")

    @property
    def saved_modules(self) -> list[str]:
        """modules_to_save: modules stored whole beside the low-rank pairs."""
        value = self.config.get("modules_to_save")
        return [str(each) for each in cast("list[Any]", value)] if isinstance(value, list) else []


def read_adapters(tree: ModelTree) -> dict[str, Adapter]:
    """Every adapter of a directory by folder, and weights under an adapter's name that lie without their
    configuration. Raises UnreadableModel where a file is broken."""
    return {adapter.folder: adapter for adapter in (_read(tree, name) for name in adapter_files(tree))}


def adapter_files(tree: ModelTree) -> list[str]:
    """adapter_config.json of every adapter; the weights of one that has none, where no model lies in that folder."""
    found = [file.name for file in tree.of("adapter")]
    for name in tree.files:
        folder, _, last = name.rpartition("/")
        beside = (f"{folder}/{each}".lstrip("/") for each in ("adapter_config.json", "config.json"))
        if last == _WEIGHTS[0] and not any(each in tree.files for each in beside):
            found.append(name)
    return found


def _read(tree: ModelTree, name: str) -> Adapter:
    folder, _, last = name.rpartition("/")
    if last == _WEIGHTS[0]:
        adapter = Adapter(folder, {}, configured=False)
    else:
        adapter = Adapter(folder, read_json_config(tree.files[name].path))
    # Loaders prefer them in this order.
    there = [each for each in _WEIGHTS if f"{folder}/{each}".lstrip("/") in tree.files]
    if not there:
        raise UnreadableModel(tree.files[name].path, "has no adapter_model.safetensors beside it")
    adapter.weights = there[0]
    if adapter.readable:
        file = tree.files[f"{folder}/{adapter.weights}".lstrip("/")]
        adapter.size = file.size
        for tensor_name, tensor in read_header(file).tensors.items():
            _place(adapter, tensor_name, tensor)
    return adapter


def _place(adapter: Adapter, name: str, tensor: Tensor) -> None:
    match = _NAME.fullmatch(name)
    if match is None:
        adapter.others[name] = tensor
        return
    if match["name"]:
        adapter.named.append(name)
    adapter.dtypes.add(tensor.dtype)
    lora = adapter.modules.setdefault(match["module"], Lora())
    lora.embedding = bool(match["kind"])
    if match["side"] == "A":
        lora.a = tensor.shape
    else:
        lora.b = tensor.shape
