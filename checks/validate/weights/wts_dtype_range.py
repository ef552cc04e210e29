"""WTS-DTYPE-RANGE: weights moved to a type that cannot hold every value of the old one."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .tables import names, pairs, type_changes

RULE = Rule(
    id="WTS-DTYPE-RANGE",
    name="weights-may-overflow",
    family="WTS",
    severity=Severity.ERROR,
    summary="weights or activations may overflow in the new element type",
    what="BF16 became F16: both have 16 bits, but F16 ends at 65,504 where BF16 goes to 3.4e38.",
    why="models trained in bf16 give NaN or only padding when served in fp16; nothing fails until then",
    hint="publish the bf16 weights, or accept the finding after the behavioural stage passed on real inputs",
    references=("https://github.com/vllm-project/vllm/issues/40290",),
)

_NARROWER = {("BF16", "F16")}


def check(ctx: Context) -> Iterator[Finding]:
    """Changes of type that lose range."""
    for pair in pairs(ctx):
        for (old, new), changed in type_changes(pair).items():
            if (old, new) in _NARROWER:
                yield ctx.finding(
                    RULE,
                    "breaks",
                    f"{len(changed)} tensors ({names(changed)}) may overflow",
                    old=old,
                    new=new,
                    path=pair.new.tensors[min(changed)].file,
                    tensors=changed,
                    files=pair.new.places,
                )
