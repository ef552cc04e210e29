"""HU4 non-atomic writes: a server can read a version that is only half there."""

RULES = {
    "HU401": ("hu401_poll_mode", ("pod", "python", "shell")),
    "HU405": ("hu405_write_in_place", ("python",)),
    "HU402": ("hu402_polled_base_path", ("pod",)),
    "HU403": ("hu403_copied_in_place", ("shell",)),
}
