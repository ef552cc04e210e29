"""Which models give vectors that others keep, and what of them says that the vectors are other ones now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

from ....models.strict_json import items_of
from ..config.cfg_rope import values as rope
from ..contents import Same
from ..delta import of_gguf, of_table, together
from ..rulebase import Context, Finding, Level, RuleModule
from ..side import Side
from ..weights.tables import contents
from ..weights.tables import pairs as sets

if TYPE_CHECKING:
    from ....models.gguf import GgufModel

# Classes of `transformers` and model2vec that have no other output.
_CLASSES = frozenset(
    (
        *("CLIPModel", "CLIPTextModelWithProjection", "CLIPVisionModelWithProjection", "ChineseCLIPModel"),
        *("AltCLIPModel", "SiglipModel", "Siglip2Model", "AlignModel", "ClapModel", "ClapTextModelWithProjection"),
        *("ClapAudioModelWithProjection", "MetaClip2Model", "GroupViTModel", "DPRContextEncoder"),
        *("DPRQuestionEncoder", "StaticModel", "HF_ColBERT", "ColPaliForRetrieval", "ColQwen2ForRetrieval"),
    )
)
# llama_pooling_type: mean, the first token, the last; and rerankers, which give scores.
_POOLS, _RANK = (1, 2, 3), 4
_NAMED = r"(?i)embed"

# What other rules find that moves every vector, and the quantities that do not.
_CAUSES = {
    "config": ("cfg_rope", "cfg_geom", "cfg_quant"),
    "tokenizer": ("tok_id", "tok_merge", "tok_norm", "tok_pre", "tok_post", "tok_unk"),
    "gguf": ("ggf_arch",),
}
_STILL = frozenset(
    ("/dtype", "/torch_dtype", "/tie_word_embeddings", "/vocab_size", "/padded_vocab_size", "vocab_size")
)


class Moved(NamedTuple):
    """A file with other weights, why it counts, and how sure it is."""

    path: str
    sign: str
    level: Level


def embeds(side: Side) -> str:
    """Why a model counts as one that embeds; empty where it does not. Graphs are judged one by one elsewhere."""
    found = next((name for name in side.tree.files if name == "modules.json" or "_Pooling/" in name), "")
    if found:
        return found
    config = side.config or {}
    named = next((each for each in map(str, items_of(config.get("architectures"))) if each in _CLASSES), "")
    if named or config.get("model_type") == "model2vec":
        return named or "model2vec"
    return next((sign for model in side.gguf.values() if (sign := pools(model))), "")


def pools(model: GgufModel) -> str:
    """Why a GGUF file counts as an embedding model."""
    from ..gguf.files import encoder

    kind = model.get("pooling_type")
    if kind == _RANK:
        return ""
    if kind in _POOLS:
        return f"pooling_type is {kind}"
    if encoder(model):
        return f"the architecture is {model.architecture}"
    names = (model.file.rsplit("/", 1)[-1], str(model.metadata.get("general.name", "")))
    return next((f"it is named {name}" for name in names if re.search(_NAMED, name)), "")


def moved(ctx: Context) -> Iterator[Moved]:
    """Weights that give other vectors, tensor by tensor: a file that is only written otherwise gives the same."""
    assert ctx.old is not None  # noqa: S101
    sign = embeds(ctx.new) or embeds(ctx.old)
    for pair in sets(ctx) if sign else ():
        if contents(ctx, pair) != "same":
            yield from _moved(
                together(of_table(ctx.old, pair.old), of_table(ctx.new, pair.new)), pair.new.files[0], sign
            )
    if "gguf" in ctx.new.tree.kinds:
        from ..gguf.files import pairs as files

        for file in files(ctx):
            sign = pools(file.new) or pools(file.old)
            if sign and ctx.same(file.old.file, file.new.file) != "same":
                same = together(of_gguf(ctx.old, file.old), of_gguf(ctx.new, file.new))
                yield from _moved(same, file.new.file, sign)


def adapted(ctx: Context) -> Iterator[Moved]:
    """Adapters of a model that embeds: with other matrices or applied with another strength, or new or gone."""
    assert ctx.old is not None  # noqa: S101
    if not (ctx.old.adapters or ctx.new.adapters):
        return
    from ..adapter import lra_scale

    base = cast("Side | None", ctx.options.get("base"))
    whole = embeds(ctx.new) or (embeds(base) if base is not None else "")
    before, after = ctx.old.adapters, ctx.new.adapters
    scaled = {each.where.path: each for each in lra_scale.check(ctx) if each.where is not None}
    for folder, adapter in after.items():
        sign = whole or ("FEATURE_EXTRACTION" if adapter.config.get("task_type") == "FEATURE_EXTRACTION" else "")
        file = f"{folder}/{adapter.weights}".lstrip("/")
        if not sign or file not in ctx.new.tree.files:
            continue
        conf = f"{folder}/adapter_config.json".lstrip("/")
        if folder in before and (scale := scaled.get(ctx.new.show(conf))) is not None:
            yield Moved(conf, f"{sign}, {scale.message}", "unproven" if scale.level == "unproven" else "breaks")
        if folder not in before:
            if not folder:  # only this one is loaded together with the model
                yield Moved(file, f"{sign}, an adapter is new", "breaks")
        elif ctx.same(file, file) != "same":
            stem = file.removesuffix(".safetensors")
            tables = [side.weight_sets.get(stem) for side in (ctx.old, ctx.new)]
            if tables[0] is None or tables[1] is None:
                yield Moved(file, sign, "breaks")
            else:
                yield from _moved(together(of_table(ctx.old, tables[0]), of_table(ctx.new, tables[1])), file, sign)
    if whole and "" in before and "" not in after:
        yield Moved("", f"{whole}, its adapter is gone", "breaks")


def causes(ctx: Context) -> Iterator[tuple[Finding, Level]]:
    """What other rules say of a model that embeds and that moves its vectors, and how sure that is."""
    for folder, modules in _CAUSES.items():
        for name in modules if folder != "gguf" or "gguf" in ctx.new.tree.kinds else ():
            module = cast("RuleModule", import_module(f"..{folder}.{name}", __package__))
            found = [each for each in module.check(ctx) if _moves(ctx, each)]
            if found:
                yield found[0], "unproven" if all(each.level == "unproven" for each in found) else "breaks"


def _moves(ctx: Context, finding: Finding) -> bool:
    if finding.rule == "CFG-ROPE":
        sides = [side.config or {} for side in (ctx.old, ctx.new) if side is not None]
        return rope(sides[0]) != rope(sides[1])
    return finding.level not in ("equal", "hot") and (finding.where is None or finding.where.pointer not in _STILL)


def _moved(same: Same, path: str, sign: str) -> Iterator[Moved]:
    if same != "same":
        yield Moved(path, sign, "breaks" if same == "different" else "unproven")
