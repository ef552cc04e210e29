"""The hostile corpus: signed models that a release gate must refuse, each one dishonest step away from an honest one.

Every case is signed by the trusted key (or by a certificate of the trusted authority) unless it says otherwise: what a
verifier refuses here, it refuses on the content, not for want of a signature.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID
from interlock.signing import bundle, certmode
from interlock.signing.dsse import pae
from interlock.signing.keys import ecdsa, hint, load_private
from services.certificates import DAY, NOW, Holder, issue

FILES = {"w.bin": b"weights" * 100, "a/b.txt": b"text", "config.json": b"{}"}


@dataclass
class Scene:
    """A model with an honest statement, to be made hostile; `write` signs what the statement has become."""

    model: Path
    signature: Path
    key: Any
    authority: Holder
    statement: Any = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        for name, data in FILES.items():
            (self.model / name).parent.mkdir(parents=True, exist_ok=True)
            (self.model / name).write_bytes(data)
        self.statement = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "model", "digest": {"sha256": ""}}],
            "predicateType": "https://model_signing/signature/v1.0",
            "predicate": {
                "serialization": {
                    "method": "files",
                    "hash_type": "sha256",
                    "allow_symlinks": False,
                    "ignore_paths": [],
                },
                "resources": [self.entry(name, data) for name, data in sorted(FILES.items())],
            },
        }

    @staticmethod
    def entry(name: str, data: bytes, algorithm: str = "sha256") -> dict[str, Any]:
        return {"name": name, "algorithm": algorithm, "digest": hashlib.sha256(data).hexdigest()}

    @property
    def resources(self) -> list[dict[str, Any]]:
        return self.statement["predicate"]["resources"]

    @property
    def serialization(self) -> dict[str, Any]:
        return self.statement["predicate"]["serialization"]

    def add(self, name: str, data: bytes = b"x", *, on_disk: bool = True) -> None:
        """A file that is signed too."""
        self.resources.append(self.entry(name, data))
        if on_disk:
            path = os.path.join(os.fsencode(self.model), name.encode("utf-8", "surrogateescape"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(os.fsdecode(path)).write_bytes(data)

    def payload(self) -> bytes:
        """The statement with the root digest that its resources have."""
        subject = self.statement["subject"]
        if subject and subject[0].get("digest") == {"sha256": ""}:
            root = hashlib.sha256()
            for entry in self.resources:
                try:
                    root.update(bytes.fromhex(entry["digest"]))
                except ValueError:
                    root.update(entry["digest"].encode())
            subject[0]["digest"] = {"sha256": root.hexdigest()}
        return json.dumps(self.statement).encode()

    def document(self, payload: bytes | None = None, message: bytes | None = None) -> Any:
        """The bundle as data, signed by the trusted key."""
        payload = self.payload() if payload is None else payload
        signature = self.key.sign(pae(payload) if message is None else message, ecdsa(self.key))
        material = {"publicKey": {"hint": hint(self.key.public_key())}}
        return json.loads(bundle.encode(material, payload, signature))

    def write(self, document: Any = None) -> None:
        """Write the bundle."""
        self.signature.write_text(json.dumps(self.document() if document is None else document))

    def write_certificate(self, leaf: Holder, *others: Holder) -> None:
        """Write a certificate-mode bundle."""
        payload = self.payload()
        chain = certmode.material([holder.certificate for holder in (leaf, *others)])
        self.signature.write_bytes(bundle.encode(chain, payload, leaf.key.sign(pae(payload), ecdsa(leaf.key))))


@dataclass(frozen=True)
class Case:
    """How to make a scene hostile, the reasons one of which the refusal must have, and how to ask the reference."""

    name: str
    make: Callable[[Scene], None]
    codes: tuple[str, ...]
    mode: str = "key"
    options: tuple[str, ...] = ()


CASES: list[Case] = []


def case(name: str, *codes: str, mode: str = "key", options: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Register a case."""

    def register(make: Callable[[Scene], None]) -> Callable[[Scene], None]:
        CASES.append(Case(name, make, codes, mode, options))
        return make

    return register


def signed_names(name: str, label: str, code: str) -> None:
    """A case of a file whose name is signed and on disk."""

    @case(label, code)
    def _(scene: Scene) -> None:
        scene.add(name)
        scene.write()


