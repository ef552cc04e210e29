"""TOK-UNK: the unknown token is another one than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .special import moved

RULE = Rule(
    id="TOK-UNK",
    name="unk-changed",
    family="TOK",
    severity=Severity.ERROR,
    summary="the unknown token has another text or id",
    what="The token that tokenizer_config.json, special_tokens_map.json, the tokenizer file or config.json declares "
    "as unk, by its text and by its id.",
    why="what the tokenizer does not know turns into another id",
    hint="keep the unk token, or release this as a new model with its own endpoint",
    bad='"unk_token": "[UNK]"                  (was "<unk>")',
    good='"unk_token": "<unk>"',
    example="text",
    reads=("tokenizer", "tokenizer-config", "config"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare the unk tokens of both models."""
    yield from moved(ctx, RULE, "unk", RULE.why, gained="restart")
