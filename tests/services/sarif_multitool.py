"""Microsoft's SARIF validator, installed from npm below .cache/: the rules of SARIF and of GitHub code scanning."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from services import npmtool

PACKAGE, VERSION = "@microsoft/sarif-multitool-linux", "5.7.0"


def install(root: Path, require: Callable[[str, str], NoReturn]) -> Path:
    """The validator's binary, installed on first use."""
    binary = npmtool.install(root, PACKAGE, VERSION, require) / "node_modules" / PACKAGE / "Sarif.Multitool"
    binary.chmod(0o755)
    return binary


def errors(binary: Path, *logs: Path) -> list[dict[str, Any]]:
    """The errors that the validator finds in SARIF files, as {rule, message}; [] when all are clean."""
    out = logs[0].with_suffix(".validation.sarif")
    command = [binary, "validate", *logs, "--rule-kind", "Sarif;Ghas", "--output", out, "--log", "ForceOverwrite"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=120)
    assert out.is_file(), done.stdout + done.stderr
    run = json.loads(out.read_text("utf-8-sig"))["runs"][0]
    notices = [
        notice
        for invocation in run.get("invocations", [])
        for key in ("toolExecutionNotifications", "toolConfigurationNotifications")
        for notice in invocation.get(key, [])
        if notice.get("level") == "error"
    ]
    assert not notices, notices
    return [
        {"rule": result["ruleId"], "message": result["message"]}
        for result in run.get("results", [])
        if result.get("level", "warning") == "error"
    ]
