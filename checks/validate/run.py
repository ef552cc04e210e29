"""The verb `validate`: may NEW replace OLD under traffic, or, without OLD, is NEW consistent in itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...config.load import load
from ...config.settings import Contract
from ...models.errors import UnreadableModel
from ...models.source import TRUNCATED
from ...models.tree import read_tree
from ...report.blocks import Block, Table
from ...report.errors import NothingToCheck
from ...report.finding import Finding, Location, Severity
from ...report.report import Report, ordered
from . import registry
from .contents import identical
from .plan import plan as swap_plan
from .rulebase import Context, Level, Rule
from .side import Side
from .verdict import FailOn, fails, judged, verdict

UNREADABLE = Rule(
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
# Said by the engine itself: any rule may meet an unreadable file.
OWN = (UNREADABLE, _TRUNCATED)

_NOT_MODELS = {"other", "code", "signature"}
_FAIL_ON: dict[FailOn, Severity | None] = {
    "breaks": Severity.ERROR,
    "unproven": Severity.ERROR,
    "restart": Severity.WARNING,
    "any": Severity.WARNING,
}


def validate(
    new: str | Path,
    against: str | Path | None = None,
    *,
    config: str | None = None,
    contract: Contract | None = None,
    fail_on: FailOn = "restart",
    names: tuple[str, str] | None = None,
    options: dict[str, Any] | None = None,
) -> Report:
    """Compare the model at `new` with the live one at `against`, or check `new` alone.

    `contract` overrides the one in interlock.yaml (`config` or the nearest file). `names` is how to call (new, old)
    in messages. The report's facts hold `verdict`, `plan` and `delta`. Raises UnreadableModel where a path holds no
    model at all, BadInput on an unusable configuration; a broken file inside a model is a finding and exit code 2.
    """
    shown = names or (str(new), str(against or ""))
    context = Context(
        new=Side(read_tree(new), shown[0]),
        old=None if against is None else Side(read_tree(against), shown[1]),
        contract=load(config).settings.contract if contract is None else contract,
        options=options or {},
    )
    for side in (context.old, context.new):
        if side is not None and side.tree.kinds <= _NOT_MODELS:
            raise NothingToCheck(side.name, "holds no model files", hint="give the folder that the server loads")
    kinds = context.new.tree.kinds
    if context.old is not None:
        kinds |= context.old.tree.kinds
    findings, problems = _findings(context, kinds)
    same = context.old is None or (identical(context.old.tree, context.new.tree) and not _has_more(context.new))
    findings = judged(findings, context.contract)
    level = verdict(findings, identical=same)
    steps = swap_plan((f for f in findings if f.suppressed is None), level) if context.old else []
    unread = [_unreadable(problem) for problem in problems]
    return Report(
        command="validate",
        findings=ordered([*unread, *findings]),
        facts={
            "verdict": "unproven" if unread and level != "breaks" else level,
            "plan": steps,
            "new": shown[0],
            "old": shown[1] or None,
            "identical": same if context.old else None,
        },
        inputs=1 if context.old is None else 2,
        unread=len(unread),
        strict=True,
        fail_on=_FAIL_ON[fail_on],
        refused="" if unread or not fails(level, fail_on) else f"{level} is not accepted with --fail-on {fail_on}",
        headline=_headline(level, findings, steps, len(unread), alone=context.old is None),
        body=_body(steps),
        rules=_documented(findings, kinds) + (OWN if unread else ()),
    )


def _has_more(side: Side) -> bool:
    """Whether a model given as one file keeps weights in files beside it, which were not compared."""
    try:
        return side.tree.single and any(model.external_files() for model in side.onnx.values())
    except UnreadableModel:
        return True


def _findings(context: Context, kinds: set[str]) -> tuple[list[Finding], list[UnreadableModel]]:
    """What the rules say, and every file that could not be read."""
    problems: dict[str, UnreadableModel] = {}
    sides = [side for side in (context.old, context.new) if side is not None]
    for side in sides:
        problems.update((str(problem), problem) for problem in side.problems())
    findings: list[Finding] = []
    for module in registry.modules(kinds):
        try:
            findings.extend(module.check(context))
        except UnreadableModel as problem:
            problems[str(problem)] = problem
    return findings, list(problems.values())


def _unreadable(problem: UnreadableModel) -> Finding:
    at = "" if problem.offset is None else f" at byte {problem.offset}"
    rule = _TRUNCATED if problem.hint == TRUNCATED else UNREADABLE
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=Severity.ERROR,
        message=f"cannot be read: {problem.reason}{at}",
        where=Location(problem.what),
        why=rule.why,
        hint=problem.hint or rule.hint,
        url=rule.url,
    )


def _documented(findings: list[Finding], kinds: set[str]) -> tuple[Rule, ...]:
    """The rules that spoke; their modules are loaded already."""
    spoke = {finding.rule for finding in findings}
    return tuple(module.RULE for module in registry.modules(kinds) if module.RULE.id in spoke)


def _headline(level: Level, findings: list[Finding], steps: list[dict[str, Any]], unread: int, *, alone: bool) -> str:
    if unread:
        return f"verdict: none — {_count(unread, 'file')} could not be read"
    standing = [f for f in findings if f.suppressed is None]
    parts = [
        _count(count, word)
        for word, severity in (("error", "error"), ("warning", "warning"), ("note", "info"))
        if (count := sum(f.severity == severity for f in standing))
    ]
    accepted = len(findings) - len(standing)
    if accepted:
        parts.append(f"{accepted} accepted")
    word = level
    if alone:
        word = {"equal": "consistent", "hot": "consistent", "breaks": "inconsistent"}.get(level, level)
    text = f"verdict: {word}" + (f" — {', '.join(parts)}" if parts else "")
    if steps and level != "breaks":
        text += f"; plan: {', '.join(step['step'] for step in steps)}"
    return text


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _body(steps: list[dict[str, Any]]) -> list[Block]:
    if not steps:
        return []
    rows = [
        (str(i), step["step"], step["what"], ", ".join(dict.fromkeys(each["rule"] for each in step["because"])) or "-")
        for i, step in enumerate(steps, 1)
    ]
    return [Table(("#", "step", "what", "asked by"), rows, title="swap plan", right=frozenset({"#"}))]
