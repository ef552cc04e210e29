"""HU608: a model registry alias or stage, which is a pointer that others move."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from ..sources.python import PythonFile
from .models import of_resource, serves

RULE = Rule(
    id="HU608",
    name="registry-alias",
    family="HU6",
    severity=Severity.WARNING,
    summary="model named by a registry alias, stage or latest",
    what="`models:/name/Production`, `models:/name@champion` and `models:/name/latest` in environment, arguments, "
    "model URIs and serving code.",
    why="An alias is a mutable pointer without history: whoever moves it releases, and what served an hour ago cannot "
    "be read back. Stages are deprecated for this reason (mlflow/mlflow#10336).",
    hint="name the version number, models:/name/7, and move it by a reviewed change",
    bad="""\
containers:
  - name: server
    image: seldonio/mlserver:1.7.1
    env: [{name: MLSERVER_MODEL_URI, value: "models:/churn/Production"}]
""",
    good="""\
containers:
  - name: server
    image: seldonio/mlserver:1.7.1
    env: [{name: MLSERVER_MODEL_URI, value: "models:/churn/7"}]
""",
    exemptions=("version numbers, and run URIs (runs:/…), which name one run", "placeholders"),
    references=("https://github.com/mlflow/mlflow/issues/10336", "https://github.com/mlflow/mlflow/issues/9721"),
    reads=("pod", "kubernetes", "python"),
)

_ALIAS = re.compile(r"models:/+[\w. -]+(/(production|staging|archived|latest|none)\b|@[A-Za-z][\w-]*)", re.IGNORECASE)


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the environment and arguments of a pod's containers."""
    for container in [*pod.containers, *pod.init_containers]:
        for entry in container.env.values():
            if match := _ALIAS.search(entry.get_str("value")):
                yield ctx.finding(RULE, pod.resource.at(entry, "value"), f"{match.group()} is a pointer that moves")
        for words in container.words:
            for word in words:
                if match := _ALIAS.search(word.text):
                    where = pod.resource.at_word(word, match.group())
                    yield ctx.finding(RULE, where, f"{match.group()} is a pointer that moves")


def check_kubernetes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the model URIs of serving objects."""
    for uri, where in of_resource(resource):
        if match := _ALIAS.search(uri):
            yield ctx.finding(RULE, where, f"{match.group()} is a pointer that moves")


def check_python(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the calls of serving code."""
    if not serves(file) and "mlflow" not in file.modules:
        return
    for name, call in file.calls:
        if not name.endswith(("load_model", "download_artifacts", "pyfunc.load_model")):
            continue
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
            if match := _ALIAS.search(file.text(value) or ""):
                yield ctx.finding(RULE, file.location(value), f"{match.group()} is a pointer that moves")
