"""What values must be beyond their type: names Kubernetes takes, digests instead of tags, times that add up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ..config.load import Marks
from ..config.settings import Identity
from ..report.errors import BadInput
from . import quantities
from .values import Values

# RFC 1123 label, kept short since suffixes are added to it (Kubernetes allows 63).
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_LABEL_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOST = r"[a-z0-9]+([.-][a-z0-9]+)*(:\d{1,5})?"
_PATH = r"(/[a-z0-9]+([._-]+[a-z0-9]+)*)+"
_IMAGE = re.compile(
    rf"({_HOST}{_PATH}|[a-z0-9]+([._-]+[a-z0-9]+)*{_PATH}|[a-z0-9]+([._-]+[a-z0-9]+)*)(:[\w.-]+)?@sha256:[0-9a-f]{{64}}"
)
_REFERENCE = re.compile(rf"(oci://{_HOST}{_PATH}|oci-layout:(?P<path>/[\w./-]+))@(?P<digest>sha256:[0-9a-f]{{64}})")
_SERVED = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?")
_URL_PATH = re.compile(r"/[A-Za-z0-9._~/-]*")
_PEM = re.compile(r"\s*-----BEGIN PUBLIC KEY-----[\sA-Za-z0-9+/=]+-----END PUBLIC KEY-----\s*")

Problem = tuple[str, str, str]
Signer = Callable[[str | Identity], None]


def any_signer(_: str | Identity) -> None:
    """Takes any signer of the right form."""


def check(values: Values, marks: Marks, source: str, more: Iterable[Problem] = (), signer: Signer = any_signer) -> None:
    """Raise BadInput on the first value that a cluster would refuse or that could change under a running release.

    `more` are problems that the profile sees. `signer` raises BadInput on a key (PEM) or identity that a verifier
    would not take.
    """

    def problem(pointer: str, reason: str, hint: str, code: str = "") -> BadInput:
        line, column = marks.get(pointer, (None, None))
        key = pointer.strip("/").replace("/", ".")
        return BadInput(source, f"{key}: {reason}", hint=hint, line=line, column=column, code=code)

    for found in (*_problems(values), *more):
        raise problem(*found)
    for kind, signers in (("keys", values.trust.keys), ("identities", values.trust.identities)):
        for i, each in enumerate(signers):
            try:
                signer(each)
            except BadInput as error:
                raise problem(f"/trust/{kind}/{i}", error.reason, error.hint, error.code) from error


def reference_parts(reference: str) -> tuple[str, str]:
    """(path of the layout or "", digest) of a reference that passed `check`."""
    match = _REFERENCE.fullmatch(reference)
    assert match is not None  # noqa: S101
    return match["path"] or "", match["digest"]


def _problems(v: Values) -> Iterator[Problem]:
    yield from _names(v)
    yield from _artefacts(v)
    yield from _numbers(v)
    yield from _maps(v)


def _names(v: Values) -> Iterator[Problem]:
    if not v.name:
        yield "/name", "is required", "give it with --set name=… or in the values file"
    elif not _NAME.fullmatch(v.name):
        yield "/name", f"'{v.name}' is not a name of at most 50 lower-case letters, digits and -", ""
    if v.namespace and not _NAMESPACE.fullmatch(v.namespace):
        yield "/namespace", f"'{v.namespace}' is not a namespace name", ""
    for key, name in (("pull_secret", v.pull_secret), ("runtime_class", v.runtime_class)):
        if name and not _OBJECT.fullmatch(name):
            yield f"/{key}", f"'{name}' is not an object name", ""
    if not v.model.version:
        yield "/model/version", "is required", "it labels the pods and every metric"
    elif not _LABEL_VALUE.fullmatch(v.model.version):
        yield "/model/version", f"'{v.model.version}' is not a label value: letters, digits, -_. and at most 63", ""
    if v.model.name and not _SERVED.fullmatch(v.model.name):
        yield "/model/name", f"'{v.model.name}' does not fit into a path: letters, digits and -_.", ""
    for i, name in enumerate([*v.network.clients, *filter(None, [v.network.monitoring])]):
        if not _NAMESPACE.fullmatch(name):
            key = f"/network/clients/{i}" if i < len(v.network.clients) else "/network/monitoring"
            yield key, f"'{name}' is not a namespace name", ""


def _artefacts(v: Values) -> Iterator[Problem]:
    for key, image in (("/image", v.image), ("/interlock_image", v.interlock_image)):
        if not image:
            yield key, "is required", "name an image by digest: HOST/REPOSITORY@sha256:…"
        elif "@" not in image:
            yield key, f"'{image}' is a tag, and a tag can move", "name the image by digest: HOST/REPOSITORY@sha256:…"
        elif not _IMAGE.fullmatch(image):
            yield key, f"'{image}' is not an image reference by digest", "write HOST/REPOSITORY@sha256:<64 hex digits>"
    reference = v.model.reference
    match = _REFERENCE.fullmatch(reference)
    if not reference:
        yield "/model/reference", "is required", "interlock publish prints it; by digest, never by tag"
    elif match is None:
        tag = reference.startswith(("oci:", "oci-layout:")) and "@" not in reference
        reason = "is a tag, and a tag can move" if tag else "is not a model reference by digest"
        yield "/model/reference", f"'{reference}' {reason}", "write oci://HOST/REPOSITORY@sha256:<64 hex digits>"
    elif match["path"] and not v.model.registry_claim:
        yield "/model/registry_claim", "is required for an oci-layout", "name the claim that holds the layout"
    elif v.model.registry_claim and not (match["path"] and _OBJECT.fullmatch(v.model.registry_claim)):
        yield "/model/registry_claim", "names a claim only for an oci-layout reference", ""
    if not v.trust.keys and not v.trust.identities:
        yield "/trust", "nobody may sign: no keys and no identities", "give trust.keys or trust.identities"
    for i, key in enumerate(v.trust.keys):
        if not _PEM.fullmatch(key):
            yield f"/trust/keys/{i}", "not a public key in PEM form", "paste the text of the .pub file"
    for i, identity in enumerate(v.trust.identities):
        if not identity.issuer or not (identity.subject or identity.subject_pattern):
            yield f"/trust/identities/{i}", "needs issuer and subject or subject_pattern", "give the issuer's URL"


def _numbers(v: Values) -> Iterator[Problem]:
    ranges = [
        ("/replicas", v.replicas, 1, 1000),
        ("/user", v.user, 1, 2**31 - 1),
        ("/resources/gpus", v.resources.gpus, 0, 64),
        ("/server/port", v.server.port, 1, 65535),
        ("/timing/load", v.timing.load, 1, 6 * 3600),
        ("/timing/request", v.timing.request, 1, 6 * 3600),
        ("/timing/settle", v.timing.settle, 1, 600),
    ]
    for key, number, low, high in ranges:
        if not low <= number <= high:
            yield key, f"{number} is not between {low} and {high}", ""
    for key, path in (("ready", v.server.ready or "/"), ("live", v.server.live), ("metrics", v.server.metrics)):
        if not _URL_PATH.fullmatch(path):
            yield f"/server/{key}", f"'{path}' is not a path", "such as /v2/health/live"
    yield from quantities.problems(v)
    if not _LABEL_KEY.fullmatch(v.resources.gpu_resource) or "/" not in v.resources.gpu_resource:
        yield (
            "/resources/gpu_resource",
            f"'{v.resources.gpu_resource}' is not a resource name",
            "such as nvidia.com/gpu",
        )


def _maps(v: Values) -> Iterator[Problem]:
    for where, mapping in (("labels", v.labels), ("node_selector", v.node_selector)):
        for key, value in mapping.items():
            if not _LABEL_KEY.fullmatch(key) or not _LABEL_VALUE.fullmatch(value):
                yield f"/{where}/{key}", f"'{key}: {value}' is not a label", ""
            if where == "labels" and key.startswith(("app.kubernetes.io/", "interlock.dev/")):
                yield f"/labels/{key}", f"'{key}' is set by the profile", "choose another key"
    for key in v.env:
        if not _VARIABLE.fullmatch(key):
            yield f"/env/{key}", f"'{key}' is not a variable name", ""
