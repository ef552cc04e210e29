"""HU4 non-atomic writes."""
