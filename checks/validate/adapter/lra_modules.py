"""LRA-MODULES: the adapter uses what LoRA servers refuse."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import names
from .subjects import Subject, subjects

RULE = Rule(
    id="LRA-MODULES",
    name="adapter-feature-unsupported",
    family="LRA",
    severity=Severity.ERROR,
    summary="the adapter stores whole modules, biases, DoRA magnitudes or tensors that no LoRA server knows",
    what="modules_to_save, use_dora, bias and the tensor names of the adapter.",
    why="vLLM and others refuse such an adapter when it is loaded, in the live server",
    hint="merge these parts into the base, or train without modules_to_save, bias and DoRA",
    references=(
        "https://github.com/vllm-project/vllm/issues/9280",
        "https://github.com/vllm-project/vllm/issues/21500",
    ),
    exemptions=("what the live adapter has as well: the server takes it",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Features that NEW has and the live adapter did not."""
    for subject in subjects(ctx):
        before = set(_features(subject.old.config)) if subject.old else set[str]()
        for feature in _features(subject.adapter.config):
            if feature not in before:
                yield _finding(ctx, subject, feature, pointer=f"/{feature.split(' ')[0]}")
        known = subject.old.others.keys() if subject.old else set[str]()
        strange = [name for name in subject.adapter.others if name not in known]
        if strange:
            message = f"{len(strange)} tensors are no LoRA pairs: {names(strange)}"
            yield _finding(ctx, subject, message, tensor=min(strange))


def _features(config: dict[str, object]) -> Iterator[str]:
    saved = config.get("modules_to_save")
    if saved:
        yield f"modules_to_save is {saved}"
    if config.get("use_dora"):
        yield "use_dora is set"
    if config.get("bias", "none") not in ("none", None):
        yield f"bias is '{config['bias']}'"
    kind = str(config.get("peft_type") or "LORA").upper()
    if kind != "LORA":
        yield f"peft_type is {kind}"


def _finding(ctx: Context, subject: Subject, message: str, *, pointer: str = "", tensor: str = "") -> Finding:
    path = subject.weights_file if tensor else subject.config_file
    return ctx.finding(RULE, "breaks", message, path=path, side=subject.side, pointer=pointer, tensor=tensor)