def statement_change(label: str, code: str, change: Callable[[Scene], Any], *codes: str) -> None:
    """A case of a statement that is changed and then signed."""

    @case(label, code, *codes)
    def _(scene: Scene) -> None:
        change(scene)
        scene.write()


def bundle_change(label: str, code: str, change: Callable[[Any], Any], *codes: str) -> None:
    """A case of an honest bundle that is changed afterwards."""

    @case(label, code, *codes)
    def _(scene: Scene) -> None:
        document = scene.document()
        scene.write(change(document) or document)


def tree_change(label: str, code: str, change: Callable[[Path], Any], *, options: tuple[str, ...] = ()) -> None:
    """A case of an honest bundle over a tree that is changed afterwards."""

    @case(label, code, options=options)
    def _(scene: Scene) -> None:
        scene.write()
        change(scene.model)


# Nothing signed


@case("no resources at all", "VER-EMPTY")
def _(scene: Scene) -> None:
    scene.resources.clear()
    for name in FILES:
        (scene.model / name).unlink()
    (scene.model / "a").rmdir()
    scene.write()


@case("no resources, any content", "VER-EMPTY", options=("--ignore_unsigned_files",))
def _(scene: Scene) -> None:
    scene.resources.clear()
    scene.write()


def ignore(*paths: str) -> Callable[[Scene], None]:
    def change(scene: Scene) -> None:
        scene.serialization["ignore_paths"] = list(paths)
        kept = [entry for entry in scene.resources if not entry["name"].startswith("a/")]
        scene.resources[:] = kept

    return change


for ignored in (".", "./", "a", "./a", "a/"):
    statement_change(f"ignores {ignored!r}", "VER-IGNORED", ignore(ignored))


@case("ignores .git, and there is one", "VER-IGNORED")
def _(scene: Scene) -> None:
    scene.serialization["ignore_paths"] = [".git", ".github"]
    scene.write()
    (scene.model / ".git" / "hooks").mkdir(parents=True)
    (scene.model / ".git" / "hooks" / "post-checkout").write_text("curl evil")


@case("ignores .github, and a workflow comes later", "VER-IGNORED")
def _(scene: Scene) -> None:
    scene.serialization["ignore_paths"] = [".git", ".github"]
    scene.write()
    (scene.model / ".github").mkdir()
    (scene.model / ".github" / "w.yml").write_text("on: push")


# Names


def rename(old: str, new: str) -> Callable[[Scene], None]:
    def change(scene: Scene) -> None:
        next(entry for entry in scene.resources if entry["name"] == old)["name"] = new

    return change


@case("../ with unsigned files ignored", "VER-TRAVERSAL", options=("--ignore_unsigned_files",))
def _(scene: Scene) -> None:
    (scene.model.parent / "outside").write_bytes(b"x")
    scene.add("../outside", on_disk=False)
    scene.write()


statement_change("absolute path", "VER-TRAVERSAL", rename("w.bin", "/etc/hostname"))
statement_change(".. in the middle", "VER-TRAVERSAL", rename("w.bin", "a/../w.bin"))
statement_change("./ in front", "VER-NAME", rename("w.bin", "./w.bin"))
statement_change("//", "VER-NAME", rename("a/b.txt", "a//b.txt"))
statement_change("/ at the end", "VER-NAME", rename("w.bin", "w.bin/"))
statement_change("empty name", "VER-NAME", rename("w.bin", ""))
statement_change("name is .", "VER-NAME", rename("w.bin", "."))
statement_change("listed twice, equal", "VER-DUPLICATE-NAME", lambda s: s.add("w.bin", FILES["w.bin"], on_disk=False))


@case("listed twice, last wins", "VER-NAME", "VER-DUPLICATE-NAME")
def _(scene: Scene) -> None:
    scene.resources.insert(0, scene.entry("./w.bin", b"other"))
    scene.write()


statement_change("a file that is a folder too", "VER-TWINS", lambda s: s.add("a", b"", on_disk=False))
signed_names("cafe\u0301", "name in NFD", "VER-NAME")


@case("NFC and NFD twins", "VER-NAME", "VER-TWINS")
def _(scene: Scene) -> None:
    scene.add("caf\u00e9.bin", b"1")
    scene.add("cafe\u0301.bin", b"2")
    scene.write()


