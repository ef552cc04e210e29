"""Mutants in the shapes of public incidents: none may come out hot, and the right rule must speak.

Each incident has at least ten mutants; each family has harmless mutants that must not come out as breaking.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import adapter_config, folder, gguf, llama, llama_tensors, lora, onnx_model, safetensors

Files = dict[str, Any]


class Mutant(NamedTuple):
    """OLD, NEW, the verdicts that are right, and the rule that must speak (empty: any)."""

    name: str
    old: Files
    new: Files
    verdicts: tuple[str, ...]
    rule: str
    options: Files | None = None


IO: dict[str, Any] = {"x": ("float", ["batch", 3, 8]), "n": ("int64", ["batch"])}
OUT: dict[str, Any] = {"y": ("float", ["batch", 4])}


def graph(inputs: Any = IO, outputs: Any = OUT, **kwargs: Any) -> Files:
    return {"model.onnx": onnx_model(inputs, outputs, **kwargs)}


def incident_7_inputs_removed() -> Iterator[Mutant]:
    for dtype in ("float", "float16", "int64", "bool"):
        for shape in ([2, "batch", 64], [1], [], ["a", "b"]):
            old = {**IO, "h": (dtype, shape)}
            yield Mutant(f"{dtype}{shape} gone", graph(old), graph(IO), ("breaks",), "ONX-IN-REMOVED")
            yield Mutant(f"{dtype}{shape} new", graph(IO), graph(old), ("breaks",), "ONX-IN-ADDED")
    for extra in ("hn", "cn"):
        outs = {**OUT, extra: ("float", [2, "batch", 64])}
        yield Mutant(f"output {extra} gone", graph(outputs=outs), graph(), ("breaks",), "ONX-OUT-REMOVED")


def incident_8_format() -> Iterator[Mutant]:
    for ir, opset in ((8, 16), (8, 17), (7, 13)):
        for new_ir in (10, 11, 12, 13):
            yield Mutant(
                f"IR {ir} to {new_ir}", graph(ir=ir, opset=opset), graph(ir=new_ir, opset=opset), ("restart",), "ONX-IR"
            )
        for new_opset in (19, 20, 21, 22, 23):
            name = f"opset {opset} to {new_opset}"
            yield Mutant(name, graph(ir=ir, opset=opset), graph(ir=ir, opset=new_opset), ("restart",), "ONX-OPSET")
    for domain in ("com.acme", "ai.onnx.contrib", "com.microsoft"):
        yield Mutant(f"operators of {domain}", graph(), graph(node=("Magic", domain)), ("restart",), "ONX-DOMAIN")


def incident_9_types() -> Iterator[Mutant]:
    kinds = ("float", "float16", "int64", "int32", "double", "uint8", "bool")
    for name in ("x", "n", "y"):
        side = OUT if name == "y" else IO
        for kind in kinds:
            if kind == side[name][0]:
                continue
            changed = {**side, name: (kind, side[name][1])}
            new = graph(outputs=changed) if name == "y" else graph(changed)
            yield Mutant(f"{name} becomes {kind}", graph(), new, ("breaks",), "ONX-DTYPE")


def incident_10_reexport() -> Iterator[Mutant]:
    for size in (1, 2, 8):
        for axis in (0, 1, 2):
            shape = ["batch", "channels", "width"]
            frozen: list[Any] = list(shape)
            frozen[axis] = size
            old, new = {"x": ("float", shape)}, {"x": ("float", frozen)}
            yield Mutant(f"axis {axis} frozen at {size}", graph(old), graph(new), ("breaks",), "ONX-DIM-NARROW")
    for size in (1, 4, 16):
        new = {**IO, "x": ("float", ["batch", size, 8])}
        yield Mutant(f"channels 3 to {size}", graph(), graph(new), ("breaks",), "ONX-DIM-NARROW")
        outs = {"y": ("float", ["batch", size + 1])}
        yield Mutant(f"classes 4 to {size + 1}", graph(), graph(outputs=outs), ("breaks",), "ONX-DIM-NARROW")
    for name in ("__x_3", "input.1", "onnx::x_0", "X"):
        new = {name: IO["x"], "n": IO["n"]}
        yield Mutant(f"x renamed {name}", graph(), graph(new), ("breaks",), "ONX-IN-RENAMED")
        yield Mutant(f"y renamed {name}", graph(), graph(outputs={name: OUT["y"]}), ("breaks",), "ONX-OUT-RENAMED")
    for shape in (["batch", 3], ["batch", 3, 8, 1], []):
        yield Mutant(f"rank {len(shape)}", graph(), graph({**IO, "x": ("float", shape)}), ("breaks",), "ONX-RANK")
    yield Mutant(
        "output free", graph(), graph(outputs={"y": ("float", ["batch", "n"])}), ("unproven",), "ONX-DIM-WIDEN"
    )
    for old, new in (("Softmax", "MatMul"), ("MatMul", "Sigmoid"), ("Sigmoid", "Softmax")):
        yield Mutant(f"{old} to {new}", graph(head=old), graph(head=new), ("unproven",), "ONX-HEAD")
    labels = {"metadata": {"names": "{0: 'cat', 1: 'dog'}"}}
    for names in ("{0: 'dog', 1: 'cat'}", "{0: 'cat'}", "{0: 'cat', 1: 'dog', 2: 'cow'}", "[]", "?"):
        yield Mutant(f"labels {names}", graph(**labels), graph(metadata={"names": names}), ("breaks",), "ONX-META")
    yield Mutant("labels gone", graph(**labels), graph(), ("breaks",), "ONX-META")


def base(dtype: str = "BF16", *, fill: int = 1, head: bool = True, config: Files | None = None, **kwargs: Any) -> Files:
    return {
        "config.json": llama(**(config or {})),
        "model.safetensors": safetensors(llama_tensors(dtype, head=head, **kwargs), fill=fill),
    }


def incident_13_tied_head() -> Iterator[Mutant]:
    for family in ("llama", "mistral", "qwen2", "qwen3", "mixtral"):
        good = base(config={"model_type": family})
        new = base(config={"model_type": family}, head=False)
        yield Mutant(f"{family}: head gone", good, new, ("breaks",), "WTS-TIE")
        config = llama(model_type=family)
        del config["tie_word_embeddings"]
        yield Mutant(f"{family}: head gone, flag too", good, {**new, "config.json": config}, ("breaks",), "WTS-TIE")
    for fill in (2, 3, 255):
        tensors = safetensors(llama_tensors(), fills={"lm_head.weight": fill})
        new = {"config.json": llama(tie_word_embeddings=True), "model.safetensors": tensors}
        yield Mutant(f"tied with an own head ({fill})", base(), new, ("breaks",), "WTS-TIE")


def incident_16_range() -> Iterator[Mutant]:
    tensors = llama_tensors()
    for name in tensors:
        new = {**base(), "model.safetensors": safetensors({**tensors, name: ("F16", tensors[name][1])})}
        yield Mutant(f"{name} in F16", base(), new, ("breaks",), "WTS-DTYPE-RANGE")
        for kind in ("F32", "U8"):
            new = {**base(), "model.safetensors": safetensors({**tensors, name: (kind, tensors[name][1])})}
            yield Mutant(f"{name} in {kind}", base(), new, ("restart", "breaks"), "WTS-DTYPE")
    yield Mutant("all in F16", base(), base("F16"), ("breaks",), "WTS-DTYPE-RANGE")


def weights_in_place() -> Iterator[Mutant]:
    tensors = llama_tensors()
    for name in tensors:
        less = {other: value for other, value in tensors.items() if other != name}
        new = {**base(), "model.safetensors": safetensors(less)}
        yield Mutant(f"{name} gone", base(), new, ("restart", "breaks"), "WTS-NAME")
        dtype, shape = tensors[name]
        wide = {**tensors, name: (dtype, [shape[0] + 8, *shape[1:]])}
        yield Mutant(
            f"{name} wider",
            base(),
            {**base(), "model.safetensors": safetensors(wide)},
            ("restart", "breaks"),
            "WTS-SHAPE",
        )


def incident_22_stale_caches() -> Iterator[Mutant]:
    for fill in range(2, 14):
        yield Mutant(f"weights of {fill}", base(), base(fill=fill), ("hot",), "STA-KV")


def adapter(rank: int = 4, tensors: Any = None, **config: Any) -> Files:
    return {
        "adapter_config.json": adapter_config(**{"r": rank, **config}),
        "adapter_model.safetensors": safetensors(tensors if tensors is not None else lora(rank)),
    }


def incident_17_rank() -> Iterator[Mutant]:
    for rank in (17, 20, 24, 32, 48, 64, 128, 256, 320, 512):
        yield Mutant(f"rank 8 to {rank}", adapter(8), adapter(rank), ("restart",), "LRA-RANK")
    tensors = {**lora(8, targets=["v_proj"]), **lora(64, targets=["q_proj"])}
    new = adapter(8, tensors, rank_pattern={"q_proj": 64})
    yield Mutant("rank in a pattern", adapter(8), new, ("restart",), "LRA-RANK")


def incident_18_modules() -> Iterator[Mutant]:
    for saved in (["lm_head"], ["embed_tokens"], ["lm_head", "embed_tokens"], ["score"], ["classifier"]):
        yield Mutant(f"saves {saved}", adapter(), adapter(modules_to_save=saved), ("breaks",), "LRA-MODULES")
    yield Mutant("DoRA", adapter(), adapter(use_dora=True), ("breaks",), "LRA-MODULES")
    for bias in ("all", "lora_only"):
        yield Mutant(f"bias {bias}", adapter(), adapter(bias=bias), ("breaks",), "LRA-MODULES")
    for kind in ("IA3", "PREFIX_TUNING", "LOHA"):
        yield Mutant(f"peft {kind}", adapter(), adapter(peft_type=kind), ("breaks",), "LRA-MODULES")
    for name in ("base_model.model.lm_head.weight", "q_proj.lora_magnitude_vector", "x.bias"):
        new = adapter(tensors={**lora(), name: ("F32", [8])})
        yield Mutant(f"tensor {name}", adapter(), new, ("breaks",), "LRA-MODULES")


def incident_19_vocabulary() -> Iterator[Mutant]:
    for rows in (33, 34, 40, 64, 128, 31):
        for name in ("base_model.model.model.embed_tokens.weight", "base_model.model.lm_head.weight"):
            new = adapter(tensors={**lora(), name: ("F32", [rows, 8])})
            yield Mutant(f"{name} of {rows}", adapter(), new, ("breaks",), "LRA-VOCAB", {"base": base()})


def incident_20_resized_base() -> Iterator[Mutant]:
    for hidden in (4, 7, 12, 16, 64, 4096):
        new = adapter(tensors=lora(hidden=hidden))
        yield Mutant(f"columns {hidden}", adapter(), new, ("breaks",), "LRA-BASE", {"base": base()})
        new = adapter(tensors=lora(out=hidden))
        yield Mutant(f"rows {hidden}", adapter(), new, ("breaks",), "LRA-BASE", {"base": base()})
    for target in ("k_proj", "qkv", "W_pack"):
        new = adapter(tensors=lora(targets=[target]), target_modules=[target])
        yield Mutant(f"target {target}", adapter(), new, ("breaks",), "LRA-TARGET", {"base": base()})
    yield Mutant("other base", adapter(), adapter(base_model_name_or_path="acme/other"), ("breaks",), "LRA-ORPHAN")


def engine(build: Files | None = None, model: Files | None = None, *, version: str = "0.16.0", ranks: int = 1) -> Files:
    limits = {
        "max_batch_size": 8,
        "max_input_len": 1024,
        "max_seq_len": 2048,
        "max_num_tokens": 8192,
        "max_beam_width": 1,
    }
    config = {
        "version": version,
        "pretrained_config": {
            "architecture": "LlamaForCausalLM",
            "dtype": "bfloat16",
            "vocab_size": 32,
            "mapping": {"world_size": ranks, "tp_size": ranks, "pp_size": 1},
            **(model or {}),
        },
        "build_config": {**limits, "plugin_config": {"paged_kv_cache": True, "tokens_per_block": 64}, **(build or {})},
    }
    return {"config.json": config, **{f"rank{i}.engine": b"opaque" for i in range(ranks)}}


def incident_21_engines() -> Iterator[Mutant]:
    for version in (
        "0.15.0",
        "0.16.1",
        "0.17.0",
        "1.0.0",
        "0.16.0.dev1",
        "0.9",
        "0.16.0rc1",
        "1.1.0rc2",
        "0.20.0",
        "2.0",
    ):
        yield Mutant(f"version {version}", engine(), engine(version=version), ("restart",), "TRT-VER")
    for limit, value in (("max_batch_size", 4), ("max_input_len", 512), ("max_seq_len", 1024), ("max_num_tokens", 1)):
        yield Mutant(f"{limit} {value}", engine(), engine({limit: value}), ("breaks",), "TRT-PROFILE")
    for key, value in (("dtype", "float16"), ("vocab_size", 64), ("architecture", "QWenForCausalLM")):
        yield Mutant(f"{key} {value}", engine(), engine(model={key: value}), ("restart",), "TRT-IO")
    plugins = {"plugin_config": {"paged_kv_cache": False, "tokens_per_block": 64}}
    yield Mutant("plugins", engine(), engine(plugins), ("restart",), "TRT-PLUGIN")
    yield Mutant("two ranks", engine(), engine(ranks=2), ("restart", "unproven"), "TRT-TP")
    lost = {name: content for name, content in engine(ranks=2).items() if name != "rank1.engine"}
    yield Mutant("rank lost", engine(ranks=2), lost, ("breaks",), "TRT-TP")


PBTXT = """name: "m"
platform: "onnxruntime_onnx"
max_batch_size: %(batch)d
input [{ name: "%(x)s" data_type: TYPE_%(kind)s dims: [ 3, %(width)d ] }]
input [{ name: "n" data_type: TYPE_INT64 dims: [ 1 ] reshape: { shape: [ ] } }]
output [{ name: "%(y)s" data_type: TYPE_FP32 dims: [ %(classes)d ] }]
%(more)s
"""


def triton(inputs: Any = None, outputs: Any = OUT, **changes: Any) -> Files:
    told = {"batch": 8, "x": "x", "y": "y", "kind": "FP32", "width": 8, "classes": 4, "more": "", **changes}
    model = onnx_model(inputs or {"x": IO["x"], "n": ("int64", ["batch"])}, outputs)
    return {"config.pbtxt": PBTXT % told, "1/model.onnx": model}


def incident_23_triton() -> Iterator[Mutant]:
    for change in (
        *({"x": "input"}, {"y": "output"}, {"kind": "FP16"}, {"kind": "INT32"}, {"width": 16}, {"width": 4}),
        *({"classes": 5}, {"classes": 1000}, {"batch": 4}, {"batch": 0}, {"batch": 1}),
    ):
        yield Mutant(f"pbtxt {change}", triton(), triton(**change), ("restart", "breaks"), "TRI-CFG")
    other = {"x": ("float", ["batch", 3, 16]), "n": ("int64", ["batch"])}
    yield Mutant("model moved on", triton(), triton(other), ("breaks",), "TRI-CFG")


def embedder(fill: int = 1, **files: Any) -> Files:
    modules = '[{"idx": 0, "path": "", "type": "Transformer"}, {"idx": 1, "path": "1_Pooling", "type": "Pooling"}]'
    return {
        "modules.json": modules,
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
        "config.json": {"architectures": ["BertModel"], "model_type": "bert", "hidden_size": 8, "vocab_size": 32},
        "model.safetensors": safetensors({"embeddings.word_embeddings.weight": ("F32", [32, 8])}, fill=fill),
        **files,
    }


def incident_24_embeddings() -> Iterator[Mutant]:
    for fill in range(2, 9):
        yield Mutant(f"weights of {fill}", embedder(), embedder(fill), ("breaks",), "EMB-SPACE")
    pooling = {"1_Pooling/config.json": {"pooling_mode_cls_token": True}}
    yield Mutant("pooling by cls", embedder(), embedder(**pooling), ("breaks",), "EMB-SPACE")
    for name in ("sentence_embedding", "text_embeds", "pooler_output", "embeddings"):
        old, new = ({"model.onnx": onnx_model(IO, {name: OUT["y"]}, weight=w)} for w in (1.0, 1.5))
        yield Mutant(f"output {name}", old, new, ("breaks",), "EMB-SPACE")


def incident_25_drafts() -> Iterator[Mutant]:
    for size in (31, 33, 48, 64, 128, 151936, 152064, 1, 2, 100):
        draft = {"config.json": llama(vocab_size=size), "model.safetensors": safetensors({"w": ("F32", [1])})}
        yield Mutant(f"draft of {size}", base(), base(), ("restart",), "SPC-VOCAB", {"draft": draft})


def llama_gguf(fill: int = 0, tensors: Any = None, **changes: Any) -> Files:
    metadata = {
        "general.architecture": "llama",
        "llama.context_length": 128,
        "llama.embedding_length": 4,
        "llama.block_count": 1,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "llama-bpe",
        "tokenizer.ggml.tokens": ["a", "b", "ab"],
        "tokenizer.ggml.merges": ["a b"],
        **changes,
    }
    return {"m.gguf": gguf({k: v for k, v in metadata.items() if v is not None}, tensors, fill)}


def incident_5_pre_tokenizer() -> Iterator[Mutant]:
    for pre in (
        "smaug-bpe",
        "default",
        "gpt-2",
        "qwen2",
        "tekken",
        "llama3",
        "llama-v3",
        "deepseek-llm",
        "falcon",
        None,
    ):
        new = llama_gguf(**{"tokenizer.ggml.pre": pre})
        yield Mutant(f"pre {pre}", llama_gguf(), new, ("breaks",), "GGF-PRE")
    for length in (64, 1, 127):
        yield Mutant(
            f"context {length}", llama_gguf(), llama_gguf(**{"llama.context_length": length}), ("breaks",), "GGF-CTX"
        )
    new = llama_gguf(**{"llama.block_count": 2})
    yield Mutant("two blocks", llama_gguf(), new, ("restart",), "GGF-ARCH")
    retyped = {"token_embd.weight": (1, [4, 2])}
    yield Mutant("F16", llama_gguf(), llama_gguf(tensors=retyped), ("restart",), "GGF-TENSOR")


def files_lost() -> Iterator[Mutant]:
    two = {"a.onnx": onnx_model(IO, OUT), "b.onnx": onnx_model(IO, OUT)}
    yield Mutant("one of two gone", two, {"a.onnx": two["a.onnx"]}, ("breaks",), "FIL-SET")
    split = {"encoder.onnx": two["a.onnx"], "decoder.onnx": two["b.onnx"]}
    yield Mutant("one split into two", {"model.onnx": two["a.onnx"]}, split, ("breaks",), "FIL-SET")
    yield Mutant("renamed", {"a.onnx": two["a.onnx"]}, {"b.onnx": two["a.onnx"]}, ("restart",), "FIL-SET")
    yield Mutant("GGUF instead", base(), {**llama_gguf(), "config.json": llama()}, ("restart", "breaks"), "FIL-FORMAT")
    for labels in ("dog\ncat\n", "cat\n", "cat\ndog\ncow\n"):
        files = graph()
        yield Mutant(
            f"labels {labels!r}",
            {**files, "labels.txt": "cat\ndog\n"},
            {**files, "labels.txt": labels},
            ("breaks",),
            "FIL-LABEL",
        )
    prepared = [{**graph(), "preprocessor_config.json": {"size": each}} for each in (224, 448)]
    yield Mutant("size", *prepared, ("restart",), "FIL-PREP")
    for name in ("model.bin", "model.tflite", "weights.h5"):
        files = graph()
        yield Mutant(f"{name} changed", {**files, name: b"1"}, {**files, name: b"2"}, ("unproven",), "FIL-OPAQUE")


def settings_lost() -> Iterator[Mutant]:
    for key, value in (
        *(("final_logit_softcapping", 30.0), ("attn_logit_softcapping", None), ("query_pre_attn_scalar", 144)),
        *(("logit_scale", 0.5), ("embedding_multiplier", 12.0), ("n_group", 8), ("routed_scaling_factor", 2.5)),
    ):
        yield Mutant(f"{key} {value}", base(config={key: 1}), base(config={key: value}), ("unproven",), "CFG-OTHER")
    nested = {"text_config": {"altup_coef_clip": 120.0}}, {"text_config": {"altup_coef_clip": 60.0}}
    yield Mutant("in text_config", base(config=nested[0]), base(config=nested[1]), ("unproven",), "CFG-OTHER")
    weights = {"model.safetensors": safetensors(llama_tensors())}
    yield Mutant("config gone", base(), weights, ("breaks",), "FIL-LOST")
    parts = {**base(), "vae/config.json": {"scaling_factor": 0.18}}
    yield Mutant("part", parts, {**parts, "vae/config.json": {"scaling_factor": 1}}, ("unproven",), "FIL-OPAQUE")
    python = {**graph(), "1/model.py": "a = 1"}
    yield Mutant("code", python, {**python, "1/model.py": "a = 2"}, ("unproven",), "FIL-OPAQUE")
    plan = {"config.pbtxt": 'name: "m"', "1/model.plan": b"one"}
    yield Mutant("plan", plan, {**plan, "1/model.plan": b"two"}, ("unproven",), "TRT-OPAQUE")
    for key, value in (
        ("llama.attention.clamp_kqv", 8.0),
        ("llama.logit_scale", 0.1),
        ("tokenizer.chat_template", "x"),
    ):
        yield Mutant(f"{key}", llama_gguf(), llama_gguf(**{key: value}), ("unproven", "restart"), "GGF-META")
    flag = {"tokenizer.ggml.add_bos_token": True}
    yield Mutant("BOS", llama_gguf(), llama_gguf(**flag), ("restart", "breaks"), "GGF-META")
    for more in ("default_model_filename: 'b.onnx'", "version_policy: { specific { versions: [ 2 ] } }"):
        yield Mutant(f"pbtxt {more}", triton(), triton(more=more), ("breaks",), "TRI-CFG")


def harmless() -> Iterator[Mutant]:
    """Changes that no client notices."""
    fine = ("equal", "hot")
    for weight in (1.5, 2.0, -1.0):
        yield Mutant(f"retrained {weight}", graph(), graph(weight=weight), fine, "")
    yield Mutant("x widened", graph(), graph({**IO, "x": ("float", ["batch", "c", "w"])}), fine, "ONX-DIM-WIDEN")
    yield Mutant("batch renamed", graph(), graph({**IO, "x": ("float", ["b", 3, 8])}), fine, "")
    yield Mutant("unnamed", graph(), graph({**IO, "x": ("float", [None, 3, 8])}), fine, "")
    yield Mutant(
        "optional input", graph(), graph({**IO, "t": ("int64", [1])}, defaults={"t": [1]}), fine, "ONX-IN-ADDED"
    )
    yield Mutant("output more", graph(), graph(outputs={**OUT, "p": ("float", [1])}), fine, "ONX-OUT-ADDED")
    yield Mutant("reordered", graph(), graph({"n": IO["n"], "x": IO["x"]}), fine, "ONX-ORDER")
    for ir, opset in ((9, 16), (8, 17), (8, 18), (7, 13), (8, 15)):
        yield Mutant(f"IR {ir} opset {opset}", graph(), graph(ir=ir, opset=opset), fine, "")
    yield Mutant("description", graph(metadata={"author": "a"}), graph(metadata={"author": "b"}), fine, "")
    labels = {"names": '["cat", "dog"]'}
    yield Mutant("labels respelt", graph(metadata=labels), graph(metadata={"names": "['cat','dog']"}), fine, "")
    tensors = llama_tensors()
    names = list(tensors)
    shards = {f"model-0000{i + 1}-of-00002.safetensors": names[3 * i : 3 * i + 3] for i in (0, 1)}
    split = {
        "config.json": llama(),
        **{file: safetensors({name: tensors[name] for name in held}) for file, held in shards.items()},
        "model.safetensors.index.json": {"weight_map": {name: f for f, held in shards.items() for name in held}},
    }
    yield Mutant("two shards", base(), split, fine, "WTS-SHARD")
    yield Mutant("one shard", split, base(), fine, "WTS-SHARD")
    equal = {"config.json": llama(tie_word_embeddings=True), "model.safetensors": safetensors(tensors)}
    yield Mutant("head equals embedding", equal, equal, ("equal",), "")
    other = base(config={"transformers_version": "5"})
    yield Mutant("bookkeeping", base(config={"transformers_version": "4"}), other, fine, "")
    yield Mutant("GGUF renamed", llama_gguf(), llama_gguf(**{"general.name": "x", "general.author": "y"}), fine, "")
    yield Mutant("readme", {**base(), "README.md": "a"}, {**base(), "README.md": "b"}, fine, "")
    yield Mutant("adapter scale", adapter(), adapter(lora_alpha=16), fine, "LRA-SCALE")
    yield Mutant("adapter rank 8", adapter(4), adapter(8), fine, "")
    yield Mutant("adapter fits", adapter(), adapter(tensors=lora()), ("equal",), "", {"base": base()})
    yield Mutant("engine grew", engine(), engine({"max_batch_size": 16}), fine, "TRT-PROFILE")
    yield Mutant("longer context", llama_gguf(), llama_gguf(**{"llama.context_length": 256}), fine, "GGF-CTX")
    yield Mutant("GGUF retrained", llama_gguf(), llama_gguf(fill=1), fine, "GGF-TENSOR")
    yield Mutant("triton instances", triton(), triton(more="instance_group [{ count: 2 }]"), fine, "")
    yield Mutant("triton larger batch", triton(), triton(batch=16), fine, "")
    same_draft = {"config.json": llama(), "model.safetensors": safetensors({"w": ("F32", [1])})}
    yield Mutant("draft of the same size", base(), base(), ("equal",), "", {"draft": same_draft})


FAMILIES = (
    *(incident_5_pre_tokenizer, incident_7_inputs_removed, incident_8_format, incident_9_types, incident_10_reexport),
    *(incident_13_tied_head, incident_16_range, incident_17_rank, incident_18_modules, incident_19_vocabulary),
    *(incident_20_resized_base, incident_21_engines, incident_22_stale_caches, incident_23_triton),
    *(incident_24_embeddings, incident_25_drafts, weights_in_place, files_lost, settings_lost),
)


def judge(mutant: Mutant, tmp_path: Path) -> str:
    """Empty when the verdict and the rule are right, else what is wrong."""
    paths = [folder(tmp_path / name, files) for name, files in (("old", mutant.old), ("new", mutant.new))]
    options = {name: folder(tmp_path / name, files) for name, files in (mutant.options or {}).items()}
    report = validate(paths[1], paths[0], contract=Contract(), **options)
    told = [(f.rule, f.level, f.message) for f in report.findings]
    if report.unread:
        return f"{mutant.name}: unread: {told}"
    if report.facts["verdict"] not in mutant.verdicts:
        return f"{mutant.name}: {report.facts['verdict']}, not {mutant.verdicts}: {told}"
    if mutant.rule and mutant.rule not in {rule for rule, _, _ in told}:
        return f"{mutant.name}: {mutant.rule} did not speak: {told}"
    return ""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_incident(family: Any, tmp_path: Path) -> None:
    mutants = list(family())
    assert len(mutants) >= 10
    wrong = [text for i, mutant in enumerate(mutants) if (text := judge(mutant, tmp_path / str(i)))]
    assert not wrong, "\n".join(wrong)


def test_harmless_changes_are_hot(tmp_path: Path) -> None:
    wrong = [text for i, mutant in enumerate(harmless()) if (text := judge(mutant, tmp_path / str(i)))]
    assert not wrong, "\n".join(wrong)


def test_there_are_enough_mutants() -> None:
    assert sum(len(list(family())) for family in FAMILIES) > 250


def test_a_weight_change_asks_for_the_flush(tmp_path: Path) -> None:
    old, new = folder(tmp_path / "old", base()), folder(tmp_path / "new", base(fill=2))
    steps = [step["step"] for step in validate(new, old, contract=Contract()).facts["plan"]]
    assert steps == ["preload", "verify", "flush-kv", "revalidate-adapters"]
