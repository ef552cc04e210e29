"""HU1 fake-ready: a pod counts as ready before, or without, its model."""

RULES = {
    "HU101": ("hu101_no_readiness", ("pod",)),
    "HU102": ("hu102_process_readiness", ("pod",)),
    "HU103": ("hu103_liveness_kills_load", ("pod",)),
    "HU104": ("hu104_short_startup", ("pod",)),
    "HU105": ("hu105_port_readiness", ("pod",)),
    "HU106": ("hu106_not_ready_addresses", ("kubernetes",)),
    "HU107": ("hu107_no_drain", ("pod",)),
    "HU108": ("hu108_constant_health", ("python",)),
    "HU109": ("hu109_tolerated_load_failure", ("pod",)),
}
