"""HU3 frozen graph."""
