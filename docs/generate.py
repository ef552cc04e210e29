"""Writes the documentation that comes from code: rule pages, commands, tables in the guides, the schema.

python docs/generate.py            write what changed, remove pages of rules that are gone
python docs/generate.py --check    write nothing; exit 1 where a file is not what would be written
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import get_type_hints

import yaml
from interlock.checks.lint.rulebase import FAMILIES
from interlock.cli import topics
from interlock.cli.command import run
from interlock.cli.rulebook import by_command
from interlock.cli.table import COMMANDS, TOPICS, Command
from interlock.config.schema import schema
from interlock.report import exits
from interlock.report.finding import Severity
from interlock.report.rule import Rule
from interlock.report.rulepage import fenced, page
from interlock.templates.values import Values

ROOT = Path(__file__).resolve().parent.parent
_VALIDATE = {
    "CFG": "model configuration",
    "CHT": "chat templates",
    "EMB": "embedding spaces",
    "FIL": "files",
    "GEN": "generation settings",
    "GGF": "GGUF files",
    "LRA": "LoRA adapters",
    "MEM": "memory",
    "ONX": "ONNX graphs",
    "RUN": "both versions, run side by side",
    "SPC": "speculative decoding",
    "STA": "state and caches",
    "TOK": "tokenizers",
    "TRI": "Triton model configuration",
    "TRT": "TensorRT engines",
    "WTS": "weights",
}


def files() -> dict[Path, str]:
    """Every generated file with its text."""
    others = by_command()
    lint, validate = others.pop("lint"), others.pop("validate")
    result = {
        ROOT / "docs" / "interlock.schema.json": json.dumps(schema(), indent=2) + "\n",
        ROOT / "docs" / "rules" / "README.md": index(lint, validate, others),
        ROOT / "docs" / "commands.md": commands(),
    }
    result |= {ROOT / rule.url: page(rule) for rule in (*lint, *validate, *chain(*others.values()))}
    guide = {
        ROOT / "README.md": {"rules": families(lint)},
        ROOT / "docs" / "ci.md": {"exit codes": exit_codes(), "action inputs": action_inputs()},
        ROOT / "docs" / "render.md": {
            "values": "\n".join(["| value | default | what |", "| --- | --- | --- |", *values(Values)])
        },
    }
    for path, parts in guide.items():
        text = path.read_text(encoding="utf-8")
        for name, part in parts.items():
            text = spliced(text, name, part)
        result[path] = text
    return result


def spliced(text: str, name: str, part: str) -> str:
    """The text with what stands between the two comments that bear the name replaced; unchanged without them."""
    begin, end = f"<!-- {name}: begin (docs/generate.py) -->", f"<!-- {name}: end -->"
    head, found, rest = text.partition(begin)
    return f"{head}{begin}\n\n{part}\n\n{end}{rest.partition(end)[2]}" if found else text


def commands() -> str:
    """The help of every command and topic, as a terminal of 100 columns shows it."""
    parts = [
        "# Commands",
        "Generated from the commands themselves: `interlock COMMAND --help`, `interlock help TOPIC`.",
    ]
    group = ""
    for command in COMMANDS:
        if command.group != group:
            group = command.group
            parts.append(f"## {group}")
        parts.append(f"### interlock {command.name}")
        parts.append(fenced(_printed(command, ["--help"]), "text"))
    parts.append("## Topics")
    parts += [fenced(topics.text(name), "text") for name in TOPICS]
    return "\n\n".join(parts) + "\n"


def _printed(command: Command, args: list[str]) -> str:
    """What a command prints, without colour, at a fixed width."""
    fixed, kept = {"COLUMNS": "100", "NO_COLOR": "1"}, dict(os.environ)
    os.environ.update(fixed)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            run(command, args)
    finally:
        os.environ.clear()
        os.environ.update(kept)
    return stream.getvalue()


def exit_codes() -> str:
    """The table of exit codes."""
    return "\n".join(["| code | meaning |", "| --- | --- |", *(f"| {c} | {m} |" for c, m in exits.MEANING.items())])


def action_inputs() -> str:
    """The inputs of the composite action with their defaults."""
    action = yaml.safe_load((ROOT / ".github/actions/interlock/action.yml").read_text(encoding="utf-8"))
    rows = [
        f"| `{name}` | {_code(spec['default'])} | {spec['description']} |" for name, spec in action["inputs"].items()
    ]
    return "\n".join(["| input | default | what |", "| --- | --- | --- |", *rows])


def values(kind: type, path: str = "") -> Iterator[str]:
    """A table row for every value of `render`, by its path."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        inner, name = hints[field.name], f"{path}{field.name}"
        if is_dataclass(inner):
            yield from values(inner, f"{name}.")
        else:
            default = getattr(kind(), field.name)
            shown = _code(json.dumps(default)) if default not in ("", [], {}) else ""
            yield f"| `{name}` | {shown} | {field.metadata['doc']} |"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def index(lint: list[Rule], validate: list[Rule], others: dict[str, list[Rule]]) -> str:
    """The page that lists all rules by family."""
    parts = ["# Rules", "Generated from the rules themselves; `interlock explain ID` shows the same in a terminal."]
    for command, rules, titles in (("lint", lint, FAMILIES), ("validate", validate, _VALIDATE)):
        parts.append(f"## interlock {command}")
        for family in dict.fromkeys(rule.family for rule in rules):
            title = titles.get(family, "")
            parts.append(f"### {family}{f': {title}' if title else ''}")
            parts.append(table([rule for rule in rules if rule.family == family]))
    for command, rules in others.items():
        parts += [f"## interlock {command}", table(rules)]
    return "\n\n".join(parts) + "\n"


def table(rules: list[Rule]) -> str:
    """One row a rule, linked to its page."""
    lines = ["| rule | severity | fix | what |", "| --- | --- | --- | --- |"]
    for rule in rules:
        name = f"[{rule.id}]({rule.id}.md) {rule.name}"
        pedantic = " (pedantic)" if rule.pedantic else ""
        summary = rule.summary.replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| {name} | {rule.severity}{pedantic} | {rule.fix} | {summary} |")
    return "\n".join(lines)


def families(lint: list[Rule]) -> str:
    """README's table: a row a family with its rules by severity, and those with a fix (unsafe ones in brackets)."""
    lines = ["| family | error | warning | info | with a fix |", "| --- | --- | --- | --- | --- |"]
    for family in dict.fromkeys(rule.family for rule in lint):
        rules = [rule for rule in lint if rule.family == family]
        cells = [" ".join(f"[{r.id}]({r.url})" for r in rules if r.severity is severity) for severity in Severity]
        fixes = " ".join(rule.id if rule.fix == "safe" else f"({rule.id})" for rule in rules if rule.fix)
        lines.append(f"| {family}: {FAMILIES[family]} | {' | '.join(cells)} | {fixes} |")
    return "\n".join(lines)


def stale(wanted: dict[Path, str]) -> list[Path]:
    """Generated pages on disk that belong to no rule any more."""
    return [path for path in sorted((ROOT / "docs" / "rules").glob("*.md")) if path not in wanted]


def main(check: bool) -> int:
    """Write or compare; returns the exit code."""
    wanted = files()
    changed = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    gone = stale(wanted)
    for path in (*changed, *gone):
        sys.stderr.write(
            f"{'stale' if check else 'removed' if path in gone else 'written'}: {path.relative_to(ROOT)}\n"
        )
    if check:
        return int(bool(changed or gone))
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    for path in gone:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
