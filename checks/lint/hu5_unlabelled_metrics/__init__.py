"""HU5 unlabelled metrics: nobody can tell which version is slow or wrong."""

RULES = {
    "HU501": ("hu501_version_aggregated_away", ("rules",)),
    "HU503": ("hu503_monitor_without_version", ("kubernetes",)),
}
