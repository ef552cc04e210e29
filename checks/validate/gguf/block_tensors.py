"""What llama.cpp calls for in every block of an architecture, and does not load a file without.

Read from the loaders of its architectures (the tensors that each creates for a block without calling them optional).
An architecture whose blocks are of several kinds is not listed, nor is what a loader only takes under a condition.
"""

from __future__ import annotations

from collections.abc import Mapping

# Attention and its norm; queries, keys and values are one tensor or three.
_ATTENTION = "attn_norm attn_output qkv"
_NORMED = f"{_ATTENTION} attn_q_norm attn_k_norm"
_UP = "ffn_up ffn_down"
_GATED = f"{_UP} ffn_gate"
_EXPERTS = "ffn_gate_inp ffn_up_exps ffn_down_exps"
_SANDWICH = "post_attention_norm post_ffw_norm"
_BERT = "attn_output qkv attn_output_norm layer_output_norm"

# what a block holds: the architectures
_BLOCKS: Mapping[str, str] = {
    f"{_ATTENTION} ffn_norm {_GATED}": "qwen qwen2 qwen2vl gemma baichuan orion xverse exaone smollm3 eurobert",
    f"{_NORMED} ffn_norm {_GATED}": "qwen3 qwen3vl hunyuan-dense chameleon",
    f"{_NORMED} ffn_norm {_EXPERTS} ffn_gate_exps": "qwen3moe qwen3vlmoe olmoe",
    f"{_ATTENTION} ffn_norm {_EXPERTS} ffn_gate_exps ffn_gate_inp_shexp ffn_up_shexp ffn_gate_shexp ffn_down_shexp": (
        "qwen2moe"
    ),
    f"{_ATTENTION} ffn_norm {_UP}": "phi3 gpt2 gptneox starcoder starcoder2 bloom codeshell chatglm nemotron arcee",
    f"{_ATTENTION} {_GATED}": "command-r cohere2 stablelm plamo",
    f"{_ATTENTION} {_UP}": "falcon phi2",
    f"{_ATTENTION} post_attention_norm {_GATED}": "seed_oss",
    f"{_ATTENTION} ffn_norm {_GATED} {_SANDWICH}": "gemma2",
    f"{_NORMED} ffn_norm {_GATED} {_SANDWICH}": "gemma3 gemma-embedding",
    f"attn_output qkv attn_q_norm attn_k_norm {_GATED} {_SANDWICH}": "olmo2",
    f"attn_output qkv {_GATED}": "olmo",
    f"{_ATTENTION} attn_sinks post_attention_norm {_EXPERTS} ffn_gate_exps": "gpt-oss",
    f"{_BERT} {_UP}": "bert jina-bert-v3",
    f"{_BERT} {_GATED}": "nomic-bert",
}
# With experts where the file says how many, and one feed-forward network where it does not.
_EITHER = frozenset({"llama", "mistral3", "granite", "granitemoe", "minicpm", "refact"})
_OF: Mapping[str, str] = {name: parts for parts, names in _BLOCKS.items() for name in names.split()}


def missing(architecture: str, experts: int, block: set[str]) -> frozenset[str]:
    """The tensors that a block with these tensors (names below its number) lacks.

    Empty where it holds half of them or less: a fragment of a model, which nobody serves.
    """
    wanted, lost = _wanted(architecture, experts, block), lacking(architecture, experts, block)
    return lost if 2 * len(lost) < len(wanted) else frozenset()


def lacking(architecture: str, experts: int, block: set[str]) -> frozenset[str]:
    """The same, of fragments too."""
    return frozenset(_wanted(architecture, experts, block) - block - _merged(block))


def _wanted(architecture: str, experts: int, block: set[str]) -> set[str]:
    parts = _OF.get(architecture, "").split()
    if architecture in _EITHER:
        parts = f"{_ATTENTION} ffn_norm {_EXPERTS if experts else _GATED}".split()
    wanted = {f"{part}.weight" for part in parts if part != "qkv"}
    # The loader of phi3 calls all four optional.
    if "qkv" in parts and "attn_qkv.weight" not in block and architecture != "phi3":
        wanted |= {f"attn_{part}.weight" for part in "qkv"}
    return wanted


def _merged(block: set[str]) -> set[str]:
    """Tensors that a block holds in another form: gate and up in one, experts one by one."""
    if any(name.startswith(("ffn_gate_up", "ffn_up_gate")) for name in block):
        return {"ffn_gate.weight", "ffn_up.weight", "ffn_gate_exps.weight", "ffn_up_exps.weight"}
    if "ffn_down.0.weight" in block:
        return {"ffn_gate_exps.weight", "ffn_up_exps.weight", "ffn_down_exps.weight"}
    return set()
