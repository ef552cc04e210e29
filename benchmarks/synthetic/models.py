"""Model files of real sizes that take no disk: headers are as real tools write them, weights are holes."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path


def sparse_safetensors(path: Path, tensors: dict[str, tuple[str, list[int], int]]) -> None:
    """A file with these tensors as name → (dtype, shape, bytes); its data is a hole."""
    header, at = {}, 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        stream.truncate(8 + len(text) + at)


def five_gigabytes(folder: Path) -> None:
    """300 tensors, 5 GB, one file."""
    folder.mkdir()
    size = 5 * 10**9 // 300 // 2 * 2
    sparse_safetensors(folder / "model.safetensors", {f"t{i}.weight": ("BF16", [size // 2], size) for i in range(300)})


def seventy_billion(folder: Path, seed: int) -> None:
    """Llama-70B's 723 tensors in 30 shards, 141 GB, with a 9 MB byte-level BPE tokenizer.json."""
    folder.mkdir()
    hidden, inner, kv, vocab = 8192, 28672, 1024, 128256
    shapes: dict[str, list[int]] = {"model.embed_tokens.weight": [vocab, hidden]}
    for i in range(80):
        layer = f"model.layers.{i}"
        shapes |= {
            f"{layer}.self_attn.q_proj.weight": [hidden, hidden],
            f"{layer}.self_attn.k_proj.weight": [kv, hidden],
            f"{layer}.self_attn.v_proj.weight": [kv, hidden],
            f"{layer}.self_attn.o_proj.weight": [hidden, hidden],
            f"{layer}.mlp.gate_proj.weight": [inner, hidden],
            f"{layer}.mlp.up_proj.weight": [inner, hidden],
            f"{layer}.mlp.down_proj.weight": [hidden, inner],
            f"{layer}.input_layernorm.weight": [hidden],
            f"{layer}.post_attention_layernorm.weight": [hidden],
        }
    shapes |= {"model.norm.weight": [hidden], "lm_head.weight": [vocab, hidden]}
    names, mapping = list(shapes), {}
    for shard in range(30):
        file = f"model-{shard + 1:05}-of-00030.safetensors"
        part = names[shard::30]
        mapping |= dict.fromkeys(part, file)
        sizes = {n: shapes[n][0] * (shapes[n][1] if len(shapes[n]) > 1 else 1) * 2 for n in part}
        sparse_safetensors(folder / file, {n: ("BF16", shapes[n], sizes[n]) for n in part})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": mapping}))
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": 80,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "vocab_size": vocab,
        "max_position_embeddings": 131072,
        "rope_theta": 500000.0,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "bos_token_id": 128000,
        "eos_token_id": [128001, 128009],
    }
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer(folder / "tokenizer.json", seed)


def tokenizer(path: Path, seed: int) -> None:
    """128,000 tokens and about as many merges, laid out as the tokenizers library writes them."""
    chooser = random.Random(0)
    alphabet = [chr(c) for c in (*range(33, 127), *range(161, 173), *range(174, 323))][:256]
    vocab = {char: i for i, char in enumerate(alphabet)}
    merges: list[str] = []
    known = list(alphabet)
    while len(vocab) < 128_000:
        a, b = chooser.choice(known), chooser.choice(known)
        if len(a + b) <= 14 and a + b not in vocab:
            vocab[a + b] = len(vocab)
            merges.append(f"{a} {b}")
            known.append(a + b)
    special = [
        {"id": 128_000 + i, "content": f"<|reserved_{i}|>", "single_word": False, "lstrip": False, "rstrip": False}
        | {"normalized": False, "special": True}
        for i in range(256)
    ]
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": bool(seed),
            "vocab": vocab,
            "merges": merges,
        },
    }
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2))


def varint(number: int) -> bytes:
    """A protobuf varint."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def inline_onnx(path: Path, weights: int = 480, size: int = 1_990_000_000) -> None:
    """A graph of MatMuls with all weights inline, just under protobuf's 2 GiB."""

    def message(number: int, payload: bytes) -> bytes:
        return varint(number << 3 | 2) + varint(len(payload)) + payload

    each = size // weights // 4096 * 4096
    heads = [
        b"\x08"
        + varint(each // 4096)
        + b"\x08\x80\x08\x10\x01"
        + message(8, b"layer.%d.weight" % i)
        + varint(9 << 3 | 2)
        + varint(each)
        for i in range(weights)
    ]
    nodes = b"".join(
        message(
            1,
            message(1, b"h%d" % i)
            + message(1, b"layer.%d.weight" % i)
            + message(2, b"h%d" % (i + 1))
            + message(4, b"MatMul"),
        )
        for i in range(weights)
    )
    value = message(2, message(1, b"\x08\x01" + message(2, message(1, message(2, b"batch")))))
    ends = message(11, message(1, b"h0") + value) + message(12, message(1, b"h%d" % weights) + value)
    length = len(nodes) + len(ends) + sum(1 + len(varint(len(h) + each)) + len(h) + each for h in heads)
    with path.open("wb") as stream:
        stream.write(b"\x08\x08" + message(8, b"\x10\x10") + varint(7 << 3 | 2) + varint(length) + nodes + ends)
        for head in heads:
            stream.write(varint(5 << 3 | 2) + varint(len(head) + each) + head)
            stream.seek(each, 1)
        stream.truncate()


def vocabulary_gguf(path: Path, tokens: int = 262_144) -> None:
    """A GGUF file with a vocabulary of Gemma's size and 236 tensors."""

    def text(value: bytes) -> bytes:
        return struct.pack("<Q", len(value)) + value

    words = b"".join(text(b"token%d" % i) for i in range(tokens))
    body = text(b"general.architecture") + struct.pack("<I", 8) + text(b"gemma3")
    body += text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, tokens) + words
    body += text(b"tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, tokens) + bytes(4 * tokens)
    body += text(b"tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, tokens) + bytes(4 * tokens)
    infos = b"".join(text(b"blk.%d.weight" % i) + struct.pack("<IQIQ", 1, 64, 0, 256 * i) for i in range(236))
    head = b"GGUF" + struct.pack("<IQQ", 3, 236, 4) + body + infos
    path.write_bytes(head + bytes(-len(head) % 32) + bytes(256 * 236))
