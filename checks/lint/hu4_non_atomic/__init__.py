"""HU4 non-atomic writes: a server can read a version that is only half there."""

RULES = {
    "HU401": ("hu401_poll_mode", ("pod", "python", "shell")),
    "HU402": ("hu402_polled_base_path", ("pod",)),
    "HU403": ("hu403_copied_in_place", ("shell",)),
    "HU404": ("hu404_rename_across", ("python", "shell")),
    "HU405": ("hu405_write_in_place", ("python",)),
    "HU406": ("hu406_exists_means_complete", ("python", "shell")),
    "HU407": ("hu407_stale_attributes", ("kubernetes",)),
    "HU408": ("hu408_init_downloads_shared", ("pod",)),
    "HU409": ("hu409_live_link", ("python", "shell")),
}
