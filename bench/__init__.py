"""ONNX Runtime sessions, load generators, statistics and the hot-swap drill."""
