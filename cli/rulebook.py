"""Every rule of every command: what `explain`, `rules` and the generated pages show."""

from __future__ import annotations

from ..report.rule import Rule


def by_command() -> dict[str, list[Rule]]:
    """The rules by the command that reports them, each in order of id."""
    from ..bench.rules import RULES as OF_BENCH
    from ..checks.lint.registry import all_rules as of_lint
    from ..checks.validate.registry import all_rules as of_validate
    from ..release.rules import RULES as OF_STATUS
    from ..signing.reasons import rules as of_verify

    return {
        "lint": of_lint(),
        "validate": of_validate(),
        "verify": list(of_verify()),
        "status": list(OF_STATUS),
        "bench, drill and doctor": list(OF_BENCH),
    }


def all_rules() -> list[Rule]:
    """Every rule, by command and id."""
    return [rule for rules in by_command().values() for rule in rules]
