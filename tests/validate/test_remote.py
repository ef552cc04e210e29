"""Remote models: headers by range requests from a real HTTP server, and clear errors without one."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from interlock.checks.validate.remote import open_remote
from interlock.checks.validate.run import validate
from interlock.cli.command import run
from interlock.cli.table import BY_NAME
from interlock.config.settings import Contract
from interlock.models.errors import UnreadableModel
from interlock.report import exits
from interlock.report.errors import BadInput, NeedsAccess
from validate.build import folder, gguf, llama, llama_tensors, onnx_model, safetensors


class Server(ThreadingHTTPServer):
    """Serves a folder with ranges and strong entity tags, and the listing of a hub repository."""

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = root
        self.ranges = True
        self.denied = False
        self.requests: list[tuple[str, str]] = []
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        self.server.requests.append((self.path, asked))
        if self.server.denied:
            self.answer(403, b"")
        elif match := re.fullmatch(r"/api/models/acme/(\w+)/tree/main\?recursive=true", self.path):
            self.answer(200, json.dumps(self.listing(self.server.root / match[1])).encode())
        else:
            name = re.sub(r"^/acme/(\w+)/resolve/main/", r"/\1/", self.path)
            path = self.server.root / name.lstrip("/")
            if path.is_file():
                self.file(path, asked)
            else:
                self.answer(404, b"")

    def listing(self, root: Path) -> list[dict[str, object]]:
        return [
            {"type": "file", "path": path.relative_to(root).as_posix(), "size": path.stat().st_size}
            | {"oid": hashlib.sha1(path.read_bytes()).hexdigest()}
            for path in sorted(root.rglob("*"))
            if path.is_file()
        ]

    def file(self, path: Path, asked: str) -> None:
        size = path.stat().st_size
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", asked)
        if match is None or not self.server.ranges:
            self.answer(200, path.read_bytes())
            return
        begin, end = int(match[1]), min(int(match[2]), size - 1)
        with path.open("rb") as stream:
            stream.seek(begin)
            data = stream.read(end - begin + 1)
        self.answer(206, data, ("Content-Range", f"bytes {begin}-{end}/{size}"))

    def answer(self, code: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(code)
        for name, value in (("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.server.sent += len(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    web = Server(tmp_path / "web")
    monkeypatch.setenv("HF_ENDPOINT", web.url)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    yield web
    web.shutdown()
    web.server_close()


def test_a_large_file_costs_two_requests(server: Server) -> None:
    path = folder(server.root, {}) / "m.safetensors"
    server.root.mkdir(exist_ok=True)
    size = 4 << 30
    text = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        stream.truncate(8 + len(text) + size)
    with open_remote(f"{server.url}/m.safetensors") as tree:
        (file,) = tree.files.values()
        assert (file.size, file.partial) == (8 + len(text) + size, True)
        report = validate(tree, contract=Contract())
    assert report.exit_code == exits.PASS
    assert len(server.requests) == 2
    assert server.sent < 200_000


def test_equal_headers_do_not_prove_equal_weights(server: Server, tmp_path: Path) -> None:
    folder(server.root, {"a.onnx": onnx_model({"x": ("float", [2])}, {"y": ("float", [2])})})
    with open_remote(f"{server.url}/a.onnx") as new, open_remote(f"{server.url}/a.onnx") as old:
        report = validate(new, old, contract=Contract())
    assert report.facts["verdict"] == "hot"
    assert not report.facts["delta"]["exact"]


def test_a_hub_repository(server: Server) -> None:
    files = {
        "config.json": llama(),
        "model.safetensors": safetensors(llama_tensors()),
        "README.md": "hello",
        "m.gguf": gguf({"general.architecture": "llama"}),
    }
    folder(server.root / "old", files)
    folder(server.root / "same", files)
    folder(server.root / "new", {**files, "config.json": llama(hidden_size=16)})
    with (
        open_remote("hf://acme/old") as old,
        open_remote("hf://acme/same") as same,
        open_remote("hf://acme/new") as new,
    ):
        assert validate(same, old, contract=Contract()).facts["verdict"] == "equal"
        report = validate(new, old, contract=Contract())
    assert "CFG-GEOM" in {finding.rule for finding in report.findings}
    assert not [asked for asked in server.requests if asked[0].endswith("README.md")]


def test_an_index_brings_its_shards(server: Server) -> None:
    tensors = llama_tensors()
    names = list(tensors)
    mapping = {name: f"model-0000{1 + (i > 2)}-of-00002.safetensors" for i, name in enumerate(names)}
    files = {
        shard: safetensors({name: tensors[name] for name in names if mapping[name] == shard})
        for shard in set(mapping.values())
    }
    folder(server.root, {**files, "model.safetensors.index.json": {"weight_map": mapping}})
    with open_remote(f"{server.url}/model.safetensors.index.json") as tree:
        assert len(tree.files) == 3
        assert validate(tree, contract=Contract()).exit_code == exits.PASS
    folder(server.root, {"model.safetensors.index.json": {"weight_map": {"a": "../../etc/passwd"}}})
    with pytest.raises(UnreadableModel, match="outside"), open_remote(f"{server.url}/model.safetensors.index.json"):
        pass


def test_what_cannot_be_had(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(server.root, {"a.onnx": onnx_model({"x": ("float", [2])}, {"y": ("float", [2])})})
    with pytest.raises(BadInput, match="not found"), open_remote(f"{server.url}/b.onnx"):
        pass
    with pytest.raises(BadInput, match="not https"), open_remote("http://example.com/a.onnx"):
        pass
    with pytest.raises(BadInput, match="names no repository"), open_remote("hf://acme"):
        pass
    server.ranges = False
    with pytest.raises(BadInput, match="range requests"), open_remote(f"{server.url}/a.onnx"):
        pass
    server.denied = True
    with pytest.raises(NeedsAccess, match="403"), open_remote("hf://acme/old"):
        pass
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(NeedsAccess, match="cannot be reached"), open_remote("hf://acme/old"):
            pass


def test_command_line(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    folder(server.root, {"a.onnx": onnx_model({"x": ("float", [2])}, {"y": ("float", [2])})})
    assert run(BY_NAME["validate"], [f"{server.url}/a.onnx"]) == exits.PASS
    assert run(BY_NAME["validate"], [f"{server.url}/b.onnx"]) == exits.BAD_INPUT
    assert "not found" in capsys.readouterr().err


def scattered(codes: list[int], fill: float) -> bytes:
    """A classifier whose small constants lie between weights, each in a place that no other request reads."""
    from onnx import TensorProto, helper

    weights = [
        helper.make_tensor(f"w{i}", TensorProto.FLOAT, [100, 100], struct.pack("<10000f", *[fill] * 10_000), raw=True)
        for i in range(8)
    ]
    small = [helper.make_tensor(f"s{i}", TensorProto.FLOAT, [], [0.5]) for i in range(8)]
    lookup = helper.make_tensor(
        "l", TensorProto.INT64, [4000], struct.pack("<4000q", *[7] * 3000, *codes * 500), raw=True
    )
    nodes, last = [], "x"
    for i in range(8):
        nodes.append(helper.make_node("MatMul", [last, f"w{i}"], [f"a{i}"]))
        nodes.append(helper.make_node("Mul", [f"a{i}", f"s{i}"], [f"b{i}"]))
        last = f"b{i}"
    nodes.append(helper.make_node("ArgMax", [last], ["i"], axis=1, keepdims=0))
    nodes.append(helper.make_node("Gather", ["l", "i"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 100])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, ["N"])],
        [*(each for pair in zip(weights, small, strict=True) for each in pair), lookup],
    )
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def test_labels_inside_a_remote_graph_are_read(server: Server) -> None:
    models = {"old": ([3, 5], 0.5), "retrained": ([3, 5], 0.25), "swapped": ([5, 3], 0.5)}
    folder(server.root, {f"{name}.onnx": scattered(*each) for name, each in models.items()})
    for name, verdict in (("retrained", "hot"), ("swapped", "breaks")):
        with open_remote(f"{server.url}/{name}.onnx") as new, open_remote(f"{server.url}/old.onnx") as old:
            report = validate(new, old, contract=Contract())
        assert report.facts["verdict"] == verdict, [finding.message for finding in report.findings]
        assert report.exit_code == (exits.PASS if verdict == "hot" else exits.REFUSED)
