"""Keys that never leave a token: PKCS#11 modules named by an RFC 7512 URI.

pkcs11:token=release;object=signer;id=%01?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/run/pin
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_to_bytes

from ..report.errors import BadInput, NeedsAccess
from . import keymode, keys
from .signer import LocalSigner, Signer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

_PATH = ("token", "manufacturer", "serial", "model", "object", "id", "type", "slot-id")
_QUERY = ("module-path", "pin-value", "pin-source")
MODULE_VARIABLE = "INTERLOCK_PKCS11_MODULE"


def parse(uri: str) -> dict[str, str]:
    """The attributes of a PKCS#11 URI, percent-decoded; `id` stays encoded since it is bytes. Raises BadInput."""
    scheme, _, rest = uri.partition(":")
    if scheme != "pkcs11":
        raise BadInput(uri, "is not a PKCS#11 URI", hint="pkcs11:token=NAME;object=KEY?module-path=FILE")
    path, _, query = rest.partition("?")
    found: dict[str, str] = {}
    for part, separator, known in ((path, ";", _PATH), (query, "&", _QUERY)):
        for item in filter(None, part.split(separator)):
            name, equals, value = item.partition("=")
            if name not in known or not equals or name in found:
                problem = "appears twice" if name in found else "is unknown"
                raise BadInput("pkcs11", f"attribute '{name}' {problem}", hint=f"known: {', '.join(known)}")
            found[name] = value if name == "id" else unquote(value)
    return found


