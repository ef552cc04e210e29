"""HU305: two configurations of one model name that disagree about its tensors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from posixpath import dirname

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..index import Index
from ..paths import is_test
from ..rulebase import Context
from ..sources.pbtxt import Message, ModelConfig

RULE = Rule(
    id="HU305",
    name="two-contracts",
    family="HU3",
    severity=Severity.WARNING,
    summary="configurations of one model name disagree about its tensors",
    what="Two config.pbtxt files of one model name in neighbouring repositories of the tree (siblings such as staging "
    "and prod) whose inputs or outputs differ in name, data type or dims.",
    why="One configuration holds for all versions of a model: the version that fits the other file fails to load, or "
    "loads and answers with another shape (triton-inference-server/server#7406).",
    hint="give the new contract a new model name, or change both files in the same change",
    example="protobuf",
    bad="""\
# staging/ranker/config.pbtxt; prod/ranker/config.pbtxt says dims: [ 64 ]
name: "ranker"
input [ { name: "features" data_type: TYPE_FP32 dims: [ 128 ] } ]
""",
    good="""\
# staging/ranker/config.pbtxt; prod/ranker/config.pbtxt says the same
name: "ranker"
input [ { name: "features" data_type: TYPE_FP32 dims: [ 128 ] } ]
""",
    exemptions=(
        "static dims of one configuration",
        "same-named models of unrelated examples further apart in the tree",
        "test suites",
    ),
    references=("https://github.com/triton-inference-server/server/issues/7406",),
    reads=("index",),
)


def check(index: Index, ctx: Context) -> Iterator[Finding]:
    """Compare the configurations of each name whose repositories are siblings."""
    groups: dict[tuple[str, str], list[ModelConfig]] = defaultdict(list)
    for config in index.of("pbtxt"):
        repository = dirname(config.folder)
        if repository and config.path.endswith("config.pbtxt") and not is_test(config.path):
            groups[dirname(repository), config.name].append(config)
    for (_, name), configs in groups.items():
        first, *others = sorted(configs, key=lambda config: config.path)
        for other in others:
            for side in ("input", "output"):
                mine, theirs = _contract(other.root, side), _contract(first.root, side)
                if mine and theirs and mine != theirs and dirname(first.folder) != dirname(other.folder):
                    where = other.at(other.root.all(side)[0].name_span, side)
                    message = f"the {side}s of model {name} differ from those in {first.path}"
                    yield ctx.finding(
                        RULE, where, message, related=(first.at(first.root.all(side)[0].name_span, side),)
                    )


def _contract(config: Message, side: str) -> set[tuple[str, str, tuple[str, ...]]]:
    return {
        (str(each.scalar("name")), str(each.scalar("data_type")), tuple(str(dim.value) for dim in each.all("dims")))
        for each in config.messages(side)
    }
