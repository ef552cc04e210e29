"""At which tokens llama.cpp ends an answer."""

from __future__ import annotations

from ....models.gguf import GgufModel
from ..side import Side

# The keys that name one, besides that of eos.
KEYS = ("tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id")
_EOS = "tokenizer.ggml.eos_token_id"
# Tokens that end an answer whatever the keys say, by their text (src/llama-vocab.cpp).
_TEXTS = frozenset(
    (
        *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<|endoftext|>"),
        *("<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>"),
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    )
)


def stops(side: Side, model: GgufModel) -> dict[int, str] | None:
    """id → text of the tokens that end an answer; None where the file's own vocabulary is not the one that serves."""
    tokenizer = side.tokenizer
    if tokenizer is None or tokenizer.format != "gguf":
        return None
    named = {model.metadata.get(key) for key in (*KEYS, _EOS)}
    return {n: text for n, text in tokenizer.tokens.items() if n in named or text in _TEXTS}


def shown(side: Side) -> frozenset[int]:
    """The ids of ordinary tokens, which answers show."""
    tokenizer = side.tokenizer
    if tokenizer is None:
        return frozenset()
    return frozenset(tokenizer.tokens) - {token.id for token in tokenizer.added if token.special}
