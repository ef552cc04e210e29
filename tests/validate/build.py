"""Miniature models for tests: a few hundred bytes each, one shape of the real thing."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.report.report import Report
from onnx import TensorProto, helper

Shape = Sequence[int | str | None] | None
Tensors = Mapping[str, tuple[str, Sequence[int]]]
BITS = {"F32": 32, "BF16": 16, "F16": 16, "F8_E4M3": 8, "I64": 64, "U8": 8, "I32": 32}


def onnx_model(
    inputs: Mapping[str, tuple[str, Shape]],
    outputs: Mapping[str, tuple[str, Shape]],
    *,
    ir: int = 8,
    opset: int = 16,
    weight: float = 1.0,
    defaults: Mapping[str, list[int]] | None = None,
    metadata: Mapping[str, str] | None = None,
    node: tuple[str, str] = ("Identity", ""),
    head: str = "",
) -> bytes:
    """A graph with these inputs and outputs, one weight, and one operator; `defaults` makes inputs optional."""

    def value(name: str, kind: str, shape: Shape) -> Any:
        return helper.make_tensor_value_info(name, getattr(TensorProto, kind.upper()), shape)

    def made(name: str, kind: str, shape: Shape) -> Iterator[Any]:
        """Operators that give what is declared: sizes that only a run shows where it is not the weight's shape."""
        source = "w"
        if shape is not None and (len(shape) != 1 or (shape[0] not in (2, None) and not isinstance(shape[0], str))):
            source = f"{name}.of"
            sizes = [float(size) if isinstance(size, int) else 1.0 for size in shape]
            yield helper.make_node("Constant", [], [f"{name}.is"], value_floats=sizes)
            yield helper.make_node("Cast", [f"{name}.is"], [f"{name}.as"], to=TensorProto.INT64)
            yield helper.make_node("ConstantOfShape", [f"{name}.as"], [source])
        yield helper.make_node("Cast", [source], [name], to=getattr(TensorProto, kind.upper()))

    graph = helper.make_graph(
        [
            helper.make_node(node[0], ["w"], ["unused"], domain=node[1]),
            *(
                [helper.make_node(head, ["w", "m"][: 2 if head == "MatMul" else 1], [next(iter(outputs))])]
                if head
                else []
            ),
            *(
                each
                for name, (kind, shape) in list(outputs.items())[1 if head else 0 :]
                if name not in inputs
                for each in made(name, kind, shape)
            ),
        ],
        "g",
        [value(name, *each) for name, each in inputs.items()],
        [value(name, *each) for name, each in outputs.items()],
        [
            helper.make_tensor("w", TensorProto.FLOAT, [2], struct.pack("<2f", weight, 2.0), raw=True),
            *([helper.make_tensor("m", TensorProto.FLOAT, [2, 2], bytes(16), raw=True)] if head == "MatMul" else []),
            *(
                helper.make_tensor(name, getattr(TensorProto, inputs[name][0].upper()), dims, [0] * prod(dims))
                for name, dims in (defaults or {}).items()
            ),
        ],
    )
    opsets = [helper.make_opsetid("", opset)]
    if node[1]:
        opsets.append(helper.make_opsetid(node[1], 1))
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir)
    helper.set_model_props(model, dict(metadata or {}))
    return model.SerializeToString()


def safetensors(tensors: Tensors, *, fill: int = 1, fills: Mapping[str, int] | None = None) -> bytes:
    """A file with these tensors as name → (dtype, shape), every byte of the data being `fill`."""
    header: dict[str, Any] = {}
    data = b""
    for name, (dtype, shape) in tensors.items():
        size = prod(shape) * BITS[dtype] // 8
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + size]}
        data += bytes([(fills or {}).get(name, fill)]) * size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def gguf(
    metadata: Mapping[str, Any], tensors: Mapping[str, tuple[int, Sequence[int]]] | None = None, fill: int = 0
) -> bytes:
    """A GGUF file; integers become uint32, lists arrays of strings; tensors are name → (F32 = 0 or F16 = 1, dims)."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def item(value: Any) -> bytes:
        if isinstance(value, bool):
            return struct.pack("<I?", 7, value)
        if isinstance(value, int):
            return struct.pack("<II", 4, value)
        if isinstance(value, float):
            return struct.pack("<If", 6, value)
        if isinstance(value, str):
            return struct.pack("<I", 8) + text(value)
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))

    body, data = b"", b""
    for key, value in metadata.items():
        body += text(key) + item(value)
    tensors = tensors or {"token_embd.weight": (0, [4, 2])}
    for name, (kind, dims) in tensors.items():
        body += text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, len(data))
        data += bytes([fill]) * (prod(dims) * (4 if kind == 0 else 2))
        data += bytes(-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + body
    return head + bytes(-len(head) % 32) + data


def folder(path: Path, files: Mapping[str, bytes | str | Mapping[str, Any]]) -> Path:
    """A directory with these files; mappings become JSON."""
    for name, content in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def llama(**changes: Any) -> dict[str, Any]:
    """config.json of a tiny Llama."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "intermediate_size": 16,
        "vocab_size": 32,
        "max_position_embeddings": 128,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        **changes,
    }


def llama_tensors(dtype: str = "BF16", *, vocab: int = 32, hidden: int = 8, head: bool = True) -> dict[str, Any]:
    """Tensors of a tiny Llama."""
    layer = "model.layers.0"
    tensors: dict[str, Any] = {
        "model.embed_tokens.weight": (dtype, [vocab, hidden]),
        f"{layer}.self_attn.q_proj.weight": (dtype, [hidden, hidden]),
        f"{layer}.self_attn.v_proj.weight": (dtype, [hidden, hidden]),
        f"{layer}.mlp.up_proj.weight": (dtype, [2 * hidden, hidden]),
        "model.norm.weight": (dtype, [hidden]),
    }
    if head:
        tensors["lm_head.weight"] = (dtype, [vocab, hidden])
    return tensors


def lora(
    rank: int = 4, *, hidden: int = 8, out: int = 8, targets: Sequence[str] = ("q_proj", "v_proj")
) -> dict[str, Any]:
    """Tensors of an adapter on the tiny Llama's attention."""
    tensors: dict[str, Any] = {}
    for target in targets:
        module = f"base_model.model.model.layers.0.self_attn.{target}"
        tensors[f"{module}.lora_A.weight"] = ("F32", [rank, hidden])
        tensors[f"{module}.lora_B.weight"] = ("F32", [out, rank])
    return tensors


def adapter_config(**changes: Any) -> dict[str, Any]:
    """adapter_config.json."""
    return {
        "peft_type": "LORA",
        "base_model_name_or_path": "acme/base",
        "r": 4,
        "lora_alpha": 8,
        "target_modules": ["q_proj", "v_proj"],
        "bias": "none",
        "modules_to_save": None,
        **changes,
    }


def judge(path: Path, new: Mapping[str, Any], old: Mapping[str, Any] | None = None, **contract: Any) -> Report:
    """The report on a model of these files, alone or against OLD."""
    against = None if old is None else folder(path / "old", old)
    return validate(folder(path / "new", new), against, contract=Contract(**contract))
