"""The verdict for people: the headline, the swap plan and what a delta would ship."""

from __future__ import annotations

from typing import Any

from ...report.blocks import Block, Table, Text
from ...report.finding import Finding
from .rulebase import LEVELS, Level
from .verdict import FailOn, fails

# What a verdict means where there is no OLD: such a model is consistent in itself, or is not, or nobody knows.
CONSISTENT: dict[str, bool] = {"equal": True, "hot": True, "breaks": False}


def headline(
    level: Level, findings: list[Finding], steps: list[dict[str, Any]], *, unread: int, alone: bool, ended: list[str]
) -> str:
    """The last line: verdict, counts, exceptions that are over, and the steps of the plan where there is one."""
    over = "".join(f"; {each}" for each in ended)
    if unread:
        return f"verdict: none — {_count(unread, 'file')} could not be read{over}"
    standing = [f for f in findings if f.suppressed is None]
    parts = [
        _count(count, word)
        for word, severity in (("error", "error"), ("warning", "warning"), ("note", "info"))
        if (count := sum(f.severity == severity for f in standing))
    ]
    accepted = len(findings) - len(standing)
    if accepted:
        parts.append(f"{accepted} accepted")
    text = f"verdict: {_word(level, alone=alone)}" + (f" — {', '.join(parts)}" if parts else "")
    text += over
    if steps:
        text += f"; plan: {', '.join(step['step'] for step in steps)}"
    return text


def refusal(level: Level, fail_on: FailOn, *, alone: bool) -> str:
    """Why the gate says no: the verdict, and which ones pass."""
    if alone:
        return f"the verdict is {_word(level, alone=True)} (--fail-on {fail_on})"
    passing = [each for each in LEVELS if not fails(each, fail_on)]
    listed = f"{', '.join(passing[:-1])} and {passing[-1]}" if len(passing) > 1 else passing[0]
    return f"the verdict is {level}; with --fail-on {fail_on} only {listed} may pass"


def _word(level: Level, *, alone: bool) -> str:
    """A verdict as it is called: without an OLD, a model is consistent or not."""
    consistent = CONSISTENT.get(level) if alone else None
    return level if consistent is None else "consistent" if consistent else "inconsistent"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def body(facts: dict[str, Any]) -> list[Block]:
    """The plan with what asks for each step; runs, memory and delta where they are known."""
    blocks: list[Block] = []
    if facts["runs"] is not None:
        where = f" on {facts['provider']}" if facts["provider"] else ""
        runs = (
            f"{file} ran {_count(count, 'time')} on generated inputs{where}" for file, count in facts["runs"].items()
        )
        blocks.append(Text("\n".join(runs) or "nothing was run: there is no ONNX graph to run", title="run"))
    delta, memory, steps = facts["delta"], facts["memory"], facts["plan"]
    if delta is not None:
        blocks.append(Text(_delta(delta), title="delta"))
    if memory is not None:
        none = "-" if memory["kv_per_token"] == 0 else "?"
        rows = [
            (
                each["name"],
                _gigabytes(each["peak"]),
                _gigabytes(each["left"]),
                none if each["tokens"] is None else f"{each['tokens']:,}",
                "yes" if each["fits"] else "no",
            )
            for each in memory["strategies"]
        ]
        columns = ("swap", "weights/GPU", "left/GPU", "KV tokens", "fits")
        right = frozenset(columns[1:4])
        blocks.append(Table(columns, rows, title=f"memory, of {_gigabytes(memory['capacity'])} usable", right=right))
    if steps:
        rows = [
            (str(i), step["step"], step["what"], ", ".join(dict.fromkeys(b["rule"] for b in step["because"])) or "-")
            for i, step in enumerate(steps, 1)
        ]
        blocks.append(Table(("#", "step", "what", "asked by"), rows, title="swap plan", right=frozenset({"#"})))
    return blocks


def _delta(delta: dict[str, Any]) -> str:
    tensors = delta["tensors"]
    parts = [f"{count} {name}" for name, count in tensors.items() if count]
    bound = "" if delta["exact"] else "at most "
    ships = f"{bound}{delta['bytes_to_ship']:,} of {delta['bytes_total']:,} bytes"
    text = f"tensors: {', '.join(parts) or 'none'}; ships {ships}"
    if delta["digests"]:
        text += f", by digests in model.sig ({delta['digests']}; interlock verify checks them)"
    for group in delta["subgraphs"][:3]:
        kinds = ", ".join(f"{count} {name}" for name, count in list(group["types"].items())[:4])
        text += f"\nsubgraph of {group['operators']} operators at '{group['first']}': {kinds}"
    more = len(delta["subgraphs"]) - 3
    return text + (f"\nand {more} more subgraphs" if more > 0 else "")


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
