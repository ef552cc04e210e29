"""A serving process in small: a pointer to the current version, and threads that send it requests when they are due."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .load import arrivals

WORKERS = 2


@dataclass(slots=True)
class Version:
    """A loaded version and how many requests hold it."""

    number: int
    run: Callable[[], Any]
    users: int = 0


class Server:
    """The pointer to the current version. Requests take it and give it back under one lock."""

    def __init__(self, version: Version) -> None:
        self.lock = threading.Lock()
        self.idle = threading.Condition(self.lock)
        self.current: Version | None = version

    def request(self) -> int:
        """Answer once; the number of the version that did, 0 when there was none."""
        with self.lock:
            version = self.current
            if version is None:
                return 0
            version.users += 1
        try:
            version.run()
        finally:
            with self.lock:
                version.users -= 1
                self.idle.notify_all()
        return version.number

    def switch(self, version: Version | None) -> tuple[float, float]:
        """Point to `version`, wait until nobody holds the old one; (µs with the lock held, ms until drained)."""
        with self.lock:
            start = time.perf_counter()
            old, self.current = self.current, version
            held = time.perf_counter() - start
            while old is not None and old.users:
                self.idle.wait(60)
        return held * 1e6, (time.perf_counter() - start) * 1e3


class Load:
    """Open-loop load by a few threads that share one schedule."""

    def __init__(self, server: Server, rate: float, seed: int) -> None:
        self._server = server
        self._schedule = arrivals(rate, "poisson", seed)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self.begin = time.perf_counter()
        # (due, sent, done, version that answered)
        self.served: list[tuple[float, float, float, int]] = []
        self.errors: list[Exception] = []
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(WORKERS)]

    def start(self) -> None:
        """Begin now."""
        self.begin = time.perf_counter()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End; raises the first error of a request."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _work(self) -> None:
        try:
            while not self._stop.is_set():
                with self._lock:
                    due = self.begin + next(self._schedule)
                wait = due - time.perf_counter()
                if wait > 0 and self._stop.wait(wait):
                    return
                sent = time.perf_counter()
                number = self._server.request()
                self.served.append((due, sent, time.perf_counter(), number))
        except Exception as error:  # noqa: BLE001 - raised by stop
            self.errors.append(error)