@case("case-fold twins", "VER-TWINS")
def _(scene: Scene) -> None:
    scene.add("Config.json", b"2")
    scene.write()


@case("compatibility twins", "VER-TWINS")
def _(scene: Scene) -> None:
    scene.add("\ufb01le", b"1")
    scene.add("file", b"2")
    scene.write()


signed_names("w.bin.", "name ends in a dot", "VER-NAME")
signed_names("w.bin ", "name ends in a space", "VER-NAME")
signed_names(" w.bin", "name starts with a space", "VER-NAME")
signed_names("con", "device name of Windows", "VER-NAME")
signed_names("d/LPT1.txt", "device name of Windows with extension", "VER-NAME")
signed_names("a\\b.txt", "backslash", "VER-NAME")
signed_names("w.bin:stream", "alternate data stream", "VER-NAME")
signed_names("w\n.bin", "newline", "VER-NAME")
signed_names("w\x1b[2J.bin", "terminal escape", "VER-NAME")
signed_names("w\u202enib.exe", "right-to-left override", "VER-NAME")
signed_names("w\u200b.bin", "zero-width space", "VER-NAME")
tree_change(
    "file name that is not UTF-8",
    "VER-EXTRA",
    lambda m: Path(os.fsdecode(os.path.join(os.fsencode(m), b"\xff"))).touch(),
)

# Digests


def digest(value: str) -> Callable[[Scene], None]:
    return lambda scene: scene.resources[0].update(digest=value)


statement_change(
    "algorithm contradicts the manifest", "VER-ALGORITHM-MISMATCH", lambda s: s.resources[0].update(algorithm="blake2b")
)
statement_change(
    "manifest says blake2b, files say sha256",
    "VER-ALGORITHM-MISMATCH",
    lambda s: s.serialization.update(hash_type="blake2b"),
)
statement_change("md5", "VER-ALGORITHM", lambda s: s.serialization.update(hash_type="md5"))
statement_change("unknown method", "VER-STATEMENT-TYPE", lambda s: s.serialization.update(method="tree"))
statement_change("short digest", "VER-DIGEST-FORM", digest("00" * 16))
statement_change("empty digest", "VER-DIGEST-FORM", digest(""))
statement_change(
    "upper-case digest", "VER-DIGEST-FORM", lambda s: s.resources[0].update(digest=s.resources[0]["digest"].upper())
)
statement_change("digest that is not hexadecimal", "VER-DIGEST-FORM", digest("zz" * 32))
statement_change(
    "spaces in a digest", "VER-DIGEST-FORM", lambda s: s.resources[0].update(digest=" " + s.resources[0]["digest"][1:])
)
statement_change(
    "root digest of something else",
    "VER-ROOT-DIGEST",
    lambda s: s.statement["subject"][0].update(digest={"sha256": "00" * 32}),
)
statement_change(
    "side digest of other content",
    "VER-CHANGED",
    lambda s: s.resources[0].update(annotations={"interlock/blake3": "00" * 32}),
)

# Shards


def shards(*ranges: tuple[int, int]) -> Callable[[Scene], None]:
    def change(scene: Scene) -> None:
        scene.serialization.update(method="shards", shard_size=300)
        scene.resources.clear()
        for name, data in FILES.items():
            for start, end in ranges if name == "w.bin" else ((0, len(data)),):
                scene.resources.append(scene.entry(f"{name}:{start}:{end}", data[start:end]))

    return change


SIZE = len(FILES["w.bin"])
statement_change("shards with a gap", "VER-SHARDS", shards((0, 300), (400, SIZE)))
statement_change("shards that overlap", "VER-SHARDS", shards((0, 300), (200, 500), (500, SIZE)))
statement_change("shards of other sizes", "VER-SHARDS", shards((0, 100), (100, 400), (400, SIZE)))
statement_change("shards that end early", "VER-CHANGED", shards((0, 300), (300, 600), (600, SIZE - 1)))
statement_change("shards that go on", "VER-CHANGED", shards((0, 300), (300, 600), (600, SIZE + 1)))
statement_change(
    "shard names that are none", "VER-SHARDS", lambda s: (shards((0, SIZE))(s), s.resources[0].update(name="w.bin:0"))
)


