"""What this machine can run, which execution provider really works, and how to get what is missing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from ..report.blocks import Table
from ..report.errors import BadInput, Refused
from ..report.finding import Finding
from ..report.report import Report
from ..version import __version__
from . import rules, runtime
from .measure import run_delay
from .providers import open_session, use_gpu_wheel

_PURPOSE = {
    "cpu": "bench on the CPU",
    "gpu": "bench on NVIDIA GPUs",
    "helm": "lint Helm charts",
    "pkcs11": "sign with a hardware token",
    "tokenizers": "replay tokenizer witnesses",
}

# program -> (arguments that print its version, what it is for, how to get it)
_TOOLS = {
    "helm": (("version", "--short"), "lint Helm charts", "https://helm.sh/docs/intro/install"),
    "kubectl": (("version", "--client"), "apply and promote to Kubernetes", "https://kubernetes.io/docs/tasks/tools"),
    "kustomize": (("version",), "lint Kustomize overlays", "https://kubectl.docs.kubernetes.io/installation"),
    "docker-registry": (("--version",), "a registry of your own to publish to", "apt-get install docker-registry"),
    "nvidia-smi": (("--version",), "shows the GPU driver", "comes with the NVIDIA driver of the host"),
}


def doctor() -> Report:
    """Look at Python, extras, ONNX Runtime's providers and external programs.

    What is missing is listed with the way to get it and is no failure; what is installed and does not work is.
    """
    findings: list[Finding] = []
    machine = _machine()
    packages = _packages(findings)
    engine = _engine(findings)
    tools = [_tool(name, *how) for name, how in _TOOLS.items()]
    rows = [[each["name"], each["version"] or "missing", each["for"], "" if each["version"] else each["get"]]
            for each in (*packages, *tools)]  # fmt: skip
    facts = {"machine": machine, "packages": packages, "onnxruntime": engine, "tools": tools}
    broken = len(findings)
    runs = ", ".join(engine["runs"]) or "nothing yet"
    return Report(
        command="doctor",
        findings=findings,
        facts=facts,
        inputs=1,
        rules=rules.RULES,
        headline=f"{broken} thing{'' if broken == 1 else 's'} to repair" if broken else f"fit: bench runs on {runs}",
        body=[
            Table(["", "here"], [[k.replace("_", " "), str(v)] for k, v in machine.items()], "Machine"),
            Table(["provider", "runs", "why not, and what to do"], _provider_rows(engine), "ONNX Runtime"),
            Table(["", "version", "for", "how to get it"], rows, "Packages and programs"),
        ],
    )


def _machine() -> dict[str, Any]:
    counter = run_delay()
    if counter:
        counter.close()
    return {
        "interlock": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "latency_correction": "yes" if counter else "no: this kernel keeps no schedstat, so bench judges wall time",
    }


def _packages(findings: list[Finding]) -> list[dict[str, str]]:
    """Core dependencies and extras as interlock's own metadata declares them."""
    found: list[dict[str, str]] = []
    try:
        declared = metadata.requires("interlock") or []
    except metadata.PackageNotFoundError:
        declared = []  # run from a checkout that was never installed: nothing declares the dependencies
    wheels = runtime.distributions()
    for line in declared:
        requirement, _, marker = line.partition(";")
        if re.search(r"sys_platform == ['\"](\w+)", marker) and platform.system().lower() not in marker:
            continue
        extra = re.search(r"extra == ['\"]([\w-]+)", marker)
        match = re.match(r"[\w.-]+", requirement.strip())
        assert match is not None  # noqa: S101
        name, get = match.group(), f'pip install "interlock[{extra[1]}]"' if extra else "pip install interlock"
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = ""
            if not extra:
                message = f"{name} is a dependency and is not installed"
                findings.append(rules.finding(rules.MISSING, message, hint=f"reinstall: {get}"))
            elif name == "onnxruntime" and wheels:
                get = "not needed: onnxruntime-gpu runs on the CPU too"
            elif name == "onnxruntime-gpu" and wheels:
                get = use_gpu_wheel()
        purpose = f"extra {extra[1]}: {_PURPOSE.get(extra[1], 'optional')}" if extra else "core"
        found.append({"name": name, "version": version, "for": purpose, "get": get, "extra": extra[1] if extra else ""})
    return sorted(found, key=lambda package: (package["extra"], package["name"]))


def _tool(name: str, arguments: tuple[str, ...], purpose: str, get: str) -> dict[str, str]:
    path = shutil.which(name)
    version = ""
    if path:
        try:
            done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=10, check=False)
            said = (done.stdout or done.stderr).strip().splitlines()
            version = said[0] if done.returncode == 0 and said else f"found at {path}, but its version is unknown"
        except (OSError, subprocess.TimeoutExpired):
            version = f"found at {path}, but it does not run"
    return {"name": name, "version": version, "for": purpose, "get": get}


def _engine(findings: list[Finding]) -> dict[str, Any]:
    """Which providers a one-node model really runs on, by opening a session on each."""
    facts: dict[str, Any] = {"version": "", "wheels": runtime.distributions(), "listed": [], "devices": [], "runs": {}}
    facts["why_not"] = {}
    if len(facts["wheels"]) > 1:
        message = f"{' and '.join(facts['wheels'])} overwrite each other's files"
        hint = f"pip uninstall onnxruntime onnxruntime-gpu, then {runtime.GET_CPU} or {runtime.GET_GPU}"
        findings.append(rules.finding(rules.CONFLICT, message, hint=hint))
    try:
        ort = runtime.onnxruntime()
    except BadInput as error:
        facts["why_not"] = {"cpu": {"reason": error.reason, "hint": error.hint}}
        if facts["wheels"]:
            findings.append(rules.finding(rules.RUNTIME, str(error), hint=error.hint))
        return facts
    facts["version"] = str(ort.__version__)
    facts["listed"] = list(ort.get_available_providers())
    if hasattr(ort, "get_ep_devices"):
        facts["devices"] = [f"{device.ep_name} on {device.device.type.name}" for device in ort.get_ep_devices()]
    with tempfile.TemporaryDirectory() as folder:
        model = _tiny(Path(folder) / "one-node.onnx")
        for name in ("cuda", "cpu"):
            _try(name, model, facts, findings)
    return facts


def _try(name: str, model: str, facts: dict[str, Any], findings: list[Finding]) -> None:
    try:
        session = open_session(model, (name,), placement=True)
        session.run({"x": _one()})
    except Refused as error:
        facts["why_not"][name] = {"code": error.code, "reason": error.reason.partition(": ")[2], "hint": error.hint}
        if "onnxruntime-gpu" in facts["wheels"]:
            message = f"the GPU wheel is installed and CUDA does not run: {facts['why_not'][name]['reason']}"
            findings.append(rules.finding(rules.CUDA, message, hint=error.hint))
        return
    facts["runs"][name] = {"nodes": session.nodes}


def _one() -> Any:
    import numpy as np

    return np.ones(1, dtype=np.float32)


def _tiny(path: Path) -> str:
    from onnx import TensorProto, helper

    def tensor(name: str) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])

    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "one-node", [tensor("x")], [tensor("y")])
    # Old enough for any onnxruntime that the extras allow.
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    path.write_bytes(model.SerializeToString())
    return str(path)


def _provider_rows(engine: dict[str, Any]) -> list[list[str]]:
    rows = [[name, "yes", ""] for name in engine["runs"]]
    rows += [[name, "no", f"{why['reason']}; {why['hint']}"] for name, why in engine["why_not"].items()]
    return rows
