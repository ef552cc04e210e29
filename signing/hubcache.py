"""A snapshot in the Hugging Face cache: every file is a link to `../../blobs/<digest>` of the same repository.

Only that exact shape is resolved, by hand: the link's text is read, the blob is opened in the repository's own blobs
folder without following links. Any other link stays refused.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from ..report.errors import BadInput
from .tree import Directory, Listing, Stamp, Tree

_BLOB = re.compile(r"(?:\.\./)+blobs/([0-9a-f]{40}|[0-9a-f]{64})")
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class SnapshotTree(Tree):
    """`models--owner--name/snapshots/<revision>` as if its blobs were its files."""

    def __init__(self, path: str | os.PathLike[str], shown: str = "") -> None:
        """Raises BadInput where the path is no snapshot of a cache."""
        super().__init__(path, shown)
        root = Path(self.path).absolute()
        blobs = root.parent.parent / "blobs"
        if self.single or root.parent.name != "snapshots" or blobs.is_symlink() or not blobs.is_dir():
            hint = "name models--OWNER--NAME/snapshots/REVISION, whose parent also holds blobs/"
            raise BadInput(self.path, "is no snapshot of a Hugging Face cache", hint=hint)
        self._blobs = Directory(str(blobs), None)
        self._targets: dict[str, str] = {}

    def open(self, name: str) -> int:
        """A descriptor of the blob behind a name, or of the file itself where it is none."""
        target = self._targets.get(name)
        return super().open(name) if target is None else os.open(target, _FILE, dir_fd=self._blobs.fd)

    def _link(self, name: str, directory: Directory, entry: str, listing: Listing) -> None:
        match = _BLOB.fullmatch(os.readlink(entry, dir_fd=directory.fd))
        # From snapshots/REVISION/a/b the blobs are four levels up: one for each folder, one for snapshots, one to stay.
        if match is None or match[0].count("../") != name.count("/") + 2:
            listing.odd[name] = "symlink"
            return
        try:
            result = os.stat(match[1], dir_fd=self._blobs.fd, follow_symlinks=False)
        except OSError:
            listing.odd[name] = "symlink"
            return
        if stat.S_ISREG(result.st_mode):
            self._targets[name] = match[1]
            listing.files[name] = Stamp.of(result)
        else:
            listing.odd[name] = "symlink"


def open_tree(path: str | os.PathLike[str], resolve: str = "", shown: str = "") -> Tree:
    """A model's tree; `resolve` names a layout whose links mean something (`hf-cache`), empty for none."""
    return SnapshotTree(path, shown) if resolve == "hf-cache" else Tree(path, shown)
