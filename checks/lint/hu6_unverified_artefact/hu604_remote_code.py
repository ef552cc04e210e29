"""HU604: code from the model's repository is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....report.finding import Finding, Location, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.pods import Container, Pod
from ..sources.python import PythonFile, argument
from ..sources.yamlnodes import walk
from .models import of_container, of_python, of_ray, serve_config, serves

RULE = Rule(
    id="HU604",
    name="remote-code",
    family="HU6",
    severity=Severity.WARNING,
    summary="model server runs code that comes with the model",
    what="`--trust-remote-code` of a model server, `trust_remote_code: true` in a Ray Serve configuration, and "
    "`trust_remote_code=True` in serving code. An error when the model is not pinned to a commit (HU602) as well.",
    why="The Python files of a hub repository run in the server with its credentials. With a moving revision anybody "
    "who can push there runs code in production (docling-project/docling#4224).",
    hint="serve an architecture the runtime supports itself, or pin the revision to a reviewed commit and verify it",
    bad="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    args: [--model, org/model, --trust-remote-code]
""",
    good="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    args: [--model, org/model, --revision, a09a35458c702b33eeacc393d103063234e8bc28]
""",
    exemptions=("the flag set to false", "Python files that do not answer requests"),
    references=("https://github.com/docling-project/docling/issues/4224",),
    reads=("pod", "kubernetes", "python"),
)


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the command lines of a pod's model servers."""
    for container in ctx.index.servers(pod):
        flag = container.flag(*container.runtime.remote_code_flags) if container.runtime else None
        if flag is None or (flag.value or "").strip().lower() in ("false", "0", "no"):
            continue
        where = pod.resource.at_word(flag.word, flag.name)
        message = f"container {container.name} runs code from the model repository"
        yield _finding(ctx, where, message, unpinned=_unpinned(container))


def check_kubernetes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the engine arguments of a RayService."""
    for inner in serve_config(resource):
        unpinned = any(not use.pinned for use in of_ray(resource))
        for holder, key in walk(inner.root):
            if key == "trust_remote_code" and holder.get(key) is True:
                where = inner.at(holder, key)
                yield _finding(ctx, where, "the Ray application runs code from the model repository", unpinned=unpinned)


def check_python(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the calls of serving code."""
    if not serves(file):
        return
    unpinned = {call for use, call in of_python(file) if not use.pinned}
    for name, call in file.calls:
        value = argument(call, None, "trust_remote_code")
        if isinstance(value, ast.Constant) and value.value is True:
            message = f"{name.rsplit('.', 1)[-1] or 'the call'} runs code from the model repository"
            yield _finding(ctx, file.location(value), message, unpinned=call in unpinned)


def _unpinned(container: Container) -> bool:
    return any(not use.pinned for use in of_container(container))


def _finding(ctx: Context, where: Location, message: str, *, unpinned: bool) -> Finding:
    extra = ", at a revision that can move" if unpinned else ""
    return ctx.finding(RULE, where, message + extra, severity=Severity.ERROR if unpinned else None)
