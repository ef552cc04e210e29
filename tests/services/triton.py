"""The real Triton Inference Server for tests, out of the nvidia-pytriton wheel: no container, no GPU."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

WHEEL = "21f063ff93bb426d0c06b7a55e7eb9efcfe62c0dddd9a908e9877e18710128df"
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "-q", *arguments], check=True, capture_output=True, text=True)


def unpacked(root: Path, require: Callable[[str, str], NoReturn]) -> Path:
    """The unpacked wheel with the Python backend ready for this interpreter, and numpy for it in `site`."""
    if sys.platform != "linux" or os.uname().machine != "x86_64" or sys.version_info >= (3, 13):
        pytest.skip("the wheel holds Triton for x86-64 Linux, and its Python backend needs numpy 1 (Python up to 3.12)")
    home = root / ".cache" / f"triton-0.7.0-{PYTHON}"
    if not home.is_dir():
        draft = home.with_name(f"{home.name}.{os.getpid()}")
        try:
            pip("download", "--no-deps", "--dest", str(draft), "nvidia-pytriton==0.7.0")
            (wheel,) = draft.glob("*.whl")
            assert hashlib.sha256(wheel.read_bytes()).hexdigest() == WHEEL
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(draft)
            wheel.unlink()
            pip("install", "--no-deps", "--target", str(draft / "site"), "numpy==1.26.4")
        except subprocess.CalledProcessError as error:
            shutil.rmtree(draft, ignore_errors=True)
            require("nvidia-pytriton 0.7.0", f"pip could not fetch it: {error.stderr.strip()[-200:]}")
        server = draft / "pytriton" / "tritonserver"
        stub = shutil.copy(server / "python_backend_stubs" / PYTHON / "triton_python_backend_stub",
                           server / "backends" / "python")  # fmt: skip
        for program in (stub, server / "bin" / "tritonserver"):
            Path(program).chmod(0o755)
        try:
            draft.replace(home)
        except OSError:  # another worker was faster
            shutil.rmtree(draft, ignore_errors=True)
    stub = home / "pytriton/tritonserver/backends/python/triton_python_backend_stub"
    if "not found" in subprocess.run(["ldd", stub], capture_output=True, text=True, check=False).stdout:
        require(f"libpython{PYTHON}", f"apt-get install libpython{PYTHON}")
    return home


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
