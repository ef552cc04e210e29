"""The signed statement: in-toto Statement v1 with the OMS v1.0 predicate, to and from a `Manifest`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from . import names
from .digests import LENGTH
from .manifest import Manifest, Resource
from .reasons import refusal
from .strictjson import canonical, parse
from .tree import MAX_FILES

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE = "https://model_signing/signature/v1.0"
# Our fields; OMS v1.0 section 5.2.1 has verifiers ignore descriptor fields they do not know.
BLAKE3, SIZE, TENSORS = "interlock/blake3", "interlock/size", "interlock/tensors"
VERSION, SIGNED_AT = "interlock/version", "interlock/signed-at"


@dataclass(frozen=True, slots=True)
class Statement:
    """A decoded statement. `subject` is the name the signer gave the model; `annotations` are the subject's."""

    manifest: Manifest
    subject: str
    annotations: dict[str, Any] = field(default_factory=dict[str, Any])


def encode(statement: Statement) -> bytes:
    """The statement as the bytes that get signed."""
    manifest = statement.manifest
    resources: list[dict[str, Any]] = []
    for resource in manifest.resources:
        notes: dict[str, Any] = dict(resource.annotations)
        if resource.blake3:
            notes[BLAKE3] = resource.blake3
        if resource.size >= 0:
            notes[SIZE] = resource.size
        entry: dict[str, Any] = {
            "name": resource.name,
            "algorithm": resource.algorithm,
            "digest": resource.digest,
        }
        resources.append({**entry, "annotations": notes} if notes else entry)
    subject: dict[str, Any] = {"name": statement.subject, "digest": {"sha256": manifest.root}}
    if statement.annotations:
        subject["annotations"] = statement.annotations
    return canonical(
        {
            "_type": TYPE,
            "subject": [subject],
            "predicateType": PREDICATE,
            "predicate": {
                "serialization": {
                    "method": manifest.method,
                    "hash_type": manifest.algorithm,
                    "allow_symlinks": False,
                    "ignore_paths": list(manifest.ignored),
                },
                "resources": resources,
            },
        }
    )


def decode(payload: bytes, what: str) -> Statement:
    """The statement in a verified payload. Raises Refused with a typed reason on everything that is not canonical."""
    document = _mapping(parse(payload, what), what, "the statement")
    if document.get("_type") != TYPE or document.get("predicateType") != PREDICATE:
        kinds = f"_type {document.get('_type')!r}, predicateType {document.get('predicateType')!r}"
        raise refusal("VER-STATEMENT-TYPE", what, f"unknown or outdated statement: {kinds}")
    subjects = document.get("subject")
    if not isinstance(subjects, list) or len(cast("list[Any]", subjects)) != 1:
        raise refusal("VER-SUBJECT", what, "the statement does not have exactly one subject")
    subject = _mapping(cast("list[Any]", subjects)[0], what, "the subject")
    digest = subject.get("digest")
    if not isinstance(digest, dict) or set(cast("dict[str, Any]", digest)) != {"sha256"}:
        raise refusal("VER-SUBJECT", what, "the subject does not have exactly one SHA-256 digest")
    predicate = _mapping(document.get("predicate"), what, "the predicate")
    manifest = _manifest(predicate, what)
    if cast("dict[str, Any]", digest)["sha256"] != manifest.root:
        raise refusal("VER-ROOT-DIGEST", what)
    annotations = _mapping(subject.get("annotations", {}), what, "the subject's annotations")
    name = subject.get("name", "")
    return Statement(manifest, name if isinstance(name, str) else "", annotations)


def _manifest(predicate: dict[str, Any], what: str) -> Manifest:
    serialization = _mapping(predicate.get("serialization"), what, "serialization")
    method = serialization.get("method")
    algorithm = serialization.get("hash_type")
    if method not in ("files", "shards"):
        raise refusal("VER-STATEMENT-TYPE", what, f"unknown serialization method {method!r}")
    if not isinstance(algorithm, str) or algorithm not in LENGTH:
        raise refusal("VER-ALGORITHM", what, f"unknown digest algorithm {algorithm!r}")
    shard_size = serialization.get("shard_size", 0)
    # The reference writes 1000000000.0.
    if isinstance(shard_size, bool) or not isinstance(shard_size, int | float) or shard_size % 1:
        raise refusal("VER-MALFORMED", what, "shard_size is not a whole number")
    ignored = serialization.get("ignore_paths", [])
    if not isinstance(ignored, list) or not all(isinstance(path, str) for path in cast("list[Any]", ignored)):
        raise refusal("VER-MALFORMED", what, "ignore_paths is not a list of strings")
    entries = predicate.get("resources")
    if not isinstance(entries, list):
        raise refusal("VER-MALFORMED", what, "resources is not a list")
    entries = cast("list[Any]", entries)
    if not entries:
        raise refusal("VER-EMPTY", what)
    if len(entries) > MAX_FILES:
        raise refusal("VER-OVERSIZED", what, f"the manifest has more than {MAX_FILES:,} entries")
    allowed = {algorithm} if method == "files" else {algorithm, f"{algorithm}-sharded-{int(shard_size)}"}
    resources = tuple(_resource(entry, what, allowed, algorithm, method) for entry in entries)
    # allow_symlinks is not read: no link is followed here, and one on disk is refused whatever the signer did.
    return Manifest(resources, tuple(cast("list[str]", ignored)), method, algorithm, int(shard_size))


