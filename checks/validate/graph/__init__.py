"""Rules on ONNX graphs and their contracts."""
