"""What several tests of graphs ask: which real models there are, and whether ONNX Runtime loads one."""

from __future__ import annotations

import re
from pathlib import Path

_ROW = re.compile(r'"([\w-]+)",\s*"([\d.]+)",\s*(?:"([^"\s]+\.onnx)"|SILERO),\s*"([0-9a-f]{64})"')


def real() -> list[tuple[str, str, str, str]]:
    """Every ONNX model that the tests fetch anywhere: (package, version, member, sha256)."""
    found: set[tuple[str, str, str, str]] = set()
    for path in Path(__file__).parent.parent.rglob("test_*.py"):
        for name, version, member, digest in _ROW.findall(path.read_text()):
            found.add((name, version, member or "silero_vad/data/silero_vad.onnx", digest))
    return sorted(found)


def loads(data: bytes) -> bool:
    """Whether ONNX Runtime loads a model."""
    import onnxruntime as runtime

    options = runtime.SessionOptions()
    options.log_severity_level = 4
    try:
        runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - the runtime raises its own kinds
        return False
    return True
