"""Recognising model servers: by image or by what is started, never by plain argument text."""

from __future__ import annotations

import re

import pytest
from interlock.checks.lint.runtimes import RUNTIMES, by_command, by_image, by_signature
from interlock.checks.lint.sources.kubernetes import Resource
from interlock.checks.lint.sources.pods import Container, parse_image
from interlock.checks.lint.sources.text import TextFile
from interlock.checks.lint.sources.yamlreader import documents

IMAGES = {
    "vllm/vllm-openai": "vllm",
    "docker.io/vllm/vllm-openai": "vllm",
    "vllm/vllm-tpu": "vllm",
    "vllm/vllm-openai-cpu": "vllm",
    "opea/vllm-gaudi": "vllm",
    "intel/vllm": "vllm",
    "nvcr.io/nvidia/vllm": "vllm",
    "us-docker.pkg.dev/vertex-ai/vertex-vision-model-garden-dockers/pytorch-vllm-serve": "vllm",
    "ghcr.io/llm-d/llm-d-cuda": "vllm",
    "lmsysorg/sglang": "sglang",
    "ghcr.io/huggingface/text-generation-inference": "tgi",
    "us-docker.pkg.dev/x/gcr.io/huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311": "tgi",
    "ghcr.io/predibase/lorax": "lorax",
    "nvcr.io/nvidia/tritonserver": "triton",
    "pytorch/torchserve": "torchserve",
    "pytorch/torchserve-kfs-nightly": "torchserve",
    "tensorflow/serving": "tfserving",
    "seldonio/mlserver": "mlserver",
    "nvcr.io/nim/meta/llama-3.1-8b-instruct": "nim",
    "ollama/ollama": "ollama",
    "ghcr.io/ggml-org/llama.cpp": "llamacpp",
    "ghcr.io/huggingface/text-embeddings-inference": "tei",
    "us-docker.pkg.dev/cloud-tpu-images/inference/jetstream-pytorch-server": "jetstream",
    "anyscale/ray-llm": "ray",
    "bentoml/bentoml": "bentoml",
    "kserve/sklearnserver": "kserve",
    "seldonio/sklearnserver": "seldon",
    # clients, routers, simulators, controllers and everything else
    "lmcache/vllm-router": None,
    "vllm/vllm-router": None,
    "ghcr.io/llm-d/llm-d-routing-sidecar": None,
    "ghcr.io/llm-d/llm-d-inference-sim": None,
    "kserve/kserve-controller": None,
    "ghcr.io/substratusai/kubeai": None,
    "rayproject/ray": None,
    "postgres": None,
    "tensorflow/tensorflow": None,
    "nginx": None,
    "python": None,
    "ghcr.io/open-webui/open-webui": None,
    "prom/tritonexporter": None,
}


@pytest.mark.parametrize(("image", "expected"), IMAGES.items())
def test_image(image: str, expected: str | None) -> None:
    found = by_image(image)
    assert (found.id if found else None) == expected


def test_client_tag_of_a_server_image() -> None:
    assert by_image("nvcr.io/nvidia/tritonserver", "25.01-py3-sdk") is None


COMMANDS = {
    "vllm serve org/model --port 8000": "vllm",
    "/usr/local/bin/vllm serve org/model": "vllm",
    "vllm bench serve": None,
    "python3 -m vllm.entrypoints.openai.api_server --model x": "vllm",
    "python -u -m sglang.launch_server": "sglang",
    "text-generation-launcher --model-id x": "tgi",
    "tritonserver --model-repository=/models": "triton",
    "tensorflow_model_server --port=8500": "tfserving",
    "ollama serve": "ollama",
    "ollama pull llama3": None,
    "mlserver start .": "mlserver",
    "serve run app:deployment": "ray",
    "bentoml serve": "bentoml",
    "python train.py --backend vllm": None,
    "echo vllm serve": None,
    "": None,
}