@case("empty file beside shards", "VER-EXTRA")
def _(scene: Scene) -> None:
    shards((0, 300), (300, 600), (600, SIZE))(scene)
    scene.write()
    (scene.model / "__init__.py").touch()


# The tree


def outside(model: Path) -> Path:
    folder = model.parent / "outside"
    folder.mkdir()
    (folder / "evil.py").write_text("import os")
    return folder


def swapped(model: Path) -> None:
    moved = model.parent / "moved"
    (model / "a").rename(moved)
    (model / "a").symlink_to(moved)


def as_link(model: Path) -> None:
    (model / "w.bin").rename(model.parent / "w.bin")
    (model / "w.bin").symlink_to("../w.bin")


@case("directory link that the signer followed", "VER-SYMLINK", options=("--allow_symlinks",))
def _(scene: Scene) -> None:
    scene.serialization["allow_symlinks"] = True
    scene.write()
    (scene.model / "link").symlink_to(outside(scene.model))


@case("file link that the signer followed", "VER-SYMLINK", options=("--allow_symlinks",))
def _(scene: Scene) -> None:
    scene.serialization["allow_symlinks"] = True
    scene.write()
    as_link(scene.model)


tree_change("file replaced by a link to the same content", "VER-SYMLINK", as_link)
tree_change("folder replaced by a link to the same content", "VER-SYMLINK", swapped)
tree_change("dangling link", "VER-SYMLINK", lambda m: (m / "link").symlink_to("nowhere"))
tree_change("link to itself", "VER-SYMLINK", lambda m: (m / "link").symlink_to("link"))
tree_change("pipe", "VER-SPECIAL-FILE", lambda m: os.mkfifo(m / "pipe"))


@case("socket", "VER-SPECIAL-FILE")
def _(scene: Scene) -> None:
    scene.write()
    here = os.getcwd()
    os.chdir(scene.model)  # socket paths are short
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind("socket")
    finally:
        os.chdir(here)


tree_change("file changed, same size", "VER-CHANGED", lambda m: (m / "a/b.txt").write_bytes(b"tex!"))
tree_change("file grown", "VER-CHANGED", lambda m: (m / "a/b.txt").write_bytes(b"text "))
tree_change("file emptied", "VER-CHANGED", lambda m: (m / "a/b.txt").write_bytes(b""))
tree_change("file missing", "VER-MISSING", lambda m: (m / "a/b.txt").unlink())
tree_change("file added", "VER-EXTRA", lambda m: (m / "modeling.py").write_text("import os"))
tree_change("hidden file added", "VER-EXTRA", lambda m: (m / "a/.pth").write_text("import os"))
tree_change("empty file added", "VER-EXTRA", lambda m: (m / "__init__.py").touch())
tree_change("file added in nested .git", "VER-EXTRA", lambda m: ((m / "a/.git").mkdir(), (m / "a/.git/HEAD").touch()))
tree_change(
    "git attributes added at the top", "VER-EXTRA", lambda m: (m / ".gitattributes").write_text("* filter=evil")
)
tree_change("file became a folder", "VER-MISSING", lambda m: ((m / "w.bin").unlink(), (m / "w.bin").mkdir()))
tree_change(
    "two files swapped",
    "VER-CHANGED",
    lambda m: (
        (m / "w.bin").rename(m / "t"),
        (m / "config.json").rename(m / "w.bin"),
        (m / "t").rename(m / "config.json"),
    ),
)


@case("bundle lists itself", "VER-BUNDLE-IN-TREE")
def _(scene: Scene) -> None:
    scene.signature = scene.model / "model.sig"
    scene.add("model.sig", b"x")
    scene.write()


# The bundle


