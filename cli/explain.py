"""`interlock explain`."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from ..report.errors import BadInput
from ..report.rule import Rule
from ..report.style import Style
from .emit import run
from .options import Color, Output, OutputFormat, Outputs
from .rulebook import all_rules


def explain(
    rules: Annotated[list[str], typer.Argument(metavar="RULE...", help="rule ids or names, or a family such as HU1")],
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """What a rule looks for, why it matters, what is exempt, and how to satisfy it.

    \b
    interlock explain HU103
    interlock explain liveness-kills-load
    interlock explain HU1                    every rule of a family
    """
    from ..report.blocks import Text
    from ..report.report import Report
    from ..report.rulepage import page

    def verb() -> Report:
        chosen = [rule for name in rules for rule in find(name)]
        report = Report(command="explain", inputs=len(chosen), rules=tuple(chosen))
        report.facts = {"rules": [facts(rule) for rule in chosen]}
        report.headline = ", ".join(rule.url for rule in chosen)
        report.body = [Text(_terminal(page(rule), _style(color)) if plain else page(rule)) for rule in chosen]
        return report

    plain = output_format == "human" and not output
    return run("explain", Outputs(output_format, tuple(output or ()), color), verb)


def _style(color: str) -> Style:
    import sys

    from ..report.style import wants_colour

    return Style(wants_colour(color, sys.stdout))


def find(name: str) -> list[Rule]:
    """The rules that an id, a name or a family means. Raises BadInput when there is none."""
    wanted = name.strip().lower()
    known = all_rules()
    hits = [rule for rule in known if wanted in (rule.id.lower(), rule.name.lower())]
    hits = hits or [rule for rule in known if rule.family.lower() == wanted]
    if hits:
        return hits
    from difflib import get_close_matches

    names = {text.lower(): text for rule in known for text in (rule.id, rule.name, rule.family)}
    close = get_close_matches(wanted, names, n=1)
    hint = f"did you mean {names[close[0]]}?" if close else "interlock rules lists them"
    raise BadInput(name, "no such rule", hint=hint)


def facts(rule: Rule) -> dict[str, object]:
    """A rule's documentation as JSON data."""
    names = ("id", "name", "family", "summary", "what", "why", "hint", "bad", "good", "since", "fix", "pedantic", "url")
    return {
        **{name: getattr(rule, name) for name in names},
        "severity": rule.severity.value,
        "exemptions": list(rule.exemptions),
        "references": list(rule.references),
        "reads": list(rule.reads),
    }


def _terminal(markdown: str, style: Style) -> str:
    """Markdown for a terminal: headings stand out, code is indented, paragraphs are wrapped."""
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    lines: list[str] = []
    heads: list[str] = []
    code = False
    for line in markdown.rstrip().split("\n"):
        if line.startswith("```"):
            code = not code
        elif code:
            lines.append(style("    " + line, "cyan") if line else "")
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.replace("`", "").strip("|").split("|")]
            if heads and not cells[0].startswith("-"):
                lines.append(", ".join(f"{head}: {cell}" for head, cell in zip(heads, cells, strict=True)))
            heads = heads or cells
        elif heading := re.match(r"#+ (.*)", line):
            lines.append(style(heading.group(1), "bold"))
        elif line.startswith("- "):
            lines += textwrap.wrap(line.replace("<", "").replace(">", ""), width, subsequent_indent="  ")
        else:
            lines += textwrap.wrap(line, width) or [""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
