import onnxruntime as ort
from prometheus_client import Counter, Histogram

LATENCY = Histogram("predict_latency_seconds", "time to answer")
ERRORS = Counter("predict_errors_total", "failed answers", ["route"])
session = ort.InferenceSession("/models/live/model.onnx")
