"""The rules of validate, by folder. A row's modules are imported only where a model has files of one of its kinds."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple, cast

from .rulebase import Rule, RuleModule
from .unreadable import RULES


class Family(NamedTuple):
    """A folder of rules, the modules in it, and the kinds of file (`models.tree`), or of option, that call
    for it; none: always."""

    folder: str
    modules: tuple[str, ...]
    kinds: frozenset[str] = frozenset()


FAMILIES: tuple[Family, ...] = (
    Family("files", ("fil_set", "fil_format", "fil_lost", "fil_prep", "fil_opaque", "fil_bytes", "fil_label")),
    Family(
        "graph",
        (
            *("onx_in_removed", "onx_in_added", "onx_in_renamed", "onx_out_removed", "onx_out_added"),
            *("onx_out_renamed", "onx_dtype", "onx_rank", "onx_dim_narrow", "onx_dim_widen", "onx_dim_tied"),
            *("onx_order", "onx_ir", "onx_opset", "onx_domain", "onx_state", "onx_meta", "onx_ext", "onx_head"),
            *("onx_label", "onx_in_values", "onx_in_meaning", "onx_custom"),
            *("onx_graph", "onx_op", "onx_shape"),
        ),
        frozenset({"onnx"}),
    ),
    Family(
        "weights",
        (
            *("wts_name", "wts_shape", "wts_dtype", "wts_dtype_range", "wts_index", "wts_shard"),
            *("wts_changed", "wts_tie", "wts_missing", "wts_quant", "wts_fit", "wts_pack"),
        ),
        frozenset({"safetensors", "index"}),
    ),
    Family(
        "gguf",
        (
            "ggf_pre",
            "ggf_arch",
            "ggf_ctx",
            "ggf_meta",
            "ggf_sample",
            "ggf_tensor",
            "ggf_split",
            "ggf_missing",
            "ggf_load",
        ),
        frozenset({"gguf"}),
    ),
    Family(
        "adapter",
        (
            *("lra_base", "lra_target", "lra_self", "lra_rank", "lra_modules", "lra_vocab", "lra_scale"),
            *("lra_changed", "lra_orphan", "lra_conf", "lra_opaque"),
        ),
        frozenset({"adapter"}),
    ),
    Family(
        "engine",
        ("trt_ver", "trt_sm", "trt_io", "trt_profile", "trt_plugin", "trt_refit", "trt_tp", "trt_opaque"),
        frozenset({"engine"}),
    ),
    Family("serving", ("emb_space",), frozenset({"onnx", "safetensors", "gguf", "pooling", "config"})),
    Family("serving", ("sta_kv",), frozenset({"safetensors"})),
    Family("serving", ("tri_cfg", "tri_mode", "sta_seq"), frozenset({"triton"})),
    Family("serving", ("spc_vocab",), frozenset({"draft"})),
    Family("memory", ("mem_fit",), frozenset({"gpu-memory"})),
    Family("behaviour", ("run_fail", "run_shape", "run_finite", "run_drift"), frozenset({"run"})),
    Family(
        "tokenizer",
        (
            *("tok_id", "tok_del", "tok_add", "tok_reserved", "tok_merge", "tok_flag", "tok_added", "tok_norm"),
            *("tok_pre", "tok_dec", "tok_post", "tok_eos", "tok_bos", "tok_padtok", "tok_unk", "tok_side"),
            *("tok_range", "tok_pad", "tok_fmt", "tok_twin", "tok_conf", "tok_probe"),
        ),
        frozenset({"tokenizer", "tokenizer-config", "gguf", "config", "generation-config"}),
    ),
    Family(
        "config",
        (
            *("cfg_arch", "cfg_geom", "cfg_ctx", "cfg_rope", "cfg_quant", "cfg_code", "cfg_label"),
            *("cfg_score", "cfg_vocab", "cfg_other"),
        ),
        frozenset({"config"}),
    ),
    Family("generation", ("gen_sample", "gen_len"), frozenset({"generation-config", "config"})),
    Family("generation", ("gen_eos",), frozenset({"generation-config", "config", "tokenizer-config", "chat-template"})),
    Family(
        "chat",
        ("cht_diff", "cht_err", "cht_bos", "cht_tok", "cht_kwarg"),
        frozenset({"chat-template", "tokenizer-config", "gguf", "config"}),  # processor_config.json lies beside one
    ),
)


def modules(kinds: set[str] | None = None) -> Iterator[RuleModule]:
    """The rule modules that models with these kinds of file call for; all of them when None."""
    for family in FAMILIES:
        if kinds is None or not family.kinds or not family.kinds.isdisjoint(kinds):
            for name in family.modules:
                yield cast("RuleModule", import_module(f".{family.folder}.{name}", __package__))


def ids() -> set[str]:
    """The ids of all rules, without importing them: a module is named after its rule."""
    named = {name.upper().replace("_", "-") for family in FAMILIES for name in family.modules}
    return named | {rule.id for rule in RULES}


def all_rules() -> list[Rule]:
    """Every rule, by id, with those that the engine itself says."""
    return sorted((*(module.RULE for module in modules()), *RULES), key=lambda rule: rule.id)
