"""The verb `validate`: may NEW replace OLD under traffic, or, without OLD, is NEW consistent in itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from ...config.load import Config, load
from ...config.settings import Bench, Contract, Settings
from ...models.errors import UnreadableModel
from ...models.tree import ModelTree, read_tree
from ...report.finding import Finding, Severity
from ...report.report import Report, ordered
from . import registry
from .contents import identical
from .plan import plan as swap_plan
from .present import CONSISTENT, body, headline, refusal
from .rulebase import Context, Rule
from .side import Side
from .unreadable import RULES, unreadable
from .verdict import FailOn, ended, fails, judged, verdict

if TYPE_CHECKING:
    from .behaviour.measured import Measured

_NOT_MODELS = {"other", "code", "signature"}
_FAIL_ON: dict[FailOn, Severity] = {
    "breaks": Severity.ERROR,
    "unproven": Severity.ERROR,
    "restart": Severity.WARNING,
    "any": Severity.WARNING,
}
Value = TypeVar("Value")
Model = str | Path | ModelTree


def validate(
    new: Model,
    against: Model | None = None,
    *,
    config: str | None = None,
    contract: Contract | None = None,
    fail_on: FailOn = "restart",
    names: tuple[str, str] | None = None,
    base: Model | None = None,
    adapters: Sequence[Model] = (),
    draft: Model | None = None,
    probe: bool = False,
    run: bool = False,
) -> Report:
    """Compare the model at `new` with the live one at `against`, or check `new` alone. Models are paths or trees.

    `contract` overrides the one in interlock.yaml (`config` or the nearest file). `names` is how to call (new, old)
    in messages. `base` is the model that NEW, an adapter, sits on; `adapters` are adapters that serve on NEW, and
    `draft` the draft model that speculates for it. With `run`, ONNX graphs of both, or of NEW alone, run on generated
    inputs. The report's facts hold `verdict` (None where a file could not be read), `consistent`, `plan`, `ended`,
    `runs`, `memory` and `delta`.

    Raises UnreadableModel where a path holds no model at all, NothingToCheck where a folder has none, BadInput on an
    unusable configuration, and on a base or adapter that is none; a broken file inside a model is a finding and
    exit code 2.
    """
    options: dict[str, Any] = {"probe": probe}
    if base is not None:
        options["base"] = _given(base, "base")
    if adapters:
        options["adapters"] = [_given(each, "adapter") for each in adapters]
    if draft is not None:
        options["draft"] = _side(draft)
    loaded = load(config) if contract is None or run else Config(Settings(contract=contract), Path())
    settings = loaded.settings
    if contract is None:
        options["manifests"] = [str(loaded.resolve(path)) for path in settings.lint.paths]
        options["manifests_exclude"] = settings.lint.exclude
    context = Context(
        new=_side(new, names[0] if names else ""),
        old=None if against is None else _side(against, names[1] if names else ""),
        contract=settings.contract if contract is None else contract,
        options=options,
    )
    if "triton" in _kinds(context):
        _set_aside(context)
    if run:
        _measure(context, settings.bench)
    return _report(context, fail_on)


def _set_aside(context: Context) -> None:
    """Leave out what Triton never loads and nobody could."""
    from .serving.unserved import ASIDE, broken, without

    old, new = context.old, context.new
    found = broken(new) + (broken(old) if old is not None else [])
    context.new, context.old = without(new, found), None if old is None else without(old, found)
    context.options[ASIDE] = found


def _measure(context: Context, bench: Bench) -> None:
    """Run the graphs; rules read what was measured. Broken files are left to the rules to report."""
    from .behaviour.measure import measure

    nothing: list[Measured] = []
    context.options["measured"] = measured = _or(lambda: measure(context, bench.inputs, bench.providers), nothing)
    cosines = [each.cosine for each in measured if each.cosine is not None]
    if cosines:
        context.options["cosine"] = min(cosines)


def _side(model: Model, name: str = "") -> Side:
    tree = model if isinstance(model, ModelTree) else read_tree(model)
    side = Side(tree, name or str(model if tree is not model else tree.root))
    if side.tree.kinds <= _NOT_MODELS:
        from .files.companions import nothing

        raise nothing(side.tree, side.name)
    return side


def _given(model: Model, role: Literal["base", "adapter"]) -> Side:
    """A model of the command line, which must be what it is given as."""
    from .adapter.subjects import refuse_other

    side = _side(model)
    refuse_other(side, role)
    return side


def _report(context: Context, fail_on: FailOn) -> Report:
    kinds = _kinds(context)
    alone = context.old is None
    found, problems = _findings(context, kinds)
    findings = judged(found, context.contract)
    same = context.old is None or (
        identical(context.old.tree, context.new.tree)
        and not _has_more(context.new)
        and not context.options.get("aside")
    )
    level = verdict(findings, identical=same)
    over = ended(context.contract)
    # What cannot be read is not put into service, so there is nothing to plan.
    steps = [] if alone or problems else swap_plan(findings, level)
    facts: dict[str, Any] = {
        "verdict": None if problems else level,
        "consistent": None if problems or not alone else CONSISTENT.get(level),
        "plan": steps,
        "ended": over,
        "runs": _runs(context),
        "provider": _provider(context),
        "new": context.new.name,
        "old": context.old.name if context.old else None,
        "identical": None if alone else same,
        "memory": None if problems or not context.contract.gpu_memory else _memory(context),
        "delta": None if problems or same else _delta(context),
    }
    return Report(
        command="validate",
        findings=ordered([*(unreadable(each, _shown(each, context)) for each in problems), *findings]),
        facts=facts,
        inputs=1 if alone else 2,
        unread=len(problems),
        strict=True,
        fail_on=_FAIL_ON[fail_on],
        refused=refusal(level, fail_on, alone=alone) if not problems and fails(level, fail_on) else "",
        headline=headline(level, findings, steps, unread=len(problems), alone=alone, ended=over),
        body=body(facts),
        rules=_documented(findings, kinds) + (RULES if problems else ()),
    )


def _kinds(context: Context) -> set[str]:
    """What rules are called for: the kinds of file on both sides, and what options add."""
    kinds = context.new.tree.kinds
    if context.old is not None:
        kinds |= context.old.tree.kinds
    if any(_or(lambda side=side: bool(side.engines), False) for side in (context.new, context.old) if side):
        kinds.add("engine")  # the engine itself may be missing, or not built yet
    if context.contract.gpu_memory:
        kinds.add("gpu-memory")
    if "adapters" in context.options or _bare_adapter(context):
        kinds.add("adapter")
    if "draft" in context.options:
        kinds.add("draft")
    if "tritonserver" in context.contract.server or ("onnx" in kinds and _versioned(context.new)):
        kinds.add("triton")
    if "measured" in context.options:
        kinds.add("run")
    return kinds


def _bare_adapter(context: Context) -> bool:
    """Whether there are weights of an adapter, whatever became of its configuration."""
    sides = [side for side in (context.new, context.old) if side is not None]
    return any(name.rpartition("/")[2] == "adapter_model.safetensors" for side in sides for name in side.tree.files)


def _versioned(side: Side) -> bool:
    """Whether a model lies as Triton wants it, with no config.pbtxt."""
    from .serving.versions import bare

    return next(bare(side.tree), None) is not None


def _has_more(side: Side) -> bool:
    """Whether a model given as one file keeps weights in files beside it, which were not compared."""
    if not side.tree.single or "onnx" not in side.tree.kinds:
        return False
    return _or(lambda: any(model.external_files() for model in side.onnx.values()), True)


def _findings(context: Context, kinds: set[str]) -> tuple[list[Finding], list[UnreadableModel]]:
    """What the rules say, and every file that could not be read."""
    problems: dict[str, UnreadableModel] = {}
    whole = "tokenizer.json"  # the one format that lies in a single file
    if context.old is not None and context.same(whole, whole) == "same":
        context.old.share_tokenizer(context.new, whole)
    for side in (context.old, context.new):
        if side is not None:
            problems.update((str(problem), problem) for problem in side.problems())
    findings: list[Finding] = []
    for module in registry.modules(kinds):
        try:
            findings.extend(module.check(context))
        except UnreadableModel as problem:
            problems[str(problem)] = problem
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            problems[str(error)] = UnreadableModel(error.filename or context.new.name, reason)
    return findings, list(problems.values())


def _runs(context: Context) -> dict[str, int] | None:
    """How often each ONNX file was run; None where that was not asked for."""
    measured = cast("list[Measured] | None", context.options.get("measured"))
    return None if measured is None else {each.file: each.runs for each in measured}


def _provider(context: Context) -> str | None:
    """What ran the graphs: `cpu` or `cuda`; None where nothing was run."""
    measured = cast("list[Measured]", context.options.get("measured", []))
    return next((each.provider for each in measured if each.runs), None)


def _memory(context: Context) -> dict[str, Any] | None:
    from .memory.estimate import document

    return _or(lambda: document(context), None)


def _delta(context: Context) -> dict[str, Any] | None:
    from .delta import delta

    return _or(lambda: delta(context), None)


def _or(read: Callable[[], Value], otherwise: Value) -> Value:
    """What `read` gives. The facts are an extra: what they cannot read, the rules have reported."""
    try:
        return read()
    except (UnreadableModel, OSError):
        return otherwise


def _shown(problem: UnreadableModel, context: Context) -> str:
    """The file of a problem as the user named the model it is in: a reference was opened somewhere else."""
    for side in (context.new, context.old):
        root = f"{side.tree.root}/" if side is not None else ""
        if side is not None and problem.what.startswith(root):
            return side.show(problem.what.removeprefix(root))
    return problem.what


def _documented(findings: list[Finding], kinds: set[str]) -> tuple[Rule, ...]:
    """The rules that spoke; their modules are loaded already."""
    spoke = {finding.rule for finding in findings}
    return tuple(module.RULE for module in registry.modules(kinds) if module.RULE.id in spoke)
