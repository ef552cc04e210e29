"""TOK-PROBE: every token's text and adversarial texts, encoded with both real tokenizers (`--probe`)."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.tokenizer import Tokenizer
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import replay
from .changes import both
from .judge import differs, file_of
from .texts import ADVERSARIAL, literal_contexts, text_of

RULE = Rule(
    id="TOK-PROBE",
    name="probe-encodes-differently",
    family="TOK",
    severity=Severity.WARNING,
    summary="a probe encodes differently with the real tokenizers",
    what="With --probe: the text of every token of both vocabularies, every added token in context, and strings on "
    "which tokenizers tend to disagree, encoded with the installed library.",
    why="what the proofs leave open is tried out; ordinary text would not show it",
    hint="swap tokenizer and weights together, in the server and in every client that tokenizes",
    bad="interlock validate new --against old --probe",
    good="0 of 128,256 probes differ",
    example="text",
    exemptions=("tokenizers whose library is not installed: a note says which",),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Encode all probes; report the first difference, shrunk, and how many there are."""
    pair = both(ctx)
    if pair is None or not ctx.options.get("probe"):
        return
    old, new = pair
    libraries = replay.both(old, new)
    if isinstance(libraries, str):
        reason = libraries
        yield ctx.finding(RULE, "unproven", f"probes were asked for and could not run: {reason}", path=file_of(new))
        return
    before, after = libraries
    different: list[str] = []
    count = 0
    for text in _probes(old, new):
        count += 1
        if before.encode(text) != after.encode(text):
            different.append(text)
    if not different:
        proof = f"{count:,} probes encode alike"
        yield ctx.finding(RULE, "hot", "no probe encodes differently", path=file_of(new), proof=proof)
        return
    found = replay.find(old, new, sorted(different, key=len)[:1])
    message = f"{len(different):,} of {count:,} probes encode differently"
    yield differs(ctx, RULE, new, message, found=found or {"kind": "encode", "text": different[0]})


def _probes(old: Tokenizer, new: Tokenizer) -> Iterator[str]:
    seen: set[str] = set()
    for tokenizer in (old, new):
        for token in tokenizer.vocab.value:
            text = text_of(tokenizer, token)
            if text and text not in seen:
                seen.add(text)
                yield text
        for each in tokenizer.added:
            yield from literal_contexts(each.content)
    yield from ADVERSARIAL
    yield from (f"{a} {b}" for a in ADVERSARIAL[:24] for b in ADVERSARIAL[24:48])
