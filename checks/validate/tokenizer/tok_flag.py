"""TOK-FLAG: a setting of the tokenizer's model that changes how text is split."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import model
from .changes import both, changes
from .judge import encodes, file_of

RULE = Rule(
    id="TOK-FLAG",
    name="model-setting-changed",
    family="TOK",
    severity=Severity.WARNING,
    summary="a setting of the tokenizer's model differs",
    what="ignore_merges, byte_fallback, fuse_unk, unk_token, affixes, max_input_chars_per_word and dropout; the "
    "chat format of a tekken file. Each is "
    "decided over the whole vocabulary where that is possible: ignore_merges changes nothing if every token is what "
    "its own text encodes to.",
    why="vocabulary and merges look the same while some texts encode differently: flipping ignore_merges of Llama 3 "
    "changes 588 tokens that no sample of ordinary text contains",
    hint="keep the setting, or swap tokenizer and weights together in the server and in every client that tokenizes",
    bad='"ignore_merges": false     (was true)',
    good='"ignore_merges": true',
    example="json",
    exemptions=("unknown-token settings of a byte-level vocabulary that holds all 256 bytes",),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Judge each setting that differs on its own."""
    pair = both(ctx)
    if pair is None:
        return
    old, new = pair
    if old.instructions and new.instructions and old.instructions != new.instructions:
        yield ctx.finding(
            RULE,
            "restart",
            "messages are turned into text by another version of the chat format",
            path=file_of(new),
            pointer="/config/version",
            old=old.instructions,
            new=new.instructions,
        )
    found = changes(old, new)
    if old.algorithm != new.algorithm or old.format != new.format or found.renamed or found.removed:
        return
    for key in sorted(old.settings.keys() | new.settings.keys()):
        before, after = old.settings.get(key), new.settings.get(key)
        if before == after:
            continue
        subject = f"{key} was {before!r} and is {after!r}"
        yield from encodes(ctx, RULE, pair, model.flags(old, new, key), subject, pointer=f"/model/{key}")
