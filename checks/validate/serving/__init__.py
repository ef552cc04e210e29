"""Rules on what surrounds a model when it serves: caches, stored embeddings, draft models, Triton."""
