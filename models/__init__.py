"""Readers of model artefacts. Header-only: sizes, names, shapes and types are read, weights are not."""
