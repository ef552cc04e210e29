"""FIL-FORMAT: the weights come in another container."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.tree import ModelTree
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule

RULE = Rule(
    id="FIL-FORMAT",
    name="container-changed",
    family="FIL",
    severity=Severity.WARNING,
    summary="the weights come in another container format",
    what="Which of ONNX, safetensors, GGUF, TensorRT engine and pickle files hold the weights on each side.",
    why="another container needs another loader, often another server",
    hint="publish the format that the servers were started for",
)

CONTAINERS = ("onnx", "safetensors", "gguf", "engine", "pickle")


def check(ctx: Context) -> Iterator[Finding]:
    """Containers on one side only."""
    if ctx.old is None:
        return
    old, new = _containers(ctx.old.tree), _containers(ctx.new.tree)
    # An added format beside the old one changes nothing for a server that loads the old one.
    if old - new:
        yield ctx.finding(
            RULE,
            "restart",
            "the weights come in another container",
            old=", ".join(sorted(old)),
            new=", ".join(sorted(new)) or "no weights",
        )


def _containers(tree: ModelTree) -> set[str]:
    return {kind for kind in CONTAINERS if kind in tree.kinds}
