"""Rules on TensorRT-LLM engines and checkpoints."""
