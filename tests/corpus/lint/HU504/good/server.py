from collections import Counter

import onnxruntime as ort
from prometheus_client import Gauge, Histogram

LATENCY = Histogram("predict_latency_seconds", "time to answer", ["route", "model_version"])
QUEUE = Gauge("queue_length", "waiting")
WORDS = Counter("request")
session = ort.InferenceSession("/models/live/model.onnx")
