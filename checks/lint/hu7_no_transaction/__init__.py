"""HU7 no transaction boundary: the old version goes before the new one serves, or cannot come back."""

RULES = {
    "HU701": ("hu701_recreate", ("pod",)),
    "HU702": ("hu702_no_minimum", ("pod", "kubernetes")),
    "HU703": ("hu703_spare_accelerator", ("pod",)),
    "HU704": ("hu704_disruption_budget", ("pod", "kubernetes")),
    "HU705": ("hu705_traffic_split", ("kubernetes",)),
    "HU706": ("hu706_floating_member", ("pbtxt", "python")),
    "HU707": ("hu707_version_mismatch", ("kubernetes",)),
    "HU708": ("hu708_no_rollback", ("pod", "pbtxt")),
    "HU709": ("hu709_in_place_ray", ("kubernetes",)),
}
