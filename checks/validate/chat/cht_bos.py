"""CHT-BOS: template and post-processor both put the first token."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..tokenizer.proofs.template import frames
from ..tokenizer.special import special
from .cases import PROMPT
from .templates import rendered, same

RULE = Rule(
    id="CHT-BOS",
    name="double-bos",
    family="CHT",
    severity=Severity.ERROR,
    summary="a rendered prompt gets its first token twice",
    what="Whether the rendering starts with the bos token while the tokenizer's post-processor adds it as well.",
    why="servers that tokenize the rendered text with special tokens send two: answers get worse, without an error",
    hint="take bos out of the template or out of the post-processor, or tokenize renderings without special tokens",
    bad="{{ bos_token }}… with a post-processor that puts <|begin_of_text|>",
    good="{{ bos_token }}… with a post-processor that puts nothing",
    example="text",
    references=("swiss-ai/model-launch#173",),
    reads=("chat-template", "tokenizer-config", "tokenizer"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Judge NEW; where OLD did the same, its servers cope."""
    if ctx.old is not None and same(ctx) and _adds(ctx.old) == _adds(ctx.new):
        return
    file = _doubled(ctx.new)
    if file is None:
        return
    known = ctx.old is not None and _doubled(ctx.old) is not None
    # Alone it is a note: widely used models do so, and servers know to tokenize renderings without special tokens.
    level = "hot" if known or ctx.old is None else "breaks"
    yield ctx.finding(
        RULE, level, "template and post-processor both add the bos token" + (", as before" if known else ""), path=file
    )


def _adds(side: Side) -> frozenset[int]:
    """The ids that the post-processor puts before a text."""
    found = frames(side.tokenizer.post_processor) if side.tokenizer is not None else None
    if found is None:
        return frozenset()
    first = found[0][0][0] if found[0] else None
    return frozenset({first}) if isinstance(first, int) else frozenset()


def _doubled(side: Side) -> str | None:
    """The file of a template that starts with the bos token which the post-processor adds too."""
    bos = special(side, "bos")
    if bos.content is None or not bos.ids & _adds(side):
        return None
    for name, result in rendered(side).items():
        text = result.text(PROMPT)
        if text is not None and text.startswith(bos.content):
            return side.chat_templates[name][0]
    return None
