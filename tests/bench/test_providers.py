"""What a session really runs on, and why CUDA does not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interlock.bench import providers, runtime
from interlock.bench.locate import onnx_file
from interlock.report.errors import BadInput, Refused

# What onnxruntime-gpu 1.31.1 writes on a machine without CUDA libraries, and with them but without a driver.
HEAD = "2026-11-29 16:35:26.5 [E:onnxruntime:Default, provider_bridge_ort.cc:2458 operator()] FAIL : Failed to load "
TOOLKIT = (
    HEAD + "library libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object file: No"
    " such file or directory\n[W:onnxruntime:Default] Failed to create CUDAExecutionProvider. Require cuDNN 9.* and"
    " CUDA 13.*. Please install all dependencies"
)
DRIVER = TOOLKIT.replace("libcublasLt.so.13", "libcuda.so.1")


@pytest.mark.parametrize(
    ("text", "code", "step"),
    [
        (TOOLKIT, "BEN-NO-TOOLKIT", "interlock[gpu]"),
        (DRIVER, "BEN-NO-DRIVER", "driver"),
        ("CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version", "BEN-NO-DRIVER", "driver"),
        ("CUDA failure 100: no CUDA-capable device is detected ; GPU=-1", "BEN-NO-DEVICE", "nvidia-smi"),
        ("CUDA failure 2: out of memory ; GPU=0", "BEN-GPU-MEMORY", "nvidia-smi"),
        ("something new", "BEN-CUDA", "doctor"),
        ("", "BEN-CUDA", "doctor"),
    ],
)
def test_failures_are_told_apart(text: str, code: str, step: str) -> None:
    failure = providers.explain(text)
    assert failure.code == code
    assert step in failure.hint
    assert len(failure.reason) < 300


def test_cpu_session_says_where_every_node_ran(chain: Callable[[int], Path]) -> None:
    session = providers.open_session(str(chain(3)), placement=True)
    assert session.provider == "cpu" == session.placement
    assert sum(session.nodes.values()) >= 1
    assert set(session.nodes) == {"cpu"}
    assert session.load_ms > 0


def test_cuda_alone_never_becomes_a_cpu_session(chain: Callable[[int], Path]) -> None:
    if "CUDAExecutionProvider" in runtime.onnxruntime().get_available_providers():
        pytest.skip("this onnxruntime is built with CUDA")
    with pytest.raises(Refused) as caught:
        providers.open_session(str(chain(1)), ("cuda",))
    assert caught.value.exit_code == 1
    assert caught.value.code == "BEN-NO-CUDA-BUILD"


def test_a_preferred_cuda_may_fall_back_and_says_so(chain: Callable[[int], Path]) -> None:
    if "CUDAExecutionProvider" in runtime.onnxruntime().get_available_providers():
        pytest.skip("this onnxruntime is built with CUDA")
    session = providers.open_session(str(chain(1)), ("cuda", "cpu"))
    assert session.placement == "cpu-fallback"
    assert session.failure is not None


class FellBack:
    """A runtime with CUDA compiled in that logs on descriptor 2 and opens a CPU session, as onnxruntime-gpu does."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def get_available_providers(self) -> list[str]:
        return ["CUDAExecutionProvider", "CPUExecutionProvider"]

    def preload_dlls(self) -> None:
        print("Failed to load libcudnn.so.9")

    def InferenceSession(self, path: str, options: Any, providers: list[str]) -> Any:  # noqa: N802
        if "CUDAExecutionProvider" in providers:
            os.write(2, DRIVER.encode())
        return self._real.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def test_a_silent_fallback_is_heard(
    chain: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fake = FellBack(runtime.onnxruntime())
    monkeypatch.setattr(runtime, "onnxruntime", lambda: fake)
    with pytest.raises(Refused) as caught:
        providers.open_session(str(chain(1)), ("cuda",))
    assert caught.value.code == "BEN-NO-DRIVER"
    session = providers.open_session(str(chain(1)))
    assert session.placement == "cpu-fallback"
    assert session.failure
    assert session.failure.code == "BEN-NO-DRIVER"
    assert capfd.readouterr() == ("", "")  # nothing of it leaks to the terminal


def test_placement_of_a_session_with_nodes_on_both() -> None:
    def session(**nodes: int) -> str:
        return providers.Session(None, "cuda", 1.0, "", nodes).placement

    assert session(cuda=9) == "gpu-full"
    assert session(cuda=9, cpu=1) == "gpu-partial"
    assert session() == "gpu"


def test_captured_restores_the_descriptors(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), runtime.captured() as text:
        os.write(2, b"native\n")
        os.write(1, b"out\n")
        print("python")
        raise ZeroDivisionError
    print("after")
    assert sorted("".join(text).split()) == ["native", "out", "python"]
    assert capfd.readouterr().out == "after\n"


def test_unknown_provider() -> None:
    with pytest.raises(BadInput, match="unknown"):
        providers.check(["rocm"])


@pytest.mark.parametrize("content", [b"", b"junk" * 20, b"\x08\x07"])
def test_broken_models_are_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        providers.open_session(str(path))
    assert caught.value.what == str(path)
    assert "ONNXRuntimeError" not in caught.value.reason


def test_the_file_that_a_model_argument_means(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such"):
        onnx_file(str(tmp_path / "absent"))
    with pytest.raises(BadInput, match="holds no ONNX"):
        onnx_file(str(tmp_path))
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").touch()
    assert onnx_file(str(tmp_path)) == str(tmp_path / "onnx" / "model.onnx")
    (tmp_path / "a.onnx").touch()
    assert onnx_file(str(tmp_path)) == str(tmp_path / "a.onnx")
    (tmp_path / "b.onnx").touch()
    with pytest.raises(BadInput, match=r"holds 2 ONNX files: a\.onnx, b\.onnx"):
        onnx_file(str(tmp_path))
