"""TOK-PRE: another pre-tokenizer than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import replay
from .changes import both
from .judge import differs, encodes, unproven
from .proofs.outcome import Outcome
from .texts import ADVERSARIAL

RULE = Rule(
    id="TOK-PRE",
    name="pre-tokenizer-changed",
    family="TOK",
    severity=Severity.WARNING,
    summary="text is cut into words differently before the model sees it",
    what="The pre-tokenizer in canonical form. Where it differs, every text over one representative of each character "
    "class that the two patterns tell apart is tried, up to a length, and the shortest that differs is the witness.",
    why="words such as eBay, mL and NaOH fall apart at other places, so the model reads ids it was not trained on",
    hint="keep the pattern, or swap tokenizer and weights together in the server and in every client that tokenizes",
    bad=r'"Regex": "\\p{N}"     (was "\\p{N}{1,3}": the text 11 was one id and is two)',
    good=r'"Regex": "\\p{N}{1,3}"',
    example="json",
    exemptions=(
        "a sequence of one and that one",
        "trimming of offsets",
        "keeping only what a pattern matches, where the pattern matches every character",
    ),
    references=("huggingface/transformers#42131",),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare canonical forms, then search for the shortest witness."""
    pair = both(ctx)
    if pair is None or pair[0].format != pair[1].format or pair[0].pre_tokenizer == pair[1].pre_tokenizer:
        return
    from .proofs import pretokens

    old, new = pair
    subject = "the pre-tokenizer differs"
    found = pretokens.search(old.pre_tokenizer, new.pre_tokenizer)
    if found.proof:
        outcome = Outcome("equal", proof=found.proof)
        yield from encodes(ctx, RULE, pair, outcome, subject, pointer="/pre_tokenizer")
        return
    texts = [*found.texts, *(form.format(text) for text in found.texts[:20] for form in (" {}", "a{}a", "{} a"))]
    if replay.replayable(old, new):
        texts += ADVERSARIAL
    witness = replay.find(old, new, texts)
    if witness is not None:
        yield differs(ctx, RULE, new, subject, found=witness, pointer="/pre_tokenizer")
        return
    reason = found.reason or f"no text of up to {found.length} characters is cut differently"
    if found.texts:
        reason = "words are cut differently, but no text was found whose ids tell"
    yield unproven(ctx, RULE, new, subject, reason=reason, pointer="/pre_tokenizer")
