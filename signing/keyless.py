"""Keyless mode: a short-lived certificate for an OIDC identity, with transparency log and timestamps (Sigstore).

The only module that uses sigstore's signing and verifying classes; importing them takes a third of a second, so it is
imported for keyless bundles alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..config.settings import Identity
from ..report.errors import BadInput, NeedsAccess
from . import identity, trustroot
from .bundle import Bundle, decode
from .dsse import PAYLOAD_TYPE
from .reasons import refusal
from .signer import Signer
from .timestamp import proven, reason

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.oidc import IdentityToken

TOKEN_VARIABLES = ("INTERLOCK_SIGN_IDENTITY_TOKEN", "SIGSTORE_ID_TOKEN")

# What sigstore says -> our reason. Its errors have one class for most of these.
_REASONS = (
    ("not enough sources of verified time", "VER-TIMESTAMP"),
    ("timestamp authorities have been provided", "VER-TIMESTAMP"),
    ("duplicate timestamp", "VER-TIMESTAMP"),
    ("certificate chain", "VER-CHAIN"),
    ("expired at time of signing", "VER-EXPIRED"),
    ("usage", "VER-CERTIFICATE-PURPOSE"),
    ("dsse: invalid signature", "VER-SIGNATURE"),
)


class KeylessSigner:
    """Signs as the holder of an OIDC token."""

    def __init__(self, token: str = "", trust_config: str = "") -> None:
        """`trust_config` names a ClientTrustConfig file; empty is public-good. Raises BadInput or NeedsAccess."""
        self._config = trustroot.load_config(trust_config)
        self._token = _token(token, self._config)

    def describe(self) -> Signer:
        """The token's identity."""
        return _signer(self._token.identity, self._token.federated_issuer, None, {})

    def bundle(self, payload: bytes) -> bytes:
        """A keyless bundle. Raises NeedsAccess where a service does not answer or does not accept the token."""
        import requests
        from sigstore.dsse import Statement
        from sigstore.errors import Error
        from sigstore.oidc import ExpiredIdentity
        from sigstore.sign import SigningContext

        context = SigningContext.from_trust_config(self._config)
        try:
            with context.signer(self._token) as signer:
                text = signer.sign_dsse(Statement(payload)).to_json().encode() + b"\n"
        except ExpiredIdentity as error:
            raise NeedsAccess("the identity token", "has expired", hint="get a new one and sign again") from error
        except (Error, requests.RequestException, OSError) as error:
            raise NeedsAccess("keyless signing", f"a Sigstore service refused or is away: {reason(error)}") from error
        except Exception as error:
            # Fulcio's and Rekor's clients raise classes of their own, outside sigstore's public names.
            if type(error).__module__.startswith("sigstore."):
                raise NeedsAccess("keyless signing", f"a Sigstore service refused: {reason(error)}") from error
            raise
        if self._config.signing_config.get_tsas() and not decode(text, "the new bundle").timestamps:
            # sigstore goes on without; with Rekor v2 nothing would then prove when it was signed.
            raise NeedsAccess("keyless signing", "the timestamp authority did not answer", hint="sign again")
        return text


def _token(token: str, config: Any) -> IdentityToken:
    """The token given, from the environment, from the CI platform, or from a browser where a person is there."""
    from sigstore.oidc import IdentityError, IdentityToken, Issuer, IssuerError, detect_credential

    raw = token or next((os.environ[name] for name in TOKEN_VARIABLES if os.environ.get(name)), "")
    hint = f"set {TOKEN_VARIABLES[0]}, or run in CI with an identity (GitHub: permissions: id-token: write)"
    try:
        raw = raw or detect_credential() or ""
        if not raw and sys.stdin.isatty():
            return Issuer(config.signing_config.get_oidc_url()).identity_token()
        if not raw:
            raise NeedsAccess("keyless signing", "there is no identity token", hint=hint)
        return IdentityToken(raw)
    except IdentityError as error:
        text = reason(error)
        if any(words in text for words in ("expired", "validity period", "not yet valid")):
            raise NeedsAccess("the identity token", f"has expired or is not valid yet: {text}", hint=hint) from error
        raise BadInput("the identity token", f"cannot be used: {text}", hint=hint) from error
    except IssuerError as error:
        raise NeedsAccess("the OIDC issuer", f"does not answer: {reason(error)}", hint=hint) from error


def verify(signed: Bundle, identities: Sequence[Identity], root_file: str, *, need_timestamp: bool) -> Signer:
    """Check a keyless signature against a trusted root and the trusted identities.

    With a root file nothing is asked of the network. Raises Refused with a typed reason, BadInput or NeedsAccess on the
    trusted root.
    """
    from sigstore.errors import Error
    from sigstore.models import Bundle as SigstoreBundle
    from sigstore.verify import Verifier

    root = trustroot.load(root_file)
    policy = _Policy(identities, signed.path)
    try:
        checked = SigstoreBundle.from_json(signed.text)
        kind, payload = Verifier(trusted_root=root).verify_dsse(checked, policy)
    except Error as error:
        raise _refused(signed.path, error) from error
    except ValueError as error:
        raise refusal("VER-MALFORMED", signed.path, f"not a Sigstore bundle: {str(error).splitlines()[0]}") from error
    if kind != PAYLOAD_TYPE or payload != signed.payload or policy.holder is None:
        raise refusal("VER-SIGNATURE", signed.path, "the verified payload is not the bundle's")
    stamped = proven(signed.timestamps, signed.signature, root)
    if need_timestamp and stamped is None:
        raise refusal("VER-TIMESTAMP", signed.path, "no timestamp of a trusted authority")
    holder = policy.holder
    details = {
        "repository": next(iter(holder.repository), None),
        "ref": next(iter(holder.ref), None),
        "workflow": next(iter(holder.workflow), None),
    }
    return _signer(holder.subject, holder.issuer, stamped or _logged(signed), details)


class _Policy:
    """What sigstore asks once it knows that the certificate is a trusted authority's."""

    def __init__(self, identities: Sequence[Identity], what: str) -> None:
        self._identities = identities
        self._what = what
        self.holder: identity.Named | None = None

    def verify(self, cert: Certificate) -> None:
        """Raises Refused unless the certificate's holder is trusted."""
        holder = identity.named(cert, self._what)
        if not identity.trusted(holder, self._identities):
            at = f" at {holder.ref[0]}" if holder.ref else ""
            raise refusal("VER-IDENTITY", self._what, f"signed by {holder.subject}{at}, identified by {holder.issuer}")
        self.holder = holder


def _refused(what: str, error: Exception) -> Exception:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    code = next((code for words, code in _REASONS if words in text.lower()), "VER-TRANSPARENCY")
    return refusal(code, what, text[:1].lower() + text[1:].rstrip("."))


def _logged(signed: Bundle) -> datetime | None:
    """When the log took the entry; checked together with the inclusion promise by sigstore before."""
    entries: Any = json.loads(signed.text)["verificationMaterial"].get("tlogEntries")
    seconds = int(entries[0].get("integratedTime") or 0) if entries else 0
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def _signer(subject: str, issuer: str, time: datetime | None, details: dict[str, Any]) -> Signer:
    return Signer("keyless", f"identity:{issuer}#{subject}", subject, time, {"issuer": issuer, **details})
