"""The files of a model: a single file or a directory, listed without following links out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .errors import UnreadableModel

MAX_FILES = 100_000
# Caches and version control of downloaders; nothing that serves reads them.
_SKIPPED = frozenset({".git", ".cache", ".locks", "__pycache__"})

# Kinds by exact name first, then by suffix, then by the first bytes of a file with a name that says nothing.
_NAMES = {
    "config.json": "config",
    "generation_config.json": "generation-config",
    "tokenizer.json": "tokenizer",
    "tekken.json": "tokenizer",
    "vocab.txt": "tokenizer",
    "vocab.json": "tokenizer",
    "merges.txt": "tokenizer",
    "tokenizer.model": "tokenizer",
    "spiece.model": "tokenizer",
    "sentencepiece.bpe.model": "tokenizer",
    "tokenizer_config.json": "tokenizer-config",
    "special_tokens_map.json": "tokenizer-config",
    "added_tokens.json": "tokenizer-config",
    "chat_template.jinja": "chat-template",
    "chat_template.json": "chat-template",
    "adapter_config.json": "adapter",
    "modules.json": "pooling",
    **dict.fromkeys(("labels.txt", "labels.json", "classes.txt", "classes.json", "label_map.json"), "labels"),
    **dict.fromkeys(("imagenet_classes.txt", "label_mapping.json", "id2label.json", "charset.txt"), "labels"),
    "config.pbtxt": "triton",
    "model.sig": "signature",
}
_SUFFIXES = {
    ".safetensors": "safetensors",
    ".onnx": "onnx",
    ".gguf": "gguf",
    ".engine": "engine",
    ".plan": "engine",
    ".tiktoken": "tokenizer",
    ".spm": "tokenizer",
    ".jinja": "chat-template",
    ".py": "code",
    ".bin": "pickle",
    ".pt": "pickle",
    ".pth": "pickle",
    ".ckpt": "pickle",
    ".pkl": "pickle",
    ".pickle": "pickle",
    ".joblib": "pickle",
    ".dill": "pickle",
}


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file: `name` is its POSIX path inside the model, `path` where to open it, `size` in bytes.

    `digest` is what a registry says about its bytes, if it does. A `partial` file has its header only, and holes
    where its data would be.
    """

    name: str
    path: Path
    size: int
    kind: str
    digest: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True)
class ModelTree:
    """A model's files by name, in order. `single` is true when the model was given as one file.

    `empty` names the folders that hold nothing at all: to some servers a folder says something by its name.
    """

    root: Path
    files: dict[str, TreeFile] = field(default_factory=dict[str, TreeFile])
    single: bool = False
    empty: tuple[str, ...] = ()
    below: dict[str, dict[str, list[str]]] = field(
        default_factory=dict[str, dict[str, list[str]]], init=False, compare=False, repr=False
    )

    def folders(self, folder: str) -> dict[str, list[str]]:
        """The folders directly inside `folder`, each with the paths of its files in it; an empty one has none."""
        if "" not in self.below:  # all in one pass: a repository asks for each of its many folders
            self.below[""] = {}
            for name in (*self.files, *(f"{each}/" for each in self.empty)):
                parts = name.split("/")
                for depth, first in enumerate(parts[:-1]):
                    rest = "/".join(parts[depth + 1 :])
                    inside = self.below.setdefault("/".join(parts[:depth]), {}).setdefault(first, [])
                    inside.extend([rest] if rest and not rest.endswith("/") else [])
        return self.below.get(folder, {})

    def of(self, kind: str) -> list[TreeFile]:
        """The files of one kind, by name."""
        return [file for file in self.files.values() if file.kind == kind]

    @property
    def kinds(self) -> set[str]:
        """The kinds of file that are there."""
        return {file.kind for file in self.files.values()}


