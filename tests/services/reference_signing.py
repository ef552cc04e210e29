"""The reference implementation of OpenSSF Model Signing, in its own environment below .cache/: the oracle of our tests.

model-signing 1.1.1 imports pyOpenSSL without declaring it, so it is installed beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

PINS = ("model-signing==1.1.1", "pyopenssl==26.4.0", "sigstore==4.5.1", "blake3==1.0.11")

# Runs in the reference's environment: one command line (or hashing recipe) a line in, one verdict a line out. A process
# for each call would take 0.4 s for imports alone.
_DRIVER = """
import contextlib, io, json, os, sys
import click
import model_signing
from model_signing import _cli, hashing, signing

def run(args):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            _cli.main(args, standalone_mode=False)
        return 0, out.getvalue()
    except SystemExit as error:
        return error.code or 0, out.getvalue()
    except click.ClickException as error:
        return 2, out.getvalue() + error.format_message()
    except Exception as error:
        return 1, out.getvalue() + repr(error)

def api(recipe):
    config = hashing.Config()
    if recipe["method"] == "shards":
        config = config.use_shard_serialization(hashing_algorithm=recipe["hash"], shard_size=recipe["shard_size"])
    else:
        config = config.use_file_serialization(
            hashing_algorithm=recipe["hash"], allow_symlinks=recipe.get("symlinks", False)
        )
    signer = signing.Config().use_elliptic_key_signer(private_key=recipe["key"])
    signer.set_hashing_config(config).sign(recipe["model"], recipe["signature"])
    return 0, ""

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    request = json.loads(line)
    try:
        code, text = run(request["args"]) if "args" in request else api(request["api"])
    except Exception as error:
        code, text = 1, repr(error)
    answers.write(json.dumps([code, text]) + "\\n")
    answers.flush()
"""


class Verdict(NamedTuple):
    """The reference's exit code and what it said."""

    code: int
    text: str


class Reference:
    """A running reference; close it when done."""

    def __init__(self, python: Path) -> None:
        self.python = python
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [str(python), "-c", _DRIVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, *args: object) -> Verdict:
        """`model_signing ARGS`."""
        return self._ask({"args": [str(arg) for arg in args]})

    def sign_with(self, **recipe: object) -> Verdict:
        """Sign by its API with a hashing recipe that its command line does not offer."""
        return self._ask({"api": {key: v if isinstance(v, bool | int) else str(v) for key, v in recipe.items()}})

    def _ask(self, request: dict[str, Any]) -> Verdict:
        with self._lock:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            return Verdict(*json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """Stop it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


def install(root: Path, require: Callable[[str, str], NoReturn]) -> Path:
    """The interpreter of an environment that holds the reference, made on first use."""
    home = root / ".cache" / "reference-signing"
    python = home / "bin" / "python"
    ready = home / ".ready"
    if not ready.is_file() or ready.read_text() != "\n".join(PINS):
        import fcntl

        home.parent.mkdir(exist_ok=True)
        with (home.parent / "reference-signing.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # test processes run side by side
            if not ready.is_file() or ready.read_text() != "\n".join(PINS):
                subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
                pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PINS]
                done = subprocess.run(pip, capture_output=True, text=True, check=False, env={**os.environ})
                if done.returncode:
                    require("model-signing", f"pip could not install it: {done.stderr.strip()[-300:]}")
                ready.write_text("\n".join(PINS))
    return python
