"""The files of a model as the kernel sees them: no link followed, no name trusted twice.

Every file is opened below a directory descriptor reached without links, so that swapping a directory for a link between
listing and reading leads nowhere. `Stamp` is what a regular file cannot keep when it is written to.
"""

from __future__ import annotations

import os
import stat
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..report.errors import BadInput

MAX_FILES = 200_000
_OPEN_DIRECTORIES = 64
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
# File times advance with the kernel's tick (at most 10 ms); twice that is past the tick a file was written in.
_TICK_NS = 20_000_000


class Stamp(NamedTuple):
    """Identity and times of a file: a write, truncation or replacement changes at least ctime or the inode."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, result: os.stat_result) -> Stamp:
        """The stamp in a stat result."""
        return cls(result.st_dev, result.st_ino, result.st_size, result.st_mtime_ns, result.st_ctime_ns)


@dataclass(slots=True)
class Listing:
    """What is below a root, by relative name: regular files, odd entries (`symlink`, `special`), empty directories."""

    files: dict[str, Stamp] = field(default_factory=dict[str, Stamp])
    odd: dict[str, str] = field(default_factory=dict[str, str])
    empty: list[str] = field(default_factory=list[str])
    ignored: list[str] = field(default_factory=list[str])

    @property
    def size(self) -> int:
        """Bytes in all files."""
        return sum(stamp.size for stamp in self.files.values())

    def settle(self) -> None:
        """Wait until a write would be given a later time than every file has, at most 20 ms for honest clocks."""
        newest = max((stamp.ctime_ns for stamp in self.files.values()), default=0)
        wait = newest + _TICK_NS - time.time_ns()
        if 0 < wait <= _TICK_NS:
            time.sleep(wait / 1e9)


class Directory:
    """An open directory; closed when the last user lets go of it."""

    __slots__ = ("fd",)

    def __init__(self, name: str, parent: int | None) -> None:
        self.fd = os.open(name, _DIRECTORY if parent is not None else _DIRECTORY & ~os.O_NOFOLLOW, dir_fd=parent)

    def __del__(self) -> None:
        if hasattr(self, "fd"):
            os.close(self.fd)


class Tree:
    """A model directory, or a single-file model (whose only name is the file's basename)."""

    def __init__(self, path: str | os.PathLike[str], shown: str = "") -> None:
        """`shown` is what messages call the model where it is read from elsewhere.

        Raises BadInput when the path is missing or is neither a directory nor a regular file.
        """
        self.path = os.fspath(path)
        self.shown = shown or self.path
        # As Path would join them, for every file of a model: pathlib would take longer than reading a small file does.
        above = str(Path(self.shown))
        self._prefix = "" if above == "." else above if above.endswith("/") else f"{above}/"
        try:
            mode = Path(self.path).stat().st_mode
        except OSError as error:
            raise BadInput(self.path, (error.strerror or "cannot be read").lower(), hint="check the path") from error
        self.single = ""
        if stat.S_ISREG(mode):
            self.single = Path(self.path).name
        elif not stat.S_ISDIR(mode):
            raise BadInput(self.path, "neither a directory nor a regular file", hint="name a model directory or file")
        folder = str(Path(self.path).parent) if self.single else self.path
        self._root = Directory(folder, None)
        self._open: OrderedDict[str, Directory] = OrderedDict()

    @property
    def name(self) -> str:
        """The last component of the model's path."""
        return Path(self.shown).absolute().name or "model"

    def locate(self, name: str) -> str:
        """Where a listed file is, for messages."""
        return self.shown if self.single else self._prefix + name

    def scan(self, skip: Collection[str] = ()) -> Listing:
        """List everything but the paths in `skip` (and what is below them), names in code-point order.

        Raises BadInput on more than MAX_FILES entries and on directories that cannot be read.
        """
        listing = Listing()
        if self.single:
            self._single(listing)
            return listing
        self._scan(frozenset(skip), listing)
        listing.files = dict(sorted(listing.files.items()))
        listing.ignored.sort()
        listing.empty.sort()
        return listing

    def _single(self, listing: Listing) -> None:
        result = os.stat(self.single, dir_fd=self._root.fd, follow_symlinks=False)
        if stat.S_ISREG(result.st_mode):
            listing.files[self.single] = Stamp.of(result)
        else:
            listing.odd[self.single] = "symlink" if stat.S_ISLNK(result.st_mode) else "special"

    def _scan(self, skip: frozenset[str], listing: Listing) -> None:
        pending = [""]
        while pending:
            folder = pending.pop()
            directory = self._list(folder)
            prefix = f"{folder}/" if folder else ""
            count = 0
            with os.scandir(directory.fd) as entries:
                for entry in entries:
                    count += 1
                    name = prefix + entry.name
                    if name in skip:
                        listing.ignored.append(name)
                    elif entry.is_symlink():
                        self._link(name, directory, entry.name, listing)
                    elif entry.is_dir(follow_symlinks=False):
                        pending.append(name)
                    elif entry.is_file(follow_symlinks=False):
                        result = os.stat(entry.name, dir_fd=directory.fd, follow_symlinks=False)
                        listing.files[name] = Stamp.of(result)
                    else:
                        listing.odd[name] = "special"
            if count == 0 and folder:
                listing.empty.append(folder)
            if len(listing.files) + len(pending) > MAX_FILES:
                raise BadInput(
                    self.path, f"more than {MAX_FILES:,} files or directories", hint="pack small files into archives"
                )

    def _list(self, folder: str) -> Directory:
        try:
            return self._folder(folder)
        except OSError as error:
            raise BadInput(
                self.locate(folder), f"cannot be listed: {(error.strerror or 'unknown error').lower()}"
            ) from error

    def _link(self, name: str, directory: Directory, entry: str, listing: Listing) -> None:
        """A symbolic link is never followed here; a layout that gives links a meaning overrides this."""
        del directory, entry
        listing.odd[name] = "symlink"

    def open(self, name: str) -> int:
        """A descriptor of a listed file. Raises OSError; ELOOP and ENOTDIR mean that a link took a place."""
        folder, _, leaf = name.rpartition("/")
        # Held in a variable: another thread may drop it from the cache, which would close (and reuse) the descriptor.
        directory = self._folder(folder)
        return os.open(leaf, _FILE, dir_fd=directory.fd)

    def _folder(self, folder: str) -> Directory:
        if not folder:
            return self._root
        known = self._open.get(folder)
        if known is not None:
            return known
        above, _, leaf = folder.rpartition("/")
        parent = self._folder(above)  # held, as in open
        opened = self._open[folder] = Directory(leaf, parent.fd)
        while len(self._open) > _OPEN_DIRECTORIES:
            self._open.popitem(last=False)
        return opened
