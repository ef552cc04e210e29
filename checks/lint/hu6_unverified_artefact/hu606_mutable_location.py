"""HU606: a model location whose content can change without its name changing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.argv import is_placeholder
from ..sources.kubernetes import Resource
from .models import of_resource
from .references import is_versioned

RULE = Rule(
    id="HU606",
    name="mutable-model-location",
    family="HU6",
    severity=Severity.WARNING,
    summary="model location without version, date or digest",
    what="`storageUri` and model URIs of serving objects that point at a bucket prefix or web address with no version, "
    "date or digest in the path, or at a file on a Git branch.",
    why="An upload to the same prefix changes what the next pod loads: one Deployment serves two models, no rollout "
    "was asked for, and the previous model is gone when it is needed back (tensorflow/serving#1086).",
    hint="publish each version under its own path or digest and name that",
    bad="""\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: churn}
spec:
  predictor:
    model: {modelFormat: {name: sklearn}, storageUri: "s3://models/churn"}
""",
    good="""\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: churn}
spec:
  predictor:
    model: {modelFormat: {name: sklearn}, storageUri: "s3://models/churn/2026-11-01"}
""",
    exemptions=(
        "pvc://, whose content HU202 and HU408 judge, hf:// (HU602) and oci:// (HU603)",
        "placeholders, and addresses inside the cluster",
        "the public example bucket of KServe, which holds fixed samples",
    ),
    references=("https://github.com/tensorflow/serving/issues/1086",),
    reads=("kubernetes",),
)

_BUCKET = re.compile(r"^(s3|gs|gcs|abfss?|azure|az|wasbs?|oss|cos|hdfs|webhdfs|swift|tos|minio)://")
_BRANCH = re.compile(
    r"^https?://(raw\.githubusercontent\.com/[^/]+/[^/]+/(refs/heads/)?(main|master|develop)/"
    r"|[^/]+/[^/]+/[^/]+/(-/)?(blob|raw|tree|resolve)/(main|master|develop)/)"
)
_IN_CLUSTER = re.compile(r"^https?://[^/]*\.(svc|local|default)\b|^https?://[^/.]+(:\d+)?(/|$)")
_SAMPLES = re.compile(r"^gs://(kfserving|seldon|seldon-models)[\w-]*/")


def check(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the model locations of one object."""
    for uri, where in of_resource(resource):
        if is_placeholder(uri) or _SAMPLES.match(uri):
            continue
        if _BRANCH.match(uri):
            yield ctx.finding(
                RULE, where, f"model is fetched from a Git branch: {uri}", hint="name a commit or a release"
            )
        elif (_BUCKET.match(uri) or _is_file(uri)) and not is_versioned(uri):
            yield ctx.finding(RULE, where, f"model location {uri} names no version")


def _is_file(uri: str) -> bool:
    """Whether a web address is one of a model file, not of a service."""
    if not uri.startswith(("http://", "https://")) or _IN_CLUSTER.match(uri):
        return False
    return bool(
        re.search(r"\.(bin|gguf|h5|joblib|mar|onnx|pb|pkl|pt|pth|safetensors|tar|tar\.gz|tgz|zip)([?#]|$)", uri)
    )