def read_tree(path: str | Path) -> ModelTree:
    """List a model file or directory.

    A symbolic link is followed only to a file inside the directory or, in a Hugging Face cache, to a blob of the
    same repository. Raises UnreadableModel for a missing path, an empty directory, a link that leads out or nowhere,
    and anything that is neither file nor directory.
    """
    root = Path(path)
    try:
        status = root.stat()
    except OSError as error:
        reason = "not found" if isinstance(error, FileNotFoundError) else (error.strerror or str(error)).lower()
        raise UnreadableModel(root, reason, hint="give a model file, a model directory or a reference") from error
    if stat.S_ISREG(status.st_mode):
        file = TreeFile(root.name, root, status.st_size, _kind(root.name, root, alone=True))
        return ModelTree(root.parent, {file.name: file}, single=True)
    if not stat.S_ISDIR(status.st_mode):
        raise UnreadableModel(root, "neither a file nor a directory")
    empty: list[str] = []
    files = {file.name: file for file in sorted(_walk(root, empty), key=lambda file: file.name)}
    if not files:
        raise UnreadableModel(root, "the directory holds no files", hint="was the download or checkout complete?")
    return ModelTree(root, files, empty=tuple(sorted(empty)))


def _walk(root: Path, empty: list[str]) -> Iterator[TreeFile]:
    """The files below `root`; folders without any are put into `empty`."""
    allowed = _allowed_roots(root)
    count = 0

    def fail(error: OSError) -> None:
        raise UnreadableModel(error.filename or root, (error.strerror or str(error)).lower()) from error

    for folder, folders, names in os.walk(root, onerror=fail):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in folders:
            if (here / name).is_symlink():
                raise UnreadableModel(here / name, "is a link to a directory", hint="copy the directory in its place")
        if not folders and not names:
            empty.append(here.relative_to(root).as_posix())
        for name in names:
            count += 1
            if count > MAX_FILES:
                raise UnreadableModel(root, f"holds more than {MAX_FILES:,} files", hint="is this a model directory?")
            path = here / name
            size = _size(path, allowed)
            inside = PurePosixPath(path.relative_to(root)).as_posix()
            yield TreeFile(inside, path, size, _kind(inside, path))


def _allowed_roots(root: Path) -> tuple[Path, ...]:
    """Where links may lead: the directory itself and, for `models--x/snapshots/REV`, that repository's blobs."""
    real = root.resolve()
    if real.parent.name == "snapshots" and (real.parent.parent / "blobs").is_dir():
        return (real, real.parent.parent / "blobs")
    return (real,)


def _size(path: Path, allowed: tuple[Path, ...]) -> int:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        try:
            target = path.resolve(strict=True)
            status = target.stat()
        except (OSError, RuntimeError) as error:
            raise UnreadableModel(path, "is a link to nowhere", hint="was the download complete?") from error
        if not any(target.is_relative_to(base) for base in allowed):
            raise UnreadableModel(path, "is a link that leads out of the model", hint="copy the file in its place")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableModel(path, "is not a regular file")
    return status.st_size


def _kind(name: str, path: Path, *, alone: bool = False) -> str:
    kind = kind_of(name)
    return _sniff(path) if kind == "other" and alone else kind


def kind_of(name: str) -> str:
    """The kind of a file by its name; `other` where the name says nothing."""
    base = name.rsplit("/", 1)[-1].lower()
    if base.endswith(".safetensors.index.json"):
        return "index"
    if base in _NAMES:
        return _NAMES[base]
    if ".model.v" in base or base.startswith("tekken") or base.endswith("tokenizer.json"):
        return "tokenizer"
    return _SUFFIXES.get(os.path.splitext(base)[1], "other")  # noqa: PTH122 - a name, not a path on disk


def _sniff(path: Path) -> str:
    """The kind of a single file by its first bytes, for blobs with digests for names."""
    try:
        with path.open("rb") as stream:
            head = stream.read(16)
    except OSError as error:
        raise UnreadableModel(path, (error.strerror or str(error)).lower()) from error
    if head[:4] == b"GGUF":
        return "gguf"
    if len(head) >= 9 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 32:
        return "safetensors"
    # ModelProto starts with ir_version (field 1, varint) and SentencePiece with a piece (field 1, bytes).
    if head[:1] == b"\x08":
        return "onnx"
    return "tokenizer" if head[:1] in (b"\x0a", b"{") else "other"
