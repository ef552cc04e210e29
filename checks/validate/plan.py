"""The swap plan: what must happen around the swap, in order, and which finding asks for each step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .rulebase import STEPS, Finding

_WHAT = {
    "preload": "load and warm up the new version beside the old one",
    "verify": "verify the new version's signature and digest before it takes traffic",
    "flush-kv": "drop prefix, KV and encoder caches at the swap; they hold values of the old weights",
    "drain-sessions": "let running sessions end, or reset their recurrent state, before they meet the new version",
    "reload-tokenizer": "reload the tokenizer in every worker together with the weights",
    "revalidate-adapters": "check every loaded adapter against the new base before it serves again",
    "reembed-index": "embed stored vectors again: old and new vectors do not share a space",
}


def plan(findings: Iterable[Finding], verdict: str) -> list[dict[str, Any]]:
    """The ordered steps as `{"step", "what", "because": [{"rule", "message"}]}`.

    Preload and verify belong to every swap, so they need no finding. There are none where nothing changes, or may.
    Who accepts a break, or what is unproven, still has to do what it asks for; an accepted note asks for nothing.
    """
    if verdict in ("equal", "breaks"):
        return []
    asked: dict[str, list[dict[str, str]]] = {"preload": [], "verify": []}
    for finding in findings:
        settled = finding.suppressed is not None and finding.level in ("equal", "hot")
        for step in () if settled else finding.plan:
            asked.setdefault(step, []).append({"rule": finding.rule, "message": finding.message})
    return [{"step": step, "what": _WHAT[step], "because": asked[step]} for step in STEPS if step in asked]
