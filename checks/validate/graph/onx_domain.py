"""ONX-DOMAIN: the graph uses operators of a domain that the serving process may not have."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.onnx import OnnxModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .built_in import built_in
from .contract import pairs
from .runtimes import NAME, parse

RULE = Rule(
    id="ONX-DOMAIN",
    name="custom-operators-added",
    family="ONX",
    severity=Severity.WARNING,
    summary="the graph uses an operator domain that the old one did not",
    what="Domains of operators that are used, not merely imported, and not defined by functions in the file.",
    why="custom operators come from a library that the running process has not loaded; the load fails without it",
    hint="register the operator library in the server first, or export without custom operators",
    exemptions=(
        "ai.onnx and ai.onnx.ml",
        "domains imported but not used by any node",
        "operators that the onnxruntime of contract.runtimes brings along, such as those its own optimizer writes",
    ),
)

_STANDARD = frozenset({"", "ai.onnx.ml"})


def check(ctx: Context) -> Iterator[Finding]:
    """Domains that NEW uses and OLD did not."""
    for pair in pairs(ctx):
        before = used(pair.old)
        for domain, operators in sorted(used(pair.new).items()):
            if domain not in _STANDARD and domain not in before:
                unknown = sorted(_missing(ctx, domain, operators))
                if not unknown:
                    continue
                names = ", ".join(unknown[:5])
                yield ctx.finding(
                    RULE,
                    "restart",
                    f"uses operators of the domain '{domain}': {names}",
                    path=pair.new.file,
                    pointer="graph.node",
                    hint=_DECLARE if operators <= built_in(domain).keys() else "",
                )


_DECLARE = (
    "these are part of onnxruntime: declare the release that serves as contract.runtimes.onnxruntime in interlock.yaml"
)


def _missing(ctx: Context, domain: str, operators: set[str]) -> set[str]:
    """Operators that the declared runtime is not known to bring along."""
    have = parse(ctx.contract.runtimes.get(NAME, ""))
    known = built_in(domain)
    return {each for each in operators if have is None or have < known.get(each, _NEVER)}


_NEVER = (1 << 16, 0)


def used(model: OnnxModel) -> dict[str, set[str]]:
    """Operators by domain, those that the file defines itself left out."""
    own = {(domain, name) for domain, name, _ in model.functions}
    result: dict[str, set[str]] = {}
    for domain, operator in model.histogram():
        if (domain, operator) not in own:
            result.setdefault(domain, set()).add(operator)
    return result
