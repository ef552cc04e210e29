import os

import onnxruntime as ort

CACHE = "/cache/engines"
os.environ["ORT_TENSORRT_CACHE_PATH"] = "/var/cache/trt"


def load(path):
    options = {"trt_engine_cache_enable": True, "trt_engine_cache_path": CACHE}
    return ort.InferenceSession(path, providers=[("TensorrtExecutionProvider", options)])
