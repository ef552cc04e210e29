"""CFG-SCORE: the scores of a classifier mean something else than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.strict_json import items_of
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side
from .cfg_label import count, labels

RULE = Rule(
    id="CFG-SCORE",
    name="scores-changed",
    family="CFG",
    severity=Severity.ERROR,
    summary="scores come out of another function: softmax, sigmoid or none",
    what="problem_type, function_to_apply and the activation that sentence-transformers keeps for cross-encoders, with "
    "what pipelines derive from the number of labels filled in.",
    why="softmax makes scores that add up to one over the classes, sigmoid one score a class: thresholds of clients "
    "no longer mean anything",
    hint="keep the function, or give clients new thresholds before the swap",
    bad='{"problem_type": "multi_label_classification"}   (was single_label_classification)',
    good='{"problem_type": "single_label_classification"}',
    example="json",
    exemptions=("what is derived anyway and is only written out", "models that generate text and have no classes"),
    reads=("config",),
)

_GENERATES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForMaskedLM", "ForCTC")
_SIGMOID, _SOFTMAX = "multi_label_classification", "single_label_classification"


def check(ctx: Context) -> Iterator[Finding]:
    """Compare what is in force, key by key."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    classes = any(_classifies(side) for side in (ctx.old, ctx.new))
    for pointer, read in (("problem_type", _problem), ("function_to_apply", _function), (_KEPT, _activation)):
        old, new = read(ctx.old), read(ctx.new)
        if old == new or (pointer == "problem_type" and not classes):
            continue
        level: Level = "breaks" if classes or pointer == _KEPT else "unproven"
        yield ctx.finding(
            RULE,
            level,
            f"{pointer.rpartition('/')[2]} differs",
            path="config.json",
            pointer=f"/{pointer}",
            old=old,
            new=new,
        )


def _problem(side: Side) -> str:
    """What pipelines and servers take the problem for: where nothing is written, the number of classes says."""
    config = side.config or {}
    said = config.get("problem_type")
    if said is not None:
        return str(said)
    return _SIGMOID if count(side) == 1 else _SOFTMAX


def _function(side: Side) -> Any:
    return (side.config or {}).get("function_to_apply")


_KEPT = "sentence_transformers/activation_fn"


def _activation(side: Side) -> str:
    """The activation of a cross-encoder's scores, by the last part of its name."""
    config = side.config or {}
    match config.get("sentence_transformers"):
        case {"activation_fn": str(said)}:
            pass
        case _:
            said = str(config.get("sbert_ce_default_activation_function") or "")
    return said.rpartition(".")[2] or ("Sigmoid" if count(side) == 1 else "Identity")


def _classifies(side: Side) -> bool:
    """Whether the model may answer with classes: not where all it is made for is to generate text."""
    config = side.config or {}
    if labels(side) is not None or "num_labels" in config:
        return True
    names = [str(name) for name in items_of(config.get("architectures"))]
    return not names or not all(name.endswith(_GENERATES) for name in names)
