"""npm packages as test tools, installed once below .cache/, also when several test processes ask at the same time."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn


def install(root: Path, package: str, version: str, require: Callable[[str, str], NoReturn]) -> Path:
    """The folder that holds `node_modules` with the package. Nothing of it runs while it is installed."""
    home = root / ".cache" / f"{package.rpartition('/')[2]}-{version}"
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (home / ".installed").is_file():
            return home
        if shutil.which("npm") is None:
            require("npm", f"install Node.js to run {package}")
        options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(home)]
        done = subprocess.run(
            ["npm", "install", *options, f"{package}@{version}"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            require(f"{package}@{version}", f"npm could not install it: {done.stderr.strip()[-200:]}")
        (home / ".installed").touch()
    return home
