"""ONNX Runtime: import it, or say how to get it, and turn its errors into ours."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Generator
from importlib import import_module, metadata
from typing import Any

from ..report.errors import BadInput

GET_CPU = 'pip install "interlock[cpu]"'
GET_GPU = 'pip install "interlock[gpu]"'


def onnxruntime() -> Any:
    """The onnxruntime module. Raises BadInput where it is absent or cannot be loaded."""
    try:
        return import_module("onnxruntime")
    except ModuleNotFoundError as error:
        if error.name != "onnxruntime":
            raise
        raise BadInput(
            "onnxruntime", "not installed", hint=f"{GET_CPU}, or on a machine with an NVIDIA GPU {GET_GPU}"
        ) from error
    except ImportError as error:
        reason = f"installed but cannot be loaded: {error}"
        raise BadInput("onnxruntime", reason, hint=f"reinstall it: {GET_CPU} or {GET_GPU}") from error


def distributions() -> dict[str, str]:
    """Installed wheels that provide the onnxruntime package, with versions. More than one overwrite each other."""
    found: dict[str, str] = {}
    for name in ("onnxruntime", "onnxruntime-gpu"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def reason(error: Exception) -> str:
    """An ONNX Runtime error in one line without its `[ONNXRuntimeError] : 2 : FAIL : ` head, 300 characters at most."""
    text = str(error)
    if text.startswith("[ONNXRuntimeError]"):
        text = text.split(" : ", 3)[-1]
    return " ".join(text.split())[:300].rstrip(".")


@contextlib.contextmanager
def captured() -> Generator[list[str]]:
    """Collect what native code writes to stdout and stderr meanwhile; the list holds the text after the block.

    ONNX Runtime tells why a provider did not load on file descriptor 2 only. The whole process is redirected, so
    keep the block short.
    """
    text: list[str] = []
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as sink:
        saved = [(fd, os.dup(fd)) for fd in (1, 2)]
        try:
            for fd, _ in saved:
                os.dup2(sink.fileno(), fd)
            with contextlib.redirect_stdout(_Lines(text)):
                yield text
        finally:
            for fd, copy in saved:
                os.dup2(copy, fd)
                os.close(copy)
            sink.seek(0)
            text.append(sink.read(1 << 20).decode("utf-8", "replace"))


class _Lines:
    """A writable that appends to a list: what Python code prints inside `captured`."""

    def __init__(self, target: list[str]) -> None:
        self.target = target

    def write(self, text: str) -> int:
        self.target.append(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is buffered."""
