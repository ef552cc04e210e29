"""A voice-activity server that swaps its model without dropping a request.

Usage: python server.py MODELS_DIR PORT [ADDRESS]

It serves whatever MODELS_DIR/version.json points to and polls that one file, since the pointer is written last. A
folder without a pointer, such as one that an init container has filled, is served as it is.

    POST /v1/vad      float32 little-endian samples at 16 kHz -> {"speech": 0.93, "version": "sha256:…"}
    GET  /ready       200 once a model answers, 503 before
    GET  /live        200 while the process answers
    GET  /version     {"version": "sha256:…"}
    GET  /metrics     Prometheus text; every series carries the model version

The swap is one assignment of one object. A request takes that object once and keeps it to its end, so no request
sees two versions, and the old session goes when its last request has finished.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import onnxruntime as ort

WINDOW = 512  # samples in one step at 16 kHz


@dataclass
class Loaded:
    """One model version: its session and what the session says about itself."""

    version: str
    session: ort.InferenceSession
    requests: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def speech(self, samples: np.ndarray) -> float:
        """Highest speech probability over the windows of `samples`, float32 [n]; the state starts at zero."""
        state = np.zeros((2, 1, 128), dtype=np.float32)
        best = 0.0
        for start in range(0, max(len(samples) - WINDOW, 0) + 1, WINDOW):
            window = np.zeros((1, WINDOW), dtype=np.float32)
            piece = samples[start : start + WINDOW]
            window[0, : len(piece)] = piece
            feed = {"input": window, "state": state, "sr": np.array(16000, dtype=np.int64)}
            named = {i.name: feed[i.name] for i in self.session.get_inputs()}
            probability, state = self.session.run([o.name for o in self.session.get_outputs()], named)
            best = max(best, float(probability[0, 0]))
        with self.lock:
            self.requests += 1
        return best


class Live:
    """The version that serves now. Replaced whole, never edited."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.current: Loaded | None = None

    def target(self) -> tuple[str, Path]:
        """(version, folder) that should be served."""
        pointer = self.folder / "version.json"
        if not pointer.exists():
            return "unversioned", self.folder
        named = json.loads(pointer.read_bytes())
        return named["digest"], self.folder / named["path"]

    def poll(self) -> bool:
        """Load what the pointer names, if it names something new; the old version serves until the new one answers."""
        version, folder = self.target()
        current = self.current
        if current is not None and current.version == version:
            return False
        (model,) = folder.glob("*.onnx")
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        loaded = Loaded(version, session)
        loaded.speech(np.zeros(WINDOW, dtype=np.float32))  # the first run is the slow one: users do not get it
        self.current = loaded
        return True

    def watch(self, seconds: float = 0.2) -> None:
        """Poll for ever; a pointer that cannot be followed is reported and the old version keeps serving."""
        while True:
            try:
                if self.poll():
                    print(f"serving {self.current.version if self.current else ''}", flush=True)
            except (OSError, ValueError, RuntimeError) as error:
                print(f"keeping the current version: {error}", file=sys.stderr, flush=True)
            time.sleep(seconds)


def handler(live: Live) -> type[BaseHTTPRequestHandler]:
    """The request handler class bound to `live`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            loaded = live.current
            if self.path == "/live":
                self.answer(200, {})
            elif loaded is None:
                self.answer(503, {"error": "no model loaded yet"})
            elif self.path == "/metrics":
                line = f'vad_requests_total{{model="silero-vad",model_version="{loaded.version}"}} {loaded.requests}\n'
                self.reply(200, line.encode(), "text/plain; version=0.0.4")
            elif self.path in ("/ready", "/version"):
                self.answer(200, {"version": loaded.version})
            else:
                self.answer(404, {"error": "not found"})

        def do_POST(self) -> None:
            samples = np.frombuffer(self.rfile.read(int(self.headers["Content-Length"])), dtype="<f4")
            loaded = live.current
            if loaded is None:
                self.answer(503, {"error": "no model loaded yet"})
            else:
                self.answer(200, {"speech": loaded.speech(samples), "version": loaded.version})

        def answer(self, status: int, document: dict[str, object]) -> None:
            self.reply(status, json.dumps(document).encode(), "application/json")

        def reply(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            del format, args

    return Handler


def main() -> None:
    """Serve until killed; on loopback unless told otherwise."""
    live = Live(Path(sys.argv[1]))
    threading.Thread(target=live.watch, daemon=True).start()
    address = sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1"
    server = ThreadingHTTPServer((address, int(sys.argv[2])), handler(live))
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
