"""The contract between the lint engine and a rule.

A rule is one file `checks/lint/<family folder>/<id>_<name>.py` with two names::

    RULE = Rule(id="HU101", name="no-readiness-probe", ..., reads=("pod",))

    def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
        for container in ctx.index.servers(pod):
            if container.probe("readiness") is None:
                yield ctx.finding(RULE, pod.resource.at_map(container.map), f"container {container.name} has ...")

and one line in the family folder's `__init__.py`: `RULES = {"HU101": ("hu101_no_readiness", ("pod",))}` (module and
what it reads; a test compares it with `RULE.reads`). The engine imports a rule when the first subject it reads
turns up, and calls `check` once per subject. A rule that reads several kinds of subject has one function per kind,
`check_pod`, `check_python`, ... instead. `reads` is any of:

========== ================================================================= =====================================
reads      subject                                                           from
========== ================================================================= =====================================
pod        `sources.pods.Pod`, only pods with a recognised model server      YAML
kubernetes `sources.kubernetes.Resource`, every object                       YAML
document   `sources.yamlnodes.Document`, every YAML document                 YAML
python     `sources.python.PythonFile`, files that mention a model library   .py
index      `index.Index`, once per run: for what only the whole tree shows   everything above
pbtxt, shell, rules, ...: what the module of that name in `sources` yields; see `sources.table`.
========== ================================================================= =====================================

Positions: containers of YAML are `Map` and `Seq` (dict and list with positions). `resource.at(map, key)` is the
`Location` of a value, `at_key` of a key, `at_map` of a mapping, `at_word` of a word of a command line. Every
location carries object and JSON pointer, which suppressions and baselines need, so use these.

Patterns at module level are `lazy(...)`, and what only annotations need is imported under TYPE_CHECKING: a run of one
file loads some fifty modules. A template that is not rendered has holes: say that something is missing only where
`container.is_open` is false, and only for rules in `engine._ON_TEMPLATES`.

Judging: `container.runtime` is the entry of the runtime table, `container.flag("--model")` an option (with `.value`,
`.word`, `.at`), `container.expand(value)` fills in `$(MODEL_ID)`, `is_placeholder(value)` that a value is unknown and
must not be judged, `ctx.index` joins documents. A finding nobody can act on is worse than a missed one.

A fix is `Fix((Edit(...),), safe=True, title="...")` in positions of the file; `fixes` has helpers. Offer none
in rendered text (`resource.document.file.origin is not None`); the engine drops it there as well.

Fixtures: `tests/corpus/lint/HU101/bad/*`, `good/*` and, where the rule has a fix, `fixed/*` with the same names as
`bad/`. A folder below `bad/` or `good/` is linted as one tree. Each bad input must yield the rule, each good
one must not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ...config.settings import Lint
from ...report.finding import Finding, Fix, Location, Severity
from ...report.rule import Rule

if TYPE_CHECKING:
    from .index import Index

KINDS = ("pod", "kubernetes", "document", "python", "pbtxt", "shell", "rules", "index")
"""What a rule can read."""

FAMILIES = {
    "HU0": "the run itself",
    "HU1": "fake ready",
    "HU2": "leaked global state",
    "HU3": "frozen graph",
    "HU4": "non-atomic writes",
    "HU5": "unlabelled metrics",
    "HU6": "unverified artefact",
    "HU7": "no transaction boundary",
}


@runtime_checkable
class Subject(Protocol):
    """What every subject has: the path that reports show."""

    @property
    def path(self) -> str: ...


@dataclass
class Context:
    """What a rule may use beside its subject: the joins of this run and the settings."""

    index: Index
    settings: Lint = field(default_factory=Lint)
    severities: dict[str, Severity] = field(default_factory=dict[str, Severity])
    pedantic: bool = False

    def requires(self, policy: str) -> bool:
        """Whether the project asks for a policy (`canary`, `verify`) under `lint.require`."""
        return policy in self.settings.require

    def finding(
        self,
        rule: Rule,
        where: Location | None,
        message: str,
        *,
        severity: Severity | None = None,
        why: str = "",
        hint: str = "",
        fix: Fix | None = None,
        related: tuple[Location, ...] = (),
    ) -> Finding:
        """A finding of `rule`. `severity` is the rule's judgement of this case; the user's setting overrides it."""
        return Finding(
            rule=rule.id,
            name=rule.name,
            severity=self.severities.get(rule.id) or severity or rule.severity,
            message=message,
            where=where,
            why=why,
            hint=hint or rule.hint,
            url=rule.url,
            fix=fix,
            related=related,
        )
