"""TOK-NORM: another normalizer than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import replay
from .changes import both
from .judge import differs, unproven
from .texts import ADVERSARIAL

RULE = Rule(
    id="TOK-NORM",
    name="normalizer-changed",
    family="TOK",
    severity=Severity.WARNING,
    summary="the normalizer differs",
    what="The normalizer in canonical form: sequences flat, defaults filled in. Where it differs, a text is looked for "
    "that encodes differently.",
    why="text is changed before it is split: accents, case, full-width letters and spaces turn into other ids",
    hint="keep the normalizer, or swap tokenizer and weights together in the server and in every client that tokenizes",
    bad='"normalizer": {"type": "NFKC"}     (was NFC)',
    good='"normalizer": {"type": "NFC"}',
    example="json",
    exemptions=("a sequence of one and that one", "an empty sequence and null"),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare canonical forms, then look for a witness."""
    pair = both(ctx)
    if pair is None or pair[0].format != pair[1].format or pair[0].normalizer == pair[1].normalizer:
        return
    from .proofs.normalize import normalize

    old, new = pair
    likely = [text for text in ADVERSARIAL if normalize(old.normalizer, text) != normalize(new.normalizer, text)]
    candidates = [*likely, *(f"a {text} b" for text in likely)]
    if replay.replayable(old, new):
        candidates += [text for text in ADVERSARIAL if text not in likely]
    found = replay.find(old, new, candidates)
    if found is None:
        yield unproven(
            ctx, RULE, new, "the normalizer differs", reason="no text was found that tells", pointer="/normalizer"
        )
    else:
        yield differs(ctx, RULE, new, "the normalizer differs", found=found, pointer="/normalizer")
