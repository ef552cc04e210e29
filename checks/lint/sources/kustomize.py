"""Kustomize folders, built by `kubectl kustomize` or `kustomize`, with every line led back to where it was written.

An entry of a built object comes from the entry at the same place of the source object; what a patch or generator adds
comes from the kustomization file. Nothing is fetched: a folder that names remote resources is not built.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..lazy import lazy
from .table import KUSTOMIZATIONS
from .text import MAX_BYTES, TextFile, Unreadable, decode
from .yamlnodes import Document, Map, Seq, text
from .yamlreader import documents

TIMEOUT = 30
"""Seconds a build may take."""

_REMOTE = lazy(r"^(https?|ssh|git|oci|s3|gs)(::|:)|^git@|^(www\.)?(github|gitlab|bitbucket)\.(com|org)[/:]|\?ref=")
_LISTS = ("resources", "bases", "components", "patchesStrategicMerge", "configurations", "crds", "generators")
_MAX_FOLDERS = 200


@dataclass
class Sources:
    """What a kustomization builds from: its files, its own and included kustomization files among them."""

    files: list[str] = field(default_factory=list[str])
    folders: list[str] = field(default_factory=list[str])
    kustomizations: list[str] = field(default_factory=list[str])


def kustomization_in(folder: str) -> str | None:
    """The kustomization file of a folder."""
    return next((str(Path(folder, name)) for name in KUSTOMIZATIONS if Path(folder, name).is_file()), None)


def tool() -> list[str] | None:
    """The command that builds a folder, None where neither program is installed."""
    if shutil.which("kubectl"):
        return ["kubectl", "kustomize"]
    return ["kustomize", "build"] if shutil.which("kustomize") else None


def sources(folder: str) -> Sources:
    """The files that a folder builds from. Raises Unreadable on remote or missing ones."""
    found = Sources()
    queue = [folder]
    while queue:
        here = str(Path(queue.pop()))
        if here in found.folders:
            continue
        found.folders.append(here)
        if len(found.folders) > _MAX_FOLDERS:
            raise Unreadable(f"kustomization of more than {_MAX_FOLDERS} folders")
        own = kustomization_in(here)
        if own is None:
            raise Unreadable(f"{here} has no kustomization file")
        found.kustomizations.append(own)
        for entry in _entries(own):
            if _REMOTE.search(entry):
                hint = "fetch it first, or pipe the output of kubectl kustomize into interlock lint -"
                raise Unreadable(f"kustomization with the remote resource {entry}: nothing is fetched", hint=hint)
            path = _normal(Path(here, entry))
            if path.is_dir():
                queue.append(str(path))
            elif path.is_file():
                found.files.append(str(path))
    return found


def _normal(path: Path) -> Path:
    """A path without `..` in the middle, relative as it was."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] not in ("..", "/"):
            parts.pop()
        else:
            parts.append(part)
    return Path(*parts)


def _entries(kustomization: str) -> Iterator[str]:
    """Files and folders that a kustomization names."""
    for document in documents(_file(kustomization)):
        root = document.root
        if not isinstance(root, Map):
            continue
        for key in _LISTS:
            for entry in root[key] if isinstance(root.get(key), Seq) else ():
                if isinstance(entry, str) and "\n" not in entry:
                    yield entry
        for key in ("patches", "patchesJson6902"):
            yield from (entry.get_str("path") for entry in root.get_maps(key) if entry.get_str("path"))
        if root.get("helmCharts"):
            raise Unreadable("kustomization with Helm charts: they are fetched when it is built")


def _file(path: str) -> TextFile:
    with Path(path).open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Unreadable(f"{path} is larger than {MAX_BYTES // 2**20} MiB")
    return TextFile(path, decode(data))


