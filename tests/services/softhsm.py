"""A token in software: SoftHSM with a fresh token, keys made on it by OpenSC's pkcs11-tool."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

MODULES = (
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/opt/homebrew/lib/softhsm/libsofthsm2.so",
)
PIN = "1234"


class Token:
    """An initialised token; `SOFTHSM2_CONF` has to name `config` before the module is loaded in a process."""

    def __init__(self, folder: Path, require: Callable[[str, str], NoReturn]) -> None:
        self.module = next((path for path in MODULES if Path(path).is_file()), "")
        if not self.module or not shutil.which("softhsm2-util") or not shutil.which("pkcs11-tool"):
            require("SoftHSM", "apt-get install softhsm2 opensc")
        (folder / "tokens").mkdir()
        self.config = folder / "softhsm2.conf"
        self.config.write_text(
            f"directories.tokendir = {folder / 'tokens'}\nobjectstore.backend = file\nlog.level = ERROR\n"
        )
        os.environ["SOFTHSM2_CONF"] = str(self.config)
        self._run("softhsm2-util", "--init-token", "--free", "--label", "release", "--pin", PIN, "--so-pin", "5678")

    def make_key(self, label: str, identifier: str, curve: str) -> None:
        """A key pair on the token."""
        options = ["--module", self.module, "--login", "--pin", PIN, "--token-label", "release"]
        self._run("pkcs11-tool", *options, "--keypairgen", "--key-type", curve, "--label", label, "--id", identifier)

    def uri(self, label: str, *, pin: str = PIN, **attributes: str) -> str:
        """The URI of a key."""
        path = ";".join(f"{k}={v}" for k, v in {"token": "release", "object": label, **attributes}.items())
        return f"pkcs11:{path}?module-path={self.module}" + (f"&pin-value={pin}" if pin else "")

    @staticmethod
    def _run(*command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
