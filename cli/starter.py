"""The first interlock.yaml: what a folder holds is written in, the rest stands ready as comments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..templates.scalars import encode

# A folder with one of these is a model; in order of how sure they are.
_MODEL_FILES = ("model.safetensors.index.json", "tokenizer.json", "config.json", "config.pbtxt", "model.sig")
_MODEL_SUFFIXES = (".onnx", ".safetensors", ".gguf", ".plan")
_DEPLOY_FOLDERS = ("deploy", "deployment", "k8s", "kubernetes", "manifests", "charts", "serving")
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "build", "dist"})
_MAX_ENTRIES = 5_000


@dataclass(slots=True)
class Found:
    """What a folder holds, as paths relative to it."""

    models: list[str] = field(default_factory=list[str])
    registries: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    deploy: list[str] = field(default_factory=list[str])


def look(root: Path) -> Found:
    """Look two levels deep, without following links."""
    found = Found()
    for folder, names in _folders(root):
        place = folder.relative_to(root).as_posix()
        here = "" if place == "." else f"{place}/"
        if "oci-layout" in names:
            found.registries.append(f"oci-layout:{place}")
            continue
        single = [name for name in names if name.endswith(_MODEL_SUFFIXES)]
        if place != "." and (single or any(name in names for name in _MODEL_FILES)):
            found.models.append(here)
        elif single:
            found.models.extend(single)
        found.keys.extend(here + name for name in names if name.endswith(".pub") and _is_public_key(folder / name))
        if place in _DEPLOY_FOLDERS:
            found.deploy.append(here)
    return found


def _folders(root: Path) -> Iterator[tuple[Path, list[str]]]:
    budget = _MAX_ENTRIES
    for folder, inner, names in os.walk(root):
        budget -= len(names) + len(inner)
        depth = len(Path(folder).relative_to(root).parts)
        inner[:] = sorted(n for n in inner if _is_text(n) and n[0] != "." and n not in _SKIPPED) if depth < 2 else []
        yield Path(folder), sorted(filter(_is_text, names))
        if budget < 0:
            return


def _is_text(name: str) -> bool:
    """Whether a file name can be written into a YAML file at all."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_public_key(path: Path) -> bool:
    """PEM, so that an SSH key of the same suffix is not taken for one."""
    try:
        with path.open("rb") as stream:
            return path.is_file() and stream.read(27).startswith(b"-----BEGIN PUBLIC KEY-----")
    except OSError:
        return False


def text(name: str, found: Found) -> str:
    """The file's text. Everything in it is valid as it stands; comments show what else can be said."""

    def line(key: str, value: str | None, example: str, note: str) -> str:
        body = f"{key}: {encode(value)}" if value else f"# {key}: {example}"
        return f"{body:<44} # {note}"

    lint = encode(found.deploy) if found.deploy else "[.]"
    gates = ", ".join(["lint", *(["verify"] if found.keys else []), *(["validate"] if found.models else [])])
    return "\n".join(
        [
            "# What interlock needs to know about this model. All keys: interlock schema; topics: interlock help.",
            f"name: {encode(name)}",
            "",
            line("model", next(iter(found.models), None), "model/", "the new version"),
            line("live", None, "oci-layout:registry:prod", "what serves now"),
            line("registry", next(iter(found.registries), None), "oci-layout:registry", "where versions are published"),
            "",
            "# Who may sign. Without a signer, verify refuses every model.",
            "trust:" if found.keys else "trust: {}",
            *([f"  keys: {encode(found.keys)}"] if found.keys else ["# trust:", "#   keys: [release.pub]"]),
            "#   identities:",
            "#     - issuer: https://token.actions.githubusercontent.com",
            "#       subject: https://github.com/acme/models/.github/workflows/release.yml@refs/heads/main",
            "",
            "# What the clients rely on: wire, ids, tensor, index or strict.",
            "contract:",
            "  level: tensor",
            "",
            "lint:",
            f"  paths: {lint}",
            "",
            "# Environments in order of promotion, and the gates that must pass before each.",
            "stages:",
            "  staging:",
            f"    gates: [{gates}]",
            "  prod:",
            "    from: staging",
            f"    gates: [{gates}]",
            "",
        ]
    )