def build(folder: str, found: Sources) -> TextFile:
    """What the folder builds, its lines led back to the files in `found`. Raises Unreadable where it does not build."""
    command = tool()
    if command is None:
        raise Unreadable("kustomization not built: there is no kubectl", hint="install kubectl or kustomize")
    try:
        done = subprocess.run([*command, folder], capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unreadable(f"kustomization not built: more than {TIMEOUT} s") from error
    if done.returncode:
        message = " ".join(done.stderr.decode(errors="replace").split()).removeprefix("error: ")
        raise Unreadable(f"kustomization not built: {message if len(message) <= 200 else f'…{message[-199:]}'}")
    if len(done.stdout) > MAX_BYTES:
        raise Unreadable(f"kustomization builds more than {MAX_BYTES // 2**20} MiB")
    own = found.kustomizations[0]
    file = TextFile(own, decode(done.stdout))
    places: dict[int, tuple[str, int]] = {}

    def origin(line: int) -> tuple[str, int]:
        if not places:
            places.update(_places(TextFile(own, file.text), found))
        for number in range(line, 0, -1):
            if number in places:
                return places[number]
        return own, 1

    file.origin = origin
    return file


def _places(built: TextFile, found: Sources) -> dict[int, tuple[str, int]]:
    """Built line -> (file, line), for the first line of every entry of every object."""
    originals: dict[str, list[Document]] = {}
    for path in dict.fromkeys(found.files):
        for document in documents(_file(path)):
            if isinstance(document.root, Map):
                originals.setdefault(document.root.get_str("kind"), []).append(document)
    places: dict[int, tuple[str, int]] = {}
    for document in documents(built):
        root = document.root
        if not isinstance(root, Map):
            continue
        original = _original(root, originals.get(root.get_str("kind"), []))
        if original is None:
            path, line = _generator(root, found)
            places[document.line] = (path, line)
        else:
            places[document.line] = (original.file.path, original.line)
            _pair(root, original.root, original.file.path, places)
    return places


def _original(root: Map, candidates: list[Document]) -> Document | None:
    """The source object that a built object comes from: the longest name that its own contains."""
    name = root.get_map("metadata").get_str("name")
    named = [(document.root.get_map("metadata").get_str("name"), document) for document in candidates]
    fitting = [(len(each), document) for each, document in named if each and each in name]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _generator(root: Map, found: Sources) -> tuple[str, int]:
    """The entry of a kustomization that generates an object."""
    name = root.get_map("metadata").get_str("name")
    key = f"{root.get_str('kind')[:1].lower()}{root.get_str('kind')[1:]}Generator"
    for path in found.kustomizations:
        for document in documents(_file(path)):
            if isinstance(document.root, Map):
                for entry in document.root.get_maps(key):
                    if entry.get_str("name") and entry.get_str("name") in name:
                        return path, entry.span("name").line
    return found.kustomizations[0], 1


def _pair(built: Any, source: Any, path: str, places: dict[int, tuple[str, int]]) -> None:
    """Note where the entries of a container come from; what the source lacks belongs to the entry around it."""
    if isinstance(built, Map) and isinstance(source, Map):
        for key, value in built.items():
            if key in source:
                places[built.span(key).key_line] = (path, source.span(key).key_line)
                _pair(value, source[key], path, places)
    elif isinstance(built, Seq) and isinstance(source, Seq):
        for index, value in enumerate(built):
            place = _same(value, index, source)
            if place is not None:
                places.setdefault(built.span(index).line, (path, source.span(place).line))
                _pair(value, source[place], path, places)


def _same(value: Any, index: int, source: Seq) -> int | None:
    """The item of the source that an item comes from: by name where it has one, else by text, else by place."""
    if isinstance(value, Map) and value.get_str("name"):
        named = [i for i, item in enumerate(source) if isinstance(item, Map) and item.get_str("name") == value["name"]]
        if named:
            return named[0]
    if not isinstance(value, Map | Seq):
        equal = [i for i, item in enumerate(source) if text(item) == text(value)]
        return equal[0] if equal else None
    return index if index < len(source) else None
