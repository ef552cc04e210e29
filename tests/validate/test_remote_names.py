"""What messages and reports say of a URL: never its user, password or query."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from interlock.checks.validate.remote import model_name, open_remote, shown
from interlock.cli.command import run
from interlock.cli.table import BY_NAME
from interlock.models.errors import UnreadableModel
from interlock.report.errors import InterlockError
from validate.build import folder, llama_tensors, onnx_model, safetensors

QUERY = "?X-Amz-Credential=AKIAXX&X-Amz-Signature=5ecre7"
SECRETS = ("pa55", "5ecre7", "AKIAXX", "X-Amz")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("https://u:pa55@h.example/m/a.onnx?sig=5ecre7#pa55", "https://h.example/m/a.onnx"),
        ("https://pa55@h.example:8443/m@2/a.onnx", "https://h.example:8443/m@2/a.onnx"),
        ("https://u:p@pa55@h.example/a.onnx", "https://h.example/a.onnx"),
        ("https://u:pa55/x@h.example/a.onnx", "https://h.example/a.onnx"),
        ("https://u:pa55?x@h.example/a.onnx", "https://h.example/a.onnx"),
        ("https://h.example/a?sig=5ecre7/b", "https://h.example/a"),
        ("http://[::1]:80/a.onnx?x", "http://[::1]:80/a.onnx"),
        ("hf://acme/m@main", "hf://acme/m@main"),
        ("hf://u:pa55@acme/m", "hf://acme/m"),
        ("models/m@2?.onnx", "models/m@2?.onnx"),
        ("oci://r.example/m:1", "oci://r.example/m:1"),
    ],
)
def test_names(reference: str, said: str) -> None:
    assert shown(reference) == said


class Handler(BaseHTTPRequestHandler):
    """Files of a folder with ranges; 500 where the name asks for it."""

    root = ""

    def do_GET(self) -> None:
        path = Path(self.root) / self.path.partition("?")[0].lstrip("/")
        if "broken" in self.path or not path.is_file():
            self.send_response(500 if "broken" in self.path else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data, asked = path.read_bytes(), self.headers.get("Range", "")
        begin, end = 0, len(data) - 1
        if asked:
            begin, end = (int(part) for part in asked.removeprefix("bytes=").split("-"))
            end = min(end, len(data) - 1)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Range", f"bytes {begin}-{end}/{len(data)}")
        self.send_header("Content-Length", str(end - begin + 1))
        self.end_headers()
        self.wfile.write(data[begin : end + 1])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    io = {"x": ("float", [2])}
    tensors = llama_tensors()
    files = {
        "a.onnx": onnx_model(io, {"y": ("float", [2])}),
        "short.safetensors": b"abc",
        "lost/model.safetensors.index.json": {"weight_map": ["no"]},
        "m/model.safetensors.index.json": {"weight_map": dict.fromkeys(tensors, "w.safetensors"), "metadata": {}},
        "m/w.safetensors": safetensors({name: tensors[name] for name in list(tensors)[1:]}),
    }
    monkeypatch.setattr(Handler, "root", str(folder(tmp_path / "web", files)))
    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{web.server_address[1]}"
    web.shutdown()
    web.server_close()


@pytest.mark.parametrize("file", ["a.onnx", "no.onnx", "broken.onnx", "short.safetensors", "m", "lost"])
@pytest.mark.parametrize("form", ["human", "json", "sarif"])
def test_reports_name_no_credentials(host: str, file: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = file if "." in file else f"{file}/model.safetensors.index.json"
    run(BY_NAME["validate"], [f"http://u:pa55@{host}/{path}{QUERY}", "--output-format", form])
    said = "".join(capsys.readouterr())
    assert said.strip() and "unknown option" not in said
    assert not [secret for secret in SECRETS if secret.lower() in said.lower()]


@pytest.mark.parametrize("reference", ["http://u:pa55@h.example/a", "http://u:pa55@[::1/a", "hf://u:pa55@x"])
def test_refusals_name_no_credentials(reference: str) -> None:
    with pytest.raises((InterlockError, UnreadableModel)) as raised, open_remote(reference + QUERY):
        pass
    assert not [secret for secret in SECRETS if secret in f"{raised.value} {raised.value.hint}"]


def test_an_index_stands_for_its_folder(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://{host}/m/model.safetensors.index.json"
    assert model_name(url) == f"http://{host}/m"
    assert model_name("models/model.safetensors.index.json") == "models/model.safetensors.index.json"
    run(BY_NAME["validate"], [url, "--output-format", "json"])
    said = capsys.readouterr().out
    assert "WTS-INDEX" in {each["rule"] for each in json.loads(said)["findings"]}
    assert url in said
    assert f"{url}/model" not in said
