"""HU2 leaked global state: one version leaves something behind that the next one picks up."""

RULES = {
    "HU201": ("hu201_class_ddp_list", ("python",)),
    "HU202": ("hu202_shared_writable_store", ("pod",)),
    "HU203": ("hu203_host_namespaces", ("pod",)),
    "HU204": ("hu204_mutable_model_config", ("kubernetes",)),
    "HU205": ("hu205_subpath_config", ("pod",)),
    "HU206": ("hu206_unlocked_rebind", ("python",)),
    "HU207": ("hu207_process_settings", ("python",)),
    "HU208": ("hu208_shared_compile_cache", ("pod",)),
}
