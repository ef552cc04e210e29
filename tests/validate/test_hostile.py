"""Models made to hurt whoever reads them: `interlock validate` ends with exit 2 and a reason, in bounds.

Each case is the real command in a process of its own, on the hostile model as NEW against an honest OLD.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fuzz.wire import varint
from validate import build, test_mutants
from validate.tokenizer import kit

# Generous: what is measured is a tenth of it. Without bounds each case takes minutes, gigabytes, or all there is.
SECONDS, MEGABYTES = 60, 900
Make = Callable[[Path], None]
MB = 1 << 20


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def write(name: str, content: Any, size: int = 0, **more: Any) -> Make:
    """Put a file into the model, what a function gives where it is large, grown to `size` bytes by a hole."""

    def make(model: Path) -> None:
        build.folder(model, {**more, name: content() if callable(content) else content})
        if size:
            os.truncate(model / name, size)

    return make


def header(document: bytes, data: bytes = b"") -> bytes:
    return len(document).to_bytes(8, "little") + document + data


def tensors(**offsets: list[int]) -> bytes:
    entries = {name: {"dtype": "U8", "shape": [e - b], "data_offsets": [b, e]} for name, (b, e) in offsets.items()}
    return header(json.dumps(entries).encode(), bytes(64))


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def gguf(tensor_count: int, key_count: int, rest: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensor_count, key_count) + rest


def external(*places: str, **keys: str) -> Make:
    """Graphs `0.onnx`, `1.onnx` … whose weight lies at these places; `keys` are offset and length."""
    import onnx

    def make(model: Path) -> None:
        model.mkdir(exist_ok=True)
        for number, place in enumerate(places):
            proto = onnx.load_from_string(build.onnx_model(test_mutants.IO, test_mutants.OUT))
            weight = proto.graph.initializer[0]
            weight.ClearField("raw_data")
            weight.data_location = onnx.TensorProto.EXTERNAL
            for key, value in {"location": place, **keys}.items():
                weight.external_data.add(key=key, value=value)
            (model / f"{number}.onnx").write_bytes(proto.SerializeToString())
        if keys:
            (model / "w.bin").write_bytes(bytes(64))

    return make


def link(name: str, target: str) -> Make:
    def make(model: Path) -> None:
        build.folder(model, {"config.json": build.llama()})
        (model.parent / "outside").mkdir(exist_ok=True)
        (model.parent / "outside" / "secret.json").write_text("{}")
        (model / name).symlink_to(target)

    return make


def index(*shards: str) -> Make:
    weight_map = {f"t{number}": shard for number, shard in enumerate(shards)}
    return write("model.safetensors.index.json", {"weight_map": weight_map})


DEEP = b"[" * 1_000_000 + b"]" * 1_000_000
TOKENIZER = json.dumps(kit.byte_level()).encode()
ONNX = build.onnx_model(test_mutants.IO, test_mutants.OUT)
GRAPH = b""
for _ in range(5000):
    GRAPH = field(1, field(5, field(6, GRAPH)))

CASES: dict[str, tuple[Make, str]] = {
    # cut short
    "safetensors cut": (write("model.safetensors", build.safetensors(build.llama_tensors())[:-9]), "missing"),
    "safetensors header cut": (write("model.safetensors", build.safetensors(build.llama_tensors())[:99]), "bytes long"),
    "onnx cut": (write("model.onnx", ONNX[: len(ONNX) // 2]), "ends inside"),
    "gguf cut": (write("m.gguf", test_mutants.llama_gguf()["m.gguf"][:-9]), "missing"),
    "tokenizer cut": (write("tokenizer.json", TOKENIZER[:-9]), "invalid JSON"),
    "shard missing": (index("gone.safetensors"), "missing"),
    # claims of 2^60, offsets that overlap and overflow
    "safetensors header of 2^60": (write("model.safetensors", (1 << 60).to_bytes(8, "little") + b"{}"), "header of"),
    "safetensors overlap": (write("model.safetensors", tensors(a=[0, 40], b=[24, 64])), "overlaps"),
    "safetensors gap": (write("model.safetensors", tensors(a=[0, 24], b=[40, 64])), "gap"),
    "safetensors offset of 2^70": (write("model.safetensors", tensors(a=[0, 1 << 70])), "data_offsets|size"),
    "safetensors backwards": (write("model.safetensors", tensors(a=[64, 0])), "data_offsets|size"),
    "onnx length of 2^60": (write("model.onnx", b"\x08\x08" + varint(58) + varint(1 << 60)), "ends inside"),
    "gguf tensors 2^60": (write("m.gguf", gguf(1 << 60, 0, bytes(64))), "claims"),
    "gguf keys 2^60": (write("m.gguf", gguf(0, 1 << 60, bytes(64))), "claims"),
    "gguf string 2^60": (write("m.gguf", gguf(0, 1, struct.pack("<Q", 1 << 60) + bytes(64))), "string of"),
    "gguf array 2^60": (write("m.gguf", gguf(0, 1, text(b"k") + struct.pack("<IIQ", 9, 8, 1 << 60))), "claims more"),
    "gguf overflow": (
        write("m.gguf", gguf(1, 0, text(b"t") + struct.pack("<IQQIQ", 2, 1 << 62, 1 << 62, 0, 0) + bytes(64))),
        "elements",
    ),
    "piece of 2^60": (write("tokenizer.model", b"\x0a" + varint(1 << 60)), "ends inside|leaves"),
    # sparse: the file is a hole that its header makes us walk
    "sparse safetensors": (write("model.safetensors", (100_000_000).to_bytes(8, "little") + b"{", 1 << 40), "JSON"),
    "sparse gguf tensors": (write("m.gguf", gguf(1_000_000, 0, b""), 1 << 36), "twice"),
    "sparse gguf arrays": (
        write("m.gguf", gguf(0, 1, text(b"k") + struct.pack("<IIQ", 9, 9, 20_000_000)), 1 << 36),
        "arrays",
    ),
    "sparse onnx": (write("model.onnx", b"\x08\x08", 1 << 36), "field"),
    "sparse vocabulary": (write("vocab.txt", b"a", 100 * MB), "long|more|tokens|line"),
    "sparse configuration": (write("config.json", b"{", 1 << 36), "larger"),
    "sparse labels": (write("labels.txt", b"a", 1 << 36), "too long"),
    "sparse modules": (write("modules.json", b"[", 1 << 36), "too long|missing"),
    "sparse tekken": (write("tekken.json", b"{", 1 << 36), "more than"),
    "sparse ranks": (write("m.tiktoken", b"IQ== 0\n", 1 << 36), "more than"),
    "sparse index": (write("model.safetensors.index.json", b"{", 1 << 36), "too long"),
    "sparse tokenizer": (write("tokenizer.json", b"{", 250 * MB), "invalid JSON"),
    "sparse pbtxt": (write("config.pbtxt", b"a", 1 << 36, **{"1/model.onnx": ONNX}), "too long"),
    "sparse template": (write("chat_template.jinja", b"a", 1 << 36, **{"config.json": build.llama()}), "larger"),
    # few bytes that become many objects
    "empty lists": (write("config.json", lambda: b'{"a":[' + b"[]," * (20 * MB) + b"[]]}"), "values"),
    "empty lists in a header": (
        write("model.safetensors", lambda: header(b'{"a":[' + b"[]," * (30 * MB) + b"[]]}")),
        "values",
    ),
    "empty lines": (write("vocab.txt", lambda: b"\n" * (60 * MB)), "tokens|lines"),
    "empty inputs": (write("model.onnx", lambda: field(7, b"\x5a\x00" * 5_000_000)), "more fields"),
    "empty ranks": (write("m.tiktoken", lambda: b"IQ== 0\n" + b"\n" * (120 * MB)), "lines"),
    "labels in Python": (write("labels.txt", lambda: b"[" + b"'a'," * (3 * MB) + b"]"), "list of labels"),
    "empty pieces": (write("tokenizer.model", lambda: b"\x0a\x00" * 5_000_000), "piece"),
    "short pieces": (
        write("tokenizer.model", lambda: b"".join(field(1, field(1, b"%d" % n)) for n in range(2_500_000))),
        "pieces|fields",
    ),
    # nesting
    "deep configuration": (write("config.json", b'{"a":' + DEEP + b"}"), "nested deeper"),
    "deep small configuration": (write("config.json", b'{"a":' + b"[" * 900 + b"]" * 900 + b"}"), "nested deeper"),
    "deep large configuration": (
        write("config.json", b'{"a":' + b"[" * 900 + b"]" * 900 + b',"b":"' + b"x" * MB + b'"}'),
        "nested deeper",
    ),
    "deep tokenizer": (write("tokenizer.json", b'{"normalizer":' + DEEP + b"}"), "nested deeper"),
    "deep header": (write("model.safetensors", header(b'{"a":' + DEEP + b"}")), "nested deeper"),
    "deep index": (write("model.safetensors.index.json", b'{"weight_map":' + DEEP + b"}"), "nested deeper"),
    "deep graph": (write("model.onnx", field(7, GRAPH)), "deep"),
    "deep pbtxt": (write("config.pbtxt", b"a {" * 1_000_000, **{"1/model.onnx": ONNX}), "nested deeper"),
    "deep gguf": (
        write("m.gguf", gguf(0, 1, text(b"k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 1_000_000)),
        "array",
    ),
    # JSON that readers read differently
    "duplicate key": (write("config.json", b'{"vocab_size": 1, "vocab_size": 2}'), "duplicate key"),
    "NaN": (write("generation_config.json", b'{"temperature": NaN}', **{"config.json": build.llama()}), "NaN"),
    "number of 1e6 digits": (write("config.json", b'{"vocab_size": ' + b"9" * 1_000_000 + b"}"), "invalid JSON"),
    "lone surrogate": (write("config.json", b'{"model_type": "\\ud800"}'), "surrogate"),
    # paths that lead elsewhere
    "external data above": (external("../outside/secret.json"), "outside the model"),
    "external data at the root": (external("/etc/passwd"), "outside the model"),
    "external data in itself": (external("0.onnx"), "itself"),
    "external data in a circle": (external("1.onnx", "0.onnx"), "another graph"),
    "external data at NUL": (external("a\0b"), "outside the model"),
    "external data far away": (external("w.bin", offset="9" * 30), "offset or length"),
    "external data of any length": (external("w.bin", length="9" * 30), "offset or length"),
    "external data before": (external("w.bin", offset="-8"), "offset or length"),
    "shard above": (index("../outside/secret.json"), "out of the model"),
    "shard at the root": (index("/etc/passwd"), "out of the model"),
    "shard at NUL": (index("a\0.safetensors"), "out of the model"),
    "link out": (link("tokenizer.json", "../outside/secret.json"), "out of the model"),
    "link to the root": (link("tokenizer.json", "/etc/passwd"), "out of the model"),
    "link to a folder": (link("more", "../outside"), "link to a directory"),
    "link to itself": (link("tokenizer.json", "tokenizer.json"), "nowhere"),
    # code that does not end
    "endless template": (
        write(
            "chat_template.jinja",
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            **{"config.json": build.llama(), "tokenizer_config.json": {"eos_token": "x"}},
        ),
        "longer|too much time",
    ),
}


# Measured from a small process in between: a child starts with the memory of the process that forks it.
MEASURE = """
import json, resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "interlock", *sys.argv[1:]], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
json.dump([done.returncode, done.stdout.decode(), done.stderr.decode(), used.ru_utime + used.ru_stime,
           used.ru_maxrss >> 10], sys.stdout)
