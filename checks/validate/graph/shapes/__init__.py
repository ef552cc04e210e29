"""Shapes that the operators of an ONNX graph give, whatever the graph declares."""
