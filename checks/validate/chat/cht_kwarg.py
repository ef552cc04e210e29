"""CHT-KWARG: the template needs a variable that clients do not send."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .cases import CASES
from .templates import pairs, special_tokens

RULE = Rule(
    id="CHT-KWARG",
    name="template-needs-variable",
    family="CHT",
    severity=Severity.ERROR,
    summary="the template reads a variable that the old one did not",
    what="The variables that a template reads, and neither it nor the server sets, and which of them it cannot do "
    "without.",
    why="requests of clients that do not send the variable render to a wrong prompt or fail",
    hint="give the variable a default in the template",
    bad="{{ persona }}",
    good="{% if persona is defined %}{{ persona }}{% endif %}",
    example="text",
    exemptions=("variables with a default, or only tested or compared",),
    reads=("chat-template",),
)

# What servers pass by themselves for every request; tools they have from the client.
_PASSED = frozenset(CASES[0].variables).intersection(*(case.variables for case in CASES)) - {"tools"}


def check(ctx: Context) -> Iterator[Finding]:
    """New required variables break; new optional ones are a note."""
    for pair in pairs(ctx):
        if pair.old.error or pair.new.error:
            continue
        required = sorted(pair.new.required - pair.old.required)
        if required:
            message = f"the template '{pair.name}' cannot do without {', '.join(required)}"
            yield ctx.finding(RULE, "breaks", message, path=pair.file)
        optional = sorted(pair.new.variables - pair.old.variables - {*required, *_PASSED, *special_tokens(ctx.new)})
        if optional:
            message = f"the template '{pair.name}' takes new variables: {', '.join(optional)}"
            yield ctx.finding(RULE, "hot", message, path=pair.file, hint="nothing to do: it renders without them")
