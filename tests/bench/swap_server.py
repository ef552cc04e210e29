"""A model server whose swaps misbehave on request; run as a program so that it shares no interpreter with the client.

`swap_server.py` prints the port of 127.0.0.1 it serves on, `swap_server.py --tls FILE` with a certificate and key.
POST /predict answers with the version; POST /swap/MODE swaps. `swap_server.py URL` sends one POST, as a swap command
would.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class State:
    """What the server serves; `until` and `mode` describe the misbehaviour under way."""

    weights = 1
    label = 1
    mode = ""
    until = 0.0
    chunked = False
    connections = itertools.count()


def busy(mode: str) -> bool:
    """Whether a misbehaviour is under way."""
    return State.mode == mode and time.monotonic() < State.until


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536

    def setup(self) -> None:
        super().setup()
        self.number = next(State.connections)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep stderr quiet."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/swap/"):
            self.swap(self.path.removeprefix("/swap/"))
            self.answer(200, b"{}")
            return
        if self.path == "/secret" and self.headers.get("Authorization") != "Bearer x":
            self.answer(401, b"who are you")
            return
        if self.path == "/absent":
            self.answer(404, b"no such model")
            return
        self.predict(body)

    do_GET = do_POST  # noqa: N815

    def predict(self, body: bytes) -> None:
        if busy("freeze-one") and self.number % 4 == 1:
            time.sleep(max(0.0, State.until - time.monotonic()))
        if busy("freeze-all"):
            time.sleep(max(0.0, State.until - time.monotonic()))
        if busy("gap"):
            self.answer(503, b"model is loading")
            return
        if busy("reset"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            os.close(self.connection.detach())  # closing the orderly way would send FIN first
            return
        if busy("short"):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            self.close_connection = True
            return
        if busy("hang"):
            time.sleep(1.5)
        weights = State.weights
        if busy("stale") and self.number % 2:
            weights -= 1
        self.answer(200, json.dumps({"weights": weights, "label": State.label, "echo": len(body)}).encode())

    def swap(self, mode: str) -> None:
        seconds = 1.4 if mode.startswith("freeze") else 0.6
        State.mode, State.until = mode, time.monotonic() + seconds
        if mode in ("freeze-one", "freeze-all", "gap", "reset", "short", "hang"):
            time.sleep(seconds)
        if mode != "noop":
            State.weights += 1
        if mode not in ("noop", "lying"):
            State.label += 1

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if "chunked" in self.path:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(body), 7):
                part = body[at : at + 7]
                self.wfile.write(f"{len(part):x};x=y\r\n".encode() + part + b"\r\n")
            self.wfile.write(b"0\r\nX-Trailer: 1\r\n\r\n")
            return
        if "close" in self.path:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Version", str(State.weights))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve, or send one POST."""
    if len(sys.argv) == 2:
        request = urllib.request.Request(sys.argv[1], data=b"", method="POST")
        with urllib.request.urlopen(request, timeout=10) as response:
            response.read()
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if sys.argv[1:2] == ["--tls"]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_address[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    main()
