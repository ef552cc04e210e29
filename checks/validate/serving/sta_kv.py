"""STA-KV: caches of a server hold values of the old weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..weights.tables import contents, pairs

RULE = Rule(
    id="STA-KV",
    name="stale-cache",
    family="STA",
    severity=Severity.INFO,
    summary="prefix, KV and encoder caches must be dropped when weights change",
    what="Any change of the weights of a model that is not known to be a mere classifier or embedding model.",
    why="a prefix cached under the old weights is reused under the new ones: wrong output without an error",
    hint="reset the prefix cache in the same step as the swap (vLLM: reset_prefix_cache)",
    references=("https://github.com/vllm-project/vllm/issues/9744", "https://github.com/InternLM/lmdeploy/issues/4917"),
)

_CACHELESS = ("ForSequenceClassification", "ForTokenClassification", "ForImageClassification", "ForMaskedLM", "Model")


def check(ctx: Context) -> Iterator[Finding]:
    """Ask for the flush."""
    if ctx.old is None or _cacheless(ctx.new.config):
        return
    for pair in pairs(ctx):
        if contents(ctx, pair) != "same":
            yield ctx.finding(
                RULE,
                "hot",
                "caches filled under the old weights are stale",
                path=pair.new.index or pair.new.files[0],
                plan=("flush-kv",),
            )


def _cacheless(config: dict[str, Any] | None) -> bool:
    names = config.get("architectures") if config else None
    return isinstance(names, list) and bool(names) and all(str(name).endswith(_CACHELESS) for name in names)  # pyright: ignore