class TokenSigner(LocalSigner):
    """Signs on a token. Opened when made; raises BadInput or NeedsAccess where module, token, PIN or key do not fit."""

    def __init__(self, uri: str, pin: str | None = None, timestamp_url: str = "") -> None:
        super().__init__(timestamp_url)
        self._wanted = parse(uri)
        self._name = f"pkcs11:{self._wanted.get('token', '')}/{self._wanted.get('object', '')}"
        self._session = _Session(self._wanted, pin, self._name)
        self.key = self._session.public_key()

    def describe(self) -> Signer:
        """The key on the token, named as any other key is."""
        return keymode.describe(self.key, self._name)

    def material(self) -> dict[str, Any]:
        """The hint of the key."""
        return {"publicKey": {"hint": keys.hint(self.key)}}

    def sign(self, message: bytes) -> bytes:
        """An ECDSA signature in DER; the token signs the digest."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

        digest = hashes.Hash(getattr(hashes, keys.CURVES[self.key.curve.name][1])())
        digest.update(message)
        raw = self._session.sign(digest.finalize())
        half = len(raw) // 2
        signature = encode_dss_signature(int.from_bytes(raw[:half], "big"), int.from_bytes(raw[half:], "big"))
        if not keymode.holds(self.key, signature, message):
            raise BadInput(self._name, "the public key on the token does not belong to the private key")
        return signature


class _Session:
    """A login on one token, with its errors in our words."""

    def __init__(self, wanted: dict[str, str], pin: str | None, name: str) -> None:
        try:
            import PyKCS11
        except ImportError as error:
            hint = "pip install 'interlock[pkcs11]'"
            raise BadInput("pkcs11", "needs the package PyKCS11", hint=hint) from error
        self._api: Any = PyKCS11
        self._name = name
        module = wanted.get("module-path") or os.environ.get(MODULE_VARIABLE, "")
        if not Path(module).is_file():
            hint = f"give module-path in the URI, or {MODULE_VARIABLE}"
            raise BadInput("pkcs11", f"no module at '{module}'", hint=hint)
        self._lib = self._call(self._load, module)
        slot = self._call(self._slot, wanted)
        self._session = self._call(self._lib.openSession, slot)
        secret = _pin(wanted, pin)
        if secret is not None:
            self._call(self._login, secret)
        self._private = self._find(wanted, self._api.CKO_PRIVATE_KEY, "private key")
        identifier = self._attribute(self._private, self._api.CKA_ID)
        self._public = self._find(
            {"id": "".join(f"%{b:02x}" for b in identifier)}, self._api.CKO_PUBLIC_KEY, "public key"
        )

    def _load(self, module: str) -> Any:
        lib = self._api.PyKCS11Lib()
        lib.load(module)
        return lib

    def _login(self, secret: str) -> None:
        try:
            self._session.login(secret)
        except self._api.PyKCS11Error as error:
            if error.value != self._api.CKR_USER_ALREADY_LOGGED_IN:  # by another session of this process
                raise

    def _call(self, function: Any, *args: Any) -> Any:
        try:
            return function(*args)
        except self._api.PyKCS11Error as error:
            said = str(error).split(" (")[0]
            words = {
                "CKR_PIN_INCORRECT": "wrong PIN",
                "CKR_PIN_LOCKED": "the PIN is locked after too many attempts",
                "CKR_USER_NOT_LOGGED_IN": "a PIN is needed",
                "CKR_DEVICE_REMOVED": "the token was removed",
                "CKR_TOKEN_NOT_PRESENT": "the token is not present",
                "CKR_SESSION_HANDLE_INVALID": "the token was removed",
            }
            text = next((word for code, word in words.items() if code in said), said)
            raise NeedsAccess(self._name, text, hint="check the token, its PIN and the module") from error

    def _slot(self, wanted: dict[str, str]) -> Any:
        labels: list[str] = []
        for slot in self._lib.getSlotList(tokenPresent=True):
            info = self._lib.getTokenInfo(slot)
            label = str(info.label).rstrip("\0 ")
            labels.append(label)
            fits = {
                "token": label,
                "serial": str(info.serialNumber).rstrip("\0 "),
                "manufacturer": str(info.manufacturerID).rstrip("\0 "),
                "model": str(info.model).rstrip("\0 "),
                "slot-id": str(slot),
            }
            if all(fits[key] == value for key, value in wanted.items() if key in fits):
                return slot
        there = ", ".join(filter(None, labels)) or "none"
        raise NeedsAccess(self._name, f"no such token; present: {there}", hint="insert it, or correct the URI")

    def _find(self, wanted: dict[str, str], kind: int, thing: str) -> Any:
        template: list[tuple[int, Any]] = [(self._api.CKA_CLASS, kind), (self._api.CKA_KEY_TYPE, self._api.CKK_EC)]
        if "object" in wanted:
            template.append((self._api.CKA_LABEL, wanted["object"]))
        if "id" in wanted:
            template.append((self._api.CKA_ID, tuple(unquote_to_bytes(wanted["id"]))))
        found = self._call(self._session.findObjects, template)
        if len(found) != 1:
            problem = f"holds {len(found)} EC {thing}s that fit, not one"
            raise BadInput(self._name, problem, hint="name object or id in the URI, and give the PIN")
        return found[0]

    def _attribute(self, thing: Any, attribute: int) -> bytes:
        (value,) = self._call(self._session.getAttributeValue, thing, [attribute])
        return bytes(value or ())

    def public_key(self) -> EllipticCurvePublicKey:
        """The public key beside the private one. Raises BadInput on a curve that is not accepted."""
        from cryptography.hazmat.primitives.asymmetric import ec

        curves = {
            bytes.fromhex("06082a8648ce3d030107"): ec.SECP256R1(),
            bytes.fromhex("06052b81040022"): ec.SECP384R1(),
            bytes.fromhex("06052b81040023"): ec.SECP521R1(),
        }
        curve = curves.get(self._attribute(self._public, self._api.CKA_EC_PARAMS))
        if curve is None:
            raise BadInput(self._name, "the key is not on P-256, P-384 or P-521", hint="use such a key")
        point = self._attribute(self._public, self._api.CKA_EC_POINT)
        # The point is wrapped in a DER OCTET STRING; its length takes two bytes from P-521 on.
        start = 3 if point[1] & 0x80 else 2
        return ec.EllipticCurvePublicKey.from_encoded_point(curve, point[start:])

    def sign(self, digest: bytes) -> bytes:
        """The raw r and s of a signature over a digest."""
        mechanism = self._api.Mechanism(self._api.CKM_ECDSA, None)
        return bytes(self._call(self._session.sign, self._private, digest, mechanism))


def _pin(wanted: dict[str, str], given: str | None) -> str | None:
    if given is not None:
        return given
    if "pin-value" in wanted:
        return wanted["pin-value"]
    if "pin-source" in wanted:
        return keys.read(wanted["pin-source"].removeprefix("file:"), "PIN").decode("utf-8", "replace").strip()
    return None
