"""HU2 leaked global state."""
