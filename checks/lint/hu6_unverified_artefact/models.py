"""Where manifests and serving code name their models, with the revision each is pinned to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ....report.finding import Location
from ..sources.argv import Word
from ..sources.embedded_yaml import embedded
from ..sources.kubernetes import Resource
from ..sources.pods import Container
from ..sources.python import PythonFile, argument, has_unpacked
from ..sources.yamlnodes import Map, dig, text, walk
from .references import hub_id, is_commit

_VARIABLE = re.compile(r"^\$[({]?(\w+)[)}]?$")
_EXTRA_MODELS = ("--tokenizer", "--speculative-model", "--draft-model-path", "--tokenizer-path")
_URI_KEYS = frozenset({"storageUri", "uri", "url", "sourceModelUri", "modelUri"})
_SERVING_KINDS = frozenset(
    {"InferenceService", "LLMInferenceService", "LLMInferenceServiceConfig", "TrainedModel", "LocalModelCache", "Model"}
    | {"SeldonDeployment", "InferenceGraph", "ServingRuntime", "ClusterServingRuntime", "LocalModelNamespaceCache"}
)
# A file that uses one of these answers requests; scripts that only train, convert, measure or generate offline are left
# alone. Packages that also have a client, a trainer or an offline engine count by the names that serve.
_SERVERS = re.compile(
    r"^(triton_python_backend_utils|mlserver|bentoml|litserve|ts|seldon_core|fastapi|flask|starlette|sanic|tornado|uvicorn"
    r"|gradio|cog|ray\.serve|aiohttp\.web|vllm\.entrypoints\.(openai|api_server|launcher))(\.|$)"
    r"|^(vllm|sglang)\b.*\.(AsyncLLMEngine|AsyncEngineArgs|AsyncLLM|Engine)$"
    r"|^kserve\b.*\.(Model|ModelServer|ModelRepository|InferRequest|InferResponse)$"
)
_SERVER_CALLS = re.compile(r"^(kserve\.(ModelServer|Model)|grpc(\.aio)?\.server|aiohttp\.web\.\w+|ray\.serve\.\w+)$")


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a model: what names it, the revision asked for (None when it cannot be known), and where it stands."""

    id: str
    revision: str | None
    where: Location
    what: str

    @property
    def pinned(self) -> bool:
        """Whether the content is fixed, or cannot be judged."""
        return self.revision is None or is_commit(self.revision)


def of_container(container: Container) -> Iterator[Use]:
    """The hub models a model server loads by its options, its `serve MODEL` word or its environment."""
    runtime = container.runtime
    if runtime is None:
        return
    revision = _revision(container)
    found = False
    for flag in container.flags:
        named = any(flag.name == name for name in (*runtime.model_flags, *_EXTRA_MODELS))
        if named and flag.value:
            found = found or flag.name in runtime.model_flags
            own = (
                revision
                if flag.name in runtime.model_flags
                else _flag_value(container, "--tokenizer-revision", revision)
            )
            yield from _use(container, flag.value, flag.at, own, flag.name)
        elif flag.name == "--lora-modules":
            yield from _lora(container, flag.at)
    for word in _served(container) if runtime.model_verb and not found else ():
        found = True
        yield from _use(container, word.text, word, revision, "the model argument")
    if not found:
        for name in runtime.model_env:
            value = container.env_value(name)
            if value and (model := hub_id(value)):
                where = container.pod.resource.at(container.env[name], "value")
                yield Use(model, _combined(model, revision), where, name)


def _use(container: Container, value: str, word: Word, revision: str | None, what: str) -> Iterator[Use]:
    model = hub_id(container.expand(value))
    if model:
        yield Use(model, _combined(model, revision), _place(container, value, word), what)


def _place(container: Container, value: str, word: Word) -> Location:
    """The environment entry a `$(NAME)` stands for, since that is what must change; else the word itself."""
    match = _VARIABLE.match(value)
    entry = container.env.get(match.group(1)) if match else None
    resource = container.pod.resource
    if entry is not None and "value" in entry:
        return resource.at(entry, "value")
    return resource.at_word(word, "" if value == word.text else value)


def _served(container: Container) -> Iterator[Word]:
    """The positional model of `vllm serve MODEL`, or of arguments that go to such an entrypoint."""
    for line in container.lines:
        words = [word.text.rsplit("/", 1)[-1] if i == 0 else word.text for i, word in enumerate(line)]
        if "serve" in words[:3]:
            rest = line[words.index("serve") + 1 :]
            if rest and not rest[0].text.startswith("-"):
                yield rest[0]
        elif line and hub_id(container.expand(line[0].text)) and not container.words[0]:
            yield line[0]


def _lora(container: Container, first: Word) -> Iterator[Use]:
    """`--lora-modules name=owner/adapter …`: the words after the flag up to the next option."""
    for line in container.lines:
        if first not in line:
            continue
        for word in line[line.index(first) :]:
            if word.text.startswith("-"):
                break
            _, equals, value = word.text.rpartition("=")
            model = hub_id(value) if equals else ""
            if model:
                yield Use(model, "", container.pod.resource.at_word(word), "--lora-modules")


