"""Servers that answer with names and sizes made to hurt: a reason each, and nothing is written anywhere else."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from interlock.checks.validate.remote import open_remote
from interlock.models.errors import UnreadableModel


class Handler(BaseHTTPRequestHandler):
    """Gives `body` for everything, of the size that `total` says."""

    body = b"{}"
    total = "0"

    def do_GET(self) -> None:
        self.send_response(206 if self.headers.get("Range") else 200)
        self.send_header("Content-Length", str(len(self.body)))
        self.send_header("Content-Range", f"bytes 0-0/{self.total}")
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{web.server_address[1]}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    yield address
    web.shutdown()
    web.server_close()


@pytest.mark.parametrize(
    ("path", "size", "reason"),
    [
        ("../x.bin", 1, "outside of itself"),
        ("/x.bin", 1, "outside of itself"),
        ("a\0b.bin", 1, "outside of itself"),
        ("x.bin", 1 << 80, "impossible size"),
        ("x.bin", -1, "impossible size"),
    ],
)
def test_listings(url: str, monkeypatch: pytest.MonkeyPatch, path: str, size: int, reason: str) -> None:
    monkeypatch.setattr(Handler, "body", json.dumps([{"type": "file", "path": path, "size": size}]).encode())
    with pytest.raises(UnreadableModel, match=reason), open_remote("hf://acme/m"):
        pass


@pytest.mark.parametrize("shard", ["../x", "a/b", "a\\b", "a\0b", "..", ""])
def test_shards(url: str, monkeypatch: pytest.MonkeyPatch, shard: str) -> None:
    monkeypatch.setattr(Handler, "body", json.dumps({"weight_map": {"w": shard}}).encode())
    index = f"{url}/model.safetensors.index.json"
    with pytest.raises(UnreadableModel, match="outside of its folder"), open_remote(index):
        pass


@pytest.mark.parametrize("total", [str(1 << 80), "9" * 5000])
def test_sizes(url: str, monkeypatch: pytest.MonkeyPatch, total: str) -> None:
    monkeypatch.setattr(Handler, "total", total)
    with pytest.raises(UnreadableModel, match="impossible size"), open_remote(f"{url}/model.safetensors"):
        pass
