"""HU107: a server that drops requests in flight when it is told to stop."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.numerals import whole
from ....report.finding import Finding, Fix, Severity
from ....report.rule import Rule
from ..fixes import add_entry, replace_value
from ..lazy import lazy
from ..rulebase import Context
from ..sources.pods import Container, Pod
from ..sources.yamlnodes import Seq, dig, text

RULE = Rule(
    id="HU107",
    name="no-drain",
    family="HU1",
    severity=Severity.WARNING,
    summary="server that is stopped before its requests are done",
    what="Model servers behind a Service that abort requests on SIGTERM (vLLM) with neither a preStop hook nor a drain "
    "option such as --shutdown-timeout; and pods whose terminationGracePeriodSeconds is shorter than the preStop sleep "
    "and the drain together.",
    why="A rollout stops every old pod once. Without a drain all generations in flight end in an error, and the "
    "Service "
    "still sends new requests for a moment after the server has gone (kserve/kserve#5485, vllm-project/vllm#43208).",
    hint="add a preStop sleep of some seconds, --shutdown-timeout, and a terminationGracePeriodSeconds above both",
    bad="spec:\n  containers:\n    - name: server\n      image: vllm/vllm-openai:v0.10.0\n",
    good="""\
spec:
  terminationGracePeriodSeconds: 90
  containers:
    - name: server
      image: vllm/vllm-openai:v0.10.0
      args: [--shutdown-timeout, "60"]
      lifecycle: {preStop: {sleep: {seconds: 15}}}
""",
    exemptions=(
        "runtimes that finish their requests on SIGTERM: SGLang, TGI, TEI, Triton, Ray Serve",
        "LLMInferenceService, KServe, Knative and Ray pods: the controller drains",
        "pods that no Service of the tree selects, when nothing about draining is written down",
    ),
    references=(
        "https://github.com/kserve/kserve/pull/5485",
        "https://github.com/vllm-project/vllm/issues/43208",
    ),
    reads=("pod",),
    fix="safe",
)

_SLEEP = lazy(r"\bsleep\s+(\d+)")
_ROLLED = frozenset({"Deployment", "StatefulSet", "Rollout", "LeaderWorkerSet", "DaemonSet"})


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the model servers of one pod."""
    for container in ctx.index.servers(pod):
        sleep, drain = _sleep(container), _drain(container)
        needed = (sleep or 0) + (drain or 0)
        # A KServe runtime has no grace period of its own: the InferenceServices that use it say it.
        if needed > pod.grace_seconds and pod.managed != "llmisvc" and pod.role != "runtime":
            yield _too_short(pod, container, needed, ctx)
        aborts = container.runtime is not None and container.runtime.id == "vllm"
        undrained = aborts and drain is None and not container.map.get_map("lifecycle").get("preStop")
        if (
            undrained
            and pod.managed in ("", "lws-leader")
            and pod.resource.kind in _ROLLED
            and ctx.index.services_of(pod)
        ):
            message = f"container {container.name} aborts its requests when a rollout stops it: no preStop, no drain"
            yield ctx.finding(RULE, pod.resource.at_map(container.map), message)


def _sleep(container: Container) -> int | None:
    """Seconds that the preStop hook waits."""
    hook = container.map.get_map("lifecycle").get_map("preStop")
    seconds = dig(hook, "sleep", "seconds")
    if isinstance(seconds, int):
        return seconds
    command = dig(hook, "exec", "command")
    line = " ".join(map(text, command)) if isinstance(command, Seq) else text(command)
    found = _SLEEP.search(line)
    return int(found.group(1)) if found else None


def _drain(container: Container) -> int | None:
    """Seconds that the runtime was told to wait for requests in flight."""
    names = container.runtime.drain_flags if container.runtime else ()
    flag = container.flag(*names) if names else None
    value = container.expand(flag.value or "") if flag else ""
    return whole(value) or (0 if flag else None)


def _too_short(pod: Pod, container: Container, needed: int, ctx: Context) -> Finding:
    wanted = str(-(-(needed + 15) // 5) * 5)
    key = "terminationGracePeriodSeconds"
    if key in pod.spec:
        where = pod.resource.at(pod.spec, key)
        edit = replace_value(pod.spec, key, wanted)
    else:
        where = pod.resource.at_map(container.map)
        edit = add_entry(pod.resource, pod.spec, list(pod.spec)[-1], [f"{key}: {wanted}"])
    message = f"the pod is killed after {pod.grace_seconds} s, and container {container.name} needs {needed} s to drain"
    fix = Fix((edit,), safe=True, title=f"wait {wanted} s") if edit else None
    return ctx.finding(RULE, where, message, hint=f"set {key} to {wanted}", fix=fix)
