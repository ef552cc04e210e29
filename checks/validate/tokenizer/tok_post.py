"""TOK-POST: other special tokens around a text than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.tokenizer import Tokenizer
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .changes import both
from .judge import file_of, unproven
from .proofs.template import Frame, frames, written
from .special import special

RULE = Rule(
    id="TOK-POST",
    name="post-processor-changed",
    family="TOK",
    severity=Severity.ERROR,
    summary="other special tokens are put around a text",
    what="The ids that the post-processor puts before, between and after one text and a pair of texts. They are "
    "finitely many, so the comparison is exact.",
    why="every prompt starts or ends with other ids: Llama 3 and 3.1 encode the same text to [9906] and [128000, 9906]",
    hint="keep the post-processor, or tell every client that builds prompts whether it still has to add these tokens",
    bad='"post_processor": {"type": "TemplateProcessing", "single": [BOS, A]}     (was: nothing)',
    good="the same template, or one that puts the same ids",
    example="text",
    exemptions=(
        "byte-level post-processing, which only trims offsets",
        "between tokenizer.json and GGUF: what the class of the tokenizer puts by its settings, where that agrees",
    ),
    references=("huggingface/transformers#32172",),
    reads=("tokenizer",),
)

# Classes that put tokens by their settings instead of the file's post-processor, bos unless told otherwise.
_PUTS_BOS = frozenset(("LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "CohereTokenizer"))


def check(ctx: Context) -> Iterator[Finding]:
    """Compare what is put around one text and around a pair."""
    pair = both(ctx)
    if pair is None:
        return
    old, new = pair
    if old.format != new.format:
        yield from _across(ctx, old, new)
        return
    if old.post_processor == new.post_processor:
        return
    before, after = frames(old.post_processor), frames(new.post_processor)
    if before is None or after is None:
        yield unproven(
            ctx, RULE, new, "the post-processor differs", reason="its kind is not known", pointer="/post_processor"
        )
        return
    for index, name in enumerate(("a text", "a pair of texts")):
        first, second = before[index], after[index]
        if first != second:
            types = [step for step, _ in first] == [step for step, _ in second]
            yield ctx.finding(
                RULE,
                "breaks",
                f"other {'type ids' if types else 'special tokens'} around {name}",
                path=file_of(new),
                pointer="/post_processor",
                old=written(first, types=types),
                new=written(second, types=types),
                witness={"kind": "frame", "old": written(first, types=types), "new": written(second, types=types)},
                plan=("reload-tokenizer",),
            )
            return


def _across(ctx: Context, old: Tokenizer, new: Tokenizer) -> Iterator[Finding]:
    """One text, between two formats that both say what they put around it."""
    before, after = _may_stand(ctx.old, old), _may_stand(ctx.new, new)
    if not before or not after or not set(before).isdisjoint(after):
        return
    first, second = before[0], after[0]
    yield ctx.finding(
        RULE,
        "breaks",
        "other special tokens around a text",
        path=file_of(new),
        pointer="/post_processor" if new.format == "tokenizer.json" else "",
        old=written(first),
        new=written(second),
        witness={"kind": "frame", "old": written(first), "new": written(second)},
        plan=("reload-tokenizer",),
    )


def _may_stand(side: Side | None, tokenizer: Tokenizer) -> list[Frame]:
    """What is around one text as the file says it, and as the class that reads it may do instead; empty where neither
    is known. Type ids play no role: GGUF has none."""
    if side is None or tokenizer.format not in ("tokenizer.json", "gguf"):
        return []
    found = frames(tokenizer.post_processor)
    if found is None:
        return []
    said = [_plain(found[0])]
    if tokenizer.format == "gguf":
        # Where the file does not say the id, llama.cpp has one of its own.
        role = "eos" if tokenizer.algorithm == "Unigram" else "bos"
        return said if tokenizer.algorithm == "WordPiece" or tokenizer.special.get(role) is not None else []
    config = side.tokenizer_config or {}
    bos, eos = (tuple((number, 0) for number in sorted(special(side, role).ids)[:1]) for role in ("bos", "eos"))
    if bos and str(config.get("tokenizer_class") or "LlamaTokenizer").removesuffix("Fast") in _PUTS_BOS:
        start = bos if config.get("add_bos_token", True) else ()
        said.append((*start, ("A", 0), *(eos if config.get("add_eos_token") else ())))
    return said


def _plain(frame: Frame) -> Frame:
    return tuple((step, 0) for step, _ in frame)
