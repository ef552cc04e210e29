"""ModelPack (CNCF model-spec 0.0.7): one OCI manifest for a model, one raw layer a file.

The manifest is a function of the files alone. The same directory has the same digest wherever it is published, and
publishing it twice changes nothing; so neither names nor times nor owners are written into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ..report.errors import BadInput
from .descriptor import (
    MANIFEST,
    MAX_MANIFEST,
    TITLE,
    Descriptor,
    canonical,
    digest_of,
    parse_descriptor,
    parse_json,
)
from .tree import check_paths

ARTIFACT = "application/vnd.cncf.model.manifest.v1+json"
CONFIG = "application/vnd.cncf.model.config.v1+json"
FILEPATH = "org.cncf.model.filepath"

_LAYER = "application/vnd.cncf.model.{}.v1.raw"
_FORMATS = {".safetensors": "safetensors", ".onnx": "onnx", ".gguf": "gguf", ".pt": "pytorch", ".pth": "pytorch"}
_DOC = frozenset({".md", ".rst", ".pdf", ".png", ".jpg", ".svg"})
_DOC_NAMES = ("readme", "license", "licence", "notice", "usage_policy", "copying")
_CODE = frozenset({".py", ".sh", ".cu", ".cpp", ".cc", ".h", ".so", ".ipynb"})
_CONFIG = frozenset({".json", ".jinja", ".yaml", ".yml", ".toml", ".txt", ".pbtxt", ".sig", ".vocab", ".bpe", ".cfg"})
_CONFIG_NAMES = frozenset({"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "model.sig"})
_DATASET = frozenset({".parquet", ".arrow", ".jsonl", ".csv"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a version: its path inside the model and the layer that holds its bytes."""

    path: str
    layer: Descriptor


@dataclass(frozen=True, slots=True)
class Manifest:
    """A version: the bytes that are its identity, their digest, the config descriptor and the files."""

    raw: bytes
    digest: str
    config: Descriptor
    entries: tuple[Entry, ...]

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(entry.layer.size for entry in self.entries)

    @property
    def descriptor(self) -> Descriptor:
        """What an index lists for this version."""
        return Descriptor(MANIFEST, self.digest, len(self.raw), artifact_type=ARTIFACT)


def kind_of(path: str) -> str:
    """What a file is to ModelPack, by its name: weight, weight.config, doc, code or dataset."""
    name = PurePosixPath(path).name.lower()
    suffix = PurePosixPath(name).suffix
    if suffix in _DOC or name.startswith(_DOC_NAMES):
        return "doc"
    if suffix in _CODE:
        return "code"
    if suffix in _DATASET:
        return "dataset"
    return "weight.config" if suffix in _CONFIG or name in _CONFIG_NAMES else "weight"


def build(files: Sequence[tuple[str, str, int]]) -> tuple[Manifest, bytes]:
    """The manifest and the config blob of files given as (path, digest, size), in any order.

    Raises BadInput when there are so many files that the manifest would pass the 4 MiB that registries accept.
    """
    files = sorted(files, key=lambda file: file[0].encode())
    check_paths([path for path, _, _ in files], "model")
    layers = [
        Descriptor(_LAYER.format(kind_of(path)), digest, size, {FILEPATH: path, TITLE: path})
        for path, digest, size in files
    ]
    formats = sorted({_FORMATS[s] for path, _, _ in files if (s := PurePosixPath(path).suffix.lower()) in _FORMATS})
    config = canonical(
        {
            "descriptor": {},
            "config": {"format": formats[0]} if len(formats) == 1 else {},
            # Raw layers are stored uncompressed, so the digest of the content is that of the layer.
            "modelfs": {"type": "layers", "diffIds": [layer.digest for layer in layers]},
        }
    )
    raw = canonical(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": ARTIFACT,
            "config": Descriptor(CONFIG, digest_of(config), len(config)).to_json(),
            "layers": [layer.to_json() for layer in layers],
        }
    )
    if len(raw) > MAX_MANIFEST:
        reason = f"{len(files)} files make a manifest of {len(raw)} bytes, registries accept {MAX_MANIFEST}"
        raise BadInput("model", reason, hint="pack small files into one")
    return parse(raw, "model"), config


def parse(raw: bytes, what: str) -> Manifest:
    """Read a ModelPack manifest. Raises BadInput naming `what` on anything that cannot be pulled whole and safely."""
    tree = parse_json(raw, what)
    artifact = str(tree.get("artifactType"))[:100]
    if artifact != ARTIFACT:
        raise BadInput(what, f"not a model but {artifact!r}", hint="name a version made by interlock publish or modctl")
    layers = tree.get("layers")
    if not isinstance(layers, list) or not layers:
        raise BadInput(what, "the manifest lists no layers", hint="publish the model again")
    config = parse_descriptor(tree.get("config"), what, "/config")
    entries: list[Entry] = []
    for number, value in enumerate(layers):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        layer = parse_descriptor(value, what, f"/layers/{number}")
        if not layer.media_type.endswith(".raw"):
            reason = f"/layers/{number}: packed as {layer.media_type[:100]!r}, only raw layers are read"
            raise BadInput(what, reason, hint="publish it unpacked (modctl: build --raw)")
        path = layer.annotations.get(FILEPATH) or layer.annotations.get(TITLE)
        if path is None:
            raise BadInput(what, f"/layers/{number}: no annotation {FILEPATH} names its file", hint="publish it again")
        entries.append(Entry(path, layer))
    check_paths([entry.path for entry in entries], what)
    return Manifest(raw, digest_of(raw), config, tuple(entries))
