"""The verb `validate` as a target: one file of a model is changed, and the model is compared with what it was.

The report's exit code is one of the contract, what could not be read is exit 2, and only equal bytes are `equal`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from interlock.checks.validate import registry
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.models.errors import UnreadableModel
from interlock.report import formats
from interlock.report.errors import InterlockError
from validate import build, test_mutants
from validate.tokenizer import kit

from . import seeds
from .engine import Target
from .mutate import Mutator
from .targets import TARGETS
from .trees import json_tree

_CONTRACTS = (Contract(), Contract(gpu_memory="80GB", kv_tokens=16), Contract(level="strict"), Contract(level="wire"))
_BY_NAME = {
    "model.safetensors": "safetensors",
    "adapter_model.safetensors": "safetensors",
    "model.safetensors.index.json": "index",
    "config.json": "config",
    "generation_config.json": "config",
    "tokenizer.json": "tokenizer.json",
    "tokenizer_config.json": "tokenizer-config",
    "special_tokens_map.json": "tokenizer-config",
    "tokenizer.model": "sentencepiece",
    "adapter_config.json": "adapter",
    "config.pbtxt": "pbtxt",
    "model.onnx": "onnx",
    "m.gguf": "gguf",
    "labels.txt": "labels",
    "modules.json": "config",
}


@cache
def models() -> dict[str, dict[str, bytes]]:
    """Small models of every family, by name."""
    names = list(build.llama_tensors().items())
    shards = {
        f"model-0000{n}-of-00002.safetensors": build.safetensors(dict(p)) for n, p in ((1, names[:3]), (2, names[3:]))
    }
    where = {name: f"model-0000{1 + (n > 2)}-of-00002.safetensors" for n, (name, _) in enumerate(names)}
    tokens = {"eos_token": "<|eos|>", "bos_token": {"content": "<|bos|>"}, "added_tokens_decoder": {}}
    language: dict[str, Any] = {
        "config.json": build.llama(
            rope_scaling={"rope_type": "linear", "factor": 2.0}, eos_token_id=265, vocab_size=270
        ),
        "generation_config.json": {"eos_token_id": [265], "temperature": 0.7, "max_length": 64},
        "tokenizer.json": kit.byte_level(),
        "tokenizer_config.json": tokens,
        "special_tokens_map.json": {"eos_token": "<|eos|>"},
        "model.safetensors": build.safetensors(build.llama_tensors(vocab=270)),
    }
    found: dict[str, dict[str, Any]] = {
        "language": language,
        "sharded": {"config.json": build.llama(), "model.safetensors.index.json": {"weight_map": where}, **shards},
        "adapter": test_mutants.adapter(),
        "engine": test_mutants.engine(),
        "embedder": test_mutants.embedder(),
        "triton": test_mutants.triton(),
        "graph": {**test_mutants.graph(metadata={"names": "['a','b']"}), "labels.txt": "a\nb\n"},
        "subgraphs": {"model.onnx": seeds.onnx(Path())[0]},
        "attention": {"model.onnx": seeds.attention()},
        "gguf": test_mutants.llama_gguf(),
        "wordpiece": {"tokenizer.json": kit.wordpiece(), "config.json": {"model_type": "bert", "id2label": {"0": "a"}}},
        "unigram": {"tokenizer.json": kit.unigram()},
    }
    return {name: {file: _bytes(content) for file, content in files.items()} for name, files in found.items()}


def _bytes(content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()


def _start(folder: Path) -> list[bytes]:
    """An input is the model's name, the file's name, and its content, each after a NUL."""
    return [
        b"\0".join((model.encode(), file.encode(), content))
        for model, files in models().items()
        for file, content in files.items()
        if file.rpartition("/")[2] in _BY_NAME
    ]


@cache
def _keys() -> Mutator:
    """Changes to settings that know every key the rules speak of."""
    folder = Path(registry.__file__).parent
    keys = {
        word
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 1000
        for word in node.value.split()
        if re.fullmatch("[a-z]+_[a-z0-9_]+|type|factor|r|layers", word)
    }
    return json_tree(*sorted(keys))


def _mutate(data: bytes, draw: Random, pool: Sequence[bytes]) -> bytes:
    model, file, content = data.split(b"\0", 2)
    mutators: tuple[Mutator, ...] = TARGETS[_BY_NAME[file.decode().rpartition("/")[2]]].mutators
    if file.endswith(b"config.json"):
        mutators = (*mutators, _keys(), _keys(), _keys())
    content = draw.choice(mutators)(content, draw, [each.split(b"\0", 2)[2] for each in draw.sample(pool, 2)])
    return b"\0".join((model, file, content))


def read(data: bytes, folder: Path) -> None:
    model, file, content = data.split(b"\0", 2)
    files = models()[model.decode()]
    old, new = (folder / model.decode() / side for side in ("old", "new"))
    for side in (old, new):
        if not side.exists():
            build.folder(side, files)
    name = file.decode()
    (new / name).write_bytes(content)
    contract = _CONTRACTS[len(content) % len(_CONTRACTS)]
    try:
        report = validate(new, old, contract=contract)
        assert report.exit_code in range(4)
        assert report.exit_code == 2 or not report.unread
        assert (report.facts["verdict"] == "equal") <= (content == files[name])
        assert all(finding.message and finding.where for finding in report.findings)
        json.loads(formats.render("json", report, formats.View()))
        assert formats.render("human", report, formats.View())
        assert validate(new, contract=contract).exit_code in range(4)
        assert validate(new / name, contract=contract).exit_code in range(4)
    finally:
        (new / name).write_bytes(files[name])


TARGETS["validate"] = Target(
    "validate", read, (UnreadableModel, InterlockError), _start, (_mutate,), ("models", "checks/validate"), 10.0
)
