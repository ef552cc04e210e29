"""HU401: a Triton server that polls its model repository."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..paths import is_test
from ..rulebase import Context
from ..sources.pods import Pod
from ..sources.python import PythonFile
from ..sources.scripts import ShellText

RULE = Rule(
    id="HU401",
    name="triton-poll-mode",
    family="HU4",
    severity=Severity.ERROR,
    summary="model repository polled by Triton",
    what="`--model-control-mode=poll` on a tritonserver command line in manifests, scripts, image builds and CI steps, "
    "a MODEL_CONTROL_MODE variable that says poll, and ModelControlMode.POLL in Python.",
    why="Polling has no notion of a finished upload: a version is loaded while its files are still being copied, one "
    "failed load can stop it from seeing later changes, and nothing records which version went live when. Triton's own "
    "documentation does not recommend it for production (triton-inference-server/server#5711, #6534).",
    hint="use --model-control-mode=explicit and load the version through the repository API once it is complete",
    bad="""\
containers:
  - name: triton
    image: nvcr.io/nvidia/tritonserver:24.08-py3
    args: [tritonserver, --model-repository=/models, --model-control-mode=poll]
""",
    good="""\
containers:
  - name: triton
    image: nvcr.io/nvidia/tritonserver:24.08-py3
    args: [tritonserver, --model-repository=/models, --model-control-mode=explicit, --load-model=ranker]
""",
    exemptions=("comments", "test suites (folders named qa, test, tests or e2e)"),
    references=(
        "https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_management.md",
        "https://github.com/triton-inference-server/server/issues/5711",
        "https://github.com/triton-inference-server/server/issues/6534",
    ),
    reads=("pod", "python", "shell"),
    fix="unsafe",
)

_FLAG = "--model-control-mode"
_MESSAGE = "Triton polls its model repository, so it loads versions that are not completely written"


def check_shell(text: ShellText, ctx: Context) -> Iterator[Finding]:
    """Judge the tritonserver commands of a shell text."""
    if _FLAG not in text.text.replace("_", "-") or is_test(text.path):
        return
    for command in text.commands:
        words = command.words
        for index, word in enumerate(words):
            name, equals, value = word.text.partition("=")
            if name.replace("_", "-") != _FLAG:
                continue
            holder = word if equals else next(iter(words[index + 1 : index + 2]), word)
            if (value if equals else holder.text).strip().lower() == "poll":
                edit = text.replace(holder, "poll", "explicit")
                fix = Fix((edit,), safe=False, title="load models explicitly") if edit else None
                yield ctx.finding(RULE, text.at(word), _MESSAGE, fix=fix)


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the environment of a Triton container."""
    for container in ctx.index.servers(pod):
        if container.runtime is None or container.runtime.id != "triton" or is_test(pod.resource.path):
            continue
        if container.flag(_FLAG) is not None:
            continue  # the command line decides, and is judged as shell text
        for name, entry in container.env.items():
            if name.upper().endswith("MODEL_CONTROL_MODE") and (container.env_value(name) or "").lower() == "poll":
                yield ctx.finding(RULE, pod.resource.at(entry, "value"), _MESSAGE)


def check_python(source: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge command lines and server options written in Python."""
    if is_test(source.path):
        return
    for node in source.nodes:
        member = isinstance(node, ast.Attribute) and node.attr == "POLL" and "ModelControlMode" in source.name(node)
        if member or (isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_poll(source, node)):
            yield ctx.finding(RULE, source.location(node), _MESSAGE)


def _is_poll(source: PythonFile, node: ast.Constant) -> bool:
    """`"--model-control-mode=poll"`, or the pair of list elements."""
    text = str(node.value).replace("_", "-")
    if text == f"{_FLAG}=poll":
        return True
    parent = next(source.parents(node), None)
    if text != _FLAG or not isinstance(parent, ast.List | ast.Tuple):
        return False
    place = parent.elts.index(node)
    return place + 1 < len(parent.elts) and source.text(parent.elts[place + 1]) == "poll"
