"""Files beside the weights: which are never served, which servers read by themselves, and which hold weights."""

from __future__ import annotations

import re

from ....models.tree import ModelTree, TreeFile
from ....report.errors import NothingToCheck

# Patterns are compiled when they are first needed: most models have no such file.
_INERT = (
    r"(^|/)(readme|license|licence|notice|changelog|authors|citation|use_policy|usage|\.git|\.ds_store|model_card|"
    r"data_config|train_script|training_config|dataset_infos?|trainer_state|trainer_log|training_args|all_results|"
    r"eval_results|train_results|metrics\.json|results\.json|recipe\.yaml|events\.out|rng_state|"
    r"(optimizer|scheduler)\.(pt|bin|pth))"
    r"|\.(md|rst|pdf|png|jpe?g|gif|svg|webp|sha256|sha256sum|md5|asc|sig|log|ipynb|html|bak|lock)$"
    r"|(results?|metrics|loss|scores?|eval\w*|log)\.csv$"
)

# Who reads a file because it is there, with no option that names it.
READ_BY = {
    "handler.py": "Hugging Face endpoints run it",
    "inference.py": "SageMaker runs it",
    "model.py": "Triton's Python backend runs it",
    "requirements.txt": "endpoints install what it names",
    "conda.yaml": "MLflow builds its environment from it",
    "python_env.yaml": "MLflow builds its environment from it",
    "mlmodel": "MLflow serves what it says",
    "model-settings.json": "MLServer serves what it says",
    "serving.properties": "DJL and SageMaker take the engine and its options from it",
    "params.json": "vLLM loads Mistral's format by it",
    "model_index.json": "diffusers builds the pipeline from it",
    "genai_config.json": "onnxruntime-genai takes search options and special tokens from it",
    "mlc-chat-config.json": "MLC takes the conversation template and sampling from it",
    "openvino_config.json": "OpenVINO takes the quantisation from it",
    "neuron_config.json": "Neuron takes the compiled shapes from it",
    "audio_tokenizer_config.json": "processors load the audio tokenizer that it names",
    "kv_cache_scales.json": "servers scale a quantised cache by it",
    "manifest.json": "TorchServe runs the handler that it names",
}

_WEIGHTS = {
    ".h5": "Keras",
    ".keras": "Keras",
    ".msgpack": "Flax",
    ".ot": "Rust",
    ".pb": "TensorFlow",
    ".graphdef": "TensorFlow",
    ".tflite": "TensorFlow Lite",
    ".mlmodel": "Core ML",
    ".pte": "ExecuTorch",
    ".pt2": "PyTorch export",
    ".nemo": "NeMo",
    ".npz": "NumPy",
    ".ubj": "XGBoost",
    ".cbm": "CatBoost",
    ".mnn": "MNN",
    ".rknn": "RKNN",
    ".rkllm": "RKLLM",
}
# Models, or parts of one, that only messages name: the same endings stand for other files as well.
_ALSO = {
    ".npy": "NumPy",
    ".xml": "OpenVINO",
    ".ort": "ONNX Runtime's own format",
    ".pmml": "PMML",
    ".skops": "skops",
    ".mar": "TorchServe",
    ".caffemodel": "Caffe",
    ".pdmodel": "Paddle",
    ".pdiparams": "Paddle",
    ".params": "MXNet",
    ".ftz": "fastText",
    ".ggml": "GGML",
}
_READ = "what is read: ONNX, safetensors, GGUF, TensorRT-LLM, tokenizers, and of pickles whether they are whole"
_CONTAINERS = ("onnx", "safetensors", "gguf", "engine", "pickle")


def inert(name: str) -> bool:
    """Whether a file is documentation, a picture, a checksum, or a trainer's."""
    return re.search(_INERT, name.lower()) is not None


def reader(name: str) -> str:
    """Who reads a file by itself; empty where nobody is known to."""
    return READ_BY.get(name.rpartition("/")[2].lower(), "")


def containers(tree: ModelTree) -> set[str]:
    """The formats that hold a model's weights."""
    found = {kind for kind in _CONTAINERS if any(not inert(file.name) for file in tree.of(kind))}
    return found | {framework for file in tree.of("other") if (framework := _framework(file))}


def nothing(tree: ModelTree, name: str) -> NothingToCheck:
    """The error of a folder or file, called `name`, without anything that is read."""
    for file in tree.of("other"):
        framework = _framework(file) or _ALSO.get(file.name[file.name.rfind(".") :].lower())
        if framework:
            reason = f"holds no model that can be read here: '{file.name}' is a file of {framework}"
            return NothingToCheck(name, reason, hint=f"{_READ}; export the model to one of them")
    return NothingToCheck(name, "holds no model files", hint=f"give the folder that the server loads; {_READ}")


def _framework(file: TreeFile) -> str:
    return _WEIGHTS.get(file.name[file.name.rfind(".") :].lower(), "")
