"""HU5 unlabelled metrics."""
