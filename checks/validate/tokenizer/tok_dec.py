"""TOK-DEC: another decoder than before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import replay
from .changes import both, changes
from .judge import differs, unproven

RULE = Rule(
    id="TOK-DEC",
    name="decoder-changed",
    family="TOK",
    severity=Severity.WARNING,
    summary="the decoder differs",
    what="The decoder in canonical form, then the text of single ids and of pairs of ids.",
    why="the same ids read differently: spaces appear or vanish in every answer",
    hint="keep the decoder, or swap it together with everything that turns ids into text",
    bad='"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false}     (cleanup was true)',
    good='"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}',
    example="json",
    exemptions=("fields that the byte-level decoder does not read",),
    reads=("tokenizer",),
)

_SINGLE = 2_000


def check(ctx: Context) -> Iterator[Finding]:
    """Compare canonical forms, then decode ids with both."""
    pair = both(ctx)
    if pair is None or pair[0].format != pair[1].format or pair[0].decoder == pair[1].decoder:
        return
    old, new = pair
    moved = changes(old, new)
    kept = [
        n for n in sorted(old.tokens) if n not in moved.removed and n not in moved.renamed and n not in moved.activated
    ]
    step = max(1, len(kept) // _SINGLE)
    sample = kept[::step]
    pairs = ([a, b] for a, b in zip(sample, sample[1:] + sample[:1], strict=True))
    found = replay.find_decoded(old, new, chain(islice(([n] for n in sample), _SINGLE), pairs))
    if found is None:
        yield unproven(ctx, RULE, new, "the decoder differs", reason="no ids were found that tell", pointer="/decoder")
    else:
        yield differs(ctx, RULE, new, "the decoder differs", found=found, pointer="/decoder")
