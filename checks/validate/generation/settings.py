"""The settings that answers start from: generation_config.json, or config.json of a model without that file."""

from __future__ import annotations

from typing import Any, cast

from ....models.strict_json import items_of
from ..side import Side

# What `transformers` takes for a setting that is not written; the same in releases 4.46 and 5.24.
DEFAULTS: dict[str, object] = {
    "do_sample": False,
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 50,
    "min_p": None,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "num_beams": 1,
    "num_beam_groups": 1,
    "num_return_sequences": 1,
    "diversity_penalty": 0.0,
    "early_stopping": False,
    "length_penalty": 1.0,
    "min_length": 0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "renormalize_logits": False,
    "remove_invalid_values": False,
    "token_healing": False,
    "output_scores": False,
    "output_logits": False,
    "output_attentions": False,
    "output_hidden_states": False,
    "return_dict_in_generate": False,
    "return_timestamps": False,
}
# What config.json may say as well, where `transformers` makes the settings out of it.
_MORE = frozenset(
    (
        *("max_length", "max_new_tokens", "min_new_tokens", "max_time", "stop_strings", "penalty_alpha"),
        *("bad_words_ids", "force_words_ids", "forced_bos_token_id", "forced_eos_token_id", "suppress_tokens"),
        *("begin_suppress_tokens", "forced_decoder_ids", "sequence_bias", "guidance_scale"),
        *("exponential_decay_length_penalty", "decoder_start_token_id"),
    )
)
# These three say as well what else a model gives back, and are left to CFG-OTHER in config.json.
KEYS = frozenset(DEFAULTS) - {"output_attentions", "output_hidden_states", "return_timestamps"} | _MORE
# Read from config.json beside a generation_config.json too: by vLLM, and by Whisper's own loop.
_READ_BESIDE = frozenset(("decoder_start_token_id", "forced_decoder_ids"))
_DECODERS = ("decoder", "generator", "text_config")
_GENERATES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForSeq2SeqLM", "MTModel")


def settings(side: Side) -> dict[str, Any]:
    """What the model's files say about generation; empty where none does."""
    said = side.generation_config
    if said is not None:
        return said
    config = side.config or {}
    if not generates(config):
        return {}
    found = {key: config[key] for key in KEYS if config.get(key) is not None}
    part = next((config[key] for key in _DECODERS if isinstance(config.get(key), dict)), None)
    inner = cast("dict[str, Any]", part or {})
    # As in the library, the decoder's part speaks where the whole says nothing or no more than the default.
    unset = {key for key in KEYS if found.get(key, DEFAULTS.get(key)) == DEFAULTS.get(key)}
    return found | {key: inner[key] for key in unset if inner.get(key) is not None}


def generates(config: dict[str, Any]) -> bool:
    """Whether the model of a config.json writes text, as its class says."""
    names = items_of(config.get("architectures"))
    return any(str(name).endswith(_GENERATES) for name in names) or (
        not names and config.get("is_encoder_decoder") is True
    )


def judged(old: Side, new: Side) -> frozenset[str]:
    """The keys of config.json that the rules on generation judge, or that count for nothing.

    Beside a generation_config.json they do not count, unless that says that it was made from them: then releases
    before 5 of `transformers` make it again. Code that comes with a model may read any of them.
    """
    configs = [side.config or {} for side in (old, new)]
    if not all(generates(each) and not each.get("auto_map") for each in configs):
        return frozenset()
    beside = [side.generation_config for side in (old, new) if side.generation_config is not None]
    if any(each.get("_from_model_config") for each in beside):
        return frozenset()
    return KEYS - _READ_BESIDE if beside else KEYS
