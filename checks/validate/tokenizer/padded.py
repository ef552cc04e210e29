"""The side on which a tokenizer pads where its configuration does not say.

Read from the classes and from AutoTokenizer of `transformers` 4.46, 4.57 and 5.24.
"""

from __future__ import annotations

from typing import Literal

from ....models.tokenizers.pipeline import parts
from ..config.runtime import version
from ..rulebase import Context
from ..side import Side

Padding = Literal["left", "right"]

# Classes that pad left, with or without Fast. Of the second row, releases 4 had a slow one that pads right, which
# serves where there is no tokenizer.json and nothing to make one.
_ALWAYS = frozenset(("XLNetTokenizer", "CpmAntTokenizer", "Siglip2Tokenizer"))
_FAST = frozenset(("LlamaTokenizer", "CodeLlamaTokenizer", "CohereTokenizer", "GemmaTokenizer"))
# Families for which every release takes the class that is named.
_NAMED = (
    frozenset(
        ("", "llama", "code_llama", "cohere", "cohere2", "aya_vision", "gemma", "gemma2", "gemma3", "gemma3_text")
    )
    | frozenset(("gemma3n", "gemma3n_text", "t5gemma", "shieldgemma2", "recurrent_gemma", "idefics", "idefics2"))
    | frozenset(("xlnet", "cpmant", "siglip2", "paligemma"))
)
# What is taken for a family where no class is named: by every release, and by releases 4 alone.
_OWN = frozenset(("code_llama", "cohere", "gemma", "gemma2", "recurrent_gemma", "idefics", "idefics2"))
_ONCE = frozenset(
    ("llama", "mistral", "mixtral", "chameleon", "idefics3", "jamba", "jetmoe", "llava", "llava_next", "mllama")
) | {
    "llava_next_video",
    "llava_onevision",
    "paligemma",
    "persimmon",
    "phi3",
    "phimoe",
    "video_llava",
    "vipllava",
    "zamba",
}


def unwritten(ctx: Context, side: Side) -> Padding | None:
    """The side where nothing is written, None where releases differ on it and the contract does not tell which serves.

    A class that none of these releases has pads right, as the base class does.
    """
    config = side.config or {}
    named = (side.tokenizer_config or {}).get("tokenizer_class") or config.get("tokenizer_class")
    kind, family = str(named or "").removesuffix("Fast"), str(config.get("model_type") or "")
    if kind in _ALWAYS or (not kind and family in ("xlnet", "cpmant")):
        return "left"
    if kind not in _FAST and (kind or family not in _OWN | _ONCE):
        return "right"
    tokenizer = side.tokenizer
    if tokenizer is None or tokenizer.format != "tokenizer.json":
        return None
    release = version(ctx.contract.runtimes.get("transformers", ""))
    if release is not None and release < (5,):
        return "left"
    # Releases 5 read a byte-level file with the plain class, whatever Llama's class is named for.
    if kind == "LlamaTokenizer" and any(part.get("type") == "ByteLevel" for part in parts(tokenizer.pre_tokenizer)):
        return "right" if release is not None else None
    return "left" if family in (_NAMED if kind else _OWN) else None
