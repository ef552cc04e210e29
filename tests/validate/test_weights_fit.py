"""Shapes of weights against the configuration: what a loader refuses, and models that fit in every family's way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Accepted, Contract
from validate.build import folder, safetensors
from validate.tokenizer import kit

Shapes = dict[str, Any]
Files = dict[str, Any]
# Sizes that differ from each other, so that no mistake looks right.
H, HEADS, KV, D, FF, V, E, M = 24, 4, 2, 5, 40, 64, 4, 12
Q, K = HEADS * D, KV * D
SIZES = {
    "hidden_size": H,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV,
    "head_dim": D,
    "intermediate_size": FF,
    "vocab_size": V,
    "num_hidden_layers": 2,
    "tie_word_embeddings": False,
}


def config(name: str = "llama", arch: str = "LlamaForCausalLM", **more: Any) -> Files:
    found = {"model_type": name, "architectures": [arch], **SIZES, **more}
    return {key: value for key, value in found.items() if value is not ...}


def layered(layer: Shapes, beside: Shapes, stack: str = "model.layers") -> Shapes:
    tensors = {f"{stack}.{n}.{name}": shape for n in range(2) for name, shape in layer.items()}
    return {**tensors, **beside}


ATTENTION = {
    "self_attn.q_proj.weight": [Q, H],
    "self_attn.k_proj.weight": [K, H],
    "self_attn.v_proj.weight": [K, H],
    "self_attn.o_proj.weight": [H, Q],
    "input_layernorm.weight": [H],
    "post_attention_layernorm.weight": [H],
}
GATED = {"mlp.gate_proj.weight": [FF, H], "mlp.up_proj.weight": [FF, H], "mlp.down_proj.weight": [H, FF]}
ENDS = {"model.embed_tokens.weight": [V, H], "model.norm.weight": [H], "lm_head.weight": [V, H]}
LLAMA = layered({**ATTENTION, **GATED}, ENDS)
BIASED = layered({**ATTENTION, **GATED, "self_attn.k_proj.bias": [K], "self_attn.q_proj.bias": [Q]}, ENDS)
NORMED = layered({**ATTENTION, **GATED, "self_attn.q_norm.weight": [D], "self_attn.k_norm.weight": [D]}, ENDS)
FUSED = layered(
    {
        **{
            name: shape for name, shape in ATTENTION.items() if name.split(".")[1] not in ("q_proj", "k_proj", "v_proj")
        },
        "self_attn.qkv_proj.weight": [Q + 2 * K, H],
        "mlp.gate_up_proj.weight": [2 * FF, H],
        "mlp.down_proj.weight": [H, FF],
    },
    ENDS,
)
MIXTRAL = layered(
    {
        **ATTENTION,
        "block_sparse_moe.gate.weight": [E, H],
        **{
            f"block_sparse_moe.experts.{e}.{name}.weight": [H, FF] if name == "w2" else [FF, H]
            for e in range(E)
            for name in ("w1", "w2", "w3")
        },
    },
    ENDS,
)
MOE = layered(
    {
        **ATTENTION,
        "mlp.gate.weight": [E, H],
        **{
            f"mlp.experts.{e}.{name}.weight": [H, M] if name == "down_proj" else [M, H]
            for e in range(E)
            for name in ("gate_proj", "up_proj", "down_proj")
        },
    },
    ENDS,
)
GPT2 = layered(
    {
        "attn.c_attn.weight": [H, 3 * H],
        "attn.c_attn.bias": [3 * H],
        "attn.c_proj.weight": [H, H],
        "mlp.c_fc.weight": [H, 4 * H],
        "mlp.c_fc.bias": [4 * H],
        "mlp.c_proj.weight": [4 * H, H],
        "ln_1.weight": [H],
        "attn.bias": [1, 1, 9, 9],
    },
    {"transformer.wte.weight": [V, H], "transformer.wpe.weight": [9, H], "transformer.ln_f.weight": [H]},
    "transformer.h",
)
GPT2_CONFIG = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "n_embd": H,
    "n_head": HEADS,
    "n_positions": 9,
    "n_layer": 2,
    "n_inner": None,
    "vocab_size": V,
}
BERT = layered(
    {
        **{f"attention.self.{name}.weight": [H, H] for name in ("query", "key", "value")},
        "attention.self.query.bias": [H],
        "attention.output.dense.weight": [H, H],
        "attention.output.LayerNorm.weight": [H],
        "intermediate.dense.weight": [FF, H],
        "output.dense.weight": [H, FF],
        "output.LayerNorm.bias": [H],
    },
    {
        "bert.embeddings.word_embeddings.weight": [V, H],
        "bert.embeddings.position_embeddings.weight": [9, H],
        "bert.embeddings.token_type_embeddings.weight": [2, H],
    },
    "bert.encoder.layer",
)
BERT_CONFIG = config("bert", "BertForMaskedLM", max_position_embeddings=9, type_vocab_size=2, head_dim=...)
SEEN = {f"language_model.{name}": shape for name, shape in LLAMA.items()} | {
    "vision_tower.encoder.layers.0.self_attn.q_proj.weight": [7, 7],
    "multi_modal_projector.linear.weight": [H, 7],
}
AROUND = {
    "model_type": "llava",
    "architectures": ["LlavaForConditionalGeneration"],
    "vision_config": {"hidden_size": 7},
    "text_config": config(),
    "tie_word_embeddings": False,
}
PHI3 = config("phi3", "Phi3ForCausalLM")
MIXED = config("mixtral", "MixtralForCausalLM", num_local_experts=E)
QWEN_MOE = config("qwen2_moe", "Qwen2MoeForCausalLM", num_experts=E, moe_intermediate_size=M)


def model(tensors: Shapes, settings: Files, fill: int = 1) -> Files:
    shaped = {name: each if isinstance(each, tuple) else ("BF16", each) for name, each in tensors.items()}
    return {"config.json": settings, "model.safetensors": safetensors(shaped, fill=fill)}


WHOLE: dict[str, tuple[Shapes, Files]] = {
    "llama": (LLAMA, config()),
    "llama, every head its own": (
        LLAMA | {name: [Q, H] for name in LLAMA if name.endswith(("k_proj.weight", "v_proj.weight"))},
        config(num_key_value_heads=...),
    ),
    "llama, heads from the hidden size": (
        layered(
            ATTENTION
            | {f"self_attn.{n}_proj.weight": [rows, H] for n, rows in (("q", H), ("k", H // 2), ("v", H // 2))}
            | {"self_attn.o_proj.weight": [H, H]},
            ENDS,
        ),
        config(head_dim=None),
    ),
    "qwen2 with biases": (BIASED, config("qwen2", "Qwen2ForCausalLM")),
    "qwen3": (NORMED, config("qwen3", "Qwen3ForCausalLM")),
    "qwen3, head size not written": (NORMED, config("qwen3", "Qwen3ForCausalLM", head_dim=...)),
    "gemma, tied": ({n: s for n, s in LLAMA.items() if n != "lm_head.weight"}, config("gemma", "GemmaForCausalLM")),
    "phi3": (FUSED, PHI3),
    "mixtral": (MIXTRAL, MIXED),
    "qwen2_moe": (MOE, QWEN_MOE),
    "gpt2": (GPT2, GPT2_CONFIG),
    "gpt2 without its prefix": ({name.removeprefix("transformer."): s for name, s in GPT2.items()}, GPT2_CONFIG),
    "bert": (BERT, BERT_CONFIG),
    "bert, base": (
        {n.removeprefix("bert."): s for n, s in BERT.items()},
        BERT_CONFIG | {"architectures": ["BertModel"]},
    ),
    "llama inside llava": (SEEN, AROUND),
    "classifier": (LLAMA | {"score.weight": [3, H]}, config(arch="LlamaForSequenceClassification")),
}


@pytest.mark.parametrize(("tensors", "settings"), [pytest.param(*each, id=name) for name, each in WHOLE.items()])
def test_what_fits_is_consistent_and_a_retrain_is_hot(tmp_path: Path, tensors: Shapes, settings: Files) -> None:
    report = kit.judge(tmp_path, model(tensors, settings), model(tensors, settings, 2))
    assert "WTS-FIT" not in {f.rule for f in report.findings}
    assert report.facts["verdict"] == "hot", report.findings
    alone = validate(tmp_path / "new", contract=Contract())
    assert "WTS-FIT" not in {f.rule for f in alone.findings}, alone.findings


def broken() -> Iterator[tuple[str, Shapes, Files, str]]:
    """(name, tensors, configuration, the tensor that does not fit)."""
    one = "model.layers.1."
    for part in ("mlp.up_proj", "mlp.gate_proj", "mlp.down_proj", "self_attn.q_proj", "self_attn.o_proj"):
        name = f"{one}{part}.weight"
        yield f"{part} turned", LLAMA | {name: LLAMA[name][::-1]}, config(), name
    for part in ("q_proj", "k_proj", "v_proj"):
        name = f"{one}self_attn.{part}.weight"
        yield f"{part} of other heads", LLAMA | {name: [LLAMA[name][0] + D, H]}, config(), name
    yield "norm", LLAMA | {"model.norm.weight": [H - 1]}, config(), "model.norm.weight"
    yield "norm of a layer", LLAMA | {f"{one}input_layernorm.weight": [1, H]}, config(), f"{one}input_layernorm.weight"
    yield "head", LLAMA | {"lm_head.weight": [V, H + 1]}, config(), "lm_head.weight"
    yield "rows of the head", LLAMA | {"lm_head.weight": [V + 1, H]}, config(), "lm_head.weight"
    wide = "model.embed_tokens.weight"
    yield "embedding", LLAMA | {wide: [V, H + 1]}, config(), wide
    for key, size in (
        ("intermediate_size", 41),
        ("num_attention_heads", 8),
        ("head_dim", 6),
        ("num_key_value_heads", 4),
    ):
        parts = {"intermediate_size": "mlp.down_proj", "num_key_value_heads": "self_attn.k_proj"}
        name = f"model.layers.0.{parts.get(key, 'self_attn.o_proj')}.weight"
        yield f"{key} {size}", LLAMA, config(**{key: size}), name
    yield "key-value heads null", LLAMA, config(num_key_value_heads=None), "model.layers.0.self_attn.k_proj.weight"
    name = f"{one}self_attn.k_proj.bias"
    yield "bias", BIASED | {name: [Q]}, config("qwen2", "Qwen2ForCausalLM"), name
    name = f"{one}self_attn.q_norm.weight"
    yield "norm of a head", NORMED | {name: [Q]}, config("qwen3", "Qwen3ForCausalLM"), name
    for part, shape in (("self_attn.qkv_proj", [3 * Q, H]), ("mlp.gate_up_proj", [FF, H])):
        name = f"{one}{part}.weight"
        yield part, FUSED | {name: shape}, PHI3, name
    gate = "model.layers.0.block_sparse_moe.gate.weight"
    yield "router", MIXTRAL, MIXED | {"num_local_experts": 8}, gate
    fewer = {n: s for n, s in MIXTRAL.items() if ".experts.3." not in n}
    yield "an expert less", fewer, MIXED, "model.layers.0.block_sparse_moe.experts.0.w1.weight"
    name = "model.layers.1.mlp.experts.2.down_proj.weight"
    yield "one expert turned", MOE | {name: [M, H]}, QWEN_MOE, name
    name = "transformer.h.0.attn.c_attn.weight"
    yield "gpt2 as a linear layer", GPT2 | {name: [3 * H, H]}, GPT2_CONFIG, name
    yield "gpt2 feed-forward", GPT2, GPT2_CONFIG | {"n_inner": FF}, "transformer.h.0.mlp.c_fc.weight"
    name = "bert.encoder.layer.1.attention.self.query.weight"
    yield "bert query", BERT | {name: [H, H + 1]}, BERT_CONFIG, name
    positions = "bert.embeddings.position_embeddings.weight"
    yield "bert positions", BERT, BERT_CONFIG | {"max_position_embeddings": 12}, positions
    name = "language_model.model.layers.1.mlp.up_proj.weight"
    yield "llama inside llava", SEEN | {name: [H, FF]}, AROUND, name


@pytest.mark.parametrize(("tensors", "settings", "name"), [pytest.param(*m[1:], id=m[0]) for m in broken()])
def test_what_does_not_fit_is_inconsistent(tmp_path: Path, tensors: Shapes, settings: Files, name: str) -> None:
    report = validate(folder(tmp_path / "new", model(tensors, settings)), contract=Contract())
    assert report.facts["consistent"] is False
    assert ("breaks", name) in {(f.level, f.where.object) for f in report.findings if f.rule == "WTS-FIT"}


@pytest.mark.parametrize(("tensors", "settings", "name"), [pytest.param(*m[1:], id=m[0]) for m in broken()])
def test_what_the_live_version_has_too_is_a_note(tmp_path: Path, tensors: Shapes, settings: Files, name: str) -> None:
    report = kit.judge(tmp_path, model(tensors, settings), model(tensors, settings, 2))
    assert {f.level for f in report.findings if f.rule == "WTS-FIT"} == {"hot"}


def test_against_a_version_that_fits_the_level_is_that_of_the_change(tmp_path: Path) -> None:
    good = model(LLAMA, config())
    name = "model.layers.1.mlp.up_proj.weight"
    turned = kit.judge(tmp_path, good, model(LLAMA | {name: [H, FF]}, config()))
    assert kit.levels(turned).items() >= {"WTS-FIT": "restart", "WTS-SHAPE": "restart"}.items()
    assert turned.facts["verdict"] == "restart"
    other = kit.judge(tmp_path / "2", good, model(LLAMA, config(intermediate_size=48)))
    assert kit.levels(other).items() >= {"WTS-FIT": "restart", "CFG-GEOM": "restart"}.items()
    larger = layered({**ATTENTION, **GATED} | {n: [48 if x == FF else x for x in s] for n, s in GATED.items()}, ENDS)
    both = kit.judge(tmp_path / "3", good, model(larger, config(intermediate_size=48)))
    assert "WTS-FIT" not in kit.levels(both)


UP = "model.layers.1.mlp.up_proj.weight"
TURNED = LLAMA | {UP: [H, FF]}
LEFT_ALONE: dict[str, tuple[Shapes, Files]] = {
    "a family of tomorrow": (TURNED, config("llama9", "Llama9ForCausalLM")),
    "code of its own": (TURNED, config(auto_map={"AutoModelForCausalLM": "m.X"})),
    "a class of another library": (TURNED, config(arch="LlamaForCausalLMEagle3")),
    "no class at all": (TURNED, config(architectures=...)),
    "packed": (LLAMA | {UP: ("U8", [FF * H // 2, 1])}, config(quantization_config={"quant_method": "bitsandbytes"})),
    "packed embedding": (LLAMA | {"model.embed_tokens.weight": ("U8", [V * H // 2, 1])}, config()),
    "eight bits": (LLAMA | {UP: ("U8", [H, FF])}, config()),
    "a draft": (TURNED | {"fc.weight": [H, 2 * H]}, config()),
    "size not written": (TURNED | {UP: [FF + 1, H]}, config(intermediate_size=...)),
    "another vocabulary, which CFG-VOCAB judges": (LLAMA, config(vocab_size=V + 8)),
    "a tower of another size": (SEEN, AROUND),
    "an adapter beside": (LLAMA | {"model.layers.0.mlp.up_proj.lora_A.weight": [4, H]}, config()),
}


@pytest.mark.parametrize(("tensors", "settings"), [pytest.param(*each, id=n) for n, each in LEFT_ALONE.items()])
def test_what_is_not_defined_is_left_alone(tmp_path: Path, tensors: Shapes, settings: Files) -> None:
    report = validate(folder(tmp_path / "new", model(tensors, settings)), contract=Contract())
    assert "WTS-FIT" not in {f.rule for f in report.findings}, report.findings


@pytest.mark.parametrize("value", [0, -1, True, "24", None, 2.5, [24], 10**30, 10**2500])
@pytest.mark.parametrize("key", ["hidden_size", "num_attention_heads", "head_dim", "num_key_value_heads"])
def test_sizes_that_are_none_raise_nothing(tmp_path: Path, key: str, value: Any) -> None:
    for name, other in (("one", {}), ("two", {"head_dim": value})):
        validate(folder(tmp_path / name, model(LLAMA, config(**{key: value, **other}))), contract=Contract())


# Packed weights


def packed(method: str = "gptq", bits: int = 4, group: int = 32, inputs: int = 128, outputs: int = 64) -> Shapes:
    """One packed module a layer: 128 inputs, 64 outputs."""
    groups = 1 if group == -1 else -(-inputs // group)
    qweight = [inputs * bits // 32, outputs] if method == "gptq" else [inputs, outputs * bits // 32]
    parts = {
        "qweight": ("I32", qweight),
        "qzeros": ("I32", [groups, outputs * bits // 32]),
        "scales": ("F16", [groups, outputs]),
        **({"g_idx": ("I32", [inputs])} if method == "gptq" else {}),
    }
    layer = {f"self_attn.q_proj.{part}": each for part, each in parts.items()}
    return layered({**layer, "input_layernorm.weight": [inputs]}, {"model.embed_tokens.weight": [V, inputs]})


def said(method: str = "gptq", bits: int = 4, group: int = 32, **more: Any) -> Files:
    settings = {"quant_method": method, "bits": bits, "group_size": group, **more}
    return config(hidden_size=128, quantization_config=settings, num_attention_heads=..., head_dim=...)


PACKED = [("gptq", bits, group) for bits in (2, 3, 4, 8) for group in (32, 64, 128, -1)] + [
    ("awq", 4, group) for group in (32, 64, 128)
]


@pytest.mark.parametrize(("method", "bits", "group"), PACKED)
def test_packed_weights_agree_with_their_own_settings_only(tmp_path: Path, method: str, bits: int, group: int) -> None:
    tensors = packed(method, bits, group)
    for number, (other, size) in enumerate([(bits, group), *((b, group) for b in (2, 3, 4, 8)), (bits, 16)]):
        new = folder(tmp_path / str(number), model(tensors, said(method, other, size)))
        found = {f.level for f in validate(new, contract=Contract()).findings if f.rule == "WTS-PACK"}
        assert found == (set() if (other, size) == (bits, group) else {"breaks"}), (other, size)


def test_packed_settings_beside_and_other_layouts(tmp_path: Path) -> None:
    tensors = packed()
    plain = config(hidden_size=128, num_attention_heads=..., head_dim=...)
    wrong = {"bits": 8, "group_size": 32}
    beside = {**model(tensors, plain), "quantize_config.json": wrong}
    report = validate(folder(tmp_path / "beside", beside), contract=Contract())
    assert "WTS-PACK" in {f.rule for f in report.findings}
    for number, more in enumerate(
        ({"dynamic": {"x": {"bits": 8}}}, {"checkpoint_format": "marlin"}, {"is_marlin_format": True}, {"bits": None})
    ):
        new = folder(tmp_path / str(number), model(tensors, said(**{"bits": 8, **more})))
        assert "WTS-PACK" not in {f.rule for f in validate(new, contract=Contract()).findings}
    gemv = folder(tmp_path / "gemv", model(tensors, said("awq", version="gemv")))
    assert "WTS-PACK" not in {f.rule for f in validate(gemv, contract=Contract()).findings}


def test_packed_weights_of_two_versions(tmp_path: Path) -> None:
    good, wrong = model(packed(), said()), model(packed(), said(bits=8))
    assert kit.levels(kit.judge(tmp_path / "1", good, wrong))["WTS-PACK"] == "restart"
    retrained = model(packed(), said(bits=8), 2)
    assert kit.levels(kit.judge(tmp_path / "2", wrong, retrained))["WTS-PACK"] == "hot"
    assert kit.judge(tmp_path / "3", good, model(packed(), said(), 2)).facts["verdict"] == "hot"
    cut = packed() | {"model.layers.1.self_attn.q_proj.g_idx": ("I32", [64])}
    assert "WTS-PACK" in kit.levels(kit.judge(tmp_path / "4", good, model(cut, said())))


def test_one_tensor_of_many_that_do_not_fit_is_accepted_alone(tmp_path: Path) -> None:
    wide = [f"model.layers.{at}.mlp.up_proj.weight" for at in range(2)]
    new = folder(tmp_path / "new", model(LLAMA | {key: [H, FF] for key in wide}, config()))
    short = folder(tmp_path / "short", model(LLAMA, config(num_hidden_layers=4)))

    def level(path: Path, rule: str, *paths: str) -> str:
        accepted = [Accepted(rule=rule, reason="r", until="2999-01-01", path=each) for each in paths]
        return validate(path, contract=Contract(accept=accepted)).facts["verdict"]

    assert [level(new, "WTS-FIT", name) for name in wide] == ["breaks", "breaks"]
    assert level(new, "WTS-FIT", *wide) == level(new, "WTS-FIT", "model.safetensors") == "equal"
    assert [level(short, "WTS-MISSING", f"model.layers.{at}") for at in (2, 3)] == ["breaks", "breaks"]
    assert level(short, "WTS-MISSING", "model.layers.2", "model.layers.3") == "equal"
