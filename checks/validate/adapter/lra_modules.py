"""LRA-MODULES: the adapter uses what LoRA servers refuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....models.adapter import Adapter
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import names
from .subjects import Subject, subjects

RULE = Rule(
    id="LRA-MODULES",
    name="adapter-feature-unsupported",
    family="LRA",
    severity=Severity.ERROR,
    summary="the adapter is more than pairs of matrices: whole modules, biases, DoRA, copied layers, activation tokens",
    what="modules_to_save, bias, lora_bias, use_dora, use_qalora, use_bdlora, arrow_config, layer_replication, "
    "trainable_token_indices, alora_invocation_tokens, peft_type, and the tensor names of the adapter; pairs in "
    "another number type than F64, F32, F16 or BF16, of which nothing is proven.",
    why="LoRA servers refuse such an adapter when it is loaded, in the live server, or leave that part out",
    hint="merge these parts into the base, or train plain LoRA",
    references=(
        "https://github.com/vllm-project/vllm/issues/9280",
        "https://github.com/vllm-project/vllm/issues/21500",
    ),
    exemptions=("what the live adapter has as well: the server takes it",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Features that NEW has and the live adapter did not."""
    for subject in subjects(ctx):
        before = dict(_features(subject.old)) if subject.old else dict[str, str]()
        for key, feature in _features(subject.adapter):
            if key not in before or (key in _VALUED and feature != before[key]):
                yield _finding(ctx, subject, feature, pointer=f"/{key}")
        known = subject.old.others.keys() if subject.old else set[str]()
        types = subject.adapter.dtypes - _FLOATS - (subject.old.dtypes if subject.old else set[str]())
        if types:
            message = f"the matrices are stored as {', '.join(sorted(types))}"
            path, why = (
                subject.weights_file,
                "servers calculate with F32, F16 or BF16, and scales of their own are lost",
            )
            hint = "save the adapter in BF16 or F16"
            yield ctx.finding(RULE, "unproven", message, path=path, side=subject.side, why=why, hint=hint)
        strange = [name for name in subject.adapter.others if name not in known]
        if strange:
            message = f"{len(strange)} tensors are no LoRA pairs: {names(strange)}"
            yield _finding(ctx, subject, message, tensors=strange)


_FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
# A server that takes one of these may not take another value of it.
_VALUED = ("modules_to_save", "peft_type", "layer_replication", "trainable_token_indices")
_SET = ("use_dora", "lora_bias", "use_qalora", "use_bdlora", "arrow_config")
_SHOWN = ("layer_replication", "trainable_token_indices", "alora_invocation_tokens")


def _features(adapter: Adapter) -> Iterator[tuple[str, str]]:
    config = adapter.config
    if adapter.saved_modules:
        yield "modules_to_save", f"modules_to_save is {sorted(adapter.saved_modules)}"
    if config.get("bias", "none") not in ("none", None):
        yield "bias", f"bias is '{config['bias']}'"
    yield from ((key, f"{key} is set") for key in _SET if config.get(key))
    yield from ((key, f"{key} is {str(config[key])[:80]}") for key in _SHOWN if config.get(key))
    if adapter.kind != "LORA":
        yield "peft_type", f"peft_type is {adapter.kind}"


def _finding(
    ctx: Context, subject: Subject, message: str, *, pointer: str = "", tensors: Sequence[str] = ()
) -> Finding:
    path = subject.weights_file if tensors else subject.config_file
    return ctx.finding(RULE, "breaks", message, path=path, side=subject.side, pointer=pointer, tensors=tensors)
