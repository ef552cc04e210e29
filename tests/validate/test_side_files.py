"""Files beside the weights that came, went or changed: those that servers read by themselves never pass as hot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.report import exits
from validate.build import adapter_config, llama, llama_tensors, lora, safetensors
from validate.tokenizer import kit

Files = dict[str, Any]
BASE: Files = {"config.json": llama(), "model.safetensors": safetensors(llama_tensors())}
IMAGE = {
    "image_processor_type": "CLIPImageProcessor",
    "do_resize": True,
    "size": {"shortest_edge": 224},
    "crop_size": {"height": 224, "width": 224},
    "image_mean": [0.48, 0.45, 0.4],
    "image_std": [0.26, 0.26, 0.27],
    "resample": 3,
}
SEES: Files = BASE | {
    "config.json": llama(vision_config={"depth": 2}),
    "preprocessor_config.json": IMAGE,
    "processor_config.json": {"processor_class": "CLIPProcessor", "patch_size": 14},
    "video_preprocessor_config.json": {"fps": 2},
}
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]
POOLING = {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
EMBEDS: Files = BASE | {
    "modules.json": MODULES,
    "1_Pooling/config.json": POOLING,
    "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
    "config_sentence_transformers.json": {"prompts": {"query": "query: "}, "similarity_fn_name": "cosine"},
}
ADAPTER = {"adapter_config.json": adapter_config(), "adapter_model.safetensors": safetensors(lora())}


def changed(base: Files, file: str, **changes: Any) -> Files:
    return base | {file: {key: value for key, value in {**base[file], **changes}.items() if value is not ...}}


READ: list[tuple[str, Any, str | None, str]] = [
    (
        "hf_quant_config.json",
        {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}},
        "restart",
        "CFG-QUANT",
    ),
    ("quantize_config.json", {"bits": 4, "group_size": 128}, "restart", "CFG-QUANT"),
    ("quant_config.json", {"w_bit": 4, "q_group_size": 128}, "restart", "CFG-QUANT"),
    ("preprocessor_config.json", IMAGE, "unproven", "FIL-PREP"),
    ("video_preprocessor_config.json", {"fps": 2}, "unproven", "FIL-PREP"),
    ("processor_config.json", {"image_seq_length": 64}, "unproven", "FIL-PREP"),
    ("processor_config.json", {"image_processor": IMAGE}, "unproven", "FIL-PREP"),
    ("modules.json", MODULES, "breaks", "EMB-SPACE"),
    ("1_Pooling/config.json", POOLING, "breaks", "EMB-SPACE"),
    ("sentence_bert_config.json", {"max_seq_length": 128}, "breaks", "EMB-SPACE"),
    ("sentence_xlm-roberta_config.json", {"max_seq_length": 128}, "breaks", "EMB-SPACE"),
    ("config_sentence_transformers.json", {"similarity_fn_name": "dot"}, "breaks", "EMB-SPACE"),
    (
        "config_sentence_transformers.json",
        {"prompts": {"x": "x: "}, "default_prompt_name": "x"},
        "breaks",
        "EMB-SPACE",
    ),
    ("generation_config.json", {"temperature": 0.6}, "restart", "GEN-SAMPLE"),
    ("generation_config.json", {"max_length": 20}, "unproven", "GEN-LEN"),
    ("handler.py", "class EndpointHandler: ...", "unproven", "FIL-OPAQUE"),
    ("code/inference.py", "def model_fn(d): ...", "unproven", "FIL-OPAQUE"),
    ("1/model.py", "class TritonPythonModel: ...", "unproven", "FIL-OPAQUE"),
    ("requirements.txt", "torch==2.1", "unproven", "FIL-OPAQUE"),
    ("MLmodel", "flavors: {}", "unproven", "FIL-OPAQUE"),
    ("params.json", {"dim": 8}, "unproven", "FIL-OPAQUE"),
    ("serving.properties", "engine=Python", "unproven", "FIL-OPAQUE"),
    ("model-settings.json", {"name": "m"}, "unproven", "FIL-OPAQUE"),
    ("genai_config.json", {"search": {"temperature": 0.2}}, "unproven", "FIL-OPAQUE"),
    ("pytorch_model.bin", b"x", "unproven", "FIL-OPAQUE"),
    ("extra.safetensors", safetensors({"x": ("F32", [1])}), "restart", "FIL-SET"),
    ("tokenizer.model", b"\x0a\x0b\x0a\x05<unk>\x15\x00\x00\x00\x00\x18\x02", None, "FIL-LOST"),
]


@pytest.mark.parametrize(("name", "content", "verdict", "rule"), READ)
def test_a_new_file_that_servers_read_is_not_hot(
    tmp_path: Path, name: str, content: Any, verdict: str | None, rule: str
) -> None:
    report = kit.judge(tmp_path, BASE, BASE | {name: content})
    assert report.facts["verdict"] == verdict, report.findings
    assert rule in {f.rule for f in report.findings if f.level == (verdict or "unproven")}


def test_an_adapter_beside_the_weights_is_not_hot(tmp_path: Path) -> None:
    # transformers loads the base that the adapter names, instead of the weights beside it.
    report = kit.judge(tmp_path, BASE, BASE | ADAPTER)
    assert report.facts["verdict"] in ("restart", "breaks", "unproven")
    two = BASE | {"other.safetensors": safetensors({"x": ("F32", [1])})}
    assert kit.judge(tmp_path / "2", two, two | ADAPTER).facts["verdict"] in ("restart", "breaks", "unproven")


@pytest.mark.parametrize(
    "extra",
    [
        {"README.md": "# x", "LICENSE": "x", ".gitattributes": "*.bin filter=lfs"},
        {"demo.ipynb": "{}", "plot.png": b"x", "model.safetensors.sha256": "0"},
        {"training_args.bin": b"x", "trainer_state.json": {}, "optimizer.pt": b"x", "scheduler.pt": b"x"},
        {"eval_results.json": {"f1": 1}, "results.csv": "a,b", "recipe.yaml": "x: 1"},
        {"notes.json": {"a": 1}},
        {"tool_parser.py": "x = 1"},
        {
            "config_sentence_transformers.json": {
                "__version__": {"pytorch": "2"},
                "prompts": {},
                "similarity_fn_name": None,
            }
        },
        {"config_sentence_transformers.json": {"prompts": {"title": "title: "}}},
        {"processor_config.json": {"processor_class": "XProcessor"}},
        {"generation_config.json": {"_from_model_config": True, "transformers_version": "4.57.0"}},
        {"adapters/a/" + name: each for name, each in ADAPTER.items()},
        {"onnx/README.md": "x"},
    ],
)
def test_a_new_file_that_nobody_reads_stays_hot(tmp_path: Path, extra: Files) -> None:
    assert kit.judge(tmp_path, BASE, BASE | extra).facts["verdict"] == "hot"


TOKENIZER = kit.byte_level()
SPEAKS: Files = {**BASE, "config.json": llama(vocab_size=400), "tokenizer.json": TOKENIZER}
SPEAKS["model.safetensors"] = safetensors(llama_tensors(vocab=400))


@pytest.mark.parametrize(
    ("name", "content", "verdict"),
    [
        ("special_tokens_map.json", {"additional_special_tokens": ["zzz"]}, "unproven"),
        ("special_tokens_map.json", {"additional_special_tokens": ["<|pad|>"]}, "hot"),
        ("special_tokens_map.json", {"mask_token": None}, "hot"),
        ("tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"}, "unproven"),
        ("tokenizer_config.json", {"add_bos_token": True}, "unproven"),
        ("tokenizer_config.json", {"add_bos_token": False, "name_or_path": "x"}, "hot"),
    ],
)
def test_settings_of_the_tokenizer_that_came_or_went(tmp_path: Path, name: str, content: Files, verdict: str) -> None:
    assert kit.judge(tmp_path / "1", SPEAKS, SPEAKS | {name: content}).facts["verdict"] == verdict
    assert kit.judge(tmp_path / "2", SPEAKS | {name: content}, SPEAKS).facts["verdict"] == verdict


PREPARED: list[tuple[str, Files, str]] = [
    ("mean", changed(SEES, "preprocessor_config.json", image_mean=[0.5, 0.5, 0.5]), "restart"),
    ("size", changed(SEES, "preprocessor_config.json", size={"shortest_edge": 448}), "restart"),
    ("square", changed(SEES, "preprocessor_config.json", size={"height": 224, "width": 448}), "restart"),
    ("resample", changed(SEES, "preprocessor_config.json", resample=2), "restart"),
    ("no rescaling", changed(SEES, "preprocessor_config.json", do_rescale=False), "restart"),
    ("factor", changed(SEES, "preprocessor_config.json", rescale_factor=1 / 127.5), "restart"),
    ("a key gone", changed(SEES, "preprocessor_config.json", do_resize=...), "unproven"),
    ("a key new", changed(SEES, "preprocessor_config.json", do_pad=True), "unproven"),
    ("class", changed(SEES, "preprocessor_config.json", image_processor_type="ViTImageProcessorFast"), "unproven"),
    ("patch", changed(SEES, "processor_config.json", patch_size=16), "restart"),
    ("frames", changed(SEES, "video_preprocessor_config.json", fps=1), "restart"),
    ("gone", {name: each for name, each in SEES.items() if name != "preprocessor_config.json"}, "breaks"),
    ("video gone", {name: each for name, each in SEES.items() if not name.startswith("video")}, "breaks"),
    ("whole gone", {name: each for name, each in SEES.items() if name != "processor_config.json"}, "unproven"),
    (
        "moved and changed",
        {name: each for name, each in SEES.items() if name != "preprocessor_config.json"}
        | {"processor_config.json": {"patch_size": 14, "image_processor": {**IMAGE, "resample": 2}}},
        "restart",
    ),
]


@pytest.mark.parametrize(("new", "verdict"), [pytest.param(*each[1:], id=each[0]) for each in PREPARED])
def test_inputs_that_are_prepared_otherwise(tmp_path: Path, new: Files, verdict: str) -> None:
    report = kit.judge(tmp_path, SEES, new)
    assert {f.level for f in report.findings if f.rule == "FIL-PREP"} == {verdict}, report.findings
    assert report.facts["verdict"] == verdict


SAME: list[tuple[str, Files]] = [
    (
        "extractor",
        changed(
            SEES, "preprocessor_config.json", image_processor_type=..., feature_extractor_type="CLIPFeatureExtractor"
        ),
    ),
    ("a length for a square", changed(SEES, "preprocessor_config.json", crop_size=224, size=224)),
    (
        "defaults written out",
        changed(SEES, "preprocessor_config.json", do_rescale=True, rescale_factor=0.00392156862745098),
    ),
    ("nulls", changed(SEES, "preprocessor_config.json", device=None, do_pad=None, data_format="channels_first")),
    ("names", changed(SEES, "preprocessor_config.json", processor_class="CLIPProcessor", _name_or_path="x")),
    (
        "moved into one file",
        {name: each for name, each in SEES.items() if not name.endswith("preprocessor_config.json")}
        | {
            "processor_config.json": {
                **SEES["processor_config.json"],
                "image_processor": IMAGE,
                "video_processor": {"fps": 2},
            }
        },
    ),
]


@pytest.mark.parametrize("new", [pytest.param(each[1], id=each[0]) for each in SAME])
def test_inputs_that_are_prepared_as_before(tmp_path: Path, new: Files) -> None:
    report = kit.judge(tmp_path, SEES, new)
    assert report.facts["verdict"] == "hot", report.findings


POOLED: list[tuple[str, Files, str]] = [
    (
        "cls",
        changed(EMBEDS, "1_Pooling/config.json", pooling_mode_cls_token=True, pooling_mode_mean_tokens=False),
        "breaks",
    ),
    ("prompt left out", changed(EMBEDS, "1_Pooling/config.json", include_prompt=False), "breaks"),
    ("shorter", changed(EMBEDS, "sentence_bert_config.json", max_seq_length=128), "breaks"),
    ("lower case", changed(EMBEDS, "sentence_bert_config.json", do_lower_case=True), "breaks"),
    ("unknown key", changed(EMBEDS, "sentence_bert_config.json", unpad_inputs=True), "unproven"),
    ("other prompt", changed(EMBEDS, "config_sentence_transformers.json", prompts={"query": "q: "}), "breaks"),
    ("prompt gone", changed(EMBEDS, "config_sentence_transformers.json", prompts={}), "breaks"),
    ("default prompt", changed(EMBEDS, "config_sentence_transformers.json", default_prompt_name="query"), "breaks"),
    ("similarity", changed(EMBEDS, "config_sentence_transformers.json", similarity_fn_name="dot"), "breaks"),
    ("truncated", changed(EMBEDS, "config_sentence_transformers.json", truncate_dim=4), "breaks"),
    ("normalised", EMBEDS | {"modules.json": [*MODULES, {"path": "2_Normalize", "type": "m.Normalize"}]}, "breaks"),
    ("written out", changed(EMBEDS, "1_Pooling/config.json", pooling_mode_lasttoken=False, include_prompt=True), "hot"),
    ("new form", EMBEDS | {"1_Pooling/config.json": {"embedding_dimension": 8, "pooling_mode": "mean"}}, "hot"),
    ("null length", changed(EMBEDS, "config_sentence_transformers.json", default_prompt_name=None), "hot"),
    ("versions", changed(EMBEDS, "config_sentence_transformers.json", __version__={"pytorch": "9"}), "hot"),
    (
        "one more prompt",
        changed(EMBEDS, "config_sentence_transformers.json", prompts={"query": "query: ", "z": "z"}),
        "hot",
    ),
    ("moved packages", EMBEDS | {"modules.json": [{**each, "type": "new." + each["type"]} for each in MODULES]}, "hot"),
]


@pytest.mark.parametrize(("new", "verdict"), [pytest.param(*each[1:], id=each[0]) for each in POOLED])
def test_what_sentence_transformers_reads(tmp_path: Path, new: Files, verdict: str) -> None:
    report = kit.judge(tmp_path, EMBEDS, new)
    assert report.facts["verdict"] == verdict, report.findings
    assert verdict == "hot" or "EMB-SPACE" in {f.rule for f in report.findings if f.level == verdict}


PACKED = {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"]}
BESIDE = {"producer": {"name": "modelopt", "version": "0.29"}, "quantization": {"quant_algo": "FP8"}}


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (
            {"hf_quant_config.json": BESIDE},
            {"hf_quant_config.json": {**BESIDE, "producer": {"version": "0.31"}}},
            "hot",
        ),
        (
            {"hf_quant_config.json": BESIDE},
            {"hf_quant_config.json": {"quantization": {"quant_algo": "NVFP4"}}},
            "restart",
        ),
        ({"hf_quant_config.json": BESIDE}, {}, "restart"),
        ({"quantize_config.json": {"bits": 4}}, {"quantize_config.json": {"bits": 4, "damp_percent": 0.1}}, "hot"),
        ({"quantize_config.json": {"bits": 4}}, {"quantize_config.json": {"bits": 8}}, "restart"),
    ],
)
def test_quantisation_beside_the_configuration(tmp_path: Path, old: Files, new: Files, verdict: str) -> None:
    assert kit.judge(tmp_path, BASE | old, BASE | new).facts["verdict"] == verdict


def test_quantisation_that_only_moved_into_the_configuration(tmp_path: Path) -> None:
    scales = {"model.layers.0.self_attn.q_proj.weight_scale": ("F32", [1])}
    weights = {"model.safetensors": safetensors(llama_tensors() | scales)}
    old = BASE | weights | {"hf_quant_config.json": BESIDE}
    moved = weights | {"config.json": llama(quantization_config=PACKED)}
    assert kit.judge(tmp_path, old, moved | {"hf_quant_config.json": BESIDE}).facts["verdict"] == "hot"
    assert kit.judge(tmp_path / "2", old, moved).facts["verdict"] == "hot"
    said = {"hf_quant_config.json": {"bits": 4}}
    report = kit.judge(tmp_path / "3", moved, moved | said)
    assert ("CFG-QUANT", "restart") in {(f.rule, f.level) for f in report.findings}


KERAS: Files = {"config.json": llama(), "tf_model.h5": b"keras"}
BIN: Files = {"config.json": llama(), "pytorch_model.bin": b"pickle"}
CONTAINERS: list[tuple[str, Files, Files, str, str]] = [
    ("no weights any more", BASE, {"config.json": llama()}, "breaks", "FIL-FORMAT"),
    ("no Keras weights any more", KERAS, {"config.json": llama()}, "breaks", "FIL-FORMAT"),
    ("no pickle any more", BIN, {"config.json": llama(), "README.md": "x"}, "breaks", "FIL-FORMAT"),
    ("only a trainer's pickle left", BIN, {"config.json": llama(), "optimizer.pt": b"x"}, "breaks", "FIL-FORMAT"),
    ("Keras to safetensors", KERAS, BASE, "restart", "FIL-FORMAT"),
    ("pickle to safetensors", BIN, BASE, "restart", "FIL-FORMAT"),
    ("safetensors before the pickle", BIN, BASE | BIN, "unproven", "FIL-FORMAT"),
    ("weights where none were", {"config.json": llama()}, BASE, "unproven", "FIL-FORMAT"),
    ("Keras replaced", KERAS, KERAS | {"tf_model.h5": b"other"}, "unproven", "FIL-OPAQUE"),
    ("pickle replaced", BIN, BIN | {"pytorch_model.bin": b"other"}, "unproven", "FIL-OPAQUE"),
    ("settings gone", BASE | {"x.yaml": "a"}, BASE, "unproven", "FIL-OPAQUE"),
    (
        "scheduler of a pipeline",
        BASE | {"scheduler/s.json": {"a": 1}},
        BASE | {"scheduler/s.json": {"a": 2}},
        "unproven",
        "FIL-OPAQUE",
    ),
    ("tags", BASE | {"selected_tags.csv": "a"}, BASE | {"selected_tags.csv": "b"}, "breaks", "FIL-LABEL"),
    ("lexicon", BASE | {"lexicon.txt": "a"}, BASE | {"lexicon.txt": "b"}, "unproven", "FIL-OPAQUE"),
    (
        "code of a processor",
        SEES,
        changed(SEES, "preprocessor_config.json", auto_map={"A": "m.X"}),
        "breaks",
        "CFG-CODE",
    ),
    ("configuration only", {"config.json": llama()}, {"config.json": llama(transformers_version="5")}, "hot", ""),
    ("documentation gone", BASE | {"README.md": "x", "plot.png": b"x"}, BASE, "hot", ""),
    ("trainer gone", BASE | {"training_args.bin": b"x", "optimizer.pt": b"x"}, BASE, "hot", ""),
    ("a format beside", BASE, BASE | {"tf_model.h5": b"keras"}, "hot", ""),
    ("Keras the same", KERAS, KERAS | {"README.md": "x"}, "hot", ""),
]


@pytest.mark.parametrize(
    ("old", "new", "verdict", "rule"), [pytest.param(*each[1:], id=each[0]) for each in CONTAINERS]
)
def test_weights_of_any_framework_that_came_or_went(
    tmp_path: Path, old: Files, new: Files, verdict: str, rule: str
) -> None:
    report = kit.judge(tmp_path, old, new)
    assert report.facts["verdict"] == verdict, report.findings
    assert not rule or rule in {f.rule for f in report.findings if f.level == verdict}


@pytest.mark.parametrize(
    "name",
    [
        *("preprocessor_config.json", "processor_config.json", "modules.json", "1_Pooling/config.json"),
        *("config_sentence_transformers.json", "sentence_bert_config.json", "hf_quant_config.json"),
    ],
)
@pytest.mark.parametrize("content", ["{", "[[1]]", '{"a": NaN}', "", "null"])
def test_a_file_that_cannot_be_read_never_passes(tmp_path: Path, name: str, content: str) -> None:
    report = kit.judge(tmp_path, BASE, BASE | {name: content})
    assert report.exit_code in (exits.BAD_INPUT, exits.REFUSED), report.findings


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [1, {"a": None}], {"height": "x"}])
@pytest.mark.parametrize("key", ["size", "image_mean", "image_processor", "prompts", "image_processor_type"])
def test_settings_of_any_kind_do_not_crash(tmp_path: Path, key: str, value: Any) -> None:
    new = SEES | EMBEDS
    for file in ("preprocessor_config.json", "processor_config.json", "config_sentence_transformers.json"):
        new = changed(new, file, **{key: value})
    assert kit.judge(tmp_path, SEES | EMBEDS, new).exit_code in (exits.PASS, exits.REFUSED, exits.BAD_INPUT)
