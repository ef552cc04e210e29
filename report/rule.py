"""Rule: what a rule file declares about itself. Everything shown about rules is generated from these."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule's identity and documentation.

    `what` is what the rule looks for, `why` the cost with a public incident, `bad` and `good` are minimal examples in
    the language `example`, `exemptions` lists what is deliberately not reported. `fix` is `safe`, `unsafe` or empty.
    A rule with `pedantic` set runs only when asked for; `reads` names the sources it needs.
    """

    id: str
    name: str
    family: str
    severity: Severity
    summary: str
    what: str
    why: str
    hint: str
    bad: str = ""
    good: str = ""
    example: str = "yaml"
    exemptions: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    since: str = "0.1.0"
    fix: str = ""
    pedantic: bool = False

    @property
    def url(self) -> str:
        """Where the rule's page is, relative to the documentation root."""
        return f"docs/rules/{self.id}.md"
