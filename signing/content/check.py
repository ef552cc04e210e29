"""Which look at a file its name asks for, and what the findings weigh under the policy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...models.source import FileSource
from ...report.errors import BadInput
from ...report.finding import Finding, Severity
from ..allow import Allowed
from ..hashing import open_listed
from ..reasons import REASONS, finding
from ..tree import Listing, Tree
from . import code

CODES = ("VER-PICKLE", "VER-PICKLE-IMPORT", "VER-REMOTE-CODE", "VER-EXTERNAL-DATA", "VER-CUSTOM-OP", "VER-ARCHIVE")
# The readers behind these load when a model has such a file: most have none, and start-up counts.
_PICKLE_SUFFIXES = ".pkl .pickle .pt .pth .ckpt .bin .joblib .dill .npy .npz .mar .jit .ptl"
_PICKLES = frozenset(_PICKLE_SUFFIXES.split())
_KERAS = (".keras", ".h5", ".hdf5")
_ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar", ".whl", ".jar", ".zst")


class Weights:
    """Severity by reason code, as the policy has it; `off` silences a code."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        for name in settings:
            if name not in CODES:
                raise BadInput("trust.content", f"'{name}' is no content reason", hint=f"they are {', '.join(CODES)}")
        self._settings = settings

    def weigh(self, found: Finding) -> Finding | None:
        """The finding with the policy's severity, or None."""
        setting = self._settings.get(found.rule, "")
        if setting == "off":
            return None
        return replace(found, severity=Severity(setting)) if setting else found


def check(tree: Tree, listing: Listing, weights: Weights, allowed: Allowed) -> list[Finding]:
    """Findings on what the files of a model can do. Run on verified files only: parsers see nothing unsigned."""
    result: list[Finding] = []
    for name in listing.files:
        for found in _file(tree, listing, name):
            weighed = weights.weigh(found)
            if weighed is None:
                continue
            kind = REASONS[found.rule].allow
            if weighed.severity is not Severity.INFO and kind == "path" and allowed(found.rule, name):
                continue
            result.append(weighed)
    return result


def _file(tree: Tree, listing: Listing, name: str) -> Iterator[Finding]:
    path = tree.locate(name)
    lower = name.lower()
    suffix = os.path.splitext(lower)[1]  # noqa: PTH122 - a name in a manifest, not a path on disk
    weight = code.severity(lower)
    if weight is not None:
        yield finding("VER-REMOTE-CODE", path, "is code; it runs where a server is told to", severity=weight)
    pickled = suffix in _PICKLES or lower.endswith(".pth.tar")
    if suffix in _ARCHIVES and not pickled:
        yield finding("VER-ARCHIVE", path, severity=Severity.INFO)
    config = lower.rpartition("/")[2] in code.CONFIGS
    if not (config or pickled or suffix == ".onnx" or suffix in _KERAS):
        return
    fd = open_listed(tree, name, listing.files[name])
    try:
        if pickled:
            from . import pickles

            if not pickles.may_hold(os.pread(fd, 8, 0), suffix):
                return
        source = FileSource(fd, path)
        if config:
            asked = code.asks_for_code(source)
            if asked:
                message = f"auto_map asks for {asked}: loading it needs trust_remote_code"
                yield finding("VER-REMOTE-CODE", path, message, severity=Severity.WARNING)
        elif suffix == ".onnx":
            from . import graphs

            yield from graphs.onnx(source, name, path, listing.files)
        elif suffix in _KERAS:
            from . import graphs

            yield from graphs.keras(source, fd, path)
        else:
            from . import pickles

            judged = pickles.judge(source, fd, suffix)
            if judged is not None:
                rule = "VER-PICKLE" if judged.severity is Severity.INFO else "VER-PICKLE-IMPORT"
                yield finding(rule, path, judged.message, severity=judged.severity)
    finally:
        os.close(fd)
