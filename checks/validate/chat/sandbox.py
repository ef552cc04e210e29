"""Runs chat templates in a process with limits: a template is code that came with a download."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .cases import CASES, Case

SECONDS = 10
MEMORY = 1 << 30
OUTPUT = 200_000
_CLOCK = "26 Jul 2024"


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a template makes of every case: a text or an error each. `error` is set where nothing could be run, and
    `stopped` where that is because it took more than it may. `steps` are what it says, (line, statement) each, and
    `bare` what of that remains where clients send no variables of their own."""

    texts: tuple[str | None, ...] = ()
    errors: tuple[str, ...] = ()
    variables: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    error: str = field(default="")
    stopped: bool = False
    steps: tuple[tuple[int, str], ...] = ()
    bare: tuple[tuple[int, str], ...] = ()

    def text(self, case: Case) -> str | None:
        """The text of a case, None where it raised or nothing ran."""
        return self.texts[CASES.index(case)] if self.texts else None


def render(sources: Sequence[tuple[str, dict[str, Any]]]) -> list[Rendered]:
    """Render every (template, special tokens) over all cases.

    All run in one process; where that is stopped, each runs in its own. A template that takes more than its time,
    memory or output is an error in its own result.
    """
    together = _run(sources)
    if isinstance(together, list):
        return together
    if len(sources) == 1:
        return [Rendered(error=together, stopped=True)]
    return [each for source in sources for each in render([source])]


def _run(sources: Sequence[tuple[str, dict[str, Any]]]) -> list[Rendered] | str:
    """The results, or why the process did not end well."""
    request = {
        "templates": [
            {"source": source, "cases": [{**tokens, **case.variables} for case in CASES]} for source, tokens in sources
        ],
        "limit": OUTPUT,
        "clock": _CLOCK,
        "seconds": SECONDS,
        "memory": MEMORY,
    }
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(Path(__file__).with_name("child.py"))],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"took longer than {SECONDS} seconds"
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"needs too much time or memory ({words[-1][:100] if words else f'exit {done.returncode}'})"
    return [_rendered(answer) for answer in json.loads(done.stdout)]


def _rendered(answer: dict[str, Any]) -> Rendered:
    if "error" in answer:
        return Rendered(error=str(answer["error"]))
    results: list[dict[str, str]] = answer["results"]
    return Rendered(
        tuple(each.get("text") for each in results),
        tuple(each.get("error", "") for each in results),
        frozenset(answer["variables"]),
        frozenset(answer["required"]),
        steps=tuple((line, text) for line, text in answer["steps"]),
        bare=tuple((line, text) for line, text in answer["bare"]),
    )
