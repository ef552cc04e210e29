"""HU1 fake-ready."""
