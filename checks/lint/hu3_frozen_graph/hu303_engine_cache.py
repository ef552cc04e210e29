"""HU303: a TensorRT engine cache that does not know which model version filled it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from posixpath import basename

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.argv import is_placeholder
from ..sources.pbtxt import Field, Message, ModelConfig
from ..sources.pods import Pod
from ..sources.python import PythonFile
from .versioned import names_a_version, path_is_versioned

RULE = Rule(
    id="HU303",
    name="unversioned-engine-cache",
    family="HU3",
    severity=Severity.ERROR,
    summary="TensorRT engine cache shared by all versions of a model",
    what="`trt_engine_cache_path` in Python provider options or in the parameters of a config.pbtxt, and engine "
    "directories on a node or shared volume, whose path names no model version or digest.",
    why="The cache is keyed by graph name and shapes, not by weights: the new version is served with the engine of the "
    "old one and answers as before, or with another shape's engine (microsoft/onnxruntime#6455, #32254; "
    "triton-inference-server/onnxruntime_backend#124).",
    hint="put the model version or digest into the cache path, or keep the cache inside the version directory",
    example="python",
    bad="""\
import onnxruntime as ort

def load(path):
    options = {"trt_engine_cache_enable": True, "trt_engine_cache_path": "/cache/engines"}
    return ort.InferenceSession(path, providers=[("TensorrtExecutionProvider", options)])
""",
    good="""\
import onnxruntime as ort

def load(path, version):
    options = {"trt_engine_cache_enable": True, "trt_engine_cache_path": f"/cache/engines/{version}"}
    return ort.InferenceSession(path, providers=[("TensorrtExecutionProvider", options)])
""",
    exemptions=(
        "paths with a version, digest or date segment, or built from a variable named after one",
        "TensorRT acceleration without an engine cache: nothing is shared",
        "caches on an emptyDir, which end with the pod",
    ),
    references=(
        "https://github.com/microsoft/onnxruntime/issues/6455",
        "https://github.com/microsoft/onnxruntime/issues/32254",
        "https://github.com/triton-inference-server/onnxruntime_backend/issues/124",
    ),
    reads=("pbtxt", "python", "pod"),
)

_KEYS = frozenset({"trt_engine_cache_path", "trt_timing_cache_path", "ORT_TENSORRT_CACHE_PATH"})
_ENGINES = frozenset(
    {"engine", "engines", "engine-cache", "trt-engines", "engine-repository", "trt-cache", "trt_cache"}
)


def check_pbtxt(config: ModelConfig, ctx: Context) -> Iterator[Finding]:
    """Judge the cache paths in a model configuration."""
    for path, item in config.root.walk():
        if isinstance(item.value, Message) and item.value.scalar("key") in _KEYS and (found := _value(item.value)):
            value = str(found.value)
            if not path_is_versioned(value) and not is_placeholder(value):
                yield ctx.finding(RULE, config.at(found.value_span, path), _message(value))


def _value(entry: Message) -> Field | None:
    """The value of a `parameters { key: … value: … }` entry: a string, or a message with `string_value`."""
    found = entry.get("value")
    return found.value.get("string_value") if found is not None and isinstance(found.value, Message) else found


def check_python(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the cache paths in provider options and environment settings."""
    for node in file.nodes:
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            pairs = iter([(node.targets[0].slice, node.value)])
        else:
            continue
        for key, value in pairs:
            if isinstance(key, ast.Constant) and key.value in _KEYS and not names_a_version(file, value):
                yield ctx.finding(RULE, file.location(value), _message(file.text(value) or ast.unparse(value)))


def check_pod(pod: Pod, ctx: Context) -> Iterator[Finding]:
    """Judge engine directories that outlive the pod, and cache paths in the environment."""
    for container in ctx.index.servers(pod):
        for mount, volume in container.mounts:
            host = volume.get_map("hostPath")
            source = host.get_str("path") or volume.get_map("nfs").get_str("path")
            words = {volume.get_str("name"), basename(source), basename(mount.get_str("mountPath"))}
            if source and words & _ENGINES and not path_is_versioned(source + "/" + mount.get_str("subPath")):
                holder = host if host else volume.get_map("nfs")
                yield ctx.finding(RULE, pod.resource.at(holder, "path"), _message(source))
        for name in _KEYS & set(container.env):
            value = container.env_value(name) or ""
            kept = container.mount_of(value)
            if value and not path_is_versioned(value) and kept is not None and "emptyDir" not in kept[1]:
                yield ctx.finding(RULE, pod.resource.at(container.env[name], "value"), _message(value))


def _message(path: str) -> str:
    return f"engine cache {path} does not say which model version filled it"
