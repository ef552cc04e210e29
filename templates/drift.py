"""A rendered set as files: written, or compared with what is there."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from ..report.errors import BadInput

# First line of every file, by which files of ours are told from others in the folder.
MARK = "# rendered by interlock; change the values and render again"


def file_name(document: Mapping[str, object]) -> str:
    """`deployment.yaml` for a Deployment, `pod-disruption-budget.yaml` for a PodDisruptionBudget."""
    kind = str(document["kind"])
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in kind).lstrip("-") + ".yaml"


def compare(folder: str, files: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """(there, rendered) of each file that differs; "" where it is missing there, or of ours and no longer rendered."""
    root = Path(folder)
    if not root.is_dir():
        raise BadInput(folder, "no such directory", hint="write it first with --output-dir")
    differing: dict[str, tuple[str, str]] = {}
    extra = sorted(path.name for path in root.glob("*.yaml") if path.name not in files and _ours(path))
    for name in (*files, *extra):
        there = _read(root / name)
        if there != files.get(name, ""):
            differing[name] = (there, files.get(name, ""))
    return differing


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise BadInput(path, f"not UTF-8 at byte {error.start}", hint="remove it, or render again") from error


def _ours(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(MARK)) == MARK.encode()


def unified(folder: str, differing: Mapping[str, tuple[str, str]]) -> str:
    """A unified diff from what is there to what would be rendered; `patch -p0` applies it."""
    parts: list[str] = []
    for name, (there, here) in differing.items():
        path = (Path(folder) / name).as_posix()
        old, new = (path if there else "/dev/null"), (path if here else "/dev/null")
        parts.extend(difflib.unified_diff(there.splitlines(True), here.splitlines(True), old, new))
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in parts)


def write(folder: str, files: Mapping[str, str]) -> None:
    """Write each file as a whole: a reader of the folder sees the old one or the new one."""
    root = Path(folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadInput(folder, "is not a directory", hint="give --output-dir a folder; it is made if absent") from error
    for name, text in files.items():
        draft = root / f".{name}.{os.getpid()}"
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(root / name)
        finally:
            draft.unlink(missing_ok=True)
