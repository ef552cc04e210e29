"""The adapters a validation is about, each with the base it must fit and its predecessor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from ....models.adapter import Adapter, adapter_files
from ....models.safetensors import Tensor
from ....models.weights import WeightTable
from ....report.errors import BadInput
from ..rulebase import Context
from ..side import Side


@dataclass(frozen=True, slots=True)
class Subject:
    """An adapter: where it lies, what it replaces, and the base weights it will sit on (None: not given)."""

    adapter: Adapter
    side: Side
    old: Adapter | None = None
    base: WeightTable | None = None
    ours: bool = True

    @property
    def before(self) -> Adapter | None:
        """The predecessor whose settings this one's can be compared with."""
        old = self.old
        return old if old is not None and old.configured and self.adapter.configured else None

    @property
    def config_file(self) -> str:
        """adapter_config.json in the side's tree, the weights where there is none."""
        if not self.adapter.configured:
            return self.weights_file
        return f"{self.adapter.folder}/adapter_config.json".lstrip("/")

    @property
    def weights_file(self) -> str:
        """The file of the adapter's weights in the side's tree."""
        return f"{self.adapter.folder}/{self.adapter.weights}".lstrip("/")


def subjects(ctx: Context) -> Iterator[Subject]:
    """Adapters in NEW against their namesakes in OLD; and adapters that already serve (--adapter) on the new base."""
    before = ctx.old.adapters if ctx.old is not None else {}
    given = cast("Side | None", ctx.options.get("base"))
    base = given.weights if given is not None else _base(ctx.new)
    for folder, adapter in ctx.new.adapters.items():
        yield Subject(adapter, ctx.new, before.get(folder), base)
    for side in cast("list[Side]", ctx.options.get("adapters", [])):
        for adapter in side.adapters.values():
            yield Subject(adapter, side, None, base, ours=False)


def _base(side: Side) -> WeightTable | None:
    """The weights in the model itself, unless they are an adapter's."""
    table = side.weights
    return None if table is None or any("adapter_model" in file for file in table.files) else table


def refuse_other(side: Side, role: Literal["base", "adapter"]) -> None:
    """Raise BadInput where what was given as the base, or as an adapter, is none that can be compared with."""
    adapters = adapter_files(side.tree)
    if role == "adapter":
        if not adapters:
            hint = "--adapter takes the folder of an adapter_config.json"
            raise BadInput(side.name, "given as an adapter, and holds none", hint=hint)
        return
    weights = [file.name for file in side.tree.files.values() if file.kind in ("safetensors", "index")]
    if all(name.rpartition("/")[2].startswith("adapter_model") for name in weights):
        what = "is an adapter" if adapters else "holds no safetensors weights to compare with"
        hint = "--base takes the model that the adapter sits on"
        raise BadInput(side.name, f"given as the base, and {what}", hint=hint)


def target(module: str, base: WeightTable) -> Tensor | None:
    """The base weight of an adapter's module. Wrappers add or drop prefixes, so the longest common tail counts."""
    tensors = base.tensors
    for name in (module, f"model.{module}", module.removeprefix("model."), f"language_model.{module}"):
        if f"{name}.weight" in tensors:
            return tensors[f"{name}.weight"]
    return None


def quantised(module: str, base: WeightTable) -> bool:
    """Whether the base holds the module packed, so that its shape says nothing about the layer."""
    tensor = base.tensors.get(f"{module}.weight")
    return f"{module}.qweight" in base.tensors or (tensor is not None and tensor.dtype in ("U8", "I32", "I8", "F4"))
