"""A blob out of a registry: streamed, hashed on the way, taken up again where a connection dropped."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..report.errors import BadInput
from .descriptor import Descriptor
from .durable import CHUNK, Progress, explained
from .transport import Transport

_RESUMES = 5


def download(http: Transport, layer: Descriptor, target: Path, progress: Progress, name: str) -> None:
    """Write a blob to a new file, synced. Raises BadInput unless its size and digest are those of the descriptor, or
    when the connection drops time and again; `name` is what messages call the place."""
    digest, done, drops = hashlib.sha256(), 0, 0
    with explained("write", target), target.open("xb") as sink:
        while done < layer.size:
            try:
                for part in _parts(http, layer, done):
                    digest.update(part)
                    sink.write(part)
                    done += len(part)
                    progress(len(part))
                    if done > layer.size:
                        raise damaged(name, layer, f"it has more than {layer.size} bytes")
            except http.dropped:
                pass  # counted below, as is a body that simply ends
            if done < layer.size and (drops := drops + 1) > _RESUMES:
                raise damaged(name, layer, f"the connection ended after {done} of {layer.size} bytes")
        sink.flush()
        os.fsync(sink.fileno())
    if f"sha256:{digest.hexdigest()}" != layer.digest:
        target.unlink()
        raise damaged(name, layer, f"its bytes have the digest sha256:{digest.hexdigest()}")


def _parts(http: Transport, layer: Descriptor, done: int) -> Iterator[bytes]:
    """The bytes from `done` on. Asked for without compression: the digest is that of the bytes as they are stored."""
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={done}-"} if done else {})}
    response = http.call("GET", f"/blobs/{layer.digest}", accept=(206,) if done else (200,), headers=headers)
    with response:
        yield from response.iter_content(CHUNK)


def damaged(name: str, layer: Descriptor, why: str) -> BadInput:
    """The error for a blob that is not what its descriptor says."""
    hint = "run it again; if it stays so, publish the model again"
    return BadInput(f"{name}@{layer.digest}", f"corrupt blob: {why}", hint=hint, code="REL-CORRUPT")
