"""What a signature file says about single tensors. It is read here, not verified: that is the signing room's work."""

from __future__ import annotations

import base64
import binascii
from typing import Any, cast

from .errors import UnreadableModel
from .strict_json import loads, loads_object
from .tree import ModelTree

NAME = "model.sig"
KEY = "interlock/tensors"
MAX_BYTES = 256 << 20


def read_tensor_digests(tree: ModelTree) -> dict[str, dict[str, str]]:
    """file → tensor → digest out of the annotations of a Sigstore bundle's in-toto statement; empty where it has none.

    Raises UnreadableModel for a signature file that is no such bundle.
    """
    file = tree.files.get(NAME)
    if file is None or file.partial:
        return {}
    if file.size > MAX_BYTES:
        raise UnreadableModel(file.path, f"is {file.size:,} bytes long, too long for a signature")
    bundle = loads_object(file.path.read_bytes(), str(file.path))
    try:
        payload = base64.b64decode(bundle["dsseEnvelope"]["payload"], validate=True)
    except (KeyError, TypeError, binascii.Error):
        return {}  # another kind of signature, which says nothing about tensors
    if KEY.encode() not in payload:
        return {}
    statement: Any = loads(payload, f"{file.path}: statement")
    found: dict[str, dict[str, str]] = {}
    try:
        for resource in statement["predicate"]["resources"]:
            tensors = resource.get("annotations", {}).get(KEY)
            if isinstance(tensors, dict):
                found[str(resource["name"])] = {str(k): str(v) for k, v in cast("dict[Any, Any]", tensors).items()}
    except (KeyError, TypeError, AttributeError):
        raise UnreadableModel(file.path, "has a statement that is not an OpenSSF model signature") from None
    return found
