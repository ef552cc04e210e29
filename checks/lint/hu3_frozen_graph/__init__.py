"""HU3 frozen graph: a plan, binding or name of one model version outlives it."""

RULES = {
    "HU301": ("hu301_kept_binding", ("python",)),
    "HU302": ("hu302_literal_names", ("python",)),
    "HU303": ("hu303_engine_cache", ("pbtxt", "python", "pod")),
    "HU304": ("hu304_floating_contract", ("pbtxt",)),
    "HU305": ("hu305_two_contracts", ("index",)),
    "HU306": ("hu306_partial_state", ("python",)),
    "HU307": ("hu307_unpinned_gpu", ("index",)),
}
