"""Look-ups that prefer what stands closest in the tree.

A repository of samples holds many objects with the same name and labels. What belongs together stands together: in
one file, else in one folder, else in a folder above or below, else in a sibling folder. Further away nothing joins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from posixpath import dirname
from typing import Generic, TypeVar

T = TypeVar("T")


@lru_cache(maxsize=4096)
def _ancestors(folder: str) -> tuple[str, ...]:
    """The folders above `folder`, nearest first, the root of a relative path being the empty string."""
    found: list[str] = []
    while folder and folder != "/":
        folder = dirname(folder)
        found.append(folder)
    return tuple(found)


class Nearby(Generic[T]):
    """Items under a key, found from a path: `find` returns those of the nearest tier that has any."""

    def __init__(self) -> None:
        self._file: dict[tuple[Hashable, str], list[T]] = defaultdict(list)
        self._folder: dict[tuple[Hashable, str], list[T]] = defaultdict(list)
        self._below: dict[tuple[Hashable, str], list[T]] = defaultdict(list)
        self._child: dict[tuple[Hashable, str], list[T]] = defaultdict(list)

    def add(self, key: Hashable, path: str, item: T) -> None:
        """Register an item that stands in the file `path`."""
        folder = dirname(path)
        self._file[key, path].append(item)
        self._folder[key, folder].append(item)
        for above in _ancestors(folder):
            self._below[key, above].append(item)
        if folder:
            self._child[key, dirname(folder)].append(item)

    def find(self, key: Hashable, path: str, accept: Callable[[T], bool] | None = None) -> list[T]:
        """The accepted items of the nearest tier around `path`."""
        for tier in self._tiers(key, path):
            hits = [item for item in tier if accept is None or accept(item)]
            if hits:
                return hits
        return []

    def _tiers(self, key: Hashable, path: str) -> Iterator[list[T]]:
        folder = dirname(path)
        yield self._file.get((key, path), [])
        yield self._folder.get((key, folder), [])
        above = [item for base in _ancestors(folder) for item in self._folder.get((key, base), [])]
        yield above + self._below.get((key, folder), [])
        if folder:
            yield self._child.get((key, dirname(folder)), [])
