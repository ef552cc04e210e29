"""HU4 non-atomic writes: a server can read a version that is only half there."""

RULES = {
    "HU401": ("hu401_poll_mode", ("pod", "python", "shell")),
    "HU405": ("hu405_write_in_place", ("python",)),
}
