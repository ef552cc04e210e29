"""STA-KV: caches of a server hold values of the old weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.strict_json import items_of
from ....report.finding import Severity
from ..files.pooled import settings
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..weights.tables import contents, pairs

RULE = Rule(
    id="STA-KV",
    name="stale-cache",
    family="STA",
    severity=Severity.INFO,
    summary="prefix, KV and encoder caches must be dropped when weights change",
    what="Any change of the weights of a model that is not known to answer in one pass, as classifiers, encoders, "
    "embedding models, timm's networks and diffusers' pipelines do.",
    why="a prefix cached under the old weights is reused under the new ones: wrong output without an error",
    hint="reset the prefix cache in the same step as the swap (vLLM: reset_prefix_cache)",
    references=("https://github.com/vllm-project/vllm/issues/9744", "https://github.com/InternLM/lmdeploy/issues/4917"),
)

# How classes end that answer in one pass, from nothing that an earlier request left.
_CACHELESS = (
    *("ForSequenceClassification", "ForTokenClassification", "ForImageClassification", "ForMaskedLM", "Model"),
    *("ForQuestionAnswering", "ForMultipleChoice", "ForObjectDetection", "ForSemanticSegmentation", "Encoder"),
    *("ForImageSegmentation", "ForUniversalSegmentation", "ForInstanceSegmentation", "ForDepthEstimation"),
    *("ForAudioClassification", "ForAudioFrameClassification", "ForVideoClassification", "ForXVector", "ForCTC"),
    *("WithProjection", "ForMaskedImageModeling", "ForNextSentencePrediction", "ForKeypointDetection", "Backbone"),
)
_GENERATING = ("LMHeadModel", "HeadsModel", "ChatGLMModel", "BlipForQuestionAnswering")


def check(ctx: Context) -> Iterator[Finding]:
    """Ask for the flush."""
    if ctx.old is None or _keeps_none(ctx.new):
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


def _keeps_none(side: Side) -> bool:
    """Whether a model is known to keep no cache from one request to the next."""
    if cacheless(side.config) or "model_index.json" in side.tree.files:
        return True  # pipelines of diffusers begin anew with each request
    modules = settings(side, "modules.json").get("modules", [])
    return bool(modules) and modules[0][1] == "StaticEmbedding"


def cacheless(config: dict[str, Any] | None) -> bool:
    """Whether every class that a configuration names is known to keep no cache from one request to the next.

    So does what timm and diffusers wrote, which name their classes under keys of their own.
    """
    names = [str(name) for name in items_of(config.get("architectures"))] if config else []
    if config is None or "AutoModelForCausalLM" in str(config.get("auto_map")):
        return False
    if not names and ("pretrained_cfg" in config or "_diffusers_version" in config):
        return True
    return bool(names) and all(name.endswith(_CACHELESS) and not name.endswith(_GENERATING) for name in names)
