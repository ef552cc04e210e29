"""The contract of a validate rule.

A rule is one file with `RULE = Rule(...)` and `def check(ctx: Context) -> Iterator[Finding]`, listed in `registry`.
It reads facts from `ctx.new` and `ctx.old` (None when a model is checked alone), yields `ctx.finding(...)`, and
returns without a word where it has nothing to judge. It does not catch UnreadableModel: the engine does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ...config.settings import Contract
from ...report.finding import Finding, Location, Severity
from ...report.rule import Rule
from .contents import Same, same_bytes
from .side import Side

__all__ = ["CONTRACTS", "LEVELS", "SEVERITY", "STEPS", "Context", "Finding", "Level", "Rule", "RuleModule", "Step"]

Level = Literal["equal", "hot", "restart", "breaks", "unproven"]
Step = Literal[
    "preload", "verify", "flush-kv", "drain-sessions", "reload-tokenizer", "revalidate-adapters", "reembed-index"
]

LEVELS: tuple[Level, ...] = ("equal", "hot", "unproven", "restart", "breaks")
STEPS: tuple[Step, ...] = (
    "preload",
    "verify",
    "flush-kv",
    "drain-sessions",
    "reload-tokenizer",
    "revalidate-adapters",
    "reembed-index",
)
SEVERITY: dict[Level, Severity] = {
    "equal": Severity.INFO,
    "hot": Severity.INFO,
    "unproven": Severity.WARNING,
    "restart": Severity.WARNING,
    "breaks": Severity.ERROR,
}
CONTRACTS = ("wire", "ids", "tensor", "index", "strict")
_SHOWN = 160


@dataclass(slots=True)
class Context:
    """What a rule sees. `options` holds the choices of the command line that only some rules read."""

    new: Side
    old: Side | None = None
    contract: Contract = field(default_factory=Contract)
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    compared: dict[tuple[str, str], Same] = field(default_factory=dict[tuple[str, str], Same])

    def same(self, old: str, new: str) -> Same:
        """Whether a file of the old model and one of the new hold the same bytes; `unknown` for large alike ones."""
        if self.old is None or old not in self.old.tree.files or new not in self.new.tree.files:
            return "different"
        if (old, new) not in self.compared:
            self.compared[old, new] = same_bytes(self.old.tree.files[old], self.new.tree.files[new])
        return self.compared[old, new]

    def serves(self, level: Literal["wire", "ids", "tensor", "index", "strict"]) -> bool:
        """Whether clients exchange at least this with the server, so that changing it breaks them."""
        return CONTRACTS.index(self.contract.level) >= CONTRACTS.index(level)

    def client_level(self, level: Literal["wire", "ids", "tensor", "index", "strict"]) -> Level:
        """`breaks` where clients rely on `level`, `restart` where only the server does."""
        return "breaks" if self.serves(level) else "restart"

    def binds(self, what: Literal["inputs", "outputs"], how: Literal["name", "index"]) -> bool:
        """Whether clients find the graph's inputs or outputs by name or by index (or, at level index, by both)."""
        if not self.serves("tensor"):
            return False
        return getattr(self.contract.bind, what) == how or self.serves("index")

    def finding(
        self,
        rule: Rule,
        level: Level,
        message: str,
        *,
        path: str = "",
        pointer: str = "",
        tensor: str = "",
        tensors: Collection[str] = (),
        files: Mapping[str, str] | None = None,
        side: Side | None = None,
        line: int | None = None,
        old: object = None,
        new: object = None,
        why: str = "",
        hint: str = "",
        witness: dict[str, Any] | None = None,
        proof: str = "",
        plan: tuple[Step, ...] = (),
    ) -> Finding:
        """A finding of `rule` at `level`.

        `path` is a file name inside `side` (the new model unless given), `pointer` a JSON pointer or protobuf path
        in it and `tensor` the tensor's name; of a finding on many, `tensors` names all, and `files` the file of each
        that is not in `path`: who accepts one of them accepts no other. `old` and `new` are the two values, appended
        as `: old → new`.
        """
        if old is not None or new is not None:
            message = f"{message}: {_short(old)} → {_short(new)}"
        of = side or self.new
        covers = tuple(Location(of.show((files or {}).get(name, path)), object=name) for name in sorted(tensors))
        return Finding(
            rule=rule.id,
            name=rule.name,
            severity=SEVERITY[level],
            message=message,
            where=Location(of.show(path), line=line, object=tensor or min(tensors, default=""), pointer=pointer),
            why=why or rule.why,
            hint=hint or rule.hint,
            url=rule.url,
            level=level,
            witness=witness,
            proof=proof,
            plan=plan,
            covers=covers,
        )


class RuleModule(Protocol):
    """What `registry` imports."""

    RULE: Rule

    def check(self, ctx: Context) -> Iterator[Finding]:
        """Judge."""
        ...


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
