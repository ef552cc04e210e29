"""Which folders and configurations the real Triton Inference Server takes, next to what is said of them here."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from services.triton import free_ports, unpacked
from validate.build import folder
from validate.triton_cases import REFUSED, TAKEN

pytestmark = pytest.mark.slow

CONFIG = """\
backend: "python"
max_batch_size: 0
input [{name: "X", data_type: TYPE_FP32, dims: [2]}]
output [{name: "Y", data_type: TYPE_FP32, dims: [2]}]
instance_group [{kind: KIND_CPU, count: 1}]
"""
MODEL = """\
import sys
sys.path.insert(0, SITE)
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        given = [pb.get_input_tensor_by_name(request, "X").as_numpy() for request in requests]
        return [pb.InferenceResponse([pb.Tensor("Y", values)]) for values in given]
"""
# Models by name, and whether Triton serves one of their versions.
MODELS: dict[str, tuple[tuple[str, ...], bool]] = {
    "plain": (("1",), True),
    "zero": (("0",), True),
    "named": (("v2",), False),
    "padded": (("02",), False),
    "beside": (("1", "v2"), True),
    "saved": (("1", "2.bak"), False),
}


@pytest.fixture(scope="module")
def server(
    root: Path, require: Callable[[str, str], NoReturn], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path, Path]]:
    """A server with explicit control over all `MODELS`: its address, its repository and its log."""
    triton = unpacked(root, require)
    path = tmp_path_factory.mktemp("triton")
    code = MODEL.replace("SITE", repr(str(triton / "site")))
    files = {f"{name}/config.pbtxt": CONFIG for name in MODELS}
    files |= {f"{name}/{each}/model.py": code for name, (folders, _) in MODELS.items() for each in folders}
    for name, text in ({name: text for name, (text, _) in REFUSED.items()} | TAKEN).items():
        files |= {f"{name}/config.pbtxt": text, f"{name}/1/model.py": code}
    repository = folder(path / "repository", files)
    home = triton / "pytriton" / "tritonserver"
    http, grpc = free_ports(2)
    command = [
        str(home / "bin" / "tritonserver"), f"--model-repository={repository}",
        f"--backend-directory={home / 'backends'}", "--model-control-mode=explicit",
        "--http-address=127.0.0.1", f"--http-port={http}", "--grpc-address=127.0.0.1", f"--grpc-port={grpc}",
        "--allow-metrics=false",
    ]  # fmt: skip
    log = path / "log"
    with log.open("wb") as sink, subprocess.Popen(command, stdout=sink, stderr=sink) as process:
        try:
            deadline = time.monotonic() + 60
            while True:
                with contextlib.suppress(urllib.error.URLError, OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{http}/v2/health/live", timeout=5).close()
                    break
                assert process.poll() is None, log.read_text(errors="replace")[-2000:]
                assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
                time.sleep(0.2)
            yield f"http://127.0.0.1:{http}", repository, log
        finally:
            process.kill()


def asked(address: str, what: str, seconds: float) -> Any:
    request = urllib.request.Request(f"{address}/v2/repository/{what}", data=b"{}")
    with urllib.request.urlopen(request, timeout=seconds) as response:
        return json.loads(response.read() or b"null")


@pytest.mark.parametrize("name", MODELS)
def test_what_triton_serves(server: tuple[str, Path, Path], name: str) -> None:
    address, repository, log = server
    serves = MODELS[name][1]
    report = validate(repository / name, contract=Contract())
    assert report.facts["consistent"] is serves, report.findings
    if name == "saved":  # the Python backend waits for a version without a file for ever
        with pytest.raises(OSError):
            asked(address, f"models/{name}/load", 8)
        assert "model file not found in" in log.read_text(errors="replace")
    elif serves:
        asked(address, f"models/{name}/load", 60)
    else:
        with pytest.raises(urllib.error.HTTPError):
            asked(address, f"models/{name}/load", 60)
    ready = [each for each in asked(address, "index", 30) if each["name"] == name and each.get("state") == "READY"]
    assert bool(ready) is serves


@pytest.mark.parametrize("name", [*REFUSED, *TAKEN])
def test_what_triton_says_to_a_configuration(server: tuple[str, Path, Path], name: str) -> None:
    address, repository, _ = server
    assert validate(repository / name, contract=Contract()).facts["consistent"] is (name in TAKEN)
    if name in TAKEN:
        asked(address, f"models/{name}/load", 60)
        asked(address, f"models/{name}/unload", 60)
    else:
        with pytest.raises(urllib.error.HTTPError):
            asked(address, f"models/{name}/load", 60)