@pytest.mark.parametrize(("command", "expected"), COMMANDS.items())
def test_command(command: str, expected: str | None) -> None:
    found = by_command(command.split())
    assert (found.id if found else None) == expected


def test_signature_of_custom_images() -> None:
    triton = by_signature({8000, 8001, 8002}, ["/v2/health/live"])
    assert triton is not None
    assert triton.id == "triton"
    torchserve = by_signature({8080, 8081, 8082}, ["/ping"])
    assert torchserve is not None
    assert torchserve.id == "torchserve"
    assert by_signature({8080, 8081}, ["/healthz"]) is None
    assert by_signature({8000}, ["/v2/health/live"]) is None


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.id)
def test_table_is_consistent(runtime) -> None:
    for pattern in (runtime.image, runtime.proves_ready, runtime.proves_alive):
        re.compile(pattern)
    assert runtime.image != r"(?!)" or runtime.programs or runtime.modules
    if runtime.ready_path:
        assert re.search(runtime.proves_ready, runtime.ready_path)
        assert not re.search(runtime.proves_alive, runtime.ready_path)


def container(text: str) -> Container:
    body = "".join(f"      {line}\n" for line in text.splitlines())
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n    - name: c\n{body}"
    (document,) = documents(TextFile("a.yaml", pod))
    return Resource(document, document.root).pods[0].containers[0]


STARTED = {
    "image: vllm/vllm-openai:v1": "vllm",
    "image: vllm/vllm-openai:v1\ncommand: [sleep, infinity]": None,
    "image: vllm/vllm-openai:v1\ncommand: [bash, -c]\nargs: ['pip install x && sleep 1d']": None,
    "image: vllm/vllm-openai:v1\ncommand: [bash, -c]\nargs: ['pip install x && exec vllm serve m']": "vllm",
    "image: vllm/vllm-openai:v1\ncommand: [/start.sh]": "vllm",
    "image: vllm/vllm-openai:v1\ncommand: [python, benchmark_serving.py]": None,
    "image: ubuntu\ncommand: [/bin/sh, -ec, 'export A=b; HF_HOME=/x vllm serve m']": "vllm",
    "image: ubuntu\nargs: [--upstream, 'vllm serve']": None,
    "image: own/server\ncommand: [$(CMD)]\nenv: [{name: CMD, value: tritonserver}]": "triton",
    "image: ${IMAGE}": None,
}


@pytest.mark.parametrize(("text", "expected"), STARTED.items())
def test_container(text: str, expected: str | None) -> None:
    found = container(text).runtime
    assert (found.id if found else None) == expected


def test_flags_and_expansion() -> None:
    found = container(
        "image: vllm/vllm-openai:v1\ncommand: [vllm, serve]\n"
        "args: [--model=$(MODEL), --max_num_seqs, '4', --trust-remote-code, --port, '8000', '--dtype half']\n"
        "env: [{name: MODEL, value: org/m}, {name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}]"
    )
    values = {
        name: flag.value for name in ("--model", "--max-num-seqs", "--port", "--dtype") if (flag := found.flag(name))
    }
    assert values == {"--model": "$(MODEL)", "--max-num-seqs": "4", "--port": "8000", "--dtype": "half"}
    assert found.expand("$(MODEL) ${MODEL} $MODEL $(S) $(NONE)") == "org/m org/m org/m $(S) $(NONE)"
    assert found.flag("--absent") is None
    switch = found.flag("--trust_remote_code")
    assert switch is not None
    assert switch.value is None


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("a/b:1", ("a/b", "1", "")),
        ("host:5000/a/b", ("host:5000/a/b", "", "")),
        ("host:5000/a/b:1@sha256:0", ("host:5000/a/b", "1", "sha256:0")),
        ("a@sha256:0", ("a", "", "sha256:0")),
        ("", ("", "", "")),
    ],
)
def test_image_reference(reference: str, parts: tuple[str, str, str]) -> None:
    image = parse_image(reference)
    assert (image.repository, image.tag, image.digest) == parts
