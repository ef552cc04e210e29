"""LRA-SELF: the adapter's tensors and its own adapter_config.json disagree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from ....models.adapter import Adapter, Lora
from ....models.strict_json import items_of
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from ..weights.tables import names
from .reach import layer_of, pattern_values, reaches
from .subjects import Subject, subjects

RULE = Rule(
    id="LRA-SELF",
    name="adapter-disagrees-with-itself",
    family="LRA",
    severity=Severity.ERROR,
    summary="the adapter's tensors are not what its own adapter_config.json says",
    what="Both halves of every LoRA pair, their rank against r and rank_pattern; every entry of target_modules, "
    "layers_to_transform and modules_to_save, and every tensor that these keys do not name; the tensors of use_dora; "
    "names such as lora_A.default.weight, which tensors have in a model that trains and not in a saved adapter.",
    why="servers size and scale an adapter by its configuration: it fails to load, or works with a wrong strength",
    hint="save the adapter again, so that adapter_config.json and adapter_model.safetensors come from the same run",
    exemptions=(
        "target_modules that is missing, or an expression with many repetitions: what it names is not known",
        "ranks under target_parameters: experts are stored stacked",
    ),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Half pairs, ranks, and targets without tensors; of LoRA only, as others lay their tensors out differently."""
    for subject in subjects(ctx):
        adapter = subject.adapter
        if not adapter.readable or adapter.kind != "LORA":
            continue
        if not adapter.modules and not adapter.others:
            yield _config(ctx, subject, "the adapter holds no tensors", "")
            continue
        yield from _pairs(ctx, subject)
        yield from _named(ctx, subject)
        if not adapter.configured:
            continue
        yield from _targets(ctx, subject)
        yield from _dropped(ctx, subject)
        yield from _whole(ctx, subject)


def _config(ctx: Context, subject: Subject, message: str, key: str, level: Level = "breaks") -> Finding:
    pointer = f"/{key}" if key else ""
    return ctx.finding(RULE, level, message, path=subject.config_file, side=subject.side, pointer=pointer)


def _pairs(ctx: Context, subject: Subject) -> Iterator[Finding]:
    half: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for module, lora in subject.adapter.modules.items():
        if lora.a is None or lora.b is None:
            half[module] = "A" if lora.a is None else "B"
            continue
        found, wanted = _ranks(lora), _declared(subject.adapter, module)
        if len(found) > 1:
            wrong[module] = f"A has rank {found[0]}, B {found[1]}"
        elif wanted and found[0] not in wanted:
            wrong[module] = f"the tensors have rank {found[0]}, the configuration says {wanted[0]}"
    if half:
        first = min(half)
        message = f"{len(half)} modules lack half of their pair ({names(half)}): no lora_{half[first]}"
        yield ctx.finding(RULE, "breaks", message, path=subject.weights_file, side=subject.side, tensors=list(half))
    if wrong:
        first = min(wrong)
        message = f"{len(wrong)} modules have another rank ({names(wrong)}): {wrong[first]}"
        yield ctx.finding(RULE, "breaks", message, path=subject.weights_file, side=subject.side, tensors=list(wrong))


def _named(ctx: Context, subject: Subject) -> Iterator[Finding]:
    """PEFT puts the adapter's name into every key that it loads: one that is there already matches nothing."""
    found = subject.adapter.named
    if found and not (subject.old is not None and subject.old.named):
        message = f"{len(found)} tensors have the names of a model that trains, with '.default' in them"
        path, hint = subject.weights_file, "save the adapter with save_pretrained, which leaves the name out"
        why = "PEFT loads the adapter without these tensors and without an error, and vLLM refuses it"
        yield ctx.finding(RULE, "breaks", message, path=path, side=subject.side, tensors=found, why=why, hint=hint)


