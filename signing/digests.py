"""Digest algorithms of OMS v1.0 and hashing of one open file with any of them in a single read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

# Name in OMS v1.0 -> digest length in bytes. blake2b is the 512-bit variant.
LENGTH = {"sha256": 32, "blake2b": 64, "blake3": 32}

CHUNK = 1 << 20
# From here on a file is worth a second thread; below, starting one costs more than it saves.
PIPELINE_FROM = 16 << 20
_PIPELINE_CHUNK = 8 << 20


class Hasher(Protocol):
    """What hashlib and blake3 objects share."""

    def update(self, data: Any, /) -> Any:
        """Add bytes."""
        ...

    def digest(self) -> bytes:
        """The digest so far."""
        ...

    def hexdigest(self) -> str:
        """The digest so far, in lower-case hexadecimal."""
        ...


def new(algorithm: str, *, threads: int = 1) -> Hasher:
    """A hasher of an OMS algorithm; BLAKE3 uses up to `threads`. Raises KeyError on an unknown name."""
    if algorithm == "blake3":
        from blake3 import blake3

        return blake3(max_threads=threads)
    if algorithm not in LENGTH:
        raise KeyError(algorithm)
    return hashlib.new(algorithm, usedforsecurity=True)


class FileReader:
    """Hashes files one after the other through one buffer; each thread has its own."""

    def __init__(self, algorithms: Sequence[str], progress: Callable[[int], None] | None = None) -> None:
        self.algorithms = tuple(algorithms)
        self.progress = progress
        self._buffer = memoryview(bytearray(CHUNK))

    def digest(self, fd: int, start: int, end: int) -> tuple[str, ...]:
        """One hexadecimal digest per algorithm over bytes start..end; a file that ends earlier ends there."""
        hashers = [new(algorithm) for algorithm in self.algorithms]
        position = start
        while position < end:
            count = os.preadv(fd, [self._buffer[: end - position]], position)
            if count == 0:
                break
            for hasher in hashers:
                hasher.update(self._buffer[:count])
            position += count
            if self.progress is not None:
                self.progress(count)
        return tuple(hasher.hexdigest() for hasher in hashers)


def pipelined(
    fd: int, algorithms: Sequence[str], threads: int, progress: Callable[[int], None] | None = None
) -> tuple[str, ...]:
    """As `FileReader.digest` of a whole large file, reading ahead while hashing, each algorithm on its own thread.

    SHA-256 of one file cannot use a second core, but reading and BLAKE3 beside it are free where there is one.
    Memory: three buffers of 8 MiB.
    """
    import queue
    import threading

    hashers = [new(algorithm, threads=threads) for algorithm in algorithms]
    queues: list[queue.SimpleQueue[tuple[int, int] | None]] = [queue.SimpleQueue() for _ in hashers]
    free: queue.SimpleQueue[int] = queue.SimpleQueue()
    buffers = [memoryview(bytearray(_PIPELINE_CHUNK)) for _ in range(3)]
    users = [0] * len(buffers)
    lock = threading.Lock()
    failures: list[BaseException] = []

    def release(index: int) -> None:
        with lock:
            users[index] -= 1
            done = users[index] == 0
        if done:
            free.put(index)

    def consume(hasher: Hasher, jobs: queue.SimpleQueue[tuple[int, int] | None]) -> None:
        while (job := jobs.get()) is not None:
            index, count = job
            try:
                if not failures:
                    hasher.update(buffers[index][:count])
            except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                failures.append(error)
            release(index)

    workers = [threading.Thread(target=consume, args=pair, daemon=True) for pair in zip(hashers, queues, strict=True)]
    for worker in workers:
        worker.start()
    for index in range(len(buffers)):
        free.put(index)
    position = 0
    try:
        while not failures:
            index = free.get()
            count = os.preadv(fd, [buffers[index]], position)
            if count == 0:
                break
            position += count
            users[index] = len(hashers)
            for jobs in queues:
                jobs.put((index, count))
            if progress is not None:
                progress(count)
    finally:
        for jobs in queues:
            jobs.put(None)
        for worker in workers:
            worker.join()
    if failures:
        raise failures[0]
    return tuple(hasher.hexdigest() for hasher in hashers)
