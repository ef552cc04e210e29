"""HU109: Triton told to serve on when a model fails to load, with nothing that notices."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.pods import Pod
from .probes import path_of

RULE = Rule(
    id="HU109",
    name="tolerated-load-failure",
    family="HU1",
    severity=Severity.WARNING,
    summary="Triton serves on after a failed load, and no probe asks for the model",
    what="Triton with --exit-on-error=false or --strict-readiness=false and no readiness probe on /v2/health/ready or "
    "/v2/models/NAME/ready.",
    why="A new version that cannot be loaded then looks like a successful rollout: the old pods go away and the new "
    "ones "
    "answer 'unknown model'.",
    hint="add a readinessProbe on /v2/health/ready or /v2/models/NAME/ready, or let Triton exit on errors",
    bad="args: [tritonserver, --model-repository=/models, --exit-on-error=false]\n",
    good="""\
args: [tritonserver, --model-repository=/models, --exit-on-error=false]
readinessProbe:
  httpGet: {path: /v2/health/ready, port: 8000}
""",
    exemptions=("KServe, Seldon and NIM pods: the controller asks for the model",),
    references=("https://github.com/triton-inference-server/server/issues/7014",),
    reads=("pod",),
)


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the Triton containers of one pod."""
    if pod.managed in ("kserve", "knative", "nim", "seldon", "unknown"):
        return
    for container in ctx.index.servers(pod):
        runtime = container.runtime
        if runtime is None or runtime.id != "triton":
            continue
        if re.search(runtime.proves_ready, path_of(container.probe("readiness"))):
            continue
        for name in ("--exit-on-error", "--strict-readiness"):
            flag = container.flag(name)
            if flag is not None and (flag.value or "").lower() in ("false", "0"):
                message = f"{name}=false keeps Triton up without its model, and no readiness probe asks for one"
                yield ctx.finding(RULE, pod.resource.at_word(flag.word), message)
                break
