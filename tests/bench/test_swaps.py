"""In-process swaps under load: nothing is lost beside the old version, and dropping it first is an outage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from interlock.bench.run import benchmark
from interlock.bench.serving import Server, Version
from interlock.bench.swapping import WAYS, externalise
from interlock.report import formats
from interlock.report.errors import BadInput


def test_ways_side_by_side(chain: Callable[..., Path]) -> None:
    new, old = str(chain(6, 256)), str(chain(5, 256))
    found = benchmark(new, old, swap=True, seconds=6)
    swaps = found.facts["swaps"]
    assert set(swaps) == set(WAYS)
    assert found.exit_code == 0
    for way, swap in swaps.items():
        assert swap["stale"] == 0
        assert swap["load_ms"] > 0
        assert swap["rss_peak"] >= swap["rss_before"] > 0
        if way != "unload-first":
            assert swap["failed"] == 0
            assert swap["outage_ms"] == 0
    assert swaps["unload-first"]["outage_ms"] > 0
    assert found.facts["gentlest"] != "unload-first"
    assert "malloc_trim" in formats.render("human", found)


def test_a_broken_new_version_is_an_error(chain: Callable[..., Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"junk" * 10)
    with pytest.raises(BadInput, match="cannot load"):
        benchmark(str(broken), str(chain(1)), swap=True, seconds=2)


def test_weights_apart(chain: Callable[..., Path], tmp_path: Path) -> None:
    apart = Path(externalise(str(chain(2)), str(tmp_path)))
    assert apart.stat().st_size < 4096
    assert (tmp_path / "weights.bin").stat().st_size >= 2 * 64 * 64 * 4


def test_the_pointer_waits_for_requests_under_way() -> None:
    import threading
    import time

    release, entered = threading.Event(), threading.Event()

    def slow() -> None:
        entered.set()
        release.wait(5)

    server = Server(Version(1, slow))
    thread = threading.Thread(target=server.request)
    thread.start()
    entered.wait(5)
    threading.Timer(0.1, release.set).start()
    start = time.perf_counter()
    _, drained = server.switch(Version(2, lambda: None))
    assert 50 < drained <= (time.perf_counter() - start) * 1e3 + 1
    assert server.request() == 2
    server.switch(None)
    assert server.request() == 0
    thread.join()
