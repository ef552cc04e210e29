"""CFG-OTHER: settings of config.json that no other rule knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.hf_config import text_config
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .fields import NAMES

RULE = Rule(
    id="CFG-OTHER",
    name="settings-changed",
    family="CFG",
    severity=Severity.WARNING,
    summary="settings of config.json differ whose effect is not known here",
    what="Every key of config.json, and of the language model's part in it, that no other rule judges.",
    why="the running graph was built with the old value: scales, caps, masks and biases change every answer silently",
    hint="start new replicas for the new version, or accept the finding with a reason if the key is only a note",
    bad='{"final_logit_softcapping": 30.0}   (was null)',
    good='{"final_logit_softcapping": null}',
    example="json",
    exemptions=("names, versions, and what only training reads",),
    reads=("config",),
)

_ELSEWHERE = frozenset(key for keys in NAMES.values() for key in keys) | frozenset(
    (
        *("architectures", "model_type", "max_position_embeddings", "n_positions", "max_sequence_length"),
        *("max_seq_len", "seq_length", "n_ctx", "sliding_window", "use_sliding_window", "max_window_layers"),
        *("layer_types", "sliding_window_pattern", "rope_theta", "rope_scaling", "rope_parameters"),
        *("rotary_emb_base", "partial_rotary_factor", "rotary_pct", "rope_local_base_freq"),
        *("quantization_config", "compression_config", "auto_map", "id2label", "label2id", "num_labels"),
        *("vocab_size", "tie_word_embeddings", "eos_token_id", "bos_token_id", "pad_token_id"),
        *("text_config", "llm_config", "language_config"),
    )
)
_NOTES = frozenset(
    (
        *("_name_or_path", "name_or_path", "transformers_version", "_commit_hash", "_attn_implementation"),
        *("attn_implementation", "_attn_implementation_autoset", "use_cache", "initializer_range"),
        *("initializer_factor", "attention_dropout", "hidden_dropout", "dropout", "activation_dropout"),
        *("resid_pdrop", "embd_pdrop", "attn_pdrop", "summary_first_dropout", "hidden_dropout_prob"),
        *("attention_probs_dropout_prob", "classifier_dropout", "layerdrop", "output_attentions"),
        *("output_hidden_states", "return_dict", "gradient_checkpointing", "pretraining_tp"),
        *("task_specific_params", "problem_type", "finetuning_task", "license", "unsloth_version"),
        *("unsloth_fixed", "router_aux_loss_coef", "output_router_logits", "torchscript", "use_return_dict"),
        *("model_name", "tokenizer_class"),
    )
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding for all keys."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    old, new = text_config(ctx.old.config), text_config(ctx.new.config)
    changed = {
        key: (old.get(key), new.get(key))
        for key in sorted((old.keys() | new.keys()) - _ELSEWHERE - _NOTES)
        if not _same(old.get(key), new.get(key)) and "threshold" not in key
    }
    if not changed:
        return
    shown = ", ".join(f"{key} {_short(a)} → {_short(b)}" for key, (a, b) in list(changed.items())[:5])
    more = len(changed) - 5
    yield ctx.finding(
        RULE,
        "unproven",
        f"settings differ: {shown}" + (f" and {more} more" if more > 0 else ""),
        path="config.json",
        pointer=f"/{next(iter(changed))}",
    )


def _same(old: Any, new: Any) -> bool:
    """Whether two values mean the same: a missing key and null do, and in `transformers` mostly false."""
    return old == new or (old in (None, False) and new in (None, False))


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 40 else text[:39] + "…"
