"""LRA-SELF: the adapter's tensors and its own adapter_config.json disagree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from ....models.adapter import Adapter, Lora
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import names
from .subjects import Subject, subjects

RULE = Rule(
    id="LRA-SELF",
    name="adapter-disagrees-with-itself",
    family="LRA",
    severity=Severity.ERROR,
    summary="the adapter's tensors are not what its own adapter_config.json says",
    what="Both halves of every LoRA pair, their rank against r and rank_pattern, and every entry of target_modules.",
    why="servers size and scale an adapter by its configuration: it fails to load, or works with a wrong strength",
    hint="save the adapter again, so that adapter_config.json and adapter_model.safetensors come from the same run",
    exemptions=(
        "target_modules written as one string ('all-linear' or a regular expression)",
        "ranks under target_parameters: experts are stored stacked",
    ),
)

_PLAIN = re.compile(r"[\w.^$\\-]+")  # no repetition: a hostile key cannot make the match slow


def check(ctx: Context) -> Iterator[Finding]:
    """Half pairs, ranks, and targets without tensors; of LoRA only, as others lay their tensors out differently."""
    for subject in subjects(ctx):
        adapter = subject.adapter
        if adapter.size == 0 or str(adapter.config.get("peft_type") or "LORA").upper() != "LORA":
            continue
        yield from _pairs(ctx, subject)
        yield from _targets(ctx, subject)


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
        yield ctx.finding(RULE, "breaks", message, path=subject.weights_file, side=subject.side, tensor=first)
    if wrong:
        first = min(wrong)
        message = f"{len(wrong)} modules have another rank ({names(wrong)}): {wrong[first]}"
        yield ctx.finding(RULE, "breaks", message, path=subject.weights_file, side=subject.side, tensor=first)


def _ranks(lora: Lora) -> list[int]:
    """The inner dimensions of A [r, in, …] and B [out, r, …]: one value where they agree."""
    a, b = lora.a or (), lora.b or ()
    return list(dict.fromkeys((a[0] if a else 0, b[1] if len(b) > 1 else 0)))


def _declared(adapter: Adapter, module: str) -> list[int]:
    """Ranks that the configuration allows for a module, none where it does not tell. PEFT takes the first key
    of rank_pattern that matches the end of the module's name; a key with repetitions may match or not."""
    config = adapter.config
    pattern = config.get("rank_pattern")
    allowed: list[int] = []
    if config.get("target_parameters"):
        return allowed
    for key, rank in cast("dict[str, Any]", pattern).items() if isinstance(pattern, dict) else ():
        if not isinstance(rank, int):
            continue
        if _PLAIN.fullmatch(key) is None:
            allowed.append(rank)
        elif _matches(key, module):
            return [*allowed, rank]
    declared = config.get("r")
    return [*allowed, declared] if isinstance(declared, int) else []


def _matches(key: str, module: str) -> bool:
    try:
        return re.match(rf"(?:.*\.)?(?:{key})$", module) is not None
    except re.error:
        return module == key or module.endswith(f".{key}")


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
        yield ctx.finding(
            RULE,
            level,
            f"target module '{target}' has no tensors in the adapter",
            path=subject.config_file,
            side=subject.side,
            pointer="/target_modules",
        )


def _any(target: str, modules: list[str]) -> bool:
    return any(f".{target}." in f".{module}." for module in modules)
