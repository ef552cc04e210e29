"""`interlock rules`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .explain import facts
from .options import Color, Output, OutputFormat, Outputs
from .rulebook import all_rules


def rules(
    family: Annotated[
        str, typer.Argument(metavar="[FAMILY]", help="only rules whose id starts so, such as HU1 or TOK")
    ] = "",
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """List the rules of every command.

    \b
    interlock rules
    interlock rules HU6
    interlock rules --output-format json
    """
    from ..report.blocks import Table
    from ..report.errors import BadInput
    from ..report.report import Report

    def verb() -> Report:
        chosen = [rule for rule in all_rules() if rule.id.lower().startswith(family.lower())]
        if not chosen:
            raise BadInput(family, "no rule or family starts so", hint="interlock rules lists them all")
        rows = [
            (
                rule.id,
                rule.name,
                rule.severity.value,
                rule.fix or "-",
                "pedantic" if rule.pedantic else "",
                rule.summary,
            )
            for rule in chosen
        ]
        report = Report(command="rules", inputs=len(chosen), rules=tuple(chosen))
        report.facts = {"rules": [facts(rule) for rule in chosen]}
        report.body = [Table(("rule", "name", "severity", "fix", "", "summary"), rows)]
        report.headline = f"{len(chosen)} rules; interlock explain RULE says more"
        return report

    return run("rules", Outputs(output_format, tuple(output or ()), color), verb)
