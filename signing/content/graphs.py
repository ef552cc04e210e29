"""Graphs that reach beyond themselves: external data outside the model, custom operators, Keras Lambda layers."""

from __future__ import annotations

import json
import os
import posixpath
import zipfile
import zlib
from collections.abc import Collection
from typing import Any, cast

from ...models.errors import UnreadableModel
from ...models.onnx import parse_onnx
from ...models.source import FileSource, Source
from ...report.finding import Finding, Severity
from ..reasons import finding as reason_finding

# Operator domains that ONNX Runtime brings itself.
_KNOWN = frozenset(
    (
        "",
        "ai.onnx",
        "ai.onnx.ml",
        "ai.onnx.training",
        "ai.onnx.preview.training",
        "com.microsoft",
        "com.microsoft.experimental",
        "com.microsoft.nchwc",
        "com.ms.internal.nhwc",
        "org.pytorch.aten",
    )
)
_MAX_CONFIG = 64 << 20
_PIECE = 1 << 20


def onnx(source: Source, name: str, path: str, files: Collection[str]) -> list[Finding]:
    """Findings on an ONNX file: external data that leaves the model or is not signed, operators from elsewhere."""
    try:
        model = parse_onnx(source, name)
    except UnreadableModel as error:
        message = f"cannot be read as ONNX, so what it reaches for is not known: {error.reason}"
        return [reason_finding("VER-EXTERNAL-DATA", path, message, severity=Severity.WARNING)]
    found: list[Finding] = []
    for location in model.external_files():
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), location))
        if location.startswith("/") or target.startswith("../") or "\\" in location or target not in files:
            message = f"reads its weights from '{location}', which is not a signed file of this model"
            found.append(reason_finding("VER-EXTERNAL-DATA", path, message))
    own = {domain for domain, _, _ in model.functions}
    foreign = sorted({domain for domain, _ in model.histogram()} - _KNOWN - own)
    if foreign:
        message = f"needs operators of {', '.join(foreign)}"
        found.append(reason_finding("VER-CUSTOM-OP", path, message, severity=Severity.WARNING))
    return found


def keras(source: FileSource, fd: int, path: str) -> list[Finding]:
    """Findings on a Keras file (`.keras`, `.h5`): a Lambda layer is marshalled Python code."""
    zipped = source.read(0, 4) == b"PK\x03\x04"
    lambdas = _lambda_in_zip(fd) if zipped else _lambda_in_hdf5(source)
    return [reason_finding("VER-CUSTOM-OP", path, "holds a Lambda layer, which is code")] if lambdas else []


def _lambda_in_zip(fd: int) -> bool:
    with os.fdopen(os.dup(fd), "rb") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                info = archive.getinfo("config.json")
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    return True
                with archive.open(info) as member:
                    text = member.read(_MAX_CONFIG)
            return _has_lambda(json.loads(text))
        except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, OSError, RuntimeError, EOFError):
            return True  # what cannot be looked into is not vouched for


def _has_lambda(value: Any) -> bool:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            mapping = cast("dict[str, Any]", item)
            if mapping.get("class_name") in ("Lambda", "TFOpLambda") and "__lambda__" in json.dumps(mapping):
                return True
            pending.extend(mapping.values())
        elif isinstance(item, list):
            pending.extend(cast("list[Any]", item))
    return False


def _lambda_in_hdf5(source: Source) -> bool:
    """The configuration is one attribute, stored as it is; looking for its words needs no HDF5 reader."""
    tail = b""
    for offset in range(0, min(source.size, _MAX_CONFIG), _PIECE):
        data = tail + source.read(offset, _PIECE)
        if b'"class_name": "Lambda"' in data or b'"class_name":"Lambda"' in data:
            return True
        tail = data[-32:]
    return False
