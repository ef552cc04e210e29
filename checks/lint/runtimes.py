"""The serving runtimes, as data: how to recognise one and what its endpoints, flags and metrics mean.

A container is recognised by its image repository or by the program it starts, never by plain argument text. Health
endpoints are split by what they prove: `proves_ready` answers only when the model does; `proves_alive` answers as
soon as the process runs. Sources: the runtimes' own documentation and server code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .lazy import lazy


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """One serving runtime.

    `image` searches the image repository (registry and tag removed, lower case); a custom image is known by its
    `signature`, the ports it declares together with a probe path. `programs` are base names of the
    started program, `modules` what follows `python -m`, `verbs` the subcommands that serve where a program has
    several. `ready_path` is the one right readiness endpoint, empty where there is none or it needs the model's name.
    `binds_first`: the port opens before the model is loaded. `drains`: SIGTERM waits for requests in flight by
    itself, for `drain_seconds`; else `drain_flags` make it. `metrics` are metric name prefixes and `version_labels`
    the labels that tell two versions of one model apart, empty where the runtime has none.
    """

    id: str
    name: str
    image: str = r"(?!)"
    signature: tuple[frozenset[int], str] | None = None
    programs: frozenset[str] = frozenset()
    modules: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset()
    ports: tuple[int, ...] = ()
    proves_ready: str = r"(?!)"
    proves_alive: str = r"(?!)"
    ready_path: str = ""
    binds_first: bool = False
    drains: bool = False
    drain_seconds: int = 0
    drain_flags: tuple[str, ...] = ()
    model_flags: tuple[str, ...] = ()
    model_env: tuple[str, ...] = ()
    model_verb: bool = False
    revision_flags: tuple[str, ...] = ()
    revision_env: tuple[str, ...] = ()
    cache_flags: tuple[str, ...] = ()
    cache_env: tuple[str, ...] = ()
    remote_code_flags: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    version_labels: tuple[str, ...] = ()
    llm: bool = False


_HF_CACHE = ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE")
_V2_READY = r"^/v2/(health/ready|models/[^/]+(/versions/[^/]+)?/ready)/?$"
_OPENAI_READY = r"^/(v1/models|health(_generate)?|v1/health/ready)/?$"

RUNTIMES = (
    Runtime(
        id="vllm",
        name="vLLM",
        image=r"(^|[/-])vllm(-(openai|tpu|gaudi|cpu|serve|rocm|xpu|hpu|neuron|ascend|rbln|dev|ci|gpu|cuda|fork|arm64)"
        r"[\w.-]*|-v?\d[\w.-]*)?$|(^|/)llm-d(-(cuda|xpu|rocm|hpu|cpu|aws|gke|tpu))?(-dev)?$",
        programs=frozenset({"vllm"}),
        modules=("vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"),
        verbs=frozenset({"serve"}),
        ports=(8000,),
        proves_ready=_OPENAI_READY,
        proves_alive=r"^/(ping|version|metrics|livez|live)/?$",
        ready_path="/health",
        drain_flags=("--shutdown-timeout",),
        model_flags=("--model",),
        model_verb=True,
        revision_flags=("--revision",),
        cache_flags=("--download-dir",),
        cache_env=(*_HF_CACHE, "VLLM_CACHE_ROOT"),
        remote_code_flags=("--trust-remote-code",),
        metrics=("vllm:",),
        llm=True,
    ),
    Runtime(
        id="sglang",
        name="SGLang",
        image=r"(^|[/-])sglang$",
        programs=frozenset({"sglang"}),
        modules=("sglang.launch_server", "sglang.srt.server"),
        verbs=frozenset({"serve"}),
        ports=(30000,),
        proves_ready=_OPENAI_READY,
        proves_alive=r"^/(metrics|livez)/?$",
        ready_path="/health",
        drains=True,
        model_flags=("--model-path", "--model"),
        revision_flags=("--revision",),
        cache_flags=("--download-dir",),
        cache_env=_HF_CACHE,
        remote_code_flags=("--trust-remote-code",),
        metrics=("sglang:",),
        llm=True,
    ),
    Runtime(
        id="tgi",
        name="TGI",
        image=r"text-generation-inference|(^|/)tgi(-(tpu|gaudi|gpu|cpu|neuronx?))?$|huggingface-(llm|text-generation)-",
        programs=frozenset({"text-generation-launcher"}),
        ports=(80, 8080, 3000),
        proves_ready=r"^/(health|info|v1/models)/?$",
        proves_alive=r"^/(metrics|ping)/?$",
        ready_path="/health",
        drains=True,
        model_flags=("--model-id",),
        model_env=("MODEL_ID",),
        revision_flags=("--revision",),
        revision_env=("REVISION",),
        cache_flags=("--huggingface-hub-cache",),
        cache_env=(*_HF_CACHE, "HUGGINGFACE_HUB_CACHE"),
        remote_code_flags=("--trust-remote-code",),
        metrics=("tgi_",),
        llm=True,
    ),
    Runtime(
        id="lorax",
        name="LoRAX",
        image=r"(^|/)lorax$",
        programs=frozenset({"lorax-launcher"}),
        ports=(80, 8080),
        proves_ready=r"^/(health|info)/?$",
        proves_alive=r"^/metrics/?$",
        ready_path="/health",
        drains=True,
        model_flags=("--model-id",),
        model_env=("MODEL_ID",),
        revision_flags=("--revision",),
        revision_env=("REVISION",),
        cache_flags=("--huggingface-hub-cache",),
        cache_env=_HF_CACHE,
        remote_code_flags=("--trust-remote-code",),
        metrics=("lorax_",),
        llm=True,
    ),
    Runtime(
        id="triton",
        name="Triton",
        image=r"(^|[/-])triton-?(inference-?)?server$|(^|/)kserve-tritonserver$",
        signature=(frozenset({8000, 8001, 8002}), r"^/v2/"),
        programs=frozenset({"tritonserver"}),
        ports=(8000, 8001),
        proves_ready=_V2_READY,
        proves_alive=r"^/(v2/health/live|v2/?|metrics|v2/repository/index)/?$",
        ready_path="/v2/health/ready",
        drains=True,
        drain_seconds=30,
        drain_flags=("--exit-timeout-secs",),
        model_flags=("--model-repository", "--model-store"),
        cache_flags=("--model-repository", "--model-store"),
        cache_env=_HF_CACHE,
        metrics=("nv_",),
        version_labels=("version",),
    ),
    Runtime(
        id="torchserve",
        name="TorchServe",
        image=r"(^|[/-])torchserve(-kfs)?(-nightly)?(-\w+)?$",
        signature=(frozenset({8080, 8081}), r"^/(ping|models/)"),
        programs=frozenset({"torchserve"}),
        modules=("ts.model_server",),
        ports=(8080,),
        proves_ready=r"^/(models/[^/]+(/[^/]+)?|v1/models/[^/]+|v2/models/[^/]+/ready|predictions/[^/]+)/?$",
        proves_alive=r"^/(ping|api-description|metrics|models)/?$",
        binds_first=True,
        model_flags=("--models",),
        cache_flags=("--model-store",),
        metrics=("ts_", "Requests", "PredictionTime", "QueueTime", "HandlerTime"),
        version_labels=("model_version",),
    ),
    Runtime(
        id="tfserving",
        name="TensorFlow Serving",
        image=r"(^|/)tensorflow/serving$|(^|/)(tf-?serving|tensorflow-(model-server|serving))$",
        programs=frozenset({"tensorflow_model_server"}),
        ports=(8501, 8500),
        proves_ready=r"^/v1/models/[^/]+(/versions/\d+)?/?$",
        proves_alive=r"^/(monitoring/prometheus/metrics|v1/?)/?$",
        binds_first=True,
        model_flags=("--model_base_path", "--model_config_file"),
        model_env=("MODEL_BASE_PATH",),
        cache_flags=("--model_base_path",),
        metrics=(":tensorflow:",),
        version_labels=("version",),
    ),
    Runtime(
        id="mlserver",
        name="MLServer",
        image=r"(^|/)mlserver$",
        programs=frozenset({"mlserver"}),
        verbs=frozenset({"start"}),
        ports=(8080, 8081),
        proves_ready=_V2_READY,
        proves_alive=r"^/(v2/health/live|v2/?|metrics)/?$",
        ready_path="/v2/health/ready",
        binds_first=True,
        model_env=("MLSERVER_MODEL_URI",),
        metrics=("model_infer_", "rest_server_"),
        version_labels=("model_version",),
    ),
    Runtime(
        id="nim",
        name="NVIDIA NIM",
        image=r"(^|/)nim/",
        ports=(8000,),
        proves_ready=r"^/v1/(health/ready|models)/?$",
        proves_alive=r"^/(v1/health/live|v1/version|v1/metadata|v1/metrics|metrics)/?$",
        ready_path="/v1/health/ready",
        binds_first=True,
        model_env=("NIM_MODEL_NAME",),
        cache_env=("NIM_CACHE_PATH",),
        metrics=("vllm:", "gpu_cache_usage_perc", "num_requests_"),
        llm=True,
    ),
    Runtime(
        id="ollama",
        name="Ollama",
        image=r"(^|/)ollama(-(ubi\d*|rocm|cuda|gpu|cpu|intel))?$",
        programs=frozenset({"ollama"}),
        verbs=frozenset({"serve"}),
        ports=(11434,),
        binds_first=True,
        cache_env=("OLLAMA_MODELS",),
        llm=True,
    ),
    Runtime(
        id="llamacpp",
        name="llama.cpp",
        image=r"(^|/)llama(\.cpp|-cpp|-server)$",
        programs=frozenset({"llama-server"}),
        modules=("llama_cpp.server",),
        ports=(8080,),
        proves_ready=r"^/(health|v1/models|v1/health)/?$",
        proves_alive=r"^/(metrics|props)/?$",
        ready_path="/health",
        model_flags=("--hf-repo", "-hf", "-hfr", "--model", "-m"),
        metrics=("llamacpp:",),
        llm=True,
    ),
    Runtime(
        id="tei",
        name="TEI",
        image=r"text-embeddings-inference|(^|/)tei(-\w+)?$",
        programs=frozenset({"text-embeddings-router"}),
        ports=(80, 3000, 8080),
        proves_ready=r"^/(health|info)/?$",
        proves_alive=r"^/metrics/?$",
        ready_path="/health",
        drains=True,
        model_flags=("--model-id",),
        model_env=("MODEL_ID",),
        revision_flags=("--revision",),
        revision_env=("REVISION",),
        cache_flags=("--huggingface-hub-cache",),
        cache_env=_HF_CACHE,
        metrics=("te_",),
    ),
    Runtime(
        id="jetstream",
        name="JetStream",
        image=r"(^|/)(jetstream-(pytorch-server|pathways|maxtext-server)|maxengine-server)$",
        modules=("jetstream_pt.cli", "MaxText.maxengine_server"),
        ports=(9000,),
        llm=True,
    ),
    Runtime(
        id="ray",
        name="Ray Serve",
        image=r"(^|/)ray-llm$",
        programs=frozenset({"serve"}),
        verbs=frozenset({"run", "deploy", "start"}),
        ports=(8000,),
        proves_ready=r"^/-/healthz/?$|^/v1/models/?$",
        proves_alive=r"^/-/routes/?$",
        ready_path="/-/healthz",
        drains=True,
        drain_flags=("graceful_shutdown_timeout_s",),
        metrics=("ray_serve_",),
    ),
    Runtime(
        id="bentoml",
        name="BentoML",
        image=r"(^|/)bentoml(/|$)",
        programs=frozenset({"bentoml"}),
        verbs=frozenset({"serve", "serve-http", "serve-grpc", "start"}),
        ports=(3000,),
        proves_ready=r"^/readyz/?$",
        proves_alive=r"^/(livez|healthz|metrics)/?$",
        ready_path="/readyz",
        binds_first=True,
        metrics=("bentoml_",),
        version_labels=("service_version",),
    ),
    Runtime(
        id="kserve",
        name="KServe server",
        image=r"(^|(?<!seldonio)/)(sklearnserver|xgbserver|lgbserver|pmmlserver|paddleserver|huggingfaceserver|custom-model)"
        r"(-(gpu|grpc))?$",
        modules=("sklearnserver", "xgbserver", "lgbserver", "pmmlserver", "paddleserver", "huggingfaceserver"),
        ports=(8080,),
        proves_ready=r"^/v[12]/models/[^/]+(/ready)?/?$|^/v2/health/ready/?$",
        proves_alive=r"^/(v2/health/live|metrics)?/?$",
        ready_path="/v2/health/ready",
        binds_first=True,
        drains=True,
        model_flags=("--model_id", "--model_dir"),
        revision_flags=("--model_revision", "--revision"),
        remote_code_flags=("--trust_remote_code", "--trust-remote-code"),
        cache_env=_HF_CACHE,
        metrics=("request_predict_seconds", "request_preprocess_seconds"),
    ),
    Runtime(
        id="seldon",
        name="Seldon",
        image=r"(^|/)seldonio/(sklearnserver|xgboostserver|mlflowserver|tfserving-proxy|mlserver)$",
        programs=frozenset({"seldon-core-microservice"}),
        ports=(9000, 9500),
        proves_ready=r"^/(health/status|v2/health/ready|ready)/?$",
        proves_alive=r"^/(health/ping|live|v2/health/live|metrics)/?$",
        ready_path="/health/status",
        binds_first=True,
        metrics=("seldon_",),
        version_labels=("model_version",),
    ),
    Runtime(
        id="litserve",
        name="LitServe",
        image=r"(^|/)litserve$",
        programs=frozenset({"lightning-serve"}),
        ports=(8000,),
        proves_ready=r"^/health/?$",
        proves_alive=r"^/(info|docs|metrics)/?$",
        ready_path="/health",
        binds_first=True,
    ),
    Runtime(
        id="kubeai",
        name="KubeAI",
        image=r"(^|/)kubeai(-\w+)?$",
        ports=(8000,),
        metrics=("kubeai_",),
    ),
)

BY_ID = {runtime.id: runtime for runtime in RUNTIMES}

# Images that carry a runtime's name and serve nothing: clients, routers, simulators, controllers.
_NOT_A_SERVER = lazy(
    r"(router|sidecar|controller|operator|exporter|benchmark|bench|client|gateway|-sdk|inference-sim|simulator|epp"
    r"|frontend|webui|open-webui|proxy|agent|downloader|initializer|loader|scheduler|syncer|requester|launcher|kubeai)$"
    # User interfaces and retrieval chains are called after the server they ask: gradio-rag-vllm-openai.
    r"|(^|/)(gradio|streamlit|chainlit|langchain|llamaindex|rag|ui|chatbot|chat-ui|demo-app)[.-][^/]*$"
)
_IMAGES = [(lazy(runtime.image), runtime) for runtime in RUNTIMES if runtime.image != r"(?!)"]
_CLIENT_TAG = lazy(r"-sdk$")


@lru_cache(maxsize=4096)
def by_image(repository: str, tag: str = "") -> Runtime | None:
    """The runtime that an image repository names, None for clients, routers and unknown images."""
    repository = repository.lower()
    if _NOT_A_SERVER.search(repository) or _CLIENT_TAG.search(tag):
        return None
    for pattern, runtime in _IMAGES:
        if pattern.search(repository):
            return runtime
    return None


def by_signature(ports: set[int], paths: list[str]) -> Runtime | None:
    """The runtime behind a custom image that declares a runtime's ports and probes one of its paths."""
    for runtime in RUNTIMES:
        declared, path = runtime.signature or (frozenset({0}), "")
        if declared <= ports and any(re.search(path, probed) for probed in paths):
            return runtime
    return None


def by_command(words: list[str]) -> Runtime | None:
    """The runtime that a command line starts: its program, `python -m` module, or program and verb."""
    if not words:
        return None
    program = words[0].rsplit("/", 1)[-1]
    following = next((word for word in words[1:] if not word.startswith("-")), "")
    if program.startswith("python"):
        module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
        script = following if following.endswith(".py") else ""
        for runtime in RUNTIMES:
            if module in runtime.modules or (
                script and script[:-3].replace("/", ".").endswith(runtime.modules or ("\0",))
            ):
                return runtime
        return None
    for runtime in RUNTIMES:
        if program in runtime.programs and (not runtime.verbs or following in runtime.verbs):
            return runtime
    return None