bundle_change("hint of another key", "VER-KEY", lambda d: d["verificationMaterial"]["publicKey"].update(hint="00" * 32))
bundle_change("payload type", "VER-PAYLOAD-TYPE", lambda d: d["dsseEnvelope"].update(payloadType="text/plain"))
bundle_change("no signature", "VER-SIGNATURE-COUNT", lambda d: d["dsseEnvelope"].update(signatures=[]))
bundle_change(
    "bogus signature first",
    "VER-SIGNATURE-COUNT",
    lambda d: d["dsseEnvelope"]["signatures"].insert(0, {"sig": "MAYCAQECAQE="}),
)
bundle_change(
    "bogus signature second",
    "VER-SIGNATURE-COUNT",
    lambda d: d["dsseEnvelope"]["signatures"].append({"sig": "MAYCAQECAQE="}),
)
bundle_change(
    "signature of ones", "VER-SIGNATURE", lambda d: d["dsseEnvelope"]["signatures"][0].update(sig="MAYCAQECAQE=")
)
bundle_change(
    "signature of zeros", "VER-SIGNATURE", lambda d: d["dsseEnvelope"]["signatures"][0].update(sig="MAYCAQACAQA=")
)
bundle_change(
    "signature that is not DER", "VER-SIGNATURE", lambda d: d["dsseEnvelope"]["signatures"][0].update(sig="AAAA")
)
bundle_change(
    "payload changed",
    "VER-SIGNATURE",
    lambda d: d["dsseEnvelope"].update(
        payload=base64.b64encode(base64.b64decode(d["dsseEnvelope"]["payload"]) + b" ").decode()
    ),
)
bundle_change("payload that is not base64", "VER-MALFORMED", lambda d: d["dsseEnvelope"].update(payload="%%%"))
bundle_change(
    "old media type",
    "VER-MEDIA-TYPE",
    lambda d: d.update(mediaType="application/vnd.dev.sigstore.bundle+json;version=0.1"),
)
bundle_change("other media type", "VER-MEDIA-TYPE", lambda d: d.update(mediaType="application/json"))
bundle_change("unknown field", "VER-MALFORMED", lambda d: d.update(extra=1))
bundle_change(
    "key and certificate at once",
    "VER-MALFORMED",
    lambda d: d["verificationMaterial"].update(certificate={"rawBytes": "AAAA"}),
)
bundle_change("no key, no certificate", "VER-MALFORMED", lambda d: d["verificationMaterial"].pop("publicKey") and None)
bundle_change(
    "certificate material in key mode",
    "VER-MODE",
    lambda d: d.update(verificationMaterial={"x509CertificateChain": {"certificates": [{"rawBytes": "AAAA"}]}}),
)
bundle_change(
    "message signature instead of an envelope",
    "VER-MALFORMED",
    lambda d: d.update(messageSignature=d.pop("dsseEnvelope")),
)
bundle_change("a list", "VER-MALFORMED", lambda d: [d])


@case("key bundle where certificates are asked for", "VER-MODE", mode="certificate")
def _(scene: Scene) -> None:
    scene.write()


@case("signed by a stranger who keeps the hint", "VER-SIGNATURE")
def _(scene: Scene) -> None:
    document = scene.document()
    stranger = ec.generate_private_key(ec.SECP256R1())
    payload = base64.b64decode(document["dsseEnvelope"]["payload"])
    signature = stranger.sign(pae(payload), ec.ECDSA(hashes.SHA256()))
    document["dsseEnvelope"]["signatures"][0]["sig"] = base64.b64encode(signature).decode()
    scene.write(document)


@case("signed over the bare payload", "VER-SIGNATURE")
def _(scene: Scene) -> None:
    payload = scene.payload()
    scene.write(scene.document(payload, payload))


@case("signed over the encoding of v0.2", "VER-SIGNATURE")
def _(scene: Scene) -> None:
    payload = scene.payload()
    kind = "application/vnd.in-toto+json"
    message = f"DSSEV1 {len(kind)} {kind} {len(payload)} {payload!r}".encode()
    scene.write(scene.document(payload, message))


def text_change(label: str, code: str, change: Callable[[bytes], bytes]) -> None:
    @case(label, code)
    def _(scene: Scene) -> None:
        scene.write()
        scene.signature.write_bytes(change(scene.signature.read_bytes()))


