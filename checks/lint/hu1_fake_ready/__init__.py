"""HU1 fake-ready: a pod counts as ready before, or without, its model."""

RULES = {
    "HU101": ("hu101_no_readiness", ("pod",)),
}
