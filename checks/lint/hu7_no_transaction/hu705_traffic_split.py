"""HU705: traffic that is not divided between two versions the way somebody thinks it is."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Location, Severity
from ....report.rule import Rule
from ..joins import selector_of
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.pods import Pod
from ..sources.yamlnodes import Map, walk
from .traffic import is_split, splits

RULE = Rule(
    id="HU705",
    name="uncontrolled-traffic-split",
    family="HU7",
    severity=Severity.WARNING,
    summary="canary without right weights or analysis, or no canary where the project requires one",
    what="Splits between model servers whose weights do not add up; Rollouts that go on by time alone, with no "
    "analysis "
    "and no manual pause; Services that select two versions with no weights. With lint.require: [canary], also serving "
    "workloads that are updated in one step.",
    why="A split that does not add up is refused or sends a version more than was agreed, and a canary that nobody "
    "looks "
    "at only delays the outage: kserve/kserve#5983 gave the new version traffic before it was ready.",
    hint="let the weights add up to 100, and let an analysis or a person decide each step",
    bad="kind: VirtualService\nspec:\n  http:\n    - route: [{weight: 90}, {weight: 20}]\n",
    good="kind: VirtualService\nspec:\n  http:\n    - route: [{weight: 90}, {weight: 10}]\n",
    exemptions=(
        "routes that lead to no model server of the tree",
        "weights that are placeholders or left out",
        "Services that a route, subset or ingress canary divides",
        "leader and worker, prefill and decode: parts of one version",
    ),
    references=("https://github.com/kserve/kserve/issues/5983",),
    reads=("kubernetes",),
)

_VERSION_LABELS = ("version", "app.kubernetes.io/version", "model_version", "model-version", "track")


def check(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge one object."""
    for split in splits(resource, ctx.index):
        if split.wrong:
            yield ctx.finding(RULE, resource.at_key(split.holder, split.key), split.wrong)
    if resource.kind == "Rollout":
        yield from _rollout(resource, ctx)
    elif resource.kind == "Service":
        yield from _service(resource, ctx)
    elif resource.kind == "InferenceService":
        yield from _percent(resource, ctx)
    if ctx.requires("canary"):
        yield from _required(resource, ctx)


def _rollout(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """A canary that goes from step to step by the clock."""
    canary = resource.spec.get_map("strategy").get_map("canary")
    steps = canary.get_maps("steps")
    if not any("setWeight" in step for step in steps) or not any(ctx.index.servers(pod) for pod in resource.pods):
        return
    judged = "analysis" in canary or any({"analysis", "experiment"} & set(step) for step in steps)
    waits = any("pause" in step and not step.get_map("pause").get("duration") for step in steps)
    if not judged and not waits:
        message = "the canary goes on by time alone: no analysis, and no pause that waits for a person"
        yield ctx.finding(RULE, resource.at_key(canary, "steps"), message, hint="add an analysis, or a pause: {}")


def _service(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """A Service over two workloads that differ in their version alone."""
    selector = selector_of(resource)
    if not selector or set(selector) & set(_VERSION_LABELS):
        return
    versions: dict[str, Pod] = {}
    for pod in ctx.index.served_by(resource):
        label = next((pod.labels[key] for key in _VERSION_LABELS if key in pod.labels), "")
        if label and not pod.managed:
            versions.setdefault(label, pod)
    pods = list(versions.values())
    if len(pods) < 2 or pods[0].resource is pods[1].resource or not _same_but_version(pods[0], pods[1]):
        return
    if not is_split(resource.name, resource, ctx.index):
        names = " and ".join(sorted(versions))
        message = f"the Service sends requests to versions {names} at random: replicas decide the share"
        where = resource.at_key(resource.spec, "selector")
        yield ctx.finding(RULE, where, message, related=tuple(p.resource.at_map(p.resource.meta) for p in pods[:2]))


def _same_but_version(one: Pod, other: Pod) -> bool:
    def rest(pod: Pod) -> dict[str, str]:
        return {key: value for key, value in pod.labels.items() if key not in _VERSION_LABELS}

    return rest(one) == rest(other)


def _percent(resource: Resource, ctx: Context) -> Iterator[Finding]:
    for role in ("predictor", "transformer"):
        component = resource.spec.get_map(role)
        value = component.get("canaryTrafficPercent")
        if isinstance(value, int) and not 0 <= value <= 100:
            where = resource.at(component, "canaryTrafficPercent")
            yield ctx.finding(RULE, where, f"canaryTrafficPercent {value} is no share", hint="use 0 to 100")


def _required(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """The project's policy: new versions take traffic step by step."""
    where = _at_once(resource, ctx)
    if where is not None:
        hint = "lint.require asks for canaries: use weights, a Rollout with steps, or canaryTrafficPercent"
        yield ctx.finding(RULE, where, "all traffic moves at once: no canary", hint=hint)


def _at_once(resource: Resource, ctx: Context) -> Location | None:
    """Where an object is declared that takes all traffic in one step; None where it does not, or serves nothing."""
    spec = resource.spec
    if resource.kind == "InferenceService":
        predictor = spec.get_map("predictor")
        moves = bool(predictor) and "canaryTrafficPercent" not in predictor
        return resource.at_key(spec, "predictor") if moves else None
    if resource.kind == "RayService":
        return None if _incremental(spec) else resource.at_map(resource.meta)
    if resource.kind not in ("Deployment", "StatefulSet"):
        return None
    served = [pod for pod in resource.pods if ctx.index.servers(pod)]
    services = [service for pod in served for service in ctx.index.services_of(pod)]
    if not services or any(is_split(service.name, service, ctx.index) for service in services):
        return None
    return resource.at_map(resource.meta)


def _incremental(spec: Map) -> bool:
    return any("incremental" in str(holder[key]).lower() for holder, key in walk(spec.get_map("upgradeStrategy")))
