"""Rules on GGUF files."""
