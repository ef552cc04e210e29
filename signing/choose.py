"""Which signer the options of `sign` ask for: a key, a certificate, a token, or an identity. Exactly one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from ..report.errors import BadInput
from . import keys
from .keymode import KeySigner
from .signer import Signs


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How to sign.

    `certificates` are PEM files, leaf first; they go with `key` or `pkcs11`. `password` opens the key or the token.
    `trust_config` is a ClientTrustConfig file for keyless signing, empty for public-good.
    """

    key: str | os.PathLike[str] | None = None
    password: str | None = None
    certificates: Sequence[str | os.PathLike[str]] = ()
    pkcs11: str = ""
    keyless: bool = False
    identity_token: str = ""
    trust_config: str = ""
    timestamp_url: str = ""

    def signer(self) -> Signs:
        """The signer. Raises BadInput or NeedsAccess."""
        asked = [
            name for name, on in (("--key", self.key), ("--pkcs11", self.pkcs11), ("--keyless", self.keyless)) if on
        ]
        if len(asked) != 1:
            problem = f"{' and '.join(asked)} exclude each other" if asked else "no key given"
            hint = "give one of --key FILE, --pkcs11 URI, --keyless; make a key with --generate-key NAME"
            raise BadInput("sign", problem, hint=hint)
        if self.keyless:
            if self.certificates or self.timestamp_url:
                raise BadInput(
                    "sign", "--keyless brings its own certificate and timestamp", hint="drop the other options"
                )
            from .keyless import KeylessSigner

            return KeylessSigner(self.identity_token, self.trust_config)
        if self.pkcs11:
            from .pkcs11 import TokenSigner

            local = TokenSigner(self.pkcs11, self.password, self.timestamp_url)
            public = local.key
        else:
            private = keys.load_private(self.key or "", self.password)
            local, public = KeySigner(private, str(self.key), self.timestamp_url), private.public_key()
        if not self.certificates:
            return local
        from .certmode import CertificateSigner, load

        chain = [certificate for path in self.certificates for certificate in load(path)]
        return CertificateSigner(local, public, chain, self.timestamp_url)
