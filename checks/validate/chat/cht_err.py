"""CHT-ERR: the template fails where the old one rendered."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .cases import EMPTY, WIRE
from .templates import conversations, pairs, rendered

RULE = Rule(
    id="CHT-ERR",
    name="chat-template-fails",
    family="CHT",
    severity=Severity.ERROR,
    summary="the chat template raises, does not end, or does not compile",
    what="Every conversation of the matrix is rendered in a process with limits on time, memory, recursion and output. "
    "Failing on tool calls whose arguments are text is unproven: servers that parse them first do not render those.",
    why="every request of that shape becomes an error of the server",
    hint="render the template with these messages, and fix it or restore what it refuses now",
    bad="{{ raise_exception('system messages are not supported') }}   (the old one rendered them)",
    good="{{ messages[0]['content'] }}",
    example="text",
    exemptions=(
        "conversations that the old template refused too",
        "a conversation without messages: templates read the first one, and servers refuse such a request themselves",
    ),
    reads=("chat-template", "tokenizer-config"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Against OLD where there is one with that template; alone, only a template that renders nothing is a fault."""
    compared = {pair.name: pair for pair in pairs(ctx)}
    if ctx.old is not None:
        for pair in compared.values():
            if pair.old.error:
                continue  # there is nothing to compare with
            if pair.new.error:
                yield ctx.finding(RULE, "breaks", f"the template '{pair.name}' fails: {pair.new.error}", path=pair.file)
                continue
            failing = [(case, error) for case, error in pair.failing if case is not EMPTY]
            if failing:
                case, error = failing[0]
                message = f"the template '{pair.name}' fails on {conversations(failing)} that the old one renders"
                # A server that parses the arguments of calls never renders these.
                level = "unproven" if all(each in WIRE for each, _ in failing) else "breaks"
                witness = {"kind": "render", "case": case.name, "error": error}
                yield ctx.finding(RULE, level, f"{message}: {case.name}: {error}", path=pair.file, witness=witness)
    fresh = {n for n in ctx.new.chat_templates if ctx.old is None or n not in ctx.old.chat_templates}
    for name, result in (rendered(ctx.new) if fresh else {}).items():
        error = result.error or ("" if any(text is not None for text in result.texts) else result.errors[0])
        if name in fresh and error:
            file = ctx.new.chat_templates[name][0]
            yield ctx.finding(RULE, "breaks", f"the template '{name}' renders nothing: {error}", path=file)
