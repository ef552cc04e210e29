"""HU508: old and new version of a model report under one name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..index import MONITORS, Index
from ..rulebase import Context
from ..sources.argv import Flag
from ..sources.pods import Container, Pod
from .monitors import carries_version

RULE = Rule(
    id="HU508",
    name="same-served-name",
    family="HU5",
    severity=Severity.INFO,
    summary="canary pair with one served model name and nothing to tell them apart",
    what="Two vLLM or SGLang workloads of one namespace with different models or revisions and the same "
    "`--served-model-name`, where no monitor of the run copies a version label.",
    why="The model_name label of their metrics is the served name, the same for both (kserve/website canary rollout "
    "observability): canary and stable cannot be compared.",
    hint="copy the pods' version label into the series (HU503), or put the version into the served name",
    bad="""\
# two Deployments, one with model acme/a, the other with acme/b
args: [--model, acme/a, --served-model-name, chat]
""",
    good="""\
# two Deployments, and a PodMonitor with podTargetLabels: [app.kubernetes.io/version]
args: [--model, acme/a, --served-model-name, chat]
""",
    exemptions=("runs with a monitor that copies a version label", "replicas of one model and revision"),
    references=("https://github.com/kserve/website",),
    reads=("index",),
    pedantic=True,
)


def check(index: Index, ctx: Context) -> Iterator[Finding]:
    """Compare the workloads that share a served name."""
    monitors = [monitor for kind in MONITORS for monitor in index.by_kind.get(kind, [])]
    if any(carries_version(monitor) for monitor in monitors):
        return
    groups: dict[tuple[str, str, str], list[tuple[Pod, Container, Flag]]] = defaultdict(list)
    for pod in index.pods:
        for container in index.servers(pod):
            flag = container.flag("--served-model-name")
            if container.runtime and container.runtime.id in ("vllm", "sglang") and flag is not None and flag.value:
                folder = pod.resource.path.rpartition("/")[0]
                groups[folder, pod.resource.namespace, container.expand(flag.value)].append((pod, container, flag))
    for (_, _, name), users in groups.items():
        first = users[0]
        for pod, container, flag in users[1:]:
            if pod.resource is not first[0].resource and _model(container) != _model(first[1]):
                message = f"{pod.resource.identity} and {first[0].resource.identity} both report as {name}"
                related = (first[0].resource.at_word(first[2].at),)
                yield ctx.finding(RULE, pod.resource.at_word(flag.at), message, related=related)


def _model(container: Container) -> tuple[str, ...]:
    """Model and revision, as far as the command line says."""
    names = ("--model", "--model-path", "--revision")
    values = [flag.value or "" for name in names if (flag := container.flag(name)) is not None]
    serve = [line[line.index(word) + 1].text for line in container.lines for word in line[:-1] if word.text == "serve"]
    return (*map(container.expand, [*values, *serve]),)
