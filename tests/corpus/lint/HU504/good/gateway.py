# Loads no model.
import onnxruntime
from prometheus_client import Histogram

LATENCY = Histogram("request_latency_seconds", "time to answer")
