"""HU6 unverified artefact: what is loaded is not pinned, not verified, or code."""

RULES = {
    "HU601": ("hu601_unverified_fetch", ("pod",)),
    "HU602": ("hu602_unpinned_hub_id", ("pod", "kubernetes", "python")),
    "HU603": ("hu603_moving_tag", ("pod", "kubernetes")),
    "HU604": ("hu604_remote_code", ("pod", "kubernetes", "python")),
    "HU605": ("hu605_pickle", ("python", "kubernetes")),
    "HU606": ("hu606_mutable_location", ("kubernetes",)),
    "HU607": ("hu607_code_from_branch", ("kubernetes", "shell")),
    "HU608": ("hu608_registry_alias", ("pod", "kubernetes", "python")),
    "HU609": ("hu609_unsigned_push", ("shell",)),
}
