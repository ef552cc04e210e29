"""CFG-OTHER: settings of config.json that no other rule knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ....models.hf_config import text_config, text_part
from ....models.strict_json import describe
from ....report.finding import Severity
from ..generation.settings import judged
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .fields import NAMES
from .shown import change
from .switches import default, varies

RULE = Rule(
    id="CFG-OTHER",
    name="settings-changed",
    family="CFG",
    severity=Severity.WARNING,
    summary="settings of config.json differ whose effect is not known here",
    what="Every key of config.json, and of the language model's part in it, that no other rule judges; "
    "those that must be objects.",
    why="the running graph was built with the old value: scales, caps, masks and biases change every answer silently",
    hint="start new replicas for the new version, or accept the finding with a reason if the key is only a note",
    bad='{"final_logit_softcapping": 30.0}   (was null)',
    good='{"final_logit_softcapping": null}',
    example="json",
    exemptions=(
        "names, versions, and what only training reads",
        "settings of generation, which count only without a generation_config.json: GEN-SAMPLE and GEN-LEN judge them",
    ),
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
        *("text_config", "llm_config", "language_config", "problem_type", "function_to_apply"),
        *("sbert_ce_default_activation_function",),
    )
)
_IDLE = "write it into generation_config.json if answers should follow it"
_OBJECTS = ("id2label", "label2id", "quantization_config")
_NOTES = frozenset(
    (
        *("_name_or_path", "name_or_path", "transformers_version", "_commit_hash", "_attn_implementation"),
        *("attn_implementation", "_attn_implementation_autoset", "use_cache", "initializer_range"),
        *("initializer_factor", "init_std", "attention_dropout", "hidden_dropout", "dropout", "activation_dropout"),
        *("resid_pdrop", "embd_pdrop", "attn_pdrop", "summary_first_dropout", "hidden_dropout_prob"),
        *("attention_probs_dropout_prob", "classifier_dropout", "layerdrop", "encoder_layerdrop"),
        *("decoder_layerdrop", "gradient_checkpointing", "pretraining_tp", "finetuning_task", "license"),
        *("unsloth_version", "unsloth_fixed", "router_aux_loss_coef", "output_router_logits", "model_name"),
        *("export_model_type", "init_xavier_std", "eos_coefficient", "dice_loss_coefficient"),
        *("mask_loss_coefficient", "bbox_loss_coefficient", "giou_loss_coefficient", "class_loss_coefficient"),
        *("class_cost", "bbox_cost", "giou_cost", "focal_alpha"),
        *("tf_legacy_loss", "use_bfloat16", "rescale_prenorm_residual", "_sliding_window_pattern"),
    )
)
# What the base class of `transformers` fills in where nothing is written.
_DEFAULTS: dict[str, Any] = {
    "return_dict": True,
    "use_return_dict": True,
    "chunk_size_feed_forward": 0,
    "pruned_heads": {},
    "max_length": 20,
    "min_length": 0,
    "temperature": 1.0,
    "top_k": 50,
    "top_p": 1.0,
    "typical_p": 1.0,
    "num_beams": 1,
    "num_beam_groups": 1,
    "num_return_sequences": 1,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "repetition_penalty": 1.0,
    "length_penalty": 1.0,
    "diversity_penalty": 0.0,
}


def check(ctx: Context) -> Iterator[Finding]:
    """What no library loads, then one finding for all keys that differ."""
    yield from _refused(ctx)
    if ctx.old is None or ctx.old.config is None or ctx.new.config is None:
        return
    before, after = ctx.old.config, ctx.new.config
    changed = {**dict(_changes(before, after)), **_shadowed(before, after)}
    elsewhere = {key: changed.pop(key) for key in judged(ctx.old, ctx.new) & changed.keys()}
    if elsewhere and None not in (ctx.old.generation_config, ctx.new.generation_config):
        message = f"what is said beside generation_config.json counts for nothing: {_shown(elsewhere)}"
        yield ctx.finding(RULE, "hot", message, path="config.json", pointer=f"/{min(elsewhere)}", hint=_IDLE)
    # Where the tokenizer's own configuration names the class, this one is a note.
    if _names_class(ctx.old) and _names_class(ctx.new):
        changed.pop("tokenizer_class", None)
    if not changed:
        return
    yield ctx.finding(
        RULE,
        "unproven",
        f"settings differ: {_shown(changed)}",
        path="config.json",
        pointer=f"/{next(iter(changed))}",
    )


def _shown(changed: dict[str, tuple[Any, Any]]) -> str:
    """The first few of them, and how many more there are."""
    more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    return ", ".join(f"{key} {change(*changed[key])}" for key in list(changed)[:5]) + more


def _refused(ctx: Context) -> Iterator[Finding]:
    """Settings of a kind that the configuration classes of `transformers` raise at."""
    config, before = ctx.new.config or {}, (ctx.old.config if ctx.old is not None else None) or {}
    for key in _OBJECTS:
        value = config.get(key)
        if value is not None and not isinstance(value, dict) and {"architectures", "model_type"} & config.keys():
            level = "hot" if before.get(key) == value else "breaks"
            message = f"{key} is {describe(value)}, not an object: transformers refuses it"
            yield ctx.finding(RULE, level, message, path="config.json", pointer=f"/{key}")


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """(key, values) of every key that differs; those of parts such as vision_config one by one."""
    old, new = text_config(before), text_config(after)
    for key in sorted((old.keys() | new.keys()) - _ELSEWHERE - _NOTES):
        a, b = (_DEFAULTS.get(key) if each.get(key) is None else each[key] for each in (old, new))
        if "threshold" in key or _same(key, a, b, before, after):
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            yield from _inside(key, cast("dict[str, Any]", a), cast("dict[str, Any]", b))
        else:
            yield key, (a, b)


def _inside(part: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """What differs in a part: a vision tower, or the notes of sentence-transformers."""
    speaks = part.startswith(("decoder", "talker", "text"))
    notes = _NOTES | _INSIDE if speaks else _NOTES | _INSIDE | _SPOKEN
    for key in sorted((old.keys() | new.keys()) - notes):
        a, b = (_DEFAULTS.get(key) if each.get(key) is None else each[key] for each in (old, new))
        if key == "model_type" and None in (a, b):
            continue  # the class of the whole knows its parts
        if not _same(key, a, b, old, new) and (part, key) != ("sentence_transformers", "activation_fn"):
            yield f"{part}/{key}", (a, b)


def _shadowed(old: dict[str, Any], new: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Keys that both models write twice, at the top and in the language model's part, where only one of them differs.

    Which of the two counts depends on who reads them.
    """
    before, after = text_part(old), text_part(new)
    if not before or not after:
        return {}
    twice = old.keys() & new.keys() & old[before].keys() & new[after].keys()
    found: dict[str, tuple[Any, Any]] = {}
    for key in sorted(twice - _NOTES - {"architectures", "problem_type"}):
        outer, inner = old[key] != new[key], old[before][key] != new[after][key]
        if outer != inner and not isinstance(old[key], dict):
            a, b = (old, new) if outer else (old[before], new[after])
            found[key if outer else f"{after}/{key}"] = a[key], b[key]
    return found


# Notes inside a part: its type of numbers is that of the whole, and version is that of the library.
_INSIDE = frozenset(("torch_dtype", "dtype", "version", "architectures", "id2label", "label2id"))


# What only parts that write text have a use for.
_SPOKEN = frozenset(
    ("bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "decoder_start_token_id")
) | frozenset(("tie_word_embeddings", "is_encoder_decoder", "is_decoder", "add_cross_attention", "problem_type"))


def _same(key: str, old: Any, new: Any, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether two values mean the same. A missing key is what its family has by default: mostly null or false."""
    if old == new:
        return True
    if "auto_map" in after and varies(key) and None in (old, new):
        return False  # code of the model's own may have any default
    a, b = (_filled(key, each, config) for each, config in ((old, before), (new, after)))
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _filled(key: str, value: Any, config: dict[str, Any]) -> Any:
    if value is None or value is False:
        # A written false stays one; what is missing may be on.
        family = text_config(config).get("model_type")
        return value is None and default(key, family)
    return value


def _names_class(side: Side) -> bool:
    return "tokenizer_class" in (side.tokenizer_config or {})