text_change("duplicate key in the bundle", "VER-DUPLICATE-KEY", lambda t: b'{"mediaType": "x", ' + t[1:])
text_change("data after the bundle", "VER-MALFORMED", lambda t: t + b"{}")
text_change("empty bundle", "VER-MALFORMED", lambda _: b"")
text_change("binary bundle", "VER-MALFORMED", lambda _: bytes(range(256)))
text_change("UTF-16 bundle", "VER-MALFORMED", lambda t: t.decode().encode("utf-16"))
text_change("NaN in the bundle", "VER-MALFORMED", lambda t: b'{"x": NaN, ' + t[1:])
text_change("100,000 open brackets", "VER-MALFORMED", lambda _: b"[" * 100_000)
text_change("number of a million digits", "VER-MALFORMED", lambda t: b'{"x": ' + b"9" * 1_000_000 + b", " + t[1:])
text_change("half a bundle", "VER-MALFORMED", lambda t: t[: len(t) // 2])


@case("bundle of 129 MiB", "VER-OVERSIZED")
def _(scene: Scene) -> None:
    scene.write()
    os.truncate(scene.signature, 129 << 20)


# The statement


def payload_change(label: str, code: str, change: Callable[[bytes], bytes]) -> None:
    @case(label, code)
    def _(scene: Scene) -> None:
        scene.write(scene.document(change(scene.payload())))


payload_change("duplicate key in the statement", "VER-DUPLICATE-KEY", lambda p: b'{"_type": "x", ' + p[1:])
payload_change(
    "duplicate resources in the statement",
    "VER-DUPLICATE-KEY",
    lambda p: p.replace(b'"resources": [', b'"resources": [], "resources": [', 1),
)
payload_change("data after the statement", "VER-MALFORMED", lambda p: p + b"{}")
statement_change(
    "unknown statement type",
    "VER-STATEMENT-TYPE",
    lambda s: s.statement.update(_type="https://in-toto.io/Statement/v2"),
)
statement_change(
    "predicate of v0.1",
    "VER-STATEMENT-TYPE",
    lambda s: s.statement.update(predicateType="https://model_signing/Digests/v0.1"),
)
statement_change(
    "provenance instead of a model signature",
    "VER-STATEMENT-TYPE",
    lambda s: s.statement.update(predicateType="https://slsa.dev/provenance/v1"),
)
statement_change(
    "two subjects",
    "VER-SUBJECT",
    lambda s: (s.payload(), s.statement["subject"].append({"name": "x", "digest": {"sha256": "00" * 32}})),
)
statement_change("no subject", "VER-SUBJECT", lambda s: s.statement.update(subject=[]))
statement_change(
    "subject under another algorithm",
    "VER-SUBJECT",
    lambda s: s.statement["subject"][0].update(digest={"sha512": "00" * 64}),
)
statement_change(
    "resources is an object", "VER-MALFORMED", lambda s: (s.payload(), s.statement["predicate"].update(resources={}))
)

# Certificates


def certificate(label: str, *codes: str, **how: Any) -> None:
    @case(label, *codes, mode="certificate")
    def _(scene: Scene) -> None:
        scene.write_certificate(issue("leaf", scene.authority, **how))


certificate("expired certificate", "VER-EXPIRED", start=NOW - 9 * DAY, end=NOW - DAY)
certificate("certificate of tomorrow", "VER-NOT-YET-VALID", start=NOW + DAY)
certificate("certificate of a web server", "VER-CERTIFICATE-PURPOSE", purposes=[ExtendedKeyUsageOID.SERVER_AUTH])
certificate("certificate of a mail client", "VER-CERTIFICATE-PURPOSE", purposes=[ExtendedKeyUsageOID.EMAIL_PROTECTION])
certificate("certificate without any purpose", "VER-CERTIFICATE-PURPOSE", purposes=None)
certificate("certificate that may not sign", "VER-CERTIFICATE-PURPOSE", may_sign=False, purposes=None)
certificate("certificate of an authority", "VER-CERTIFICATE-PURPOSE", ca=True)


@case("self-signed certificate", "VER-CHAIN", mode="certificate")
def _(scene: Scene) -> None:
    scene.write_certificate(issue("root"))


@case("certificate of a namesake authority", "VER-CHAIN", mode="certificate")
def _(scene: Scene) -> None:
    namesake = issue("root", ca=True)
    scene.write_certificate(issue("leaf", namesake), namesake)


@case("certificate issued by a leaf", "VER-CHAIN", mode="certificate")
def _(scene: Scene) -> None:
    leaf = issue("leaf", scene.authority)
    scene.write_certificate(issue("leaf of a leaf", leaf), leaf)


def make_scene(folder: Path, key: Path, authority: Holder) -> Scene:
    """A fresh scene below a folder."""
    model = folder / "model"
    model.mkdir(parents=True)
    return Scene(model, folder / "model.sig", load_private(key), authority)
