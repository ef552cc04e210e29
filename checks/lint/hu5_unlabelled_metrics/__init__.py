"""HU5 unlabelled metrics: nobody can tell which version is slow or wrong."""

RULES = {
    "HU501": ("hu501_version_aggregated_away", ("rules",)),
    "HU502": ("hu502_unscoped_query", ("rules",)),
    "HU503": ("hu503_monitor_without_version", ("kubernetes",)),
    "HU504": ("hu504_unlabelled_python_metric", ("python",)),
    "HU505": ("hu505_mixed_analysis", ("rules",)),
    "HU506": ("hu506_no_version_label", ("pod",)),
    "HU507": ("hu507_scraped_port", ("pod", "kubernetes")),
    "HU508": ("hu508_same_served_name", ("index",)),
    "HU509": ("hu509_telemetry_without_version", ("pod",)),
}
