"""The envelope: Dead Simple Signing Envelope v1 (secure-systems-lab/dsse), the only encoding that is accepted."""

from __future__ import annotations

PAYLOAD_TYPE = "application/vnd.in-toto+json"


def pae(payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """What is signed: `DSSEv1 <length> <type> <length> <payload>`, lengths in decimal bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
