"""RFC 3161 timestamps: a trusted third party's word on when a signature existed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..report.errors import BadInput, NeedsAccess

if TYPE_CHECKING:
    from sigstore.models import TrustedRoot

_TIMEOUT = 30
_MAX_BYTES = 1 << 20


def fetch(url: str, signature: bytes) -> bytes:
    """Ask an authority for a timestamp over a signature; DER. Raises NeedsAccess or BadInput."""
    import requests
    from rfc3161_client import TimestampRequestBuilder, decode_timestamp_response

    query = TimestampRequestBuilder().data(signature).nonce(nonce=True).cert_request(cert_request=True).build()
    try:
        answer = requests.post(
            url,
            data=query.as_bytes(),
            headers={"Content-Type": "application/timestamp-query"},
            timeout=_TIMEOUT,
        )
        answer.raise_for_status()
    except requests.RequestException as error:
        raise NeedsAccess(url, f"the timestamp authority does not answer: {reason(error)}", hint="try again") from error
    try:
        response = decode_timestamp_response(answer.content[:_MAX_BYTES])
        if response.status > 1 or response.tst_info.nonce != query.nonce:
            raise ValueError("not granted, or not for this request")
    except ValueError as error:
        raise BadInput(
            url, f"the timestamp authority's answer is no timestamp: {error}", hint="check the URL"
        ) from error
    return response.as_bytes()


def reason(error: Exception) -> str:
    """The innermost reason of a network error, in one line."""
    cause: BaseException = error
    while (inner := cause.__cause__ or cause.__context__) is not None and inner is not cause:
        cause = inner
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return str(text).splitlines()[0].lower().rstrip(".")[:200]


def proven(stamps: Sequence[bytes], message: bytes, root: TrustedRoot) -> datetime | None:
    """The earliest time at which an authority of the trusted root saw the message; None where none did."""
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

    times: list[datetime] = []
    for der in stamps:
        try:
            response = decode_timestamp_response(der)
            seen = response.tst_info.gen_time
        except ValueError:
            continue  # not a timestamp: it proves nothing, which the caller reports
        for authority in root.get_timestamp_authorities():
            certificates = authority.certificates(allow_expired=True)
            start, end = authority.validity_period_start, authority.validity_period_end
            if len(certificates) < 2 or (start and seen < start) or (end and seen >= end):
                continue
            builder = VerifierBuilder().tsa_certificate(certificates[0]).add_root_certificate(certificates[-1])
            for certificate in certificates[1:-1]:
                builder = builder.add_intermediate_certificate(certificate)
            try:
                builder.build().verify_message(response, message)
            except VerificationError:
                continue  # another authority's
            times.append(seen)
    return min(times, default=None)