"""


def command(*arguments: str) -> tuple[int, str, str, float, int]:
    """Exit code, stdout, stderr, processor seconds, and peak memory in MiB of `interlock …`, children included."""
    done = subprocess.run([sys.executable, "-c", MEASURE, *arguments], capture_output=True, check=True, timeout=280)
    return tuple(json.loads(done.stdout))


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build.folder(
        tmp_path_factory.mktemp("old") / "m", {"config.json": build.llama(), "model.onnx": ONNX, "labels.txt": "a\n"}
    )


@pytest.mark.parametrize("name", CASES)
def test_hostile_models_are_refused_in_bounds(name: str, old: Path, tmp_path: Path) -> None:
    make, reason = CASES[name]
    make(tmp_path / "new")
    arguments = ["validate", str(tmp_path / "new"), "--against", str(old), "--output-format", "json"]
    code, out, err, seconds, megabytes = command(*arguments)
    assert "Traceback" not in err, err[-3000:]
    report = json.loads(out)
    error = report.get("error") or {}
    said = [f["message"] for f in report["findings"] if f["rule"].startswith("FIL-")] + [str(error)]
    print(f"{name}: {seconds:.1f} s, {megabytes} MiB, exit {code}: {said[0][:150]}")
    assert code == 2, said
    assert any(re.search(reason, each) for each in said), said
    assert seconds < SECONDS
    assert megabytes < MEGABYTES


def test_code_of_any_size_is_compared_in_bounds(tmp_path: Path) -> None:
    config = build.llama(auto_map={"AutoModel": "modeling.M"})
    for side in ("old", "new"):
        write("modeling.py", b"import os", 1 << 36, **{"config.json": config})(tmp_path / side)
    _, out, err, _, megabytes = command("validate", str(tmp_path / "new"), "--against", str(tmp_path / "old"))
    assert "Traceback" not in err
    assert "modeling.py changed" in out
    assert megabytes < MEGABYTES


@pytest.mark.parametrize("kind", ["circle", "out", "pipe"])
def test_a_graph_alone_reads_no_data_through_links_and_pipes(tmp_path: Path, kind: str) -> None:
    external("w.bin")(tmp_path)
    if kind == "pipe":
        os.mkfifo(tmp_path / "w.bin")
    else:
        (tmp_path / "w.bin").symlink_to("w.bin" if kind == "circle" else "/dev/zero")
    graph = str(tmp_path / "0.onnx")
    for more in ([], ["--against", graph]):
        code, _, err, _, _ = command("validate", graph, *more)
        assert "Traceback" not in err
        assert code == (1 if kind == "pipe" else 2)
