"""Model references: what a string that names a model is, and whether it names one fixed content.

Hub ids follow the Hugging Face Hub (`owner/name`, a revision being a branch, tag or commit); KServe writes them
`hf://owner/name:revision`.
"""

from __future__ import annotations

import re

from ..paths import has_version
from ..sources.argv import is_placeholder

COMMIT = re.compile(r"^[0-9a-f]{40}$")
_HUB_ID = re.compile(r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$")
# First components that are folders of an image or of a checkout far more often than owners on a hub.
_FOLDERS = frozenset(
    [
        "app",
        "artifacts",
        "assets",
        "cache",
        "checkpoint",
        "checkpoints",
        "config",
        "data",
        "dist",
        "engines",
        "home",
        "local",
        "mnt",
        "model",
        "model_repository",
        "model_store",
        "models",
        "opt",
        "out",
        "output",
        "pretrained",
        "pvc",
        "repo",
        "runs",
        "src",
        "srv",
        "tmp",
        "usr",
        "var",
        "volume",
        "weights",
        "workdir",
        "workspace",
    ]
)
_FILE_ENDINGS = (".bin", ".engine", ".gguf", ".h5", ".json", ".mar", ".onnx", ".pb", ".pkl", ".plan", ".pt", ".pth")

# What is a model's name elsewhere is more often a version in a bucket, whose owner names its folders: model-1.4, r3.
_NUMBERED = re.compile(r"(^|[-_.])(v\d+|\d+\.\d+|r\d+|explainer-\d[\d.]*)($|[-_.])", re.IGNORECASE)
_VERSION_QUERY = re.compile(r"[?&](versionId|generation|snapshot)=|#\d{6,}$", re.IGNORECASE)


def hub_id(value: str) -> str:
    """`owner/name[:revision]` when a value names a model on a hub, else empty: paths, URLs and placeholders."""
    value = value.strip()
    explicit = value.startswith("hf://")
    rest = value.removeprefix("hf://")
    if not rest or is_placeholder(value):
        return ""
    name = rest.partition(":")[0] if explicit else rest
    if not _HUB_ID.match(name) or (not explicit and name.endswith(_FILE_ENDINGS)):
        return ""
    return rest if explicit or name.split("/")[0] not in _FOLDERS else ""


def is_commit(revision: str) -> bool:
    """Whether a revision is a full commit, the only kind that cannot move."""
    return bool(COMMIT.match(revision.strip()))


def is_versioned(location: str) -> bool:
    """Whether a URL or bucket path carries a version, date or digest in its path or query."""
    if _VERSION_QUERY.search(location):
        return True
    _, _, rest = location.partition("://")
    path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")[2]
    return has_version(path) or any(_NUMBERED.search(segment) for segment in path.split("/"))
