"""CHT-DIFF: conversations are rendered to another prompt than before."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.hf_config import OF_THE_TOKENIZER
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .cases import CASES, EMPTY
from .templates import Pair, conversations, pairs, prompt_prefix, stop_mark, told_elsewhere

RULE = Rule(
    id="CHT-DIFF",
    name="chat-template-changed",
    family="CHT",
    severity=Severity.WARNING,
    summary="the same conversation becomes another prompt",
    what="Both templates are rendered in a sandbox over questions, answers, system messages, tools, empty and odd "
    "conversations, with and without a generation prompt. Templates are compared by name; where only one model has a "
    "template tool_use, which servers take by themselves for requests with tools, it is compared with the other's "
    "default over those. The arguments of tool calls come as objects and, as the OpenAI API sends them, as text. Where "
    "all renderings are the same, what the templates say is compared step by step: "
    "another step is unproven. Templates of processors and of tokenizers, in files of their own or under a key, "
    "all count.",
    why="the model reads another prompt for the same request; where the end of a turn or the assistant's prefix "
    "differs, clients that build prompts or stop on the old mark break",
    hint="swap template and weights together, and tell clients that render prompts themselves",
    bad="<|assistant|>\\n   (was <|start_header_id|>assistant<|end_header_id|>\\n\\n)",
    good="the same steps, however the template is written",
    example="text",
    exemptions=(
        "a template that is written otherwise and says the same: comments, white space that tags trim, names of local "
        "variables, x.y for x['y'], constants put together, a special token by its name, generation marks",
    ),
    reads=("chat-template", "tokenizer-config"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Templates that went, and renderings that differ."""
    if ctx.old is None:
        return
    for name, (file, _) in ctx.old.chat_templates.items():
        if name not in ctx.new.chat_templates and name.removesuffix(OF_THE_TOKENIZER) not in ctx.new.chat_templates:
            told = told_elsewhere(ctx, name)
            words = "; another one renders the same" if told else ""
            level = "hot" if told else "breaks"
            yield ctx.finding(RULE, level, f"the chat template '{name}' is gone{words}", path=file, side=ctx.old)
    if _of_the_tokenizer(ctx.old) and ctx.new.chat_templates and not _of_the_tokenizer(ctx.new):
        message = "only the processor has a chat template now: who loads the tokenizer alone, or sends tools, has none"
        file = next(iter(ctx.new.chat_templates.values()))[0]
        yield ctx.finding(RULE, "breaks", message, path=file, pointer="/chat_template")
    for pair in pairs(ctx):
        yield from _judged(ctx, pair)


def _of_the_tokenizer(side: Side) -> bool:
    """Whether a tokenizer that is loaded without its processor has a template."""
    files = {file for file, _ in side.chat_templates.values()}
    return bool((side.tokenizer_config or {}).get("chat_template")) or any(not file.endswith(".json") for file in files)


def _judged(ctx: Context, pair: Pair) -> Iterator[Finding]:
    different = [(case, a, b) for case, a, b in pair.texts if a is not None and b is not None and a != b]
    if not different:
        yield from _rescued(ctx, pair) or _untested(ctx, pair)
        return
    case, old, new = min(different, key=lambda item: len(item[1]) + len(item[2]))
    some = pair.cases is not CASES
    turns = () if some else (("the end of a turn", stop_mark(pair.old), stop_mark(pair.new)),)
    reasons = [
        word
        for word, a, b in (
            ("the assistant's prefix", prompt_prefix(pair.old, tools=some), prompt_prefix(pair.new, tools=some)),
            *turns,
        )
        if a is not None and a != b
    ]
    message = f"the template '{pair.name}' renders {len(different)} of {len(pair.cases)} conversations differently"
    if reasons:
        message += f", {' and '.join(reasons)} among them"
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    begin = max(0, start - 20)
    yield ctx.finding(
        RULE,
        "breaks" if reasons else "restart",
        message,
        path=pair.file,
        pointer=pair.pointer,
        witness={"kind": "render", "case": case.name, "old": old[begin : start + 60], "new": new[begin : start + 60]},
        plan=("reload-tokenizer",),
    )


def _rescued(ctx: Context, pair: Pair) -> list[Finding]:
    """Conversations that NEW renders and OLD refused: the rest is alike, as far as the matrix shows."""
    found = [(case, error) for case, error in pair.rescued if case is not EMPTY]
    if not found:
        return []
    case, error = found[0]
    message = f"the template '{pair.name}' renders {conversations(found)} at which the old one fails"
    return [
        ctx.finding(
            RULE,
            "restart",
            f"{message}: {case.name}: {error}",
            path=pair.file,
            pointer=pair.pointer,
            witness={"kind": "render", "case": case.name, "old": error, "new": (pair.new.text(case) or "")[:80]},
            plan=("reload-tokenizer",),
        )
    ]


def _untested(ctx: Context, pair: Pair) -> Iterator[Finding]:
    """Templates that say something else, which no conversation of the matrix shows."""
    old, new = pair.old.steps, pair.new.steps
    if pair.old.error or pair.new.error or pair.cases is not CASES:
        return
    # A variable that OLD does not read no client sends: CHT-KWARG speaks of it.
    if [words for _, words in old] in ([words for _, words in each] for each in (new, pair.new.bare)):
        return
    same = zip(old, new, strict=False)
    at = next((i for i, (a, b) in enumerate(same) if a[1] != b[1]), min(len(old), len(new)))
    line = new[min(at, len(new) - 1)][0] if new else 1
    alike = sum(a is not None and b is not None for _, a, b in pair.texts)
    whole = f"all {alike} conversations alike,"
    if alike < len(pair.cases):
        whole = f"the {alike} of {len(pair.cases)} conversations that both render alike,"
    if not alike:
        whole = "no conversation, nor did the old one,"
    yield ctx.finding(
        RULE,
        "unproven",
        f"the template '{pair.name}' renders {whole} and differs at its line {line}",
        path=pair.file,
        pointer=pair.pointer,
        line=None if pair.pointer else line,
        old=old[at][1] if at < len(old) else "the end",
        new=new[at][1] if at < len(new) else "the end",
        plan=("reload-tokenizer",),
    )
