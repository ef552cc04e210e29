"""What status reports, as rules: id, meaning, cost and next step in one place."""

from __future__ import annotations

from ..report.finding import Finding, Location, Severity
from ..report.rule import Rule


def _rule(
    name: str, id_: str, *, summary: str, what: str, why: str, hint: str, severity: Severity = Severity.ERROR
) -> Rule:
    return Rule(
        id=id_,
        name=name,
        family="release",
        severity=severity,
        summary=summary,
        what=what,
        why=why,
        hint=hint,
        example="",
    )


OPEN = _rule(
    "unfinished-request",
    "REL-OPEN",
    summary="a promotion or rollback of the stage began and did not end",
    what="the ledger has a begin without done or abort",
    why="between its steps the tag and the serving side may name two versions",
    hint="run the same command again, or put the last good pair back: interlock rollback --in STAGE",
)
TAG = _rule(
    "tag-moved",
    "REL-TAG",
    summary="the stage's tag does not name the last good version",
    what="the registry's tag differs from the pair that the ledger finished last",
    why="whoever deploys by the tag gets a version that no gate let through",
    hint="put the last good pair back: interlock promote DIGEST --to STAGE",
)
SERVING = _rule(
    "serving-moved",
    "REL-SERVING",
    summary="the stage does not serve the last good version",
    what="version.json differs from the pair that the ledger finished last",
    why="users get a version that no gate let through, or none",
    hint="put the last good pair back: interlock promote DIGEST --to STAGE",
)
LEDGER = _rule(
    "ledger-cut",
    "REL-LEDGER",
    summary="the ledger lacks an event that moved a pointer",
    what="version.json names the event that moved it, by number and digest, and the ledger does not have it",
    why="an audit log whose end can be removed unnoticed proves nothing",
    hint="restore the ledger from a backup, and ask who could write there",
)
DAMAGE = _rule(
    "version-damaged",
    "REL-DAMAGE",
    summary="the files behind a pointer are not those of the version",
    what="a file is missing, added, or has another size; with --verify, other bytes",
    why="a server that restarts now loads something that nobody signed, or nothing",
    hint="promote another version and roll back: a damaged version is replaced when it is promoted",
)
GATES = _rule(
    "no-gates",
    "REL-GATES",
    summary="it names no gates, so no version can be let in",
    what="stages.STAGE.gates is empty or absent",
    why="promote refuses every version: what no gate looked at has not passed",
    hint="name the gates of the stage, such as gates: [verify, validate]",
    severity=Severity.INFO,
)

RULES = (OPEN, TAG, SERVING, LEDGER, DAMAGE, GATES)


def finding(rule: Rule, stage: str, path: str, message: str, hint: str = "") -> Finding:
    """A finding about a stage declared in the file `path`."""
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        message=message,
        where=Location(path, object=f"stage {stage}"),
        why=rule.why,
        hint=hint or rule.hint,
        url=rule.url,
    )
