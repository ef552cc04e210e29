"""What the engine itself says: a file of the model that cannot be read, which never counts as a pass."""

from __future__ import annotations

from ...models.errors import UnreadableModel
from ...models.source import TRUNCATED
from ...report.finding import Finding, Location, Severity
from .rulebase import Rule

_UNREADABLE = Rule(
    id="FIL-READ",
    name="unreadable-file",
    family="FIL",
    severity=Severity.ERROR,
    summary="a file of the model cannot be read as what it claims to be",
    what="Every artefact's header is read with bounds checked: truncation, overflow, overlap, hostile lengths.",
    why="what cannot be read cannot be served, and is never counted as compatible",
    hint="fetch the file again and compare its digest with the publisher's",
)

_TRUNCATED = Rule(
    id="FIL-TRUNC",
    name="truncated-file",
    family="FIL",
    severity=Severity.ERROR,
    summary="a file of the model ends before its header says it does",
    what="Where the header of a safetensors, GGUF or ONNX file puts its last byte, against the file's size.",
    why="a download or copy that stopped half way loads with an error, or maps garbage",
    hint=TRUNCATED,
)
RULES = (_UNREADABLE, _TRUNCATED)


def unreadable(problem: UnreadableModel, shown: str) -> Finding:
    """The finding for a problem, whose file messages call `shown`."""
    at = "" if problem.offset is None else f" at byte {problem.offset}"
    rule = _TRUNCATED if problem.hint == TRUNCATED else _UNREADABLE
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=Severity.ERROR,
        message=f"cannot be read: {problem.reason}{at}",
        where=Location(shown),
        why=rule.why,
        hint=problem.hint or rule.hint,
        url=rule.url,
    )
