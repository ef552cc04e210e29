"""FIL-CONFIG: a key of config.json changed that no other rule judges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ....models.engine import is_engine_config
from ....report.finding import Severity
from ..config.fields import NAMES
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="FIL-CONFIG",
    name="unknown-setting-changed",
    family="FIL",
    severity=Severity.WARNING,
    summary="a setting of the model's configuration changed, and its meaning is not known here",
    what="Keys of config.json, at the top and in text_config, that no rule judges and that are not mere bookkeeping.",
    why="model code reads its own keys: soft-capping, scaling and routing change every answer without any error",
    hint="find out what the key does, then accept the finding with a reason",
    exemptions=("transformers_version, _name_or_path, use_cache and other bookkeeping", "keys that other rules judge"),
)

# Judged by the CFG, TOK, GEN and WTS rules.
_JUDGED = frozenset(key for keys in NAMES.values() for key in keys) | {
    *("architectures", "model_type", "auto_map", "vocab_size", "quantization_config", "compression_config"),
    *("max_position_embeddings", "max_seq_len", "max_sequence_length", "seq_length", "n_positions", "n_ctx"),
    *("model_max_length", "original_max_position_embeddings", "sliding_window", "sliding_window_pattern"),
    *("use_sliding_window", "max_window_layers", "layer_types", "layer_group_size", "rope_theta", "rope_scaling"),
    *("rope_parameters", "rope_local_base_freq", "rotary_emb_base", "rotary_pct", "partial_rotary_factor"),
    *("eos_token_id", "bos_token_id", "pad_token_id", "unk_token_id", "id2label", "label2id", "num_labels"),
    *("tie_word_embeddings", "text_config", "torch_dtype", "dtype"),
    *("temperature", "top_k", "top_p", "max_length", "min_length", "do_sample", "num_beams", "repetition_penalty"),
}
_INERT = frozenset(
    {
        *("transformers_version", "_name_or_path", "use_cache", "initializer_range", "gradient_checkpointing"),
        *("_commit_hash", "attention_dropout", "hidden_dropout_prob", "attention_probs_dropout_prob", "dropout"),
        *("resid_pdrop", "embd_pdrop", "attn_pdrop", "classifier_dropout", "output_attentions", "author", "license"),
        *("output_hidden_states", "return_dict", "router_aux_loss_coef", "pretraining_tp", "unsloth_version"),
        *("torchscript", "problem_type", "finetuning_task", "task_specific_params", "_attn_implementation_autoset"),
    }
)


def check(ctx: Context) -> Iterator[Finding]:
    """One finding for each key."""
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    if ctx.same("config.json", "config.json") == "same" or is_engine_config(ctx.new.config):
        return
    for prefix, old, new in _levels(ctx.old.config, ctx.new.config):
        for key in sorted(old.keys() | new.keys()):
            if key in _JUDGED or key in _INERT or old.get(key) == new.get(key):
                continue
            yield ctx.finding(
                RULE,
                "unproven",
                f"'{key}' changed",
                old=old.get(key),
                new=new.get(key),
                path="config.json",
                pointer=f"{prefix}/{key}",
            )


def _levels(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    yield "", old, new
    a, b = old.get("text_config"), new.get("text_config")
    if isinstance(a, dict) and isinstance(b, dict):
        yield "/text_config", cast("dict[str, Any]", a), cast("dict[str, Any]", b)
