"""The keys of PEFT's LoraConfig: what a missing one means, and which rule judges a change.

Source: the dataclasses of peft 0.21 (`PeftConfig`, `LoraConfig`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Values that a missing key stands for. Other keys, known or not, mean nothing when they are missing, null or empty.
DEFAULTS: Mapping[str, object] = {
    "peft_type": "LORA",
    "r": 8,
    "lora_alpha": 8,
    "bias": "none",
    "init_lora_weights": True,
    "megatron_core": "megatron.core",
    "qalora_group_size": 16,
}

# They steer the training that made the matrices, or are notes; who loads the adapter does not need them.
TRAINING = frozenset({
    "lora_dropout", "inference_mode", "peft_version", "runtime_config", "loftq_config", "eva_config", "corda_config",
    "lora_ga_config", "velora_config", "_custom_modules",
})  # fmt: skip

# Judged by LRA-ORPHAN, LRA-SCALE, LRA-RANK and LRA-MODULES.
ELSEWHERE = frozenset({
    "base_model_name_or_path", "revision", "r", "lora_alpha", "use_rslora", "rank_pattern", "alpha_pattern",
    "modules_to_save", "bias", "use_dora", "lora_bias", "layer_replication", "trainable_token_indices", "use_qalora",
    "arrow_config", "use_bdlora",
})  # fmt: skip

# Which modules they name shows in the tensors, which LRA-SELF, LRA-BASE and LRA-TARGET compare.
NAMING = frozenset({"target_modules", "exclude_modules", "layers_to_transform", "layers_pattern"})

# Ways to start that move part of the base's weights into the matrices: only the changed base gives the answers back.
_MOVE = ("pissa", "olora", "corda", "loftq", "lora_ga")


def value(config: Mapping[str, Any], key: str) -> object:
    """The value of a key, with every way to write the default made one."""
    found = config.get(key)
    found = DEFAULTS.get(key) if found is None else found
    return None if found is False or found in ("", [], {}) else found


def moves_base(config: Mapping[str, Any]) -> str:
    """The start that changed the base's weights, empty where there was none."""
    start = config.get("init_lora_weights")
    return start if isinstance(start, str) and start.lower().startswith(_MOVE) else ""
