"""`render` with its signers judged as a verifier judges them: what the command line and the Python API call.

The room of the templates knows no signing; the two meet here.
"""

from __future__ import annotations

from typing import Any

from ..config.settings import Identity
from ..report.report import Report
from ..templates.run import render as verb


def render(profile: str, **options: Any) -> Report:
    """As `templates.run.render`, and raises BadInput on keys and identities that `interlock verify` would refuse."""
    options.setdefault("signer", accepted)
    return verb(profile, **options)


def accepted(signer: str | Identity) -> None:
    """Raise BadInput on a public key (PEM) or identity rule that no verifier takes: its pods could never start."""
    from ..signing.identity import check_rules
    from ..signing.keys import parse_public

    if isinstance(signer, Identity):
        check_rules([signer])
    else:
        parse_public(signer.encode("utf-8", "replace"), "public key")
