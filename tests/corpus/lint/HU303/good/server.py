import onnxruntime as ort


def load(path, version):
    options = {"trt_engine_cache_enable": True, "trt_engine_cache_path": f"/cache/engines/{version}"}
    return ort.InferenceSession(path, providers=[("TensorrtExecutionProvider", options)])


def dated(path):
    options = {"trt_engine_cache_path": "/cache/engines/2026-11-01"}
    return ort.InferenceSession(path, providers=[("TensorrtExecutionProvider", options)])
