"""Who may sign and how, from `trust:` in interlock.yaml and from options. The policy decides, never the bundle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config.settings import Identity, Trust
from ..report.errors import BadInput
from . import keys
from .bundle import CERTIFICATE, KEY, KEYLESS, Bundle
from .deny import DenyList
from .limits import duration
from .reasons import refusal

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.x509 import Certificate


@dataclass(frozen=True, slots=True)
class Anchors:
    """Trust anchors given as options. Any of them replaces all anchors of the settings, never their limits."""

    keys: Sequence[str] = ()
    authorities: Sequence[str] = ()
    identities: Sequence[Identity] = ()
    root: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Trust anchors by mode, and limits. A mode without an anchor is not accepted at all."""

    keys: Mapping[str, EllipticCurvePublicKey] = field(default_factory=dict[str, Any])
    authorities: Sequence[Certificate] = ()
    identities: Sequence[Identity] = ()
    mode: str = "any"
    root: str = ""
    root_max_age: timedelta | None = None
    require_timestamp: bool = False
    digests: tuple[str, ...] = ("sha256", "blake3")
    max_age: timedelta | None = None
    minimum_version: str = ""
    deny: DenyList = field(default_factory=DenyList)
    content: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that this policy accepts."""
        anchors = {KEY: self.keys, CERTIFICATE: self.authorities, KEYLESS: self.identities}
        return tuple(mode for mode, given in anchors.items() if given and self.mode in ("any", mode))

    def check_mode(self, bundle: Bundle) -> None:
        """Raises Refused (VER-MODE) unless the bundle's mode is one the policy has anchors for."""
        if bundle.mode not in self.modes:
            raise refusal("VER-MODE", bundle.path, f"a {bundle.mode} signature; accepted: {', '.join(self.modes)}")


def make(trust: Trust | None = None, base: str = "", *, anchors: Anchors | None = None, strict: bool = False) -> Policy:
    """The policy of a `trust:` section, its relative paths starting at `base`, with anchors given as options.

    `strict` lets only SHA-256 count. Raises BadInput when nobody is trusted, an anchor cannot be read, an identity is
    too weak a rule, or the deny list is not to be trusted.
    """
    trust, anchors = trust or Trust(), anchors or Anchors()
    if anchors.keys or anchors.authorities or anchors.identities:
        key_files, ca_files, identities = list(anchors.keys), list(anchors.authorities), list(anchors.identities)
    else:
        key_files = [_at(base, path) for path in trust.keys]
        ca_files = [_at(base, path) for path in trust.certificates]
        identities = trust.identities
    if identities:
        from .identity import check_rules

        check_rules(identities)
    policy = Policy(
        keys={path: keys.load_public(path) for path in key_files},
        authorities=_authorities(ca_files),
        identities=identities,
        mode=trust.mode,
        root=anchors.root or (_at(base, trust.root) if trust.root else ""),
        root_max_age=duration(trust.root_max_age, "trust.root_max_age") if trust.root_max_age else None,
        require_timestamp=trust.require_timestamp,
        digests=("sha256",) if strict else tuple(trust.digests),
        max_age=duration(trust.max_age, "trust.max_age") if trust.max_age else None,
        minimum_version=trust.minimum_version,
        deny=_deny(trust, base),
        content=trust.content,
    )
    if not policy.modes:
        hint = "give --key FILE, --ca FILE or --identity and --issuer, or set trust: in interlock.yaml"
        missing = f"trust.mode is {trust.mode}, and " if trust.mode != "any" else ""
        raise BadInput("trust", f"{missing}nobody is trusted to sign", hint=hint)
    return policy


def _at(base: str, path: str) -> str:
    return str(Path(base, os.path.expanduser(path)))  # noqa: PTH111 - Path.expanduser raises on an unknown user


def _authorities(files: Iterable[str]) -> list[Certificate]:
    files = list(files)
    if not files:
        return []
    from .certmode import load

    return [certificate for path in files for certificate in load(path)]


def _deny(trust: Trust, base: str) -> DenyList:
    if not trust.deny:
        return DenyList()
    if not trust.deny_key:
        raise BadInput("trust.deny", "is set without trust.deny_key", hint="name the key that signs the deny list")
    from .deny import load as load_deny

    key_file = _at(base, trust.deny_key)
    return load_deny(Path(_at(base, trust.deny)), keys.load_public(key_file), key_file)
