"""HU7 no transaction boundary."""
