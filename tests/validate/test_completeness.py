"""Weights that lack what their configuration promises, in safetensors and GGUF; and models that lack nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder, gguf, llama, safetensors
from validate.tokenizer import kit

Files = dict[str, Any]
Names = dict[str, Any]
LAYER = (
    *("input_layernorm", "post_attention_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    *("self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"),
)


def names(layers: int = 4, *, stack: str = "model.layers", parts: tuple[str, ...] = LAYER, head: bool = True) -> Names:
    """Tensors of a decoder."""
    parent = stack.rpartition(".")[0]
    tensors = {f"{parent}.embed_tokens.weight": [32, 8], f"{parent}.norm.weight": [8]}
    for number in range(layers):
        tensors |= {f"{stack}.{number}.{part}.weight": [8, 8] for part in parts}
    return tensors | ({"lm_head.weight": [32, 8]} if head else {})


def model(tensors: Names, fill: int = 1, *, extra: Files | None = None, **config: Any) -> Files:
    settings = llama(**{"num_hidden_layers": 4, **config})
    shaped = {name: each if isinstance(each, tuple) else ("BF16", each) for name, each in tensors.items()}
    return {
        "config.json": {key: value for key, value in settings.items() if value is not ...},
        "model.safetensors": safetensors(shaped, fill=fill),
        **(extra or {}),
    }


def without(tensors: Names, *marks: str) -> Names:
    return {name: each for name, each in tensors.items() if not any(mark in name for mark in marks)}


WHOLE = names()
MOE = {
    f"model.layers.{n}.mlp.experts.{e}.{part}.weight": [8, 8]
    for n in range(1, 6)
    for e in range(4)
    for part in ("gate_proj", "up_proj", "down_proj")
}
MIXED = (
    without(names(6), *(f"layers.{n}.mlp." for n in range(1, 6)))
    | MOE
    | {f"model.layers.6.{part}.weight": [8, 8] for part in (*LAYER, "eh_proj", "enorm", "hnorm")}
)
BART = {
    "model.shared.weight": [32, 8],
    **{f"model.encoder.layers.{n}.{part}.weight": [8, 8] for n in range(6) for part in ("self_attn.q_proj", "fc1")},
    **{f"model.decoder.layers.{n}.{part}.weight": [8, 8] for n in range(2) for part in ("self_attn.q_proj", "fc1")},
}
BART_CONFIG = {
    "architectures": ["BartForConditionalGeneration"],
    "model_type": "bart",
    "tie_word_embeddings": True,
    "num_hidden_layers": 6,
    "encoder_layers": 6,
    "decoder_layers": 2,
}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128}
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic"}


def quantised(end: str = "qweight", dtype: str = "I32") -> Names:
    packed = {name.replace(".weight", f".{end}"): (dtype, [8, 8]) for name in WHOLE if "_proj" in name}
    return without(WHOLE, "_proj") | packed


def incomplete() -> Iterator[tuple[str, Files, Files, str]]:
    """(name, OLD, NEW, the rule that must speak)."""
    good = model(WHOLE)
    for number in range(4):
        yield f"layer {number} gone", good, model(without(WHOLE, f"layers.{number}."), 2), "WTS-MISSING"
    for part in ("input_layernorm", "self_attn.k_proj", "mlp.down_proj"):
        for number in (1, 2):
            new = model(without(WHOLE, f"layers.{number}.{part}"), 2)
            yield f"{part} of layer {number} gone", good, new, "WTS-MISSING"
    yield "norm gone", good, model(without(WHOLE, "model.norm"), 2), "WTS-MISSING"
    yield "embedding gone", good, model(without(WHOLE, "embed_tokens"), 2), "WTS-MISSING"
    yield "head gone", good, model(without(WHOLE, "lm_head"), 2), "WTS-TIE"
    yield "more layers promised", good, model(WHOLE, num_hidden_layers=5), "WTS-MISSING"
    yield "half the layers", good, model(without(WHOLE, "layers.2.", "layers.3."), 2), "WTS-MISSING"
    deep = {"num_hidden_layers": 6, "num_nextn_predict_layers": 1, "model_type": "deepseek_v3"}
    whole = model(MIXED, **deep)
    yield "dense layer gone", whole, model(without(MIXED, "layers.0."), 2, **deep), "WTS-MISSING"
    yield "MoE layer gone", whole, model(without(MIXED, "layers.3."), 2, **deep), "WTS-MISSING"
    yield "expert gone", whole, model(without(MIXED, "layers.3.mlp.experts.2.up"), 2, **deep), "WTS-MISSING"
    seen = {"language_model." + name: each for name, each in WHOLE.items()}
    seen |= {f"vision_tower.encoder.layers.{n}.fc1.weight": [8, 8] for n in range(9)}
    nested = {"text_config": llama(num_hidden_layers=4), "num_hidden_layers": ..., "model_type": "llava"}
    nested |= {"architectures": ["LlavaForConditionalGeneration"]}
    lost = model(without(seen, "language_model.model.layers.3."), 2, **nested)
    yield "layer behind a tower gone", model(seen, **nested), lost, "WTS-MISSING"
    bart = model(BART, **BART_CONFIG)
    yield "decoder layer gone", bart, model(without(BART, "decoder.layers.1."), 2, **BART_CONFIG), "WTS-MISSING"
    yield "encoder layer gone", bart, model(without(BART, "encoder.layers.5."), 2, **BART_CONFIG), "WTS-MISSING"
    own = {"auto_map": {"AutoModelForCausalLM": "m.X"}, "extra": {"m.py": "x"}}
    yield "last layer, own code", model(WHOLE, **own), model(without(WHOLE, "layers.3."), 2, **own), "WTS-MISSING"
    for said in (GPTQ, {"quant_method": "awq", "bits": 4}, FP8, {"quant_method": "modelopt", "quant_algo": "FP8"}):
        new = model(WHOLE, quantization_config=said)
        yield f"{said['quant_method']} said, plain weights", good, new, "WTS-QUANT"
    groups = {"group_0": {"weights": {"num_bits": 8}, "targets": ["Linear"]}}
    packed = {"quant_method": "compressed-tensors", "config_groups": groups}
    yield "compressed said, plain weights", good, model(WHOLE, quantization_config=packed), "WTS-QUANT"
    whole = model(quantised(), quantization_config=GPTQ)
    yield "gptq lost from the configuration", whole, model(quantised()), "WTS-QUANT"
    yield "plain weights for gptq", whole, model(WHOLE, 2, quantization_config=GPTQ), "WTS-QUANT"
    yield "bytes for weights", good, model(quantised("weight", "U8")), "WTS-QUANT"


@pytest.mark.parametrize(("old", "new", "rule"), [pytest.param(*m[1:], id=m[0]) for m in incomplete()])
def test_what_cannot_serve_breaks_and_is_inconsistent_alone(tmp_path: Path, old: Files, new: Files, rule: str) -> None:
    report = kit.judge(tmp_path, old, new)
    assert report.facts["verdict"] == "breaks"
    assert (rule, "breaks") in {(f.rule, f.level) for f in report.findings}, report.findings
    alone = validate(tmp_path / "new", contract=Contract())
    own_code = "m.py" in new  # what it builds is only known from the live version
    assert alone.facts["verdict"] == ("equal" if own_code else "breaks"), alone.findings


def whole() -> Iterator[tuple[str, Files]]:
    """Models that lack nothing, though they look uneven."""
    yield "plain", model(WHOLE)
    yield "tied", model(without(WHOLE, "lm_head"), tie_word_embeddings=True)
    yield "one layer", model(names(1), num_hidden_layers=1)
    yield "dense first, then experts, then a layer that predicts further", model(MIXED, num_hidden_layers=6)
    yield "without that layer", model(without(MIXED, "layers.6."), num_hidden_layers=6, num_nextn_predict_layers=1)
    mamba = without(names(6), *(f"layers.{n}.self_attn" for n in (0, 1, 2, 4, 5)))
    mamba |= {f"model.layers.{n}.mamba.in_proj.weight": [8, 8] for n in (0, 1, 2, 4, 5)}
    yield "one attention among mamba", model(mamba, num_hidden_layers=6, model_type="jamba")
    shared = without(names(6), *(f"layers.{n}.self_attn.{p}" for n in (1, 3, 5) for p in ("k_proj", "v_proj")))
    yield "every second layer shares its keys", model(shared, num_hidden_layers=6)
    yield "the first layer has more", model(WHOLE | {"model.layers.0.bias_table.weight": [8]})
    yield "the last layer has less", model(without(WHOLE, "layers.3.self_attn.v_proj"))
    cross = names(6) | {f"model.layers.{n}.cross_attn.q_proj.weight": [8, 8] for n in (2, 4)}
    yield "cross attention in some", model(cross, num_hidden_layers=6)
    scales = WHOLE | {f"model.layers.{n}.mlp.up_proj.weight_scale": ("F32", [1]) for n in (0, 1, 3)}
    yield "one module left unquantised", model(scales, quantization_config=FP8)
    albert = {
        "embeddings.word_embeddings.weight": [32, 8],
        "encoder.albert_layer_groups.0.albert_layers.0.ffn.weight": [8],
    }
    yield (
        "layers that share weights",
        model(
            albert, num_hidden_layers=12, num_hidden_groups=1, architectures=["AlbertForMaskedLM"], model_type="albert"
        ),
    )
    yield "layers that run in loops", model(WHOLE, num_hidden_layers=8, n_recurrent_loops=2)
    gpt = names(stack="transformer.h")
    renamed = {name.replace("embed_tokens", "tokens_embed"): each for name, each in gpt.items()}
    yield "an embedding under another name", model(without(renamed, "lm_head"), tie_word_embeddings=True)
    yield "blocks left out", model(without(names(6), "layers.3."), num_hidden_layers=6, block_configs=[{}])
    yield "encoder and decoder of unlike depth", model(BART, **BART_CONFIG)
    stages = {f"encoder.blocks.{n}.conv.weight": [8] for n in range(3)}
    yield (
        "stages of an image model",
        model(stages, num_hidden_layers=64, architectures=["EfficientNetForImageClassification"], vocab_size=...),
    )
    yield "a draft", model({"fc.weight": [8, 16], "layers.0.mlp.up_proj.weight": [8, 8]}, num_hidden_layers=1)
    draft = {"fc.weight": [8, 16], "embed_tokens.weight": [32, 8], "layers.0.mlp.up_proj.weight": [8, 8]}
    yield "a draft with an embedding", model(draft, num_hidden_layers=1)
    heads = without(WHOLE, "lm_head") | {"text_lm_head.weight": [32, 8], "audio_lm_head.weight": [32, 8]}
    yield "two heads", model(heads)
    yield "gptq", model(quantised(), quantization_config=GPTQ)
    yield "fp8", model(WHOLE | {n + "_scale_inv": ("F32", [1]) for n in WHOLE if "_proj" in n}, quantization_config=FP8)
    yield "quantised while it loads", model(WHOLE, quantization_config={"quant_method": "bitsandbytes"})
    yield "only the cache quantised", model(WHOLE, quantization_config={"quant_method": "modelopt", "quant_algo": None})
    yield "said beside", model(quantised(), extra={"quantize_config.json": {"bits": 4, "group_size": 128}})
    post = tuple(part for part in LAYER if part != "input_layernorm")
    yield "no norm, post-norm layers", model(without(names(parts=post), "model.norm"))


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in whole()])
def test_what_lacks_nothing_is_consistent(tmp_path: Path, files: Files) -> None:
    report = kit.judge(tmp_path, files, files)
    assert report.facts["verdict"] == "equal", report.findings
    alone = validate(tmp_path / "new", contract=Contract())
    assert not [f for f in alone.findings if f.rule in ("WTS-MISSING", "WTS-QUANT", "WTS-TIE")]


def test_a_retrain_and_new_shards_stay_hot(tmp_path: Path) -> None:
    split = {name: ("BF16", shape) for name, shape in WHOLE.items()}
    first = {name: each for name, each in split.items() if "layers.0" in name or "embed" in name}
    rest = {name: each for name, each in split.items() if name not in first}
    shards = {"a.safetensors": first, "b.safetensors": rest}
    new = {file: safetensors(tensors) for file, tensors in shards.items()}
    index = {name: file for file, tensors in shards.items() for name in tensors}
    new |= {"config.json": model(WHOLE)["config.json"], "model.safetensors.index.json": {"weight_map": index}}
    assert kit.judge(tmp_path, model(WHOLE), new).facts["verdict"] == "hot"
    assert kit.judge(tmp_path / "2", model(WHOLE), model(WHOLE, 7)).facts["verdict"] == "hot"


def test_what_the_live_version_lacks_too_is_a_note(tmp_path: Path) -> None:
    broken = without(WHOLE, "layers.1.")
    report = kit.judge(tmp_path, model(broken), model(broken, 2))
    assert {(f.rule, f.level) for f in report.findings} >= {("WTS-MISSING", "hot")}
    assert report.facts["verdict"] == "hot"


# GGUF


BLOCK = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")
EXPERTS = (*BLOCK[:6], "ffn_gate_inp", "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps")
BERT = ("attn_q", "attn_k", "attn_v", "attn_output", "attn_output_norm", "ffn_up", "ffn_down", "layer_output_norm")
FUSED = ("attn_norm", "attn_qkv", "attn_output", "ffn_norm", "ffn_up", "ffn_down")
F32 = 0


def blocks(count: int = 4, prefix: str = "blk", parts: tuple[str, ...] = BLOCK) -> Names:
    tensors: Names = {"token_embd.weight": (F32, [8, 4]), "output_norm.weight": (F32, [8])}
    return tensors | {f"{prefix}.{n}.{part}.weight": (F32, [8, 8]) for n in range(count) for part in parts}


def metadata(arch: str = "llama", count: int = 4, **more: Any) -> Files:
    said = {"block_count": count, "context_length": 64, "embedding_length": 8, "attention.head_count": 2}
    own = {f"{arch}.{key}": value for key, value in said.items()}
    return {"general.architecture": arch, **own, f"{arch}.feed_forward_length": 8, **more}


def file(tensors: Names, fill: int = 0, **more: Any) -> Files:
    return {"model.gguf": gguf(metadata(**more), tensors, fill)}


def gguf_incomplete() -> Iterator[tuple[str, Files, Files]]:
    full = blocks()
    for mark in ("blk.0.", "blk.2.", "blk.3.", "blk.1.attn_k", "blk.2.ffn_norm", "token_embd", "output_norm"):
        yield f"{mark} gone", file(full), file(without(full, mark), 1)
    yield "block_count", file(full), file(full, count=5)
    parts = split_files(full)
    yield "in a split file", parts, split_files(without(full, "blk.3."))
    yield "metadata of a split", parts, split_files(full, said=40)
    yield "a part under another name", file(full), {"model.gguf": gguf({**metadata(), "split.count": 2}, full)}
    lfm = {**without(full, "output_norm"), "token_embd_norm.weight": (F32, [8])}
    yield "lfm2", file(lfm, arch="lfm2"), file(without(lfm, "blk.2.attn_q"), arch="lfm2")
    two = blocks(2)
    for part in BLOCK:
        for number in (0, 1):
            mark = f"blk.{number}.{part}."
            yield f"{mark} of two gone", file(two, count=2), file(without(two, mark), 1, count=2)
    yield "up of every block gone", file(full), file(without(full, "ffn_up"), 1)
    normed = blocks(2, parts=(*BLOCK, "attn_q_norm", "attn_k_norm"))
    lost = without(normed, "blk.1.attn_q_norm")
    yield "norm of queries gone", file(normed, arch="qwen3", count=2), file(lost, 1, arch="qwen3", count=2)
    moe = blocks(2, parts=EXPERTS)
    more = {"count": 2, "llama.expert_count": 8}
    yield "router gone", file(moe, **more), file(without(moe, "blk.0.ffn_gate_inp"), 1, **more)


def encoder() -> Names:
    return {name: each for name, each in blocks(parts=BERT).items() if name != "output_norm.weight"}


def split_files(tensors: Names, *, said: int = 0) -> Files:
    first = {name: each for name, each in tensors.items() if "blk.3" not in name}
    rest = {name: each for name, each in tensors.items() if name not in first} or {"output.weight": (F32, [8, 4])}
    total = said or len(first) + len(rest)
    heads = ({**metadata(), "split.no": 0}, {"general.architecture": "llama", "split.no": 1})
    return {
        f"m-0000{number + 1}-of-00002.gguf": gguf({**head, "split.count": 2, "split.tensors.count": total}, part)
        for number, (head, part) in enumerate(zip(heads, (first, rest), strict=True))
    }


@pytest.mark.parametrize(("old", "new"), [pytest.param(*m[1:], id=m[0]) for m in gguf_incomplete()])
def test_a_gguf_file_that_cannot_be_loaded_breaks(tmp_path: Path, old: Files, new: Files) -> None:
    report = kit.judge(tmp_path, old, new)
    assert report.facts["verdict"] == "breaks", report.findings
    assert {f.rule for f in report.findings if f.level == "breaks"} & {"GGF-MISSING", "GGF-SPLIT"}
    assert validate(tmp_path / "new", contract=Contract()).facts["verdict"] == "breaks"


GGUF_WHOLE: list[tuple[str, Callable[[int], Files]]] = [
    ("plain", lambda fill: file(blocks(), fill)),
    ("in parts", lambda fill: split_files(blocks())),
    ("bert: no norm behind", lambda fill: file(encoder(), fill, arch="bert")),
    ("olmo: no norms", lambda fill: file(without(blocks(), "norm"), fill, arch="olmo")),
    (
        "lfm2",
        lambda fill: file(
            {**without(blocks(), "output_norm"), "token_embd_norm.weight": (F32, [8])}, fill, arch="lfm2"
        ),
    ),
    ("deci", lambda fill: file(without(blocks(), "blk.1.", "blk.2.attn_k"), fill, arch="deci")),
    ("projector", lambda fill: file({"v.blk.0.attn_q.weight": (F32, [8])}, fill, arch="clip")),
    ("adapter", lambda fill: file({"blk.0.attn_q.weight.lora_a": (F32, [8])}, fill, **{"general.type": "adapter"})),
    ("further", lambda fill: file(blocks(3), fill, arch="glm4moe", **{"glm4moe.nextn_predict_layers": 1})),
    ("every second block", lambda fill: file(without(blocks(), "blk.1.attn_v", "blk.3.attn_v"), fill, arch="gemma4")),
    ("queries, keys and values in one", lambda fill: file(blocks(parts=(*FUSED, "ffn_gate")), fill)),
    ("gate and up in one", lambda fill: file(blocks(parts=FUSED), fill, arch="phi3")),
    ("experts", lambda fill: file(blocks(parts=EXPERTS), fill, **{"llama.expert_count": 8})),
    ("no biases", lambda fill: file(blocks(parts=FUSED), fill, arch="gpt2")),
    ("a fragment", lambda fill: file(blocks(parts=("attn_q", "attn_v")), fill)),
    ("an architecture of tomorrow", lambda fill: file(blocks(parts=("attn_norm", "mixer")), fill, arch="llama9")),
    ("encoder", lambda fill: file({**blocks(4, "enc.blk"), "enc.output_norm.weight": (F32, [8])}, fill, arch="t5")),
]


@pytest.mark.parametrize("files", [pytest.param(each[1], id=each[0]) for each in GGUF_WHOLE])
def test_a_whole_gguf_file_is_consistent_and_a_retrain_hot(tmp_path: Path, files: Callable[[int], Files]) -> None:
    report = kit.judge(tmp_path, files(0), files(1))
    levels = {each.level for each in report.findings if each.rule != "EMB-SPACE"}  # of an encoder the vectors moved
    assert levels <= {"equal", "hot"}, report.findings
    assert validate(tmp_path / "new", contract=Contract()).facts["verdict"] == "equal"


def test_a_fragment_that_lost_what_its_architecture_needs_breaks(tmp_path: Path) -> None:
    one = blocks(1, parts=("attn_q", "ffn_up"))
    report = kit.judge(tmp_path, file(one, count=1), file(without(one, "ffn_up"), count=1))
    assert ("GGF-MISSING", "breaks") in {(f.rule, f.level) for f in report.findings}
    fused = file(blocks(1, parts=(*FUSED, "ffn_gate")), count=1)
    report = kit.judge(tmp_path / "2", file(blocks(1), count=1), fused)  # one tensor for three
    assert report.facts["verdict"] == "restart", report.findings


def vocabulary(path: Path, count: int = 4, tokens: str = "abc") -> Path:
    from gguf import GGUFWriter

    path.mkdir(parents=True, exist_ok=True)
    writer = GGUFWriter(path / "ggml-vocab-x.gguf", "llama")
    if count:
        writer.add_block_count(count)
    writer.add_context_length(64)
    writer.add_description(tokens)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_a_vocabulary_that_claims_no_blocks_lacks_nothing(tmp_path: Path) -> None:
    assert validate(vocabulary(tmp_path / "1", count=0), contract=Contract()).facts["verdict"] == "equal"
    beside = folder(vocabulary(tmp_path / "2"), file(blocks()))
    assert validate(beside, contract=Contract()).facts["verdict"] == "equal"
    weights = folder(vocabulary(tmp_path / "3"), model(WHOLE))
    assert "GGF-MISSING" not in {each.rule for each in validate(weights, contract=Contract()).findings}


def test_a_vocabulary_that_claims_blocks_serves_nobody(tmp_path: Path) -> None:
    new = vocabulary(tmp_path / "new")
    assert validate(new, contract=Contract()).facts["verdict"] == "breaks"
    assert validate(new, vocabulary(tmp_path / "old", tokens="abd"), contract=Contract()).facts["verdict"] == "hot"
    full = folder(tmp_path / "full", {"ggml-vocab-x.gguf": file(blocks())["model.gguf"]})
    assert validate(new, full, contract=Contract()).facts["verdict"] == "breaks"


SAMPLED: list[tuple[Files, Files, bool]] = [
    ({}, {"temp": 0.6}, True),
    ({"temp": 0.6}, {}, True),
    ({"top_k": 20}, {"top_k": 64}, True),
    ({}, {"penalty_repeat": 1.3, "mirostat": 2}, True),
    ({}, {"sequence": "kpt"}, True),
    ({}, {"temp": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05}, False),
    ({"temp": 0.6}, {"temp": 0.6, "penalty_last_n": 64}, False),
]


@pytest.mark.parametrize(("old", "new", "differs"), SAMPLED)
def test_sampling_defaults_of_a_gguf_file(tmp_path: Path, old: Files, new: Files, differs: bool) -> None:
    sides = ({f"general.sampling.{key}": value for key, value in each.items()} for each in (old, new))
    before, after = ({"model.gguf": gguf({**metadata(), **each}, blocks())} for each in sides)
    report = kit.judge(tmp_path, before, after)
    assert report.facts["verdict"] == ("restart" if differs else "hot")
    assert ("GGF-SAMPLE" in {f.rule for f in report.findings}) is differs


KEYS: list[tuple[Files, Files, str]] = [
    ({"llama.attention.head_count_kv": 4}, {"llama.attention.head_count_kv": 2}, "restart"),
    ({"llama.attention.head_count": 4}, {"llama.attention.head_count": 4, "llama.attention.head_count_kv": 4}, "hot"),
    ({}, {"llama.rope.scaling.type": "none", "llama.rope.freq_base": 10000.0, "llama.attention.causal": True}, "hot"),
    ({}, {"llama.rope.freq_base": 500000.0}, "restart"),  # of a context; hot where the tables come with a new version
    ({}, {"llama.attention.causal": False}, "restart"),
    ({}, {"llama.rope.scaling.type": "yarn"}, "restart"),
    ({}, {"llama.rope.scaling.attn_factor": 2.0}, "unproven"),
    ({}, {"general.quantization_version": 2}, "hot"),
    ({"general.quantization_version": 2}, {"general.quantization_version": 3}, "unproven"),
    ({"general.file_type": 0}, {"general.file_type": 1}, "hot"),
    ({}, {"quantize.imatrix.entries_count": 112, "quantize.imatrix.file": "x.dat"}, "hot"),
    ({}, {"general.name": "other", "general.tags": ["x"]}, "hot"),
    ({}, {"tokenizer.ggml.add_bos_token": True}, "restart"),
    ({}, {"tokenizer.chat_template": "{{ messages[0].content }}"}, "restart"),
]


@pytest.mark.parametrize(("old", "new", "verdict"), KEYS)
def test_other_metadata_of_a_gguf_file(tmp_path: Path, old: Files, new: Files, verdict: str) -> None:
    before, after = ({"model.gguf": gguf({**metadata(), **each}, blocks())} for each in (old, new))
    report = kit.judge(tmp_path, before, after)
    assert report.facts["verdict"] == verdict, report.findings
    if verdict == "restart" and any("rope" in key for key in new):
        assert {f.rule for f in report.findings if "flush-kv" in f.plan} >= {"GGF-ARCH"}