def _ranks(lora: Lora) -> list[int]:
    """The inner dimensions of A [r, in, …] and B [out, r, …]: one value where they agree."""
    a, b = lora.a or (), lora.b or ()
    return list(dict.fromkeys((a[0] if a else 0, b[1] if len(b) > 1 else 0)))


def _declared(adapter: Adapter, module: str) -> list[int]:
    """Ranks that the configuration allows for a module, none where it does not tell."""
    if adapter.config.get("target_parameters"):
        return []
    ranks = pattern_values(adapter.config.get("rank_pattern"), module, adapter.config.get("r"))
    return [rank for rank in ranks if isinstance(rank, int)]


def _targets(ctx: Context, subject: Subject) -> Iterator[Finding]:
    config, adapter = subject.adapter.config, subject.adapter
    wanted = config.get("target_modules")
    if not isinstance(wanted, list) or config.get("exclude_modules") or config.get("target_parameters"):
        return
    stored = [*adapter.modules, *adapter.others]
    before = list(subject.old.modules) if subject.old is not None else []
    base = [name.removesuffix(".weight") for name in subject.base.tensors] if subject.base is not None else []
    for target in map(str, cast("list[Any]", wanted)):
        if target in adapter.saved_modules or _any(target, stored):
            continue
        if subject.base is not None and not _any(target, base):
            continue  # LRA-TARGET tells
        # Without a base the entry may be one of a list made for many architectures, which matches nothing here.
        level = "breaks" if _any(target, before) or subject.base is not None else "unproven"
        message = f"target module '{target}' has no tensors in the adapter"
        yield _config(ctx, subject, message, "target_modules", level)
    asked = items_of(config.get("layers_to_transform"))
    if not asked:
        return
    layers = {layer_of(config, module) for module in adapter.modules}
    known = {layer_of(config, module) for module in (*before, *base)}
    for index in asked:
        number = index if isinstance(index, int) else -1  # a damaged list may hold anything
        if number not in layers:
            message = f"layer {str(index)[:40]} of layers_to_transform has no tensors in the adapter"
            yield _config(ctx, subject, message, "layers_to_transform", "breaks" if number in known else "unproven")


def _dropped(ctx: Context, subject: Subject) -> Iterator[Finding]:
    """Tensors for modules that the configuration does not name: PEFT leaves them out without an error."""
    config = subject.adapter.config
    lost = [module for module in subject.adapter.modules if reaches(config, module) is False]
    if lost:
        message = f"{len(lost)} modules have tensors, and the configuration does not name them: {names(lost)}"
        yield ctx.finding(RULE, "breaks", message, path=subject.weights_file, side=subject.side, tensors=lost)


def _whole(ctx: Context, subject: Subject) -> Iterator[Finding]:
    """What is stored beside the pairs, against the keys that ask for it."""
    config, others = subject.adapter.config, subject.adapter.others
    magnitudes = [name for name in others if "lora_magnitude_vector" in name]
    if bool(config.get("use_dora")) != bool(magnitudes):
        message = "use_dora is set, and there are no magnitudes" if not magnitudes else "magnitudes without use_dora"
        yield _config(ctx, subject, message, "use_dora")
    biases = [name for name in others if name.endswith(".lora_B.bias")]
    if bool(config.get("lora_bias")) != bool(biases):
        message = "lora_bias is set, and there are no biases" if not biases else "biases of B without lora_bias"
        yield _config(ctx, subject, message, "lora_bias")
    # For classifiers PEFT lists every name that a head may have: one that has tensors is enough.
    saved, before = subject.adapter.saved_modules, subject.old.others if subject.old is not None else {}
    lacking = [name for name in saved if not _any(name, others)]
    if lacking and (len(lacking) == len(saved) or any(_any(name, before) for name in lacking)):
        message = f"modules of modules_to_save have no tensors: {', '.join(lacking[:5])}"
        yield _config(ctx, subject, message, "modules_to_save")


def _any(target: str, modules: Iterable[str]) -> bool:
    return any(f".{target}." in f".{module}." for module in modules)
