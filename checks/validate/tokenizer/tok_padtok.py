"""TOK-PADTOK: the padding token is another one than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .special import moved

RULE = Rule(
    id="TOK-PADTOK",
    name="pad-changed",
    family="TOK",
    severity=Severity.ERROR,
    summary="the padding token has another text or id",
    what="The token that tokenizer_config.json, special_tokens_map.json, the tokenizer file or config.json declares "
    "as pad, by its text and by its id.",
    why="clients that pad batches write the old id, which is now text the model attends to",
    hint="keep the pad token, or release this as a new model with its own endpoint",
    bad='"pad_token": "<|vision_pad|>"         (was "<|endoftext|>")',
    good='"pad_token": "<|endoftext|>"',
    example="text",
    reads=("tokenizer", "tokenizer-config", "config"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare the pad tokens of both models."""
    yield from moved(ctx, RULE, "pad", RULE.why, gained="restart")
