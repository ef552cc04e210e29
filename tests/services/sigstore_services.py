"""A whole Sigstore on loopback from npm: Fulcio, logs, Rekor v1 and v2, timestamps; and sigstore-js as a client."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent / "sigstore_mock"
PACKAGES = (
    "@sigstore/mock@0.13.0",
    "@sigstore/verify@4.1.3",
    "@sigstore/bundle@5.0.1",
    "@sigstore/protobuf-specs@0.5.2",
)


class Sigstore:
    """Running services. `url` is theirs; `v1`, `v2` (client trust configs) and `root` (bare trusted root) are files."""

    def __init__(self, home: Path, folder: Path, clock: str = "") -> None:
        self._home = home
        node = shutil.which("node") or "node"
        environment = {**os.environ, "NODE_PATH": str(home / "node_modules")}
        command = [node, str(HERE / "server.cjs"), *([clock] if clock else [])]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self._process.stdout is not None
        said = json.loads(self._process.stdout.readline())
        self.url: str = said["url"]
        folder.mkdir(parents=True, exist_ok=True)
        self.v1, self.v2, self.root = (folder / f"{name}.json" for name in ("v1", "v2", "root"))
        for name in ("v1", "v2", "root"):
            (folder / f"{name}.json").write_text(json.dumps(said[name]))

    def down(self, *paths: str) -> None:
        """Have requests whose path contains one of these fail with 503; none brings all back."""
        urllib.request.urlopen(f"{self.url}/test/down/{'/'.join(paths)}").read()

    def javascript(self, bundle: Path, *who: str, key: str = "") -> tuple[int, str]:
        """sigstore-js's verdict on a bundle: (exit code, what it said)."""
        environment = {**os.environ, "NODE_PATH": str(self._home / "node_modules"), "KEY": key}
        command = ["node", str(HERE / "verify.cjs"), str(bundle), str(self.root), *who]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        return done.returncode, done.stdout + done.stderr

    def close(self) -> None:
        """Stop the services."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


def install(root: Path, require: Callable[[str, str], NoReturn]) -> Path:
    """A folder with the npm packages, made on first use."""
    home = root / ".cache" / "sigstore-services"
    ready = home / ".ready"
    if not ready.is_file() or ready.read_text() != "\n".join(PACKAGES):
        import fcntl

        if shutil.which("npm") is None:
            require("npm", "install Node.js 20 or newer to run a loopback Sigstore")
        home.mkdir(parents=True, exist_ok=True)
        with (home.parent / "sigstore-services.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # test processes run side by side
            if not ready.is_file() or ready.read_text() != "\n".join(PACKAGES):
                options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(home)]
                done = subprocess.run(
                    ["npm", "install", *options, *PACKAGES], capture_output=True, text=True, check=False
                )
                if done.returncode:
                    require("@sigstore/mock", f"npm could not install it: {done.stderr.strip()[-300:]}")
                ready.write_text("\n".join(PACKAGES))
    return home


def token(subject: str, issuer: str, **claims: Any) -> str:
    """An OIDC token for an identity. The loopback Fulcio does not check its signature."""
    now = int(time.time())
    body = {
        "iss": issuer,
        "sub": subject,
        "aud": "sigstore",
        "iat": now - 5,
        "nbf": now - 5,
        "exp": now + 600,
        **claims,
    }
    parts = [{"alg": "HS256", "typ": "JWT"}, body]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, "c2lnbmF0dXJl"])
