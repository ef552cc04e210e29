"""HU2 leaked global state: one version leaves something behind that the next one picks up."""

RULES = {
    "HU202": ("hu202_shared_writable_store", ("pod",)),
    "HU206": ("hu206_unlocked_rebind", ("python",)),
}
