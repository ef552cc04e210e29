"""The deny list: digests, keys and identities that no signature makes good again. It is signed itself.

A YAML or JSON file, signed as a single-file model (`interlock sign deny.yaml --key ops.key` writes `deny.yaml.sig`):

    digests: [sha256:…]        # root digests of models, or digests of single files
    keys: [sha256:…]           # signers' key hints or certificate fingerprints
    identities: [subject …]    # identities of keyless signers, compared exactly
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..report.errors import BadInput, Refused
from . import bundle, keymode, keys, statement
from .manifest import Manifest
from .reasons import refusal
from .signer import Signer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

_FIELDS = ("digests", "keys", "identities")


@dataclass(frozen=True, slots=True)
class DenyList:
    """What is denied; digests and keys in lower-case hexadecimal."""

    digests: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    identities: frozenset[str] = frozenset()

    def check(self, signer: Signer, manifest: Manifest, what: str) -> None:
        """Raises Refused (VER-DENIED) where the list names the signer, the model or one of its files."""
        named = signer.id.rpartition(":")[2] if signer.mode != "keyless" else ""
        if named in self.keys:
            raise refusal("VER-DENIED", what, f"the deny list names the signer {signer.id}")
        if signer.mode == "keyless" and signer.label in self.identities:
            raise refusal("VER-DENIED", what, f"the deny list names the identity {signer.label}")
        if manifest.root in self.digests:
            raise refusal("VER-DENIED", what, f"the deny list names the model sha256:{manifest.root}")
        for resource in manifest.resources:
            if {resource.digest, resource.blake3} & self.digests:
                raise refusal("VER-DENIED", what, f"the deny list names the file '{resource.name}'")


def load(path: Path, key: EllipticCurvePublicKey, key_file: str) -> DenyList:
    """Read a deny list and check its signature. Raises BadInput where it is missing, unsigned or not understood.

    A list that cannot be trusted stops the gate: going on without it would let an attacker remove it.
    """
    data = keys.read(path, "deny list")
    signature = path.with_name(f"{path.name}.sig")
    try:
        signed = bundle.read(signature)
        if signed.mode != bundle.KEY:
            raise BadInput(signature, "is not a key-mode signature", hint=f"interlock sign {path} --key FILE")
        keymode.verify(signed, {key_file: key})
        (resource,) = statement.decode(signed.payload, str(signature)).manifest.resources
    except Refused as error:
        raise BadInput(path, f"the deny list's signature is refused: {error.reason}", code=error.code) from error
    if resource.algorithm != "sha256" or resource.digest != hashlib.sha256(data).hexdigest():
        raise BadInput(path, "the deny list is not the one that was signed", hint="restore or sign it again")
    return parse(data, path)


def parse(data: bytes, path: Path) -> DenyList:
    """The deny list in a file's bytes. Raises BadInput."""
    import yaml

    try:
        document: Any = yaml.load(data, yaml.CSafeLoader) or {}
    except yaml.YAMLError as error:
        raise BadInput(path, f"the deny list is not YAML: {str(error).splitlines()[0]}", hint="see docs") from error
    if not isinstance(document, dict):
        raise BadInput(path, "the deny list is not a mapping", hint=f"its keys are {', '.join(_FIELDS)}")
    lists: dict[str, frozenset[str]] = {}
    for name, values in cast("dict[Any, Any]", document).items():
        if name not in _FIELDS or not isinstance(values, list):
            raise BadInput(path, f"'{name}' is no list of the deny list", hint=f"its lists are {', '.join(_FIELDS)}")
        texts = [str(value) for value in cast("list[Any]", values)]
        lists[name] = frozenset(texts if name == "identities" else (t.rpartition(":")[2].lower() for t in texts))
    return DenyList(**lists)
