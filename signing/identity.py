"""Who a Fulcio certificate names, and whether the policy trusts them. Extensions: sigstore/fulcio docs/oid-info.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..config.settings import Identity
from ..report.errors import BadInput
from .patterns import weakness
from .reasons import refusal

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_ARC = "1.3.6.1.4.1.57264.1."
# Number below the arc -> our name; the first six hold raw UTF-8, the later ones a DER UTF8String.
_RAW = {1: "issuer", 2: "trigger", 4: "workflow_name", 5: "repository_name", 6: "ref_name"}
_DER = {8: "issuer", 12: "repository", 14: "ref", 18: "workflow", 20: "trigger"}


@dataclass(frozen=True, slots=True)
class Named:
    """What a certificate says about its holder; absent extensions are empty."""

    subject: str
    issuer: str
    repository: tuple[str, ...] = ()
    ref: tuple[str, ...] = ()
    workflow: tuple[str, ...] = ()
    trigger: str = ""


def named(certificate: Certificate, what: str) -> Named:
    """The holder of a Fulcio certificate. Raises Refused unless it names exactly one identity."""
    from cryptography import x509

    try:
        names = list(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        names = []
    texts = [str(n.value) for n in names if isinstance(n, x509.RFC822Name | x509.UniformResourceIdentifier)]
    if len(names) != 1 or len(texts) != 1:
        raise refusal("VER-IDENTITY-COUNT", what, f"the certificate names {len(names)} identities, not one")
    values: dict[str, str] = {}
    for extension in certificate.extensions:
        dotted = extension.oid.dotted_string
        if not dotted.startswith(_ARC) or not isinstance(extension.value, x509.UnrecognizedExtension):
            continue
        number = int(dotted.removeprefix(_ARC).split(".")[0])
        data = extension.value.value
        if number in _DER:
            values[_DER[number]] = _utf8string(data, what)
        elif number in _RAW:
            values.setdefault(_RAW[number], data.decode("utf-8", "replace"))

    def present(*keys: str) -> tuple[str, ...]:
        return tuple(values[key] for key in keys if values.get(key))

    return Named(
        subject=texts[0],
        issuer=values.get("issuer", ""),
        repository=present("repository", "repository_name"),
        ref=present("ref", "ref_name"),
        workflow=present("workflow", "workflow_name"),
        trigger=values.get("trigger", ""),
    )


def _utf8string(data: bytes, what: str) -> str:
    """The text of a DER UTF8String in short or one- or two-byte long form."""
    if len(data) >= 2 and data[0] == 0x0C:
        extra = data[1] & 0x7F if data[1] & 0x80 else 0
        length = int.from_bytes(data[2 : 2 + extra], "big") if extra else data[1]
        if extra <= 2 and len(data) == 2 + extra + length:
            return data[2 + extra :].decode("utf-8", "replace")
    raise refusal("VER-IDENTITY", what, "a certificate extension is not a UTF8String")


def check_rules(identities: Sequence[Identity]) -> None:
    """Raises BadInput on identities that trust more than they say: no issuer, no subject, or a weak pattern."""
    for index, identity in enumerate(identities):
        where = f"trust.identities[{index}]"
        if not identity.issuer:
            raise BadInput(
                where,
                "does not pin the issuer",
                hint="set issuer to the OIDC issuer's URL",
                code="VER-ISSUER-NOT-PINNED",
            )
        if bool(identity.subject) == bool(identity.subject_pattern):
            raise BadInput(where, "needs either subject or subject_pattern", hint="give exactly one of them")
        if identity.subject_pattern:
            weak = weakness(identity.subject_pattern, ref_pinned=bool(identity.ref))
            if weak:
                slips = f"; '{weak[1]}' would slip in" if weak[1] else ""
                raise BadInput(
                    where,
                    f"subject_pattern {identity.subject_pattern!r} is weak: {weak[0]}{slips}",
                    hint="name the start literally, escape dots, end names in / or @, and pin ref",
                    code="VER-WEAK-PATTERN",
                )


def trusted(holder: Named, identities: Sequence[Identity]) -> bool:
    """Whether any identity matches the holder in everything that it gives."""
    return any(_matches(holder, identity) for identity in identities)


def _matches(holder: Named, identity: Identity) -> bool:
    if identity.subject_pattern:
        subject = re.fullmatch(identity.subject_pattern, holder.subject) is not None
    else:
        subject = identity.subject == holder.subject
    given = ((identity.repository, holder.repository), (identity.ref, holder.ref), (identity.workflow, holder.workflow))
    return (
        subject
        and bool(identity.issuer)
        and identity.issuer == holder.issuer
        and all(not wanted or wanted in values for wanted, values in given)
    )
