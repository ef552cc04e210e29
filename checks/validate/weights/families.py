"""The shapes that model families of `transformers` give their tensors, in sizes of config.json.

A row is a module and its weight's shape; `3h` is three times a size, `q+2k` a sum. A bias is as long as what comes out
of its module. Read from the modelling code of releases 4.57 and 5.24 and compared with models built by both. What is
not listed (a module, or a family) is left alone. Sizes by letter:

    h hidden    a heads    g key-value heads    d head    q all heads    k all key-value heads    i feed-forward
    e experts    m feed-forward of an expert    s of the shared experts    v vocabulary    p positions    t token kinds
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Rows = Mapping[str, str]


class Family(NamedTuple):
    """Modules of a layer and of what lies beside the layers, whose names end as in `stack`.

    `turned` families keep weights as [in, out], as the Conv1D of GPT-2 does. `keys` are the keys of sizes where they
    are not the usual ones.
    """

    layer: Rows
    beside: Rows
    stack: str = "layers"
    turned: bool = False
    keys: Rows = MappingProxyType({})


def _rows(text: str) -> Rows:
    return {name: shape for name, _, shape in (row.strip().partition(" ") for row in text.split(","))}


_ATTENTION = _rows("self_attn.q_proj q h, self_attn.k_proj k h, self_attn.v_proj k h, self_attn.o_proj h q")
_GATED = _rows("mlp.gate_proj i h, mlp.up_proj i h, mlp.down_proj h i")
_NORMS = _rows("input_layernorm h, post_attention_layernorm h")
_MORE_NORMS = _rows("pre_feedforward_layernorm h, post_feedforward_layernorm h")
_HEAD_NORMS = _rows("self_attn.q_norm d, self_attn.k_norm d")
_WIDE_NORMS = _rows("self_attn.q_norm q, self_attn.k_norm k")
_ENDS = _rows("embed_tokens v h, norm h, lm_head v h")
_EXPERTS = _rows(
    "mlp.gate e h, mlp.experts.*.gate_proj m h, mlp.experts.*.up_proj m h, mlp.experts.*.down_proj h m, "
    "mlp.shared_expert.gate_proj s h, mlp.shared_expert.up_proj s h, mlp.shared_expert.down_proj h s, "
    "mlp.shared_expert_gate 1 h"
)
_MIXTRAL = _rows(
    "block_sparse_moe.gate e h, block_sparse_moe.experts.*.w1 i h, block_sparse_moe.experts.*.w3 i h, "
    "block_sparse_moe.experts.*.w2 h i"
)
_FUSED = _rows("self_attn.qkv_proj q+2k h, self_attn.o_proj h q, mlp.gate_up_proj 2i h, mlp.down_proj h i")
_PLAIN = {**_ATTENTION, **_GATED, **_NORMS}
_BERT = _rows(
    "attention.self.query h h, attention.self.key h h, attention.self.value h h, attention.output.dense h h, "
    "attention.output.LayerNorm h, intermediate.dense i h, output.dense h i, output.LayerNorm h"
)
_EMBEDDINGS = _rows(
    "embeddings.word_embeddings v h, embeddings.position_embeddings p h, embeddings.token_type_embeddings t h, "
    "embeddings.LayerNorm h, pooler.dense h h"
)

_KINDS: Mapping[str, Family] = {
    "llama mistral ministral qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text gemma granite olmo cohere cohere2 "
    "stablelm smollm3 ernie4_5 seed_oss": Family(_PLAIN, _ENDS),
    "gemma2": Family({**_PLAIN, **_MORE_NORMS}, _ENDS),
    "qwen3 qwen3_vl_text": Family({**_PLAIN, **_HEAD_NORMS}, _ENDS),
    "gemma3_text": Family({**_PLAIN, **_MORE_NORMS, **_HEAD_NORMS}, _ENDS),
    "olmo2 olmo3": Family({**_PLAIN, **_MORE_NORMS, **_WIDE_NORMS}, _ENDS),
    "qwen2_moe": Family({**_PLAIN, **_EXPERTS}, _ENDS),
    "qwen3_moe": Family({**_PLAIN, **_EXPERTS, **_HEAD_NORMS}, _ENDS),
    "olmoe": Family({**_ATTENTION, **_NORMS, **_WIDE_NORMS, **_EXPERTS}, _ENDS, keys={"m": "intermediate_size"}),
    "mixtral": Family({**_ATTENTION, **_NORMS, **_MIXTRAL}, _ENDS),
    "phi3": Family({**_FUSED, **_NORMS}, _ENDS),
    "arcee nemotron": Family({**_ATTENTION, **_NORMS, **_rows("mlp.up_proj i h, mlp.down_proj h i")}, _ENDS),
    "starcoder2": Family({**_ATTENTION, **_NORMS, **_rows("mlp.c_fc i h, mlp.c_proj h i")}, _ENDS),
    "phi": Family(
        {**_ATTENTION, **_rows("self_attn.dense h q, mlp.fc1 i h, mlp.fc2 h i, input_layernorm h")},
        _rows("embed_tokens v h, final_layernorm h, lm_head v h"),
    ),
    "gpt2": Family(
        _rows("attn.c_attn h 3h, attn.c_proj h h, mlp.c_fc h i, mlp.c_proj i h, ln_1 h, ln_2 h"),
        _rows("wte v h, wpe p h, ln_f h, lm_head v h"),
        stack="h",
        turned=True,
        keys={"h": "n_embd", "i": "n_inner", "p": "n_positions", "a": "n_head"},
    ),
    "gpt_neox": Family(
        _rows(
            "attention.query_key_value 3h h, attention.dense h h, mlp.dense_h_to_4h i h, mlp.dense_4h_to_h h i, "
            "input_layernorm h, post_attention_layernorm h"
        ),
        _rows("embed_in v h, final_layer_norm h, embed_out v h"),
    ),
    "bloom": Family(
        _rows(
            "self_attention.query_key_value 3h h, self_attention.dense h h, mlp.dense_h_to_4h 4h h, "
            "mlp.dense_4h_to_h h 4h, input_layernorm h, post_attention_layernorm h"
        ),
        _rows("word_embeddings v h, word_embeddings_layernorm h, ln_f h, lm_head v h"),
        stack="h",
    ),
    "opt": Family(
        _rows(
            "self_attn.q_proj h h, self_attn.k_proj h h, self_attn.v_proj h h, self_attn.out_proj h h, fc1 i h, "
            "fc2 h i, self_attn_layer_norm h, final_layer_norm h"
        ),
        {},
        keys={"i": "ffn_dim"},
    ),
    "bert roberta xlm-roberta camembert": Family(_BERT, _EMBEDDINGS, stack="encoder.layer"),
    "electra": Family(_BERT, {}, stack="encoder.layer"),
    "mpnet": Family(
        _rows(
            "attention.attn.q h h, attention.attn.k h h, attention.attn.v h h, attention.attn.o h h, "
            "attention.LayerNorm h, intermediate.dense i h, output.dense h i, output.LayerNorm h"
        ),
        _rows("embeddings.word_embeddings v h, embeddings.position_embeddings p h, embeddings.LayerNorm h"),
        stack="encoder.layer",
    ),
    "distilbert": Family(
        _rows(
            "attention.q_lin h h, attention.k_lin h h, attention.v_lin h h, attention.out_lin h h, ffn.lin1 i h, "
            "ffn.lin2 h i, sa_layer_norm h, output_layer_norm h"
        ),
        _rows("embeddings.word_embeddings v h, embeddings.position_embeddings p h, embeddings.LayerNorm h"),
        stack="transformer.layer",
        keys={"h": "dim", "i": "hidden_dim", "a": "n_heads"},
    ),
}
FAMILIES: Mapping[str, Family] = {name: family for names, family in _KINDS.items() for name in names.split()}
# Families that give every head keys and values of its own where num_key_value_heads is not written.
ALL_HEADS = frozenset({"llama"})
# Families whose head_dim does not come from the hidden size where it is not written.
OWN_HEADS = frozenset(("gemma", "gemma2", "gemma3_text", "qwen3", "qwen3_moe", "qwen3_vl_text", "seed_oss", "ernie4_5"))
