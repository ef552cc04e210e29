"""A drill of the real Triton Inference Server: loading a version over HTTP freezes the requests of an HTTP thread.

The server comes out of the nvidia-pytriton wheel, which carries the tritonserver binary; no container, no GPU.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from interlock.bench import rules
from interlock.bench.run import drill
from services.triton import free_ports, unpacked

REQUEST = b'{"inputs": [{"name": "X", "datatype": "FP32", "shape": [2], "data": [1, 2]}]}'
CONFIG = """\
backend: "python"
max_batch_size: 0
input [{name: "X", data_type: TYPE_FP32, dims: [2]}]
output [{name: "Y", data_type: TYPE_FP32, dims: [2]}]
version_policy: {latest: {num_versions: 1}}
instance_group [{kind: KIND_CPU, count: 1}]
"""
# A version adds its number; loading it takes a second, as loading real weights does.
MODEL = """\
import sys, time
sys.path.insert(0, SITE)
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        time.sleep(1.0)
        self.version = np.float32(args["model_version"])

    def execute(self, requests):
        given = [pb.get_input_tensor_by_name(request, "X").as_numpy() for request in requests]
        return [pb.InferenceResponse([pb.Tensor("Y", values + self.version)]) for values in given]
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def triton(root: Path, require: Callable[[str, str], NoReturn]) -> Path:
    """The server."""
    return unpacked(root, require)


@pytest.fixture
def served(triton: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Triton with version 1 of a model, explicit control and one HTTP thread; its address and the model's folder."""
    model = tmp_path / "repository" / "m"
    (model / "1").mkdir(parents=True)
    (model / "config.pbtxt").write_text(CONFIG)
    (model / "1" / "model.py").write_text(MODEL.replace("SITE", repr(str(triton / "site"))))
    server = triton / "pytriton" / "tritonserver"
    http, grpc = free_ports(2)
    command = [
        str(server / "bin" / "tritonserver"), f"--model-repository={model.parent}",
        f"--backend-directory={server / 'backends'}", "--model-control-mode=explicit", "--load-model=m",
        "--http-address=127.0.0.1", f"--http-port={http}", "--http-thread-count=1",
        "--grpc-address=127.0.0.1", f"--grpc-port={grpc}", "--allow-metrics=false",
    ]  # fmt: skip
    address = f"http://127.0.0.1:{http}"
    log = tmp_path / "log"
    with log.open("wb") as sink, subprocess.Popen(command, stdout=sink, stderr=sink) as process:
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    urllib.request.urlopen(f"{address}/v2/models/m/ready", timeout=5).close()
                    break
                except (urllib.error.URLError, OSError):
                    assert process.poll() is None, log.read_text(errors="replace")[-2000:]
                    assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
                    time.sleep(0.2)
            yield address, model
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def test_loading_over_http_freezes_requests(served: tuple[str, Path]) -> None:
    address, model = served
    shutil.copytree(model / "1", model / "2")
    program = "import sys, urllib.request as u; u.urlopen(u.Request(sys.argv[1], data=b'{}'), timeout=60).read()"
    found = drill(
        f"{address}/v2/models/m/infer",
        f'{sys.executable} -c "{program}" {address}/v2/repository/models/m/load',
        body=REQUEST, rate=40, before=2, after=1, connections=6, stall_ms=500, timeout=30,
        fingerprint="/outputs/0/data", label="/model_version", expect="[3.0,4.0]",
    )  # fmt: skip
    assert found.facts["swap"]["old"] == "[2.0,3.0]"
    assert found.facts["swap"]["new"] == "[3.0,4.0]"
    assert [f.rule for f in found.findings] == [rules.FROZEN.id]
    assert found.facts["lost"] == found.facts["lying_labels"] == 0
    assert found.facts["stalled_seconds"] > 0.7


def test_new_weights_under_an_old_number_lie(served: tuple[str, Path]) -> None:
    address, model = served
    source = (model / "1" / "model.py").read_text()
    (model / "1" / "model.py").write_text(source.replace('np.float32(args["model_version"])', "np.float32(7)"))
    program = "import sys, urllib.request as u; u.urlopen(u.Request(sys.argv[1], data=b'{}'), timeout=60).read()"
    found = drill(
        f"{address}/v2/models/m/infer",
        f'{sys.executable} -c "{program}" {address}/v2/repository/models/m/load',
        body=REQUEST, rate=40, before=2, after=1, connections=6, stall_ms=500, timeout=30,
        fingerprint="/outputs/0/data", label="/model_version",
    )  # fmt: skip
    assert found.facts["swap"]["new"] == "[8.0,9.0]"
    assert rules.LYING.id in [f.rule for f in found.findings]
