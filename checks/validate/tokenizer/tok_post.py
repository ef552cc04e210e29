"""TOK-POST: other special tokens around a text than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .changes import both
from .judge import file_of, unproven
from .proofs.template import frames, written

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
    exemptions=("byte-level post-processing, which only trims offsets",),
    references=("huggingface/transformers#32172",),
    reads=("tokenizer",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare what is put around one text and around a pair."""
    pair = both(ctx)
    if pair is None or pair[0].format != pair[1].format:
        return
    old, new = pair
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
