"""Trust roots: keys of Fulcio, Rekor, certificate logs and timestamp authorities, from a file or by TUF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..report.errors import BadInput, NeedsAccess
from .timestamp import reason

if TYPE_CHECKING:
    from sigstore.models import ClientTrustConfig, TrustedRoot

HINT = "give trusted_root.json or a ClientTrustConfig"
_MAX_BYTES = 8 << 20
_CONFIG = "application/vnd.dev.sigstore.clienttrustconfig"
_ROOT = "application/vnd.dev.sigstore.trustedroot"


def load(path: str) -> TrustedRoot:
    """The trusted root to verify against.

    A file holds a ClientTrustConfig or a bare TrustedRoot, and nothing is asked of the network; without one this is the
    public-good root, refreshed by TUF. Raises BadInput or NeedsAccess.
    """
    if not path:
        return _production().trusted_root
    from sigstore.models import TrustedRoot

    kind = str(_document(path).get("mediaType", ""))
    if kind.startswith(_CONFIG):
        return load_config(path).trusted_root
    if not kind.startswith(_ROOT):
        raise BadInput(path, f"{kind!r} is no trust root", hint=HINT)
    try:
        return TrustedRoot.from_file(path)
    except Exception as error:  # pydantic and sigstore have no common base for what a file may do
        raise BadInput(path, f"is not a valid trust root: {_first(error)}", hint="fetch it again") from error


def load_config(path: str) -> ClientTrustConfig:
    """Where to sign and whom to trust: a ClientTrustConfig file, or public-good. Raises BadInput or NeedsAccess."""
    if not path:
        return _production()
    from sigstore.models import ClientTrustConfig

    document = _document(path)
    if not str(document.get("mediaType", "")).startswith(_CONFIG):
        raise BadInput(path, "does not say where to sign", hint="signing needs a ClientTrustConfig, not only a root")
    try:
        return ClientTrustConfig.from_json(json.dumps(document))
    except Exception as error:
        raise BadInput(path, f"is no valid client trust config: {_first(error)}", hint="fetch it again") from error


def _production() -> ClientTrustConfig:
    import requests
    from sigstore.errors import TUFError
    from sigstore.models import ClientTrustConfig

    try:
        return ClientTrustConfig.production()
    except (TUFError, requests.RequestException, OSError) as error:
        raise NeedsAccess(
            "the public-good trust root", f"cannot be refreshed: {reason(error)}", hint="name a file with --trust-root"
        ) from error


def _document(path: str) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        reason_ = (error.strerror or str(error)).lower()
        raise BadInput(path, f"the trust root cannot be read: {reason_}", hint="check the path") from error
    try:
        document: Any = json.loads(data) if len(data) <= _MAX_BYTES else None
    except ValueError as error:
        raise BadInput(path, f"is not JSON: {error}", hint=HINT) from error
    if not isinstance(document, dict):
        raise BadInput(path, "is no trust root", hint=HINT)
    return cast("dict[str, Any]", document)


def _first(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].lower()
