"""Which execution provider really runs a model, proven by a session and by where its nodes landed.

`get_available_providers()` lists what a wheel was compiled with, also where no GPU exists, and a session that asks
for CUDA falls back to the CPU with a log line only. So: open the session, ask it, and read the log line.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..report.errors import BadInput, Refused
from . import runtime

NAMES = {"cuda": "CUDAExecutionProvider", "cpu": "CPUExecutionProvider"}
_SHORT = {full: short for short, full in NAMES.items()}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why CUDA does not run here: a stable `code`, the reason in a line, and the next step."""

    code: str
    reason: str
    hint: str


@dataclass(slots=True)
class Session:
    """An open ONNX Runtime session and what is true about it.

    `provider` is `cuda` or `cpu`: where the session really runs. `load_ms` is the wall time of its creation from the
    path. `nodes` counts graph nodes per provider (empty where this ONNX Runtime cannot tell) and `on_cpu` names those
    that a GPU session left on the CPU. `failure` says why CUDA was tried and not used.
    """

    raw: Any
    provider: str
    load_ms: float
    path: str = ""
    nodes: dict[str, int] = field(default_factory=dict[str, int])
    on_cpu: tuple[str, ...] = ()
    failure: Failure | None = None

    def run(self, feed: dict[str, Any]) -> list[Any]:
        """Answer one request. Raises BadInput when the model fails at it."""
        try:
            return self.raw.run(None, feed)
        except Exception as error:  # ONNX Runtime's errors share no base class below Exception
            hint = "values that the model does not take? see --domain; a state that runs away? see its outputs"
            raise BadInput(self.path, f"a request failed: {runtime.reason(error)}", hint=hint) from error

    @property
    def placement(self) -> str:
        """`gpu-full`, `gpu-partial`, `gpu` (nodes unknown), `cpu`, or `cpu-fallback`."""
        if self.provider == "cpu":
            return "cpu-fallback" if self.failure else "cpu"
        if not self.nodes:
            return "gpu"
        return "gpu-full" if set(self.nodes) == {"cuda"} else "gpu-partial"


def check(wanted: Sequence[str]) -> tuple[str, ...]:
    """Provider names, checked. Raises BadInput on one that is not known."""
    for name in wanted:
        if name not in NAMES:
            raise BadInput(f"provider {name}", "unknown", hint=f"use {' or '.join(NAMES)}")
    return tuple(wanted)


def open_session(
    path: str,
    wanted: Sequence[str] = (),
    *,
    threads: int = 1,
    placement: bool = False,
    content: bytes | None = None,
    entries: Mapping[str, str] | None = None,
) -> Session:
    """Open the model at `path` on the first of `wanted` that really runs; empty means CUDA if it is there, else CPU.

    With `threads` intra-op threads (0: one per core). `placement` records which provider got which node. `content`
    is loaded instead of the file where given; `entries` are session configuration keys. Raises Refused when none of
    `wanted` runs (CUDA asked for alone never becomes a CPU session), BadInput on a model that does not load.
    """
    wanted = check(wanted)
    keys = dict(entries or {})
    if placement:
        keys["session.record_ep_graph_assignment_info"] = "1"
    source = path if content is None else content
    ort = runtime.onnxruntime()
    compiled_in = NAMES["cuda"] in ort.get_available_providers()
    failure: Failure | None = None
    for name in wanted or (("cuda", "cpu") if compiled_in else ("cpu",)):
        if name == "cpu":
            session = _create(ort, path, source, (["CPUExecutionProvider"], threads, keys))
            session.failure = failure
            return session
        if not compiled_in:
            failure = not_compiled_in()
            continue
        with runtime.captured() as text:
            if hasattr(ort, "preload_dlls"):
                ort.preload_dlls()
            session = _create(ort, path, source, ([NAMES["cuda"], NAMES["cpu"]], threads, keys))
        if session.provider == "cuda":
            return session
        failure = explain("\n".join(text))
    assert failure is not None  # noqa: S101
    raise Refused(
        "provider cuda", f"asked for, but the model would run on the cpu: {failure.reason}", hint=failure.hint,
        code=failure.code,
    )  # fmt: skip


