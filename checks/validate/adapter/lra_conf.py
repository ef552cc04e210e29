"""LRA-CONF: settings of adapter_config.json that change what the same matrices do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .keys import ELSEWHERE, NAMING, TRAINING, moves_base, value
from .subjects import Subject, subjects
from .values import faults

RULE = Rule(
    id="LRA-CONF",
    name="adapter-settings-changed",
    family="LRA",
    severity=Severity.WARNING,
    summary="settings of adapter_config.json differ that decide how the adapter is applied",
    what="Every key of PEFT's LoraConfig that no other rule judges, defaults filled in, against the live adapter's. "
    "Another task_type or other alora_invocation_tokens break clients; an adapter that is LORA again, or no longer "
    "an activated one, needs a restart; for any other key, known or not, nothing is proven. Weights without an "
    "adapter_config.json, and ranks, factors or expressions of a wrong kind, are loaded by nobody. init_lora_weights "
    "counts where it moved part of the base into the matrices (PiSSA, OLoRA, CorDA, LoftQ, LoRA-GA).",
    why="the matrices may be the same and be used otherwise: for another head, on other tokens, on another base",
    hint="keep the key, or load the adapter in a copy of the server, compare answers, and accept with a reason",
    bad='"task_type": "SEQ_CLS"     (was CAUSAL_LM)',
    good='"task_type": "CAUSAL_LM"',
    example="json",
    exemptions=(
        "keys of the training run: lora_dropout, inference_mode, peft_version and the settings of initialisations",
        "defaults that are only written out, and lists in another order",
        "which modules are adapted: the tensors show that",
    ),
)

_SETS = ("target_modules", "exclude_modules", "modules_to_save", "feedforward_modules", "layers_pattern")


def check(ctx: Context) -> Iterator[Finding]:
    """One finding a key; matrices for another base are one without a live adapter as well."""
    yield from _lost(ctx)
    for subject in subjects(ctx):
        yield from _base(ctx, subject)
        yield from _values(ctx, subject)
        old = subject.before
        if old is None:
            continue
        lora = subject.adapter.kind == old.kind == "LORA"
        skipped = TRAINING | (ELSEWHERE | NAMING if lora else {"base_model_name_or_path", "revision"})
        if subject.adapter.kind != old.kind:
            skipped |= {key for each in (old, subject.adapter) for key in each.config} - {"peft_type"}
        for key in sorted((old.config.keys() | subject.adapter.config.keys()) - skipped):
            before, after = (_comparable(key, value(each.config, key)) for each in (old, subject.adapter))
            level = None if before == after else _level(key, before, after)
            if level is not None:
                yield _finding(ctx, subject, level, f"{key} differs", key, old=before, new=after)


def _lost(ctx: Context) -> Iterator[Finding]:
    """Weights without their configuration: nobody loads them, unless a server of one's own took such before."""
    before = ctx.old.adapters if ctx.old is not None else {}
    bare = [each for each in subjects(ctx) if not each.adapter.configured and not each.side.tree.single]
    lost = [each for each in bare if each.old is None or each.old.configured]
    found = {(each.side, each.weights_file) for each in lost}
    kept = (f"{folder}/{each.weights}".lstrip("/") for folder, each in before.items() if folder not in ctx.new.adapters)
    found |= {(ctx.new, name) for name in kept if name in ctx.new.tree.files and not ctx.new.tree.single}
    for side, name in sorted(found, key=lambda each: each[1]):
        message = "adapter_config.json is missing beside the adapter's weights"
        why = "PEFT and vLLM refuse the folder; a model beside it is loaded as if there were no adapter"
        hint = "save adapter_config.json with the weights, from the same run"
        yield ctx.finding(RULE, "breaks", message, path=name, side=side, why=why, hint=hint)


def _values(ctx: Context, subject: Subject) -> Iterator[Finding]:
    """Values of a wrong kind, unless the live adapter has the very same one."""
    config = subject.adapter.config
    live = subject.old.config if subject.old is not None else {}
    for key, reason in faults(config) if subject.adapter.kind == "LORA" else ():
        if key not in live or repr(live[key]) != repr(config[key]):
            yield ctx.finding(
                RULE,
                "breaks",
                f"{key} is wrong: {reason}",
                path=subject.config_file,
                side=subject.side,
                pointer=f"/{key}",
                why="PEFT and vLLM stop with an error when they load the adapter",
                hint=f"write {key} as PEFT's LoraConfig saves it",
            )


def _level(key: str, old: object, new: object) -> Level | None:
    match key, old, new:
        case "init_lora_weights", _, _:
            return None
        case "qalora_group_size" | "megatron_core", _, _:
            return "unproven"
        case "task_type", str(), str():
            return "breaks"
        case "task_type", _, _:
            return None  # a head of its own shows in modules_to_save; without it the key is a note
        case "auto_mapping", _, _:
            return "unproven" if old is not None and new is not None else None
        case "alora_invocation_tokens", None, _:
            return None  # LRA-MODULES
        case "alora_invocation_tokens", _, _:
            return "breaks" if new is not None else "restart"
        case "peft_type", _, "LORA":
            return "restart"
        case "peft_type", _, _:
            return None  # LRA-MODULES
        case _:
            return "unproven"


def _base(ctx: Context, subject: Subject) -> Iterator[Finding]:
    start = moves_base(subject.adapter.config)
    if start and (subject.old is None or moves_base(subject.old.config) != start):
        message = f"the matrices hold a part of the base that the start '{start}' took out of it"
        yield _finding(ctx, subject, "unproven", message, "init_lora_weights")


def _comparable(key: str, found: object) -> object:
    if key in _SETS and isinstance(found, list):
        return sorted(map(str, cast("list[object]", found)))
    if key == "task_type":
        return str(found).upper() if found else None
    return found


def _finding(ctx: Context, subject: Subject, level: Level, message: str, key: str, **values: object) -> Finding:
    return ctx.finding(
        RULE,
        level,
        message,
        path=subject.config_file,
        side=subject.side,
        pointer=f"/{key}",
        old=values.get("old"),
        new=values.get("new"),
        plan=("revalidate-adapters",),
    )