def _resource(entry: Any, what: str, allowed: set[str], algorithm: str, method: str) -> Resource:
    entry = _mapping(entry, what, "a resource")
    name, digest = entry.get("name"), entry.get("digest")
    if not isinstance(name, str):
        raise refusal("VER-MALFORMED", what, "a resource has no name")
    if not isinstance(entry.get("algorithm"), str) or entry["algorithm"] not in allowed:
        raise refusal(
            "VER-ALGORITHM-MISMATCH", what, f"'{name}' uses {entry.get('algorithm')!r} in a manifest of {algorithm}"
        )
    notes = _mapping(entry.get("annotations", {}), what, f"annotations of '{name}'")
    side = notes.get(BLAKE3, "")
    for value, kind in ((digest, algorithm), (side or "0" * 64, "blake3")):
        if not is_digest(value, kind):
            raise refusal("VER-DIGEST-FORM", what, f"'{name}' does not have a {kind} digest in lower-case hexadecimal")
    size = notes.get(SIZE, -1)
    if not isinstance(size, int) or isinstance(size, bool):
        raise refusal("VER-MALFORMED", what, f"the size of '{name}' is not a whole number")
    start = end = -1
    if method == "shards":
        name, start, end = _shard(name, what)
    rest = {key: value for key, value in notes.items() if key not in (BLAKE3, SIZE)}
    return Resource(name, algorithm, cast("str", digest), side, size, start, end, rest)


def _shard(name: str, what: str) -> tuple[str, int, int]:
    """`path:start:end` taken apart at the last two colons."""
    path, start, end = (["", "", *name.rsplit(":", 2)])[-3:]
    numbers = [int(text) for text in (start, end) if text.isascii() and text.isdigit() and len(text) < 20]
    if not path or len(numbers) != 2 or numbers[0] >= numbers[1]:
        raise refusal("VER-SHARDS", what, f"'{name}' is not path:start:end")
    return path, numbers[0], numbers[1]


def is_digest(value: Any, algorithm: str) -> bool:
    """Whether a value is a lower-case hexadecimal digest of the algorithm's length."""
    return isinstance(value, str) and len(value) == 2 * LENGTH[algorithm] and not value.strip("0123456789abcdef")


def _mapping(value: Any, what: str, thing: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise refusal("VER-MALFORMED", what, f"{thing} is not a JSON object")
    return cast("dict[str, Any]", value)


def check_names(manifest: Manifest, single: str, allow: Any, what: str) -> dict[str, list[Resource]]:
    """Resources by canonical file name; `single` is the basename where the model is one file.

    A single-file model may call itself `.` (the reference does) or by its basename (the specification does). `allow`
    is asked with (code, name) before a refusal.
    """
    files: dict[str, list[Resource]] = {}
    for resource in manifest.resources:
        name = single if single and resource.name == "." else resource.name
        found = names.problem(name)
        if found and not allow(found[0], name):
            raise refusal(found[0], what, f"the name {name!r} {found[1]}")
        if name in files and manifest.method == "files":
            raise refusal("VER-DUPLICATE-NAME", what, f"'{name}' is listed twice")
        files.setdefault(name, []).append(resource)
    twins = names.twins(files)
    if twins and not allow("VER-TWINS", twins[1]):
        raise refusal("VER-TWINS", what, f"'{twins[0]}' and '{twins[1]}' are one file on some systems")
    for name, shards in files.items():
        if manifest.method == "shards":
            _check_shards(name, shards, manifest.shard_size, what)
    return files


def _check_shards(name: str, shards: list[Resource], size: int, what: str) -> None:
    """Shards are of `size` bytes each, in a row from the start; only the last may be shorter."""
    shards.sort(key=lambda shard: shard.start)
    for number, shard in enumerate(shards):
        length = shard.end - shard.start
        if shard.start != number * size or length > size or (length < size and number < len(shards) - 1):
            raise refusal("VER-SHARDS", what, f"the shards of '{name}' leave a gap or overlap at byte {shard.start}")
