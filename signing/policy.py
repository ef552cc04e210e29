"""Who may sign and how, from `trust:` in interlock.yaml and from options. The policy decides, never the bundle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.settings import Trust
from ..report.errors import BadInput
from . import keys
from .bundle import KEY, Bundle
from .reasons import refusal

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey


@dataclass(frozen=True, slots=True)
class Policy:
    """Trust anchors by mode, and limits. A mode without an anchor is not accepted at all."""

    keys: Mapping[str, EllipticCurvePublicKey] = field(default_factory=dict[str, "EllipticCurvePublicKey"])
    digests: tuple[str, ...] = ("sha256", "blake3")
    mode: str = "any"

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that this policy accepts."""
        anchors = {KEY: self.keys}
        return tuple(mode for mode, given in anchors.items() if given and self.mode in ("any", mode))

    def check_mode(self, bundle: Bundle) -> None:
        """Raises Refused (VER-MODE) unless the bundle's mode is one the policy has anchors for."""
        if bundle.mode not in self.modes:
            raise refusal("VER-MODE", bundle.path, f"a {bundle.mode} signature; accepted: {', '.join(self.modes)}")


def make(trust: Trust | None = None, base: str = "", *, key_files: Iterable[str] = (), strict: bool = False) -> Policy:
    """The policy of a `trust:` section; options replace its anchors, never its limits.

    `strict` lets only SHA-256 count. Raises BadInput when nobody is trusted or an anchor cannot be read.
    """
    trust = trust or Trust()
    files = list(key_files) or [str(Path(base, path)) for path in trust.keys]
    policy = Policy(
        keys={path: keys.load_public(path) for path in files},
        digests=("sha256",) if strict else tuple(trust.digests),
        mode=trust.mode,
    )
    if not policy.modes:
        raise BadInput(
            "trust", "nobody is trusted to sign", hint="give --key FILE, or set trust.keys in interlock.yaml"
        )
    return policy
