"""HU602: a model loaded from a hub by name, so that what serves is whatever its branch holds at the next restart."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from ..sources.python import PythonFile
from .models import Use, of_container, of_nim, of_python, of_ray, of_resource
from .references import hub_id

RULE = Rule(
    id="HU602",
    name="unpinned-hub-model",
    family="HU6",
    severity=Severity.WARNING,
    summary="model loaded from a hub without a full commit as revision",
    what="Hub ids (`owner/name`, `hf://owner/name`) that a model server, a serving custom resource or serving code "
    "loads without a revision of 40 hex digits. A branch or tag name, `main` among them, counts as none.",
    why="A branch moves: two replicas of one Deployment load different weights after a push, a restart at night is an "
    "unreviewed release, and rolling back the manifest does not bring the old model back. Remote code moves with it "
    "(docling-project/docling#4224).",
    hint="add --revision with the full commit, or serve a verified copy by digest",
    bad="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    args: [--model, Qwen/Qwen2.5-7B-Instruct]
""",
    good="""\
containers:
  - name: server
    image: vllm/vllm-openai:v0.10.0
    args: [--model, Qwen/Qwen2.5-7B-Instruct, --revision, a09a35458c702b33eeacc393d103063234e8bc28]
""",
    exemptions=(
        "local paths, object stores and placeholders such as $(MODEL) that the manifest does not resolve",
        "Python files that do not answer requests (training and conversion scripts)",
        "calls whose revision is passed by **kwargs",
    ),
    references=("https://github.com/docling-project/docling/issues/4224",),
    reads=("pod", "kubernetes", "python"),
)


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge what the model servers of one pod load."""
    for container in ctx.index.servers(pod):
        for use in of_container(container):
            yield from _judge(use, ctx, f"container {container.name} loads")


def check_kubernetes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge `hf://` locations of serving objects, and the models of a RayService."""
    for use in of_ray(resource):
        yield from _judge(use, ctx, "the Ray application loads")
    for use in of_nim(resource):
        yield from _judge(use, ctx, f"{resource.kind} loads", "set source.hf.revision of a NIMCache to the full commit")
    for uri, where in of_resource(resource):
        if uri.startswith("hf://") and (model := hub_id(uri)):
            use = Use(model, model.partition(":")[2], where, "the URI")
            hint = f"write hf://{model.partition(':')[0]}:<full commit>"
            yield from _judge(use, ctx, f"{resource.kind} loads", hint)


def check_python(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge what serving code loads."""
    for use, _ in of_python(file):
        yield from _judge(use, ctx, f"{use.what} loads", "pass revision= with the full commit")


def _judge(use: Use, ctx: Context, subject: str, hint: str = "") -> Iterator[Finding]:
    if not use.pinned:
        name = use.id.partition(":")[0]
        how = f"at revision {use.revision!r}, which can move" if use.revision else "without a revision"
        yield ctx.finding(RULE, use.where, f"{subject} {name} {how}", hint=hint)