def _revision(container: Container) -> str | None:
    """The revision asked for; empty when none is, None when it is a variable that the manifest does not resolve."""
    assert container.runtime is not None  # noqa: S101
    for name in container.runtime.revision_flags:
        if container.flag(name) is not None:
            return _flag_value(container, name, "")
    for name in container.runtime.revision_env:
        if name in container.env:
            return container.env_value(name)
    return ""


def _flag_value(container: Container, name: str, default: str | None) -> str | None:
    flag = container.flag(name)
    if flag is None or flag.value is None:
        return default
    value = container.expand(flag.value)
    return None if "$" in value or "<" in value or "{{" in value else value


def _combined(model: str, revision: str | None) -> str | None:
    """The revision in `owner/name:revision` wins over the option."""
    _, colon, own = model.partition(":")
    return own if colon else revision


def of_resource(resource: Resource) -> Iterator[tuple[str, Location]]:
    """(URI, where) of every model location that a serving object names: storageUri, model.uri, adapters."""
    if resource.kind not in _SERVING_KINDS:
        return
    for holder, key in walk(resource.spec):
        value = holder.get(key)
        if key in _URI_KEYS and isinstance(value, str) and "://" in value:
            yield value, resource.at(holder, key)


def serve_config(resource: Resource) -> Iterator[Resource]:
    """The applications file inside a RayService."""
    if resource.kind == "RayService":
        yield from embedded(resource, resource.spec, "serveConfigV2")


def of_ray(resource: Resource) -> Iterator[Use]:
    """What the applications inside serveConfigV2 load.

    That is `model_source` (or a hub-like `model_id`) of Ray Serve LLM configurations, and the variables `MODEL_ID`,
    `SUMMARY_MODEL_ID` and so on that an application's runtime_env sets to a hub id.
    """
    for inner in serve_config(resource):
        for holder, key in walk(inner.root):
            loading = holder.get(key)
            if key == "env_vars" and isinstance(loading, Map):
                revision = next((text(value) for name, value in loading.items() if "REVISION" in name.upper()), "")
                for name, value in loading.items():
                    if name.endswith("MODEL_ID") and (model := hub_id(text(value))):
                        yield Use(model, None if "$" in revision else revision, inner.at(loading, name), name)
            if key != "model_loading_config" or not isinstance(loading, Map):
                continue
            name = "model_source" if "model_source" in loading else "model_id"
            model = hub_id(loading.get_str(name))
            if model:
                revision = text(dig(holder, "engine_kwargs", "revision"))
                yield Use(model, revision, inner.at(loading, name), name)


def of_nim(resource: Resource) -> Iterator[Use]:
    """The hub model that a NIMCache pulls, or that a NIMService loads by NIM_MODEL_NAME."""
    if resource.group != "apps.nvidia.com":
        return
    source = resource.spec.get_map("source").get_map("hf")
    model = hub_id(f"{source.get_str('namespace')}/{source.get_str('modelName')}") if "modelName" in source else ""
    if model:
        yield Use(model, source.get_str("revision"), resource.at(source, "modelName"), "source.hf")
    for entry in resource.spec.get_maps("env"):
        value = entry.get_str("value")
        if entry.get_str("name") == "NIM_MODEL_NAME" and value.startswith("hf://") and (model := hub_id(value)):
            yield Use(model, _combined(model, ""), resource.at(entry, "value"), "NIM_MODEL_NAME")


_OFFLINE = re.compile(r"(^|/)bench[^/]*\.py$|[-_]offline\.py$")


def serves(file: PythonFile) -> bool:
    """Whether a Python file answers requests, and not those of a test suite or a benchmark."""
    if file.is_test or _OFFLINE.search(file.path):
        return False
    return any(map(_SERVERS.match, file.imports.values())) or any(_SERVER_CALLS.match(name) for name, _ in file.calls)


_LOADERS = re.compile(r"(^|\.)(from_pretrained|snapshot_download|hf_hub_download)$")
_ENGINES = re.compile(r"(^|\.)(LLM|EngineArgs|AsyncEngineArgs|SentenceTransformer|CrossEncoder|pipeline)$")


def of_python(file: PythonFile) -> Iterator[tuple[Use, ast.Call]]:
    """The hub models that serving code loads by name."""
    if not serves(file):
        return
    for name, call in file.calls:
        if _LOADERS.search(name):
            value = argument(call, 0, "pretrained_model_name_or_path", "repo_id", "model_name_or_path")
        elif _ENGINES.search(name) and file.modules & {"vllm", "transformers", "sentence_transformers"}:
            value = argument(call, 1 if name.endswith("pipeline") else 0, "model", "model_name_or_path")
        else:
            continue
        model = hub_id(file.text(value) or "")
        if model and value is not None and not has_unpacked(call):
            given = argument(call, None, "revision")
            revision = "" if given is None else file.text(given)
            yield Use(model, revision, file.location(value), name.rsplit(".", 1)[-1]), call