def _create(ort: Any, path: str, source: str | bytes, how: tuple[list[str], int, dict[str, str]]) -> Session:
    names, threads, keys = how
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    for key, value in keys.items():
        options.add_session_config_entry(key, value)
    start = time.perf_counter_ns()
    try:
        raw = ort.InferenceSession(source, options, providers=names)
    except Exception as error:  # ONNX Runtime's errors share no base class below Exception
        hint = "check the file with onnx.checker, or run interlock validate on it"
        raise BadInput(path, f"onnx runtime cannot load it: {runtime.reason(error)}", hint=hint) from error
    load_ms = (time.perf_counter_ns() - start) / 1e6
    provider = _SHORT.get(raw.get_providers()[0], "cpu")
    session = Session(raw, provider, load_ms, path)
    if "session.record_ep_graph_assignment_info" in keys and hasattr(raw, "get_provider_graph_assignment_info"):
        _place(session)
    return session


def _place(session: Session) -> None:
    on_cpu: list[str] = []
    for subgraph in session.raw.get_provider_graph_assignment_info():
        full = str(subgraph.ep_name)
        name = _SHORT.get(full, full)
        nodes = subgraph.get_nodes()
        session.nodes[name] = session.nodes.get(name, 0) + len(nodes)
        if name == "cpu" and session.provider != "cpu":
            on_cpu.extend(f"{node.op_type} {node.name}" for node in nodes)
    session.on_cpu = tuple(on_cpu)


def not_compiled_in() -> Failure:
    """The failure of a wheel without CUDA."""
    return Failure("BEN-NO-CUDA-BUILD", "this onnxruntime is built without CUDA", use_gpu_wheel())


def use_gpu_wheel() -> str:
    """How to get the CUDA wheel: both wheels own one folder, so the CPU one has to go first."""
    return f"pip uninstall onnxruntime, then {runtime.GET_GPU} (the two cannot be installed together)"


# What the log line names decides the next step: the driver is the machine's, the toolkit comes from PyPI.
_DRIVER = re.compile(r"libcuda\.so|nvcuda\.dll|cuda driver version is insufficient|cudaErrorInsufficientDriver", re.I)
_NO_DEVICE = re.compile(r"no CUDA-capable device|CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice|CUDA failure 100\b", re.I)
_LIBRARY = re.compile(r"(lib[\w.+-]+\.so[\w.]*|[\w-]+\.dll): cannot open|error loading \"?([\w.\\/-]+\.dll)", re.I)
_MEMORY = re.compile(r"out of memory|CUDA_ERROR_OUT_OF_MEMORY|failed to allocate memory", re.I)


def explain(text: str) -> Failure:
    """Map what ONNX Runtime logged when CUDA did not load to a reason and a next step."""
    if _DRIVER.search(text):
        return Failure(
            "BEN-NO-DRIVER",
            "the NVIDIA driver (libcuda.so.1) is missing or too old",
            "install the NVIDIA driver on the host; in a container run with --gpus all (NVIDIA Container Toolkit)",
        )
    if _NO_DEVICE.search(text):
        hint = "run nvidia-smi; check CUDA_VISIBLE_DEVICES and that the container or pod was given a GPU"
        return Failure("BEN-NO-DEVICE", "the driver is there, but shows no GPU", hint)
    if _MEMORY.search(text):
        return Failure("BEN-GPU-MEMORY", "the GPU has no memory left", "see nvidia-smi for what holds it")
    library = _LIBRARY.search(text)
    if library:
        name = library.group(1) or library.group(2)
        reason = f"a CUDA or cuDNN library is missing: {name}"
        return Failure("BEN-NO-TOOLKIT", reason, f"{runtime.GET_GPU} brings CUDA and cuDNN as wheels")
    lines = [line for line in text.splitlines() if line.strip()]
    said = f": {' '.join(lines[0].split())[:200]}" if lines else ""
    return Failure("BEN-CUDA", f"CUDA did not load{said}", "run interlock doctor")
