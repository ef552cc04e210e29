"""A rule's documentation as markdown: the page in docs/rules, `explain`, and the help that SARIF carries."""

from __future__ import annotations

import os
from urllib.parse import quote

from .rule import Rule

_FIXES = {"safe": "`--fix`", "unsafe": "`--fix --unsafe-fixes`", "": "by hand"}


def documentation() -> str:
    """Where the documentation is published, if INTERLOCK_DOCS_URL says so; without it there are no links."""
    return os.environ.get("INTERLOCK_DOCS_URL", "").rstrip("/")


def link(rule: Rule) -> str:
    """The absolute address of a rule's page, or "" where the documentation is not published."""
    return f"{documentation()}/{quote(rule.url.removeprefix('docs/'))}" if documentation() else ""


def page(rule: Rule) -> str:
    """The whole page."""
    runs = "with `--pedantic`" if rule.pedantic else "by default"
    parts = [
        f"# {rule.id}: {rule.name}",
        sentence(rule.summary),
        "\n".join(
            [
                "| severity | fix | runs | since |",
                "| --- | --- | --- | --- |",
                f"| {rule.severity} | {_FIXES[rule.fix]} | {runs} | {rule.since} |",
            ]
        ),
        _section("What it looks for", sentence(rule.what)),
        _section("Why it bites", sentence(rule.why)),
        *examples(rule, "## "),
        _section("What to do", sentence(rule.hint)),
        _section("Not reported", "" if rule.family == "verify" else _items(rule.exemptions)),
        _section("References", _items(tuple(f"<{url}>" if "://" in url else url for url in rule.references))),
        _section("Accept it", _accepted(rule)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def brief(rule: Rule) -> str:
    """What SARIF viewers show beside a finding: what, why, next step, examples."""
    parts = [
        rule.what or rule.summary,
        rule.why,
        rule.hint and f"**Next step:** {rule.hint}",
        *examples(rule, "**", "**"),
    ]
    return "\n\n".join(part for part in parts if part)


def examples(rule: Rule, before: str, after: str = "") -> list[str]:
    """The bad and the good example as fenced code under a heading each."""
    titled = (("Bad", rule.bad), ("Good", rule.good))
    return [f"{before}{title}{after}\n\n{fenced(code, rule.example)}" for title, code in titled if code.strip()]


def fenced(code: str, language: str) -> str:
    """Code in a fence that it cannot close."""
    ticks = "```"
    while ticks in code:
        ticks += "`"
    return f"{ticks}{language}\n{code.strip(chr(10))}\n{ticks}"


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def sentence(text: str) -> str:
    """One of our messages as a sentence of prose: a capital first, a period last."""
    text = text.strip()
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":", "!", "?")) else ".")


def _items(items: tuple[str, ...]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _accepted(rule: Rule) -> str:
    if rule.id.startswith("HU"):
        comment = f"# interlock: ignore[{rule.id}] why this is right here"
        return f"On the line or the line above, always with a reason:\n\n{fenced(comment, 'yaml')}"
    if rule.family == "verify":
        return _items(rule.exemptions)
    if not rule.family.isupper():
        return ""  # a fact of one run, which the next run measures again
    accepted = (
        f"contract:\n  accept:\n    - rule: {rule.id}\n      reason: why this is right here\n      until: 2027-01-31"
    )
    return f"In interlock.yaml, always with a reason, best with a last day:\n\n{fenced(accepted, 'yaml')}"
