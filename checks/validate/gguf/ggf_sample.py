"""GGF-SAMPLE: the file asks for other sampling defaults than before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.gguf import GgufModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .files import pairs

RULE = Rule(
    id="GGF-SAMPLE",
    name="sampling-defaults-changed",
    family="GGF",
    severity=Severity.WARNING,
    summary="answers are sampled with other defaults",
    what="The keys general.sampling.*, with the defaults of llama.cpp filled in.",
    why="llama.cpp takes them for requests that bring no parameters: those clients get answers of another kind",
    hint="say so in the release notes, or pin the parameters on the server's command line",
    references=("https://github.com/ggml-org/llama.cpp/pull/17120",),
    exemptions=("a default that is only written out",),
)

_PREFIX = "general.sampling."
_DEFAULTS: dict[str, Any] = {
    "temp": 0.8,
    "top_k": 40,
    "top_p": 0.95,
    "min_p": 0.05,
    "xtc_probability": 0.0,
    "xtc_threshold": 0.1,
    "penalty_last_n": 64,
    "penalty_repeat": 1.0,
    "mirostat": 0,
    "mirostat_tau": 5.0,
    "mirostat_eta": 0.1,
}


def check(ctx: Context) -> Iterator[Finding]:
    """One finding for all keys of a file that differ."""
    for pair in pairs(ctx):
        old, new = _sampling(pair.old), _sampling(pair.new)
        changed = [
            f"{key} {_shown(old.get(key))} → {_shown(new.get(key))}"
            for key in sorted(old.keys() | new.keys())
            if old.get(key) != new.get(key)
        ]
        if changed:
            message = f"sampling defaults changed: {', '.join(changed)}"
            yield ctx.finding(RULE, "restart", message, path=pair.new.file, pointer=_PREFIX)


def _sampling(model: GgufModel) -> dict[str, Any]:
    """Every setting in force; floats as the 32 bits that the file holds say them."""
    own = {key.removeprefix(_PREFIX): value for key, value in model.metadata.items() if key.startswith(_PREFIX)}
    return {key: round(value, 6) if isinstance(value, float) else value for key, value in {**_DEFAULTS, **own}.items()}


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)
