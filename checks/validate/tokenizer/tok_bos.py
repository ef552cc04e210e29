"""TOK-BOS: the beginning of sequence token is another one than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .special import moved

RULE = Rule(
    id="TOK-BOS",
    name="bos-changed",
    family="TOK",
    severity=Severity.ERROR,
    summary="the beginning of sequence token has another text or id",
    what="The token that tokenizer_config.json, special_tokens_map.json, the tokenizer file or config.json declares "
    "as bos, by its text and by its id.",
    why="prompts that clients build with the old first token are off the distribution the model was trained on",
    hint="keep the bos token, or release this as a new model with its own endpoint",
    bad='"bos_token": "<|startoftext|>"        (was "<|endoftext|>")',
    good='"bos_token": "<|endoftext|>"',
    example="text",
    reads=("tokenizer", "tokenizer-config", "config"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare the bos tokens of both models."""
    yield from moved(ctx, RULE, "bos", RULE.why, gained="restart")
