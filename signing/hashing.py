"""Hash the files of a tree on all cores, and prove that nothing moved meanwhile."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from .digests import PIPELINE_FROM, FileReader, pipelined
from .reasons import refusal
from .tree import Listing, Stamp, Tree

# Told (bytes read just now, bytes to read in all), from several threads.
Progress = Callable[[int, int], None]
_BATCH = 32


class Job(NamedTuple):
    """One file to hash with some algorithms; `cuts` are shard boundaries (start, end) or empty for the whole file."""

    name: str
    algorithms: tuple[str, ...]
    cuts: tuple[tuple[int, int], ...] = ()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def hash_tree(
    tree: Tree, listing: Listing, jobs: list[Job], progress: Progress | None = None
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Digests per file: one tuple a cut (one cut for a whole file), one hexadecimal digest an algorithm.

    Raises Refused (VER-CHANGED-WHILE-READING) where a file is not the one listed.
    """
    return _Run(tree, listing, progress).run(jobs)


class _Run:
    """One pass over the jobs.

    Large files go first: several at once, a core each, or one at a time with read-ahead when there are fewer of them
    than cores. The rest follows in batches, since handing out single small files costs more than hashing them.
    """

    def __init__(self, tree: Tree, listing: Listing, progress: Progress | None) -> None:
        self._tree = tree
        self._files = listing.files
        self._report = progress
        self._progress: Callable[[int], None] | None = None
        self._workers = max(1, cores())
        self._digests: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._failures: list[BaseException] = []

    def run(self, jobs: list[Job]) -> dict[str, tuple[tuple[str, ...], ...]]:
        if self._report is not None:
            report, total = self._report, sum(self._files[job.name].size for job in jobs)
            self._progress = lambda count: report(count, total)
        large = [job for job in jobs if self._files[job.name].size >= PIPELINE_FROM]
        small = [job for job in jobs if self._files[job.name].size < PIPELINE_FROM]
        batches = [small[i : i + _BATCH] for i in range(0, len(small), _BATCH)]
        if len(large) < self._workers:
            for job in large:
                self._alone(job)
        else:
            # Longest first: the last one to finish keeps the other cores waiting for as short as can be.
            batches = [[job] for job in sorted(large, key=lambda job: -self._files[job.name].size)] + batches
        self._together(batches)
        return self._digests

    def _alone(self, job: Job) -> None:
        if job.cuts or self._workers == 1:
            self._hash(job, FileReader(job.algorithms, self._progress))
            return
        with self._opened(job) as fd:
            self._digests[job.name] = (pipelined(fd, job.algorithms, self._workers, self._progress),)

    @contextmanager
    def _opened(self, job: Job) -> Generator[int]:
        """The job's file; an error while reading it names it."""
        fd = open_listed(self._tree, job.name, self._files[job.name])
        try:
            yield fd
        except OSError as error:
            error.filename = self._tree.locate(job.name)
            raise
        finally:
            os.close(fd)

    def _together(self, batches: list[list[Job]]) -> None:
        pending = iter(batches)
        lock = threading.Lock()

        def work() -> None:
            readers: dict[tuple[str, ...], FileReader] = {}
            while not self._failures:
                with lock:
                    batch = next(pending, None)
                if batch is None:
                    return
                try:
                    for job in batch:
                        reader = readers.get(job.algorithms)
                        if reader is None:
                            reader = readers[job.algorithms] = FileReader(job.algorithms, self._progress)
                        self._hash(job, reader)
                except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                    self._failures.append(error)

        count = min(self._workers, len(batches)) - 1
        threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        work()
        for thread in threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _hash(self, job: Job, reader: FileReader) -> None:
        cuts = job.cuts or ((0, self._files[job.name].size),)
        with self._opened(job) as fd:
            self._digests[job.name] = tuple(reader.digest(fd, start, end) for start, end in cuts)


def open_listed(tree: Tree, name: str, stamp: Stamp) -> int:
    """A descriptor of exactly the file that was listed. Raises Refused where something else stands there now."""
    try:
        fd = tree.open(name)
    except OSError as error:
        path = tree.locate(name)
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            raise refusal("VER-CHANGED-WHILE-READING", path, "was replaced after it was listed") from error
        error.filename = path
        raise
    if Stamp.of(os.fstat(fd)) != stamp:
        os.close(fd)
        raise refusal("VER-CHANGED-WHILE-READING", tree.locate(name), "changed after it was listed")
    return fd


def differences(before: Listing, after: Listing) -> Mapping[str, str]:
    """What moved between two listings, by name: nothing may, or the digests describe no state that ever was on disk."""
    moved: dict[str, str] = {}
    for name, stamp in before.files.items():
        now = after.files.get(name)
        if now is None:
            moved[name] = "disappeared while the model was read"
        elif now != stamp:
            moved[name] = "changed while the model was read"
    for name in after.files.keys() - before.files.keys():
        moved[name] = "appeared while the model was read"
    for name in after.odd.keys() ^ before.odd.keys():
        moved.setdefault(name, "appeared or disappeared while the model was read")
    return moved
