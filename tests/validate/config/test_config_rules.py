"""Rules on config.json and generation_config.json: breaking, restarting and harmless mutants."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.config.runtime import version
from interlock.config.settings import Contract
from interlock.report import exits
from validate.tokenizer import kit

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 8192,
    "rope_theta": 10000.0,
    "rms_norm_eps": 1e-5,
    "vocab_size": 320,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
GENERATION = {"eos_token_id": [2, 3], "temperature": 0.6, "top_p": 0.9, "max_new_tokens": 1024}
Mutant = tuple[str, dict[str, Any], dict[str, Any], str, str]


def config(**changes: Any) -> dict[str, Any]:
    return {"config.json": {k: v for k, v in {**LLAMA, **changes}.items() if v is not ...}}


def generation(**changes: Any) -> dict[str, Any]:
    return {"generation_config.json": {k: v for k, v in {**GENERATION, **changes}.items() if v is not ...}}


def llama3(**more: Any) -> dict[str, Any]:
    scaling = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    return {**scaling, "rope_type": "llama3", **more}


def architecture() -> Iterator[Mutant]:
    """Another class."""
    for names in (["Qwen3ForCausalLM"], ["LlamaForSequenceClassification"], ["LlamaForCausalLM", "X"], [], ...):
        yield f"architectures {names}", config(), config(architectures=names), "CFG-ARCH", "restart"
    for name in ("qwen3", "mistral", "phi3", "llama4", ...):
        yield f"model_type {name}", config(), config(model_type=name), "CFG-ARCH", "restart"


def geometry() -> Iterator[Mutant]:
    """Another size of anything."""
    for key, value in (
        *(("hidden_size", 128), ("num_hidden_layers", 5), ("num_attention_heads", 4), ("num_key_value_heads", 8)),
        *(("num_key_value_heads", ...), ("intermediate_size", 256), ("head_dim", 16), ("hidden_act", "gelu")),
        *(
            ("tie_word_embeddings", True),
            ("vocab_size", 384),
            ("torch_dtype", "float16"),
            ("layer_types", ["sliding_attention", "full_attention"]),
        ),
        *(("position_embedding_type", "relative_key"), ("num_experts_per_tok", 2)),
        *(("rms_norm_eps", 1e-6), ("num_local_experts", 8), ("attention_bias", True), ("moe_intermediate_size", 32)),
    ):
        yield f"{key} {value}", config(), config(**{key: value}), "CFG-GEOM", "restart"


def context() -> Iterator[Mutant]:
    """Shorter prompts."""
    yield "positions gone", config(), config(max_position_embeddings=...), "CFG-CTX", "unproven"
    for less in (1, 2048, 4096, 8191):
        yield f"positions {less}", config(), config(max_position_embeddings=less), "CFG-CTX", "breaks"
    for window in (512, 4096):
        yield f"window {window}", config(), config(sliding_window=window), "CFG-CTX", "breaks"
    for kind in ("linear", "dynamic"):
        scaled = config(rope_scaling={"type": kind, "factor": 4.0})
        yield f"{kind} factor gone", scaled, config(), "CFG-CTX", "breaks"
        yield f"{kind} factor halved", scaled, config(rope_scaling={"type": kind, "factor": 2.0}), "CFG-CTX", "breaks"
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
    less = config(max_position_embeddings=32768, rope_scaling={**yarn, "factor": 2.0})
    yield "yarn factor", config(max_position_embeddings=32768, rope_scaling=yarn), less, "CFG-CTX", "breaks"
    yield "num_labels", config(num_labels=2), config(num_labels=3), "CFG-LABEL", "breaks"
    for limit in (100, 4096):
        old = config() | {"tokenizer_config.json": {"model_max_length": 8192}}
        new = config() | {"tokenizer_config.json": {"model_max_length": limit}}
        yield f"model_max_length {limit}", old, new, "CFG-CTX", "breaks"


def rope() -> Iterator[Mutant]:
    """A form or kind of scaling that older servers refuse; other angles."""
    for factor in (2.0, 4.0, 8.0, 32.0):
        yield f"llama3 {factor}", config(), config(rope_scaling=llama3(factor=factor)), "CFG-ROPE", "restart"
    for key in ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings", "rope_type"):
        less = {name: value for name, value in llama3().items() if name != key}
        yield f"llama3 without {key}", config(rope_scaling=llama3()), config(rope_scaling=less), "CFG-ROPE", "breaks"
    for kind in ("longrope", "yarn", "dynamic", "linear", "mrope"):
        scaling = {"rope_type": kind, "factor": 2.0, "short_factor": [1.0], "long_factor": [1.0]}
        new = config(rope_scaling=scaling)
        yield f"rope_type {kind}", config(), new, "CFG-ROPE", "restart"
    parameters = {"rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}, "rope_theta": ...}
    yield "rope_parameters", config(), config(**parameters), "CFG-ROPE", "restart"
    for theta in (500000.0, 1000000.0, 10001.0):
        yield f"theta {theta}", config(), config(rope_theta=theta), "CFG-ROPE", "hot"
    yield "factor", config(rope_scaling=llama3()), config(rope_scaling=llama3(factor=16.0)), "CFG-ROPE", "hot"

    for key in ("rope_scaling", "rope_parameters"):
        yield f"{key} no object", config(), config(**{key: 8}), "CFG-ROPE", "breaks"
    yield "share of a head", config(), config(partial_rotary_factor=0.5), "CFG-ROPE", "restart"
    half = config(rope_parameters={"rope_theta": 1e4, "partial_rotary_factor": 0.5}, rope_theta=...)
    yield "share, new form", config(rope_parameters={"rope_theta": 1e4}, rope_theta=...), half, "CFG-ROPE", "restart"


def quantised() -> Iterator[Mutant]:
    """Another quantisation."""
    methods = [None, {"quant_method": "gptq", "bits": 4}, {"quant_method": "gptq", "bits": 8}, {"quant_method": "awq"}]
    for i, old in enumerate(methods):
        for j, new in enumerate(methods):
            if i != j:
                pair = [config() if each is None else config(quantization_config=each) for each in (old, new)]
                yield f"{i} to {j}", *pair, "CFG-QUANT", "restart"


def code() -> Iterator[Mutant]:
    """Code that comes with the model."""
    mapped = config(auto_map={"AutoModelForCausalLM": "modeling_x.X"})
    for body in ("", "import os", "class X: pass\n", "# v1"):
        new = {**mapped, "modeling_x.py": body + "\n# new"}
        yield f"appears {body!r}", config(), new, "CFG-CODE", "breaks"
        yield f"changes {body!r}", {**mapped, "modeling_x.py": body}, new, "CFG-CODE", "breaks"
    yield "missing", {**mapped, "modeling_x.py": "x"}, mapped, "CFG-CODE", "breaks"
    other = config(auto_map={"AutoModelForCausalLM": "someone/else--modeling_x.X"})
    yield "from elsewhere", {**mapped, "modeling_x.py": "x"}, {**other, "modeling_x.py": "x"}, "CFG-CODE", "breaks"
    helper = {**mapped, "modeling_x.py": "x", "helper.py": "1"}
    yield "helper changes", helper, {**helper, "helper.py": "2"}, "CFG-CODE", "breaks"


def labels() -> Iterator[Mutant]:
    """Classes in another order, number or name."""
    names = ["a", "b", "c", "d"]

    def of(listed: list[str]) -> dict[str, Any]:
        return config(id2label={str(i): n for i, n in enumerate(listed)}, label2id={n: i for i, n in enumerate(listed)})

    for listed in (["b", "a", "c", "d"], names[:3], [*names, "e"], ["A", "b", "c", "d"], names[::-1], names[1:]):
        yield f"{listed}", of(names), of(listed), "CFG-LABEL", "breaks"
    yield "gone", of(names), config(), "CFG-LABEL", "breaks"
    wrong = config(id2label={"0": "a", "1": "b"}, label2id={"a": 1, "b": 0})
    yield "two minds", config(id2label={"0": "a", "1": "b"}), wrong, "CFG-LABEL", "breaks"
    for rows in (2, 5):
        head = {"model.safetensors": kit.safetensors({"classifier.weight": ("F32", (rows, 2))})}
        good = {"model.safetensors": kit.safetensors({"classifier.weight": ("F32", (4, 2))})}
        yield f"head of {rows}", {**of(names), **good}, {**of(names), **head}, "CFG-LABEL", "breaks"
    yield "threshold", config(threshold=0.5), config(threshold=0.7), "CFG-LABEL", "restart"

    yield (
        "appear",
        config(architectures=["BertForSequenceClassification"]),
        config(architectures=["BertForSequenceClassification"], id2label={"0": "neg", "1": "pos"}),
        "CFG-LABEL",
        "breaks",
    )
    yield "placeholders get names", of(["LABEL_0", "LABEL_1"]), of(["neg", "pos"]), "CFG-LABEL", "breaks"
    yield "more placeholders", of(["LABEL_0", "LABEL_1"]), of(["LABEL_0", "LABEL_1", "LABEL_2"]), "CFG-LABEL", "breaks"
    yield "threshold appears", config(), config(threshold=0.7), "CFG-LABEL", "restart"
    yield "threshold goes", config(top_k_threshold=0.7), config(), "CFG-LABEL", "restart"


SINGLE, MULTI = "single_label_classification", "multi_label_classification"


def classifier(**changes: Any) -> dict[str, Any]:
    named = {"id2label": {"0": "neg", "1": "pos"}, "label2id": {"neg": 0, "pos": 1}}
    return config(**{"architectures": ["BertForSequenceClassification"], "model_type": "bert", **named, **changes})


def scores() -> Iterator[Mutant]:
    """Another function behind the scores."""
    for old, new in ((SINGLE, MULTI), (MULTI, SINGLE), (SINGLE, "regression"), (..., MULTI), (MULTI, ...)):
        pair = (classifier(problem_type=each) for each in (old, new))
        yield f"problem_type {old} to {new}", *pair, "CFG-SCORE", "breaks"
    unnamed = [config(architectures=["XForSequenceClassification"], problem_type=each) for each in (SINGLE, MULTI)]
    yield "without labels", *unnamed, "CFG-SCORE", "breaks"
    causal = [config(num_labels=1, problem_type=each) for each in (MULTI, "regression")]
    yield "a reward model", *causal, "CFG-SCORE", "breaks"
    one = {"id2label": {"0": "relevant"}, "label2id": {"relevant": 0}}
    yield "one class", classifier(**one), classifier(**one, problem_type=SINGLE), "CFG-SCORE", "breaks"
    yield "function", classifier(), classifier(function_to_apply="none"), "CFG-SCORE", "breaks"
    for place in ("Identity", "Sigmoid"):
        kept = {"sentence_transformers": {"activation_fn": f"torch.nn.modules.linear.{place}", "version": "5.1.0"}}
        other = {"sbert_ce_default_activation_function": "torch.nn.Tanh"}
        yield f"{place} goes", classifier(**kept), classifier(**other), "CFG-SCORE", "breaks"


def vocabulary() -> Iterator[Mutant]:
    """vocab_size and the embedding disagree."""
    good = {"model.safetensors": kit.safetensors({"model.embed_tokens.weight": ("F32", (320, 2))})}
    for size in (1, 319, 321, 384, 100000):
        yield f"size {size}", config() | good, config(vocab_size=size) | good, "CFG-VOCAB", "breaks"
        other = {"model.safetensors": kit.safetensors({"model.embed_tokens.weight": ("F32", (size % 400 + 321, 2))})}
        yield f"rows {size % 400 + 321}", config() | good, config() | other, "CFG-VOCAB", "breaks"


def others() -> Iterator[Mutant]:
    """Keys that no rule knows."""
    for key, value in (
        ("vision_config", {"depth": 2}),
        *(("final_logit_softcapping", 30.0), ("attn_logit_softcapping", 50.0), ("mlp_bias", True)),
        *(("logits_scaling", 8.0), ("query_pre_attn_scalar", 224), ("topk_group", 2), ("is_decoder", True)),
        ("return_dict", False),
        ("output_hidden_states", True),
        ("task_specific_params", {"summarization": {"min_length": 30}}),
        ("tokenizer_class", "LlamaTokenizer"),
        ("zzz", 1),
    ):
        yield f"{key} {value}", config(), config(**{key: value}), "CFG-OTHER", "unproven"
        yield f"no {key}", config(**{key: value}), config(), "CFG-OTHER", "unproven"
    towers = {"text_config": {**LLAMA, "eos_token_id": 2}, "vision_config": {"model_type": "clip", "depth": 2}}
    for path, value in (
        *(("torch_dtype", "float16"), ("vision_config/model_type", "siglip"), ("vision_config/depth", 3)),
        *(("text_config/eos_token_id", 5), ("text_config/model_type", "qwen2"), ("eos_token_id", 7)),
    ):
        pair = [copy.deepcopy({**LLAMA, "torch_dtype": "bfloat16", "eos_token_id": 2, **towers}) for _ in "ab"]
        pair[0]["text_config"]["torch_dtype"] = pair[1]["text_config"]["torch_dtype"] = "bfloat16"
        *parents, last = path.split("/")
        (pair[1][parents[0]] if parents else pair[1])[last] = value
        yield path, *({"config.json": each} for each in pair), "CFG-OTHER", "unproven"
    for key, value in (("suppress_tokens", [1]), ("forced_bos_token_id", 5), ("stop_strings", ["x"])):
        yield f"{key} {value}", generation(), generation(**{key: value}), "GEN-SAMPLE", "restart"
    for key in ("add_bos_token", "add_eos_token"):
        old, new = ({"tokenizer_config.json": {key: flag}} for flag in (True, False))
        yield key, old, new, "TOK-CONF", "breaks"
    for key, level in (
        ("clean_up_tokenization_spaces", "restart"),
        ("add_prefix_space", "unproven"),
        ("q", "unproven"),
    ):
        old, new = ({"tokenizer_config.json": {key: flag}} for flag in (True, False))
        yield key, old, new, "TOK-CONF", level
    for key, value, level in (("add_eos_token", True, "breaks"), ("add_bos_token", False, "unproven")):
        old, new = ({"tokenizer_config.json": each} for each in ({}, {key: value}))
        yield f"{key} absent", old, new, "TOK-CONF", level
    old, new = ({"special_tokens_map.json": {"additional_special_tokens": each}} for each in (["a"], ["a", "b"]))
    yield "additional_special_tokens", old, new, "TOK-CONF", "unproven"
    for key, rule in (("pad_token_id", "TOK-PADTOK"), ("bos_token_id", "TOK-BOS")):
        yield key, generation(**{key: 1}), generation(**{key: 2}), rule, "breaks"
        yield f"{key} of the configuration", config(**{key: 1}), config(**{key: 2}), rule, "breaks"


def generated() -> Iterator[Mutant]:
    """Generation defaults."""
    for key, value in (("temperature", 1.0), ("top_p", 0.5), ("top_k", 1), ("do_sample", True), ("temperature", ...)):
        yield f"{key} {value}", generation(), generation(**{key: value}), "GEN-SAMPLE", "restart"
    for key, value in (("repetition_penalty", 1.2), ("num_beams", 4), ("min_p", 0.1), ("length_penalty", 2.0)):
        yield f"{key} {value}", generation(), generation(**{key: value}), "GEN-SAMPLE", "restart"
    for limit in (1, 256, 1023):
        yield f"max_new_tokens {limit}", generation(), generation(max_new_tokens=limit), "GEN-LEN", "breaks"
    free = generation(max_new_tokens=...)
    yield "max_length appears", free, generation(max_new_tokens=..., max_length=30), "GEN-LEN", "breaks"
    for stops in ([2], [3], 2, [2, 4], [5]):
        yield f"stops {stops}", generation(), generation(eos_token_id=stops), "GEN-EOS", "breaks"
        new = config(eos_token_id=stops)
        yield f"config stops {stops}", config(eos_token_id=[2, 3]), new, "GEN-EOS", "breaks"


SOURCES = (architecture, geometry, context, rope, quantised, code, labels, scores, vocabulary, generated, others)
ALL = [pytest.param(*m[1:], id=f"{source.__name__}: {m[0]}") for source in SOURCES for m in source()]


@pytest.mark.parametrize(("old", "new", "rule", "level"), ALL)
def test_mutant(tmp_path: Path, old: dict[str, Any], new: dict[str, Any], rule: str, level: str) -> None:
    report = kit.judge(tmp_path, old, new)
    assert kit.levels(report).get(rule) == level, kit.levels(report)


HARMLESS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("keys in another order", config(), {"config.json": dict(reversed(LLAMA.items()))}),
    ("head_dim written out", config(), config(head_dim=8)),
    ("kv heads written out", config(num_key_value_heads=...), config(num_key_value_heads=8)),
    ("transformers_version", config(), config(transformers_version="4.57.0")),
    ("torch_dtype renamed", config(torch_dtype="bfloat16"), config(dtype="bfloat16")),
    ("longer context", config(), config(max_position_embeddings=16384)),
    ("window switched off", config(), config(sliding_window=1024, use_sliding_window=False)),
    ("rope_scaling null", config(), config(rope_scaling=None)),
    ("type for rope_type", config(rope_scaling=llama3()), config(rope_scaling=llama3(type="llama3"))),
    ("labels in another order of keys", config(id2label={"0": "a", "1": "b"}), config(id2label={"1": "b", "0": "a"})),
    ("problem type written out", classifier(), classifier(problem_type=SINGLE)),
    ("problem type of a model that generates", config(), config(problem_type=MULTI)),
    ("multi-label, one class", config(num_labels=1), config(num_labels=1, problem_type=MULTI)),
    ("placeholder labels written out", config(), config(id2label={"0": "LABEL_0", "1": "LABEL_1"})),
    ("placeholder labels left out", config(id2label={"0": "LABEL_0", "1": "LABEL_1"}), config()),
    (
        "activation written out",
        classifier(sentence_transformers={"version": "4.0.1"}),
        classifier(sentence_transformers={"version": "5.1.0", "activation_fn": "torch.nn.modules.linear.Identity"}),
    ),
    ("layer types written out", config(), config(layer_types=["full_attention"] * 4)),
    (
        "layer types of a family written out",
        config(model_type="gemma2", sliding_window=64),
        config(model_type="gemma2", sliding_window=64, layer_types=["sliding_attention", "full_attention"] * 2),
    ),
    (
        "a pattern as layer types",
        config(sliding_window=64, sliding_window_pattern=4),
        config(sliding_window=64, layer_types=[*["sliding_attention"] * 3, "full_attention"]),
    ),
    (
        "rope of each kind of layer",
        config(rope_parameters={"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0}, rope_local_base_freq=1e4),
        config(
            rope_parameters={
                "full_attention": {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
                "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"},
            }
        ),
    ),
    ("share of a head written out", config(), config(partial_rotary_factor=1.0)),
    ("share of a family", config(model_type="phi"), config(model_type="phi", partial_rotary_factor=0.5)),
    (
        "what the base class fills in",
        config(),
        config(return_dict=True, output_attentions=False, chunk_size_feed_forward=0, top_k=50, max_length=20),
    ),
    ("positions no longer written", config(position_embedding_type="absolute"), config()),
    (
        "what a tower has no use for",
        config(vision_config={"depth": 2}),
        config(vision_config={"depth": 2, "tie_word_embeddings": True, "bos_token_id": 1}),
    ),
    ("a bias that is off", config(), config(attention_bias=False, mlp_bias=False, is_decoder=False)),
    ("a bias that the family has", config(model_type="glm4"), config(model_type="glm4", attention_bias=True)),
    ("experts of a family", config(model_type="exaone_moe"), config(model_type="exaone_moe", norm_topk_prob=True)),
    (
        "notes in a tower",
        config(vision_config={"depth": 2, "torch_dtype": "bfloat16"}),
        config(vision_config={"depth": 2, "dtype": "bfloat16", "transformers_version": "5.0"}),
    ),
    (
        "class of the tokenizer that it names itself",
        config() | {"tokenizer_config.json": {"tokenizer_class": "LlamaTokenizerFast"}},
        config(tokenizer_class="X") | {"tokenizer_config.json": {"tokenizer_class": "LlamaTokenizerFast"}},
    ),
    ("generation defaults written out", generation(), generation(top_k=50, num_beams=1, do_sample=False)),
    ("stop tokens in another order", generation(), generation(eos_token_id=[3, 2])),
    ("longer answers", generation(), generation(max_new_tokens=4096)),
    ("no limit", generation(), generation(max_new_tokens=...)),
    *(
        (f"{key} written out", {"tokenizer_config.json": {}}, {"tokenizer_config.json": {key: False}})
        for key in ("add_eos_token", "split_special_tokens")
    ),
]


@pytest.mark.parametrize(("old", "new"), [pytest.param(*each[1:], id=each[0]) for each in HARMLESS])
def test_harmless(tmp_path: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    report = kit.judge(tmp_path, old, new)
    assert kit.verdict(report) in ("equal", "hot"), [(f.rule, f.message) for f in report.findings]


ON: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("switched off where the family has it on", {"model_type": "gpt_neox"}, {"use_parallel_residual": False}),
    ("no longer written off", {"model_type": "falcon", "multi_query": False}, {"multi_query": ...}),
    ("experts no longer normalised", {"model_type": "exaone_moe"}, {"norm_topk_prob": False}),
    ("bias off", {"model_type": "gpt_neox"}, {"attention_bias": False}),
    ("bias off under another name", {"model_type": "qwen2_moe"}, {"qkv_bias": False}),
    ("own code", {"auto_map": {"AutoModel": "a/b--m.X"}}, {"norm_topk_prob": False}),
]


@pytest.mark.parametrize(("settings", "change"), [pytest.param(*each[1:], id=each[0]) for each in ON])
def test_a_switch_that_is_on_by_default_does_not_go_off_unseen(
    tmp_path: Path, settings: dict[str, Any], change: dict[str, Any]
) -> None:
    report = kit.judge(tmp_path, config(**settings), config(**settings | change))
    assert kit.verdict(report) in ("unproven", "restart"), [(f.rule, f.message) for f in report.findings]


@pytest.mark.parametrize(
    ("runtimes", "level"),
    [({}, "restart"), ({"vllm": "0.5.2"}, "restart"), ({"vllm": "0.6.0"}, None), ({"transformers": ">=4.45"}, None)],
)
def test_declared_runtimes_decide_on_rope(tmp_path: Path, runtimes: dict[str, str], level: str | None) -> None:
    new = config(rope_scaling=llama3())
    found = kit.levels(kit.judge(tmp_path, config(), new, Contract(runtimes=runtimes)))
    assert found.get("CFG-ROPE") == (level or "hot")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "invalid JSON at line 1 column 2"),
        ('{"a": 1, "a": 2}', 'duplicate key "a" at line 1 column 10'),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1e999}', "too large a number"),
        ("[1]", "not an object"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested deeper"),
        ('{"max_position_embeddings": ' + "9" * 5000 + "}", "invalid JSON"),
    ],
)
def test_bad_input_is_exit_2(tmp_path: Path, text: str, reason: str) -> None:
    report = kit.judge(tmp_path, config(), {"config.json": text})
    assert report.exit_code == exits.BAD_INPUT
    assert report.facts["verdict"] is None
    assert any(reason in finding.message for finding in report.findings), report.findings


@pytest.mark.parametrize("value", [None, [], {}, "x", -1, 1.5, True, 10**300, [1, "a", None], {"factor": "x"}])
@pytest.mark.parametrize("key", [*LLAMA, "rope_scaling", "auto_map", "id2label", "sliding_window", "layer_types"])
def test_values_of_any_kind_do_not_crash(tmp_path: Path, key: str, value: Any) -> None:
    report = kit.judge(tmp_path, config(), config(**{key: value}))
    assert report.exit_code in (exits.PASS, exits.REFUSED, exits.BAD_INPUT)


WEIGHTS = {kind: {"model.safetensors": kit.safetensors({"w": (kind, (2, 2))})} for kind in ("F32", "BF16")}


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        ({}, {"torch_dtype": "float32"}, None),
        ({"dtype": "torch.float32"}, {}, None),
        ({}, {"torch_dtype": "bfloat16"}, "restart"),
        ({"torch_dtype": "bfloat16"}, {}, "restart"),
    ],
)
def test_float32_is_what_no_number_type_means(
    tmp_path: Path, old: dict[str, Any], new: dict[str, Any], level: str | None
) -> None:
    for name, weights in (("none", {}), ("float32", WEIGHTS["F32"])):
        found = kit.levels(kit.judge(tmp_path / name, config(**old) | weights, config(**new) | weights))
        assert found.get("CFG-GEOM") == level, name
    # Since release 5, the library takes what the weights are where nothing is written.
    half = WEIGHTS["BF16"]
    assert kit.levels(kit.judge(tmp_path, config(**old) | half, config(**new) | half)).get("CFG-GEOM") == "restart"


def test_a_window_of_some_layers_does_not_shorten_the_context(tmp_path: Path) -> None:
    new = config(sliding_window=512, layer_types=["sliding_attention", "full_attention"])
    assert kit.levels(kit.judge(tmp_path, config(), new)) == {"CFG-GEOM": "restart"}


def test_versions() -> None:
    assert version(">=4.45.1") == (4, 45, 1)
    assert version("latest") is None
