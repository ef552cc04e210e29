"""HU709: a RayService whose new model is put into the running cluster."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.yamlnodes import dig, text

RULE = Rule(
    id="HU709",
    name="in-place-ray-update",
    family="HU7",
    severity=Severity.INFO,
    summary="RayService that changes its model in the running cluster",
    what="RayServices that name their model only in serveConfigV2, with upgradeStrategy None or none at all.",
    why="A change of serveConfigV2 makes no new cluster: the applications are replaced in place, and when both parts "
    "changed the "
    "new configuration has reached the old cluster (ray-project/kuberay#3559, ray-project/ray#39074).",
    hint="set upgradeStrategy, and name the model version in rayClusterConfig too, such as in an annotation or "
    "variable",
    bad="kind: RayService\nspec:\n  serveConfigV2: |\n    applications: [{args: {model_id: org/model}}]\n",
    good="kind: RayService\nspec:\n  upgradeStrategy: {type: NewClusterWithIncrementalUpgrade}\n",
    exemptions=("any upgradeStrategy but None", "serveConfigV2 that names no model"),
    references=(
        "https://github.com/ray-project/kuberay/issues/3559",
        "https://github.com/ray-project/ray/issues/39074",
    ),
    reads=("kubernetes",),
    pedantic=True,
)

_MODEL = lazy(r"\b(model_id|model_source|model_name|MODEL_ID|MODEL_NAME|MODEL)\b[\"']?\s*:")


def check(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge one RayService."""
    if resource.kind != "RayService" or not _MODEL.search(resource.spec.get_str("serveConfigV2")):
        return
    if text(dig(resource.spec, "upgradeStrategy", "type")) not in ("", "None"):
        return
    message = "a new model in serveConfigV2 replaces the old one in the running cluster"
    yield ctx.finding(RULE, resource.at_key(resource.spec, "serveConfigV2"), message)
