"""TOK-MERGE: merges, pieces or words that make old text encode to other ids."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from . import model
from .changes import both, changes
from .judge import encodes

RULE = Rule(
    id="TOK-MERGE",
    name="merges-changed",
    family="TOK",
    severity=Severity.WARNING,
    summary="merges, pieces or words changed, and with them the ids of old text",
    what="Decides by proof whether added or removed merges can ever fire (BPE), whether added pieces can win "
    "(Unigram), and which words an added piece changes (WordPiece); otherwise names a text that encodes differently.",
    why="the same prompt turns into other ids: caches miss, and clients that tokenize disagree with the server",
    hint="swap tokenizer and weights together, in the server and in every client that tokenizes",
    bad='"merges": ["a b", "ab c"]     (was ["a b"]: the text abc was two ids and is one)',
    good="merges that are the same, in the same order",
    example="text",
    exemptions=("merges that provably never fire", "the same merges written as pairs instead of strings"),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Judge the model inside the tokenizer."""
    pair = both(ctx)
    if pair is None:
        return
    found = changes(*pair)
    if found.renamed or found.removed:
        return  # TOK-ID and TOK-DEL: encoding to ids that mean something else is no comparison
    old, new = pair
    outcome = model.compare(old, new)
    if outcome.kind == "equal" and old.format == new.format and old.merges.same(new.merges):
        return
    subject = {"BPE": "the merges differ", "Unigram": "the pieces differ"}.get(new.algorithm, "the words differ")
    yield from encodes(ctx, RULE, pair, outcome, subject, pointer="/model")
