"""HU402: TensorFlow Serving that polls a base path on storage others write to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Location, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..paths import is_test
from ..rulebase import Context
from ..served import inside
from ..sources.argv import Flag
from ..sources.pods import Container, Pod
from ..volumes import stores

RULE = Rule(
    id="HU402",
    name="polled-base-path",
    family="HU4",
    severity=Severity.WARNING,
    summary="TF Serving base path on shared storage, polled every second",
    what="tensorflow_model_server whose --model_base_path (or MODEL_BASE_PATH) lies on an NFS export, a mounted "
    "bucket, a ReadWriteMany claim or directly in a bucket, with the default polling of the file system.",
    why="The server looks for a new version directory every second and loads it as soon as it appears. An upload that "
    "has written saved_model.pb but not yet the variables is picked up half-way (tensorflow/serving#1086, #631), and "
    "every replica sees it at another moment (tensorflow/serving#572).",
    hint="set --file_system_poll_wait_seconds=0 and roll pods for a new version, or pin versions in a model config",
    bad="""\
containers:
  - name: server
    image: tensorflow/serving:2.18.0
    args: [--model_name=ranker, --model_base_path=gs://models/ranker]
""",
    good="""\
containers:
  - name: server
    image: tensorflow/serving:2.18.0
    args: [--model_name=ranker, --model_base_path=gs://models/ranker, --file_system_poll_wait_seconds=0]
""",
    exemptions=(
        "--file_system_poll_wait_seconds of 0 or less",
        "a --model_config_file, which can pin versions",
        "base paths in the image, on an emptyDir or on a ReadWriteOnce claim",
    ),
    references=(
        "https://github.com/tensorflow/serving/issues/1086",
        "https://github.com/tensorflow/serving/issues/572",
    ),
    reads=("pod",),
)

_REMOTE = lazy(r"^(gs|s3|hdfs|abfss?|wasbs?|viewfs)://")


def check(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge the TensorFlow Serving containers of a pod."""
    if is_test(pod.resource.path):
        return
    for container in ctx.index.servers(pod):
        if container.runtime is None or container.runtime.id != "tfserving" or not _polls(container):
            continue
        flag = container.flag("--model_base_path")
        written = flag.value if flag else container.env_value("MODEL_BASE_PATH")
        path = container.expand(written or "")
        where = _storage(ctx, container, path)
        if where and not container.flag("--model_config_file"):
            message = f"{container.name} polls {path} on {where} and loads a version before it is completely written"
            yield ctx.finding(RULE, _place(pod, container, flag), message)


def _polls(container: Container) -> bool:
    flag = container.flag("--file_system_poll_wait_seconds")
    return flag is None or not re.fullmatch(r"0|-\d+", flag.value or "")


def _storage(ctx: Context, container: Container, path: str) -> str:
    """What shared storage the base path lies on, empty when none."""
    if _REMOTE.match(path):
        return "a bucket"
    for store in stores(ctx.index, container):
        if store.network and path and inside(path, store.path):
            return f"a {store.what}" if store.what[0] not in "aeiouN" else f"an {store.what}"
    return ""


def _place(pod: Pod, container: Container, flag: Flag | None) -> Location:
    if flag is not None:
        return pod.resource.at_word(flag.word)
    return pod.resource.at(container.env["MODEL_BASE_PATH"], "value")
