"""TOK-EOS: the end of sequence token is another one than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .special import moved

RULE = Rule(
    id="TOK-EOS",
    name="eos-changed",
    family="TOK",
    severity=Severity.ERROR,
    summary="the end of sequence token has another text or id",
    what="The token that tokenizer_config.json, special_tokens_map.json, the tokenizer file or config.json declares "
    "as eos, by its text and by its id.",
    why="generation stops at another token: servers and clients that stop on the old one run on",
    hint="keep the eos token, or release this as a new model with its own endpoint",
    bad='"eos_token": "<|eot_id|>"             (was "<|end_of_text|>")',
    good='"eos_token": "<|end_of_text|>"',
    example="text",
    reads=("tokenizer", "tokenizer-config", "config"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare the eos tokens of both models."""
    yield from moved(ctx, RULE, "eos", RULE.why, gained="restart")
