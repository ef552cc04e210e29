"""How a model says that its weights are quantised: in config.json, or in a file of the tool that quantised them."""

from __future__ import annotations

from typing import Any, cast

from ....models.hf_config import text_config
from ..side import Side

# Read by servers where config.json says nothing: ModelOpt, then AutoGPTQ, then AutoAWQ.
FILES = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
# Names of one method.
_SAME = {"modelopt_fp8": "modelopt", "nvfp4": "modelopt_fp4", "gptqmodel": "gptq", "autoawq": "awq"}


def quantisation(side: Side) -> dict[str, Any]:
    """The settings of the quantisation, empty where there is none. Raises UnreadableModel."""
    return declared(side.config or {}) or beside(side)[1]


def declared(config: dict[str, Any]) -> dict[str, Any]:
    """What config.json says."""
    language = text_config(config)
    for key in ("quantization_config", "compression_config"):
        if isinstance(language.get(key), dict):
            return language[key]
    return {}


def beside(side: Side) -> tuple[str, dict[str, Any]]:
    """(file, settings) of the first file beside config.json that says it."""
    for name in FILES:
        found = side.json(name)
        if found:
            return name, found
    return "", {}


def flat(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with what ModelOpt nests under `quantization` on top."""
    inner: Any = settings.get("quantization")
    return {**settings, **cast("dict[str, Any]", inner)} if isinstance(inner, dict) else settings


def method(settings: dict[str, Any]) -> str:
    """The name of the method; empty where the settings do not say."""
    name = str(settings.get("quant_method") or "").lower()
    if not name:
        for key, meant in (
            ("quantization", "modelopt"),
            ("quant_algo", "modelopt"),
            ("w_bit", "awq"),
            ("bits", "gptq"),
        ):
            if key in settings:
                return meant
    return _SAME.get(name, name)
