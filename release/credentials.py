"""Registry credentials as container tools keep them: config.json of Docker or Podman, and credential helpers."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, cast

from ..report.errors import NeedsAccess

_HELPER_NAME = re.compile(r"[A-Za-z0-9_-]+")
_TIMEOUT = 30
# Docker Hub is logged in to under its old name.
_HUB_KEYS = {"registry-1.docker.io": "https://index.docker.io/v1/"}


def credentials_for(host: str) -> tuple[str, str] | None:
    """User and password for a registry host, None where nothing is stored.

    Looks into $DOCKER_CONFIG, ~/.docker/config.json, $REGISTRY_AUTH_FILE and Podman's auth.json, in this order.
    Raises NeedsAccess when a file or helper that should hold them does not work.
    """
    for path in _files():
        try:
            tree = json.loads(path.read_bytes())
        except OSError:
            continue  # most of these files do not exist
        except ValueError as error:
            raise NeedsAccess(path, "not JSON", hint="log in to the registry again") from error
        if isinstance(tree, dict) and (found := _in(cast("dict[str, Any]", tree), host, path)):
            return found
    return None


def _files() -> list[Path]:
    environment = os.environ
    folder = Path(environment.get("DOCKER_CONFIG") or Path.home() / ".docker")
    runtime = environment.get("XDG_RUNTIME_DIR")
    files = [folder / "config.json"]
    files += [Path(environment["REGISTRY_AUTH_FILE"])] if "REGISTRY_AUTH_FILE" in environment else []
    return files + ([Path(runtime) / "containers" / "auth.json"] if runtime else [])


def _in(tree: dict[str, Any], host: str, path: Path) -> tuple[str, str] | None:
    helpers: dict[str, Any] = tree.get("credHelpers") or {}
    auths: dict[str, Any] = tree.get("auths") or {}
    helper: Any = helpers.get(host) or tree.get("credsStore")
    if isinstance(helper, str) and helper and (found := _ask(helper, host)):
        return found
    entry: Any = next((auths[key] for key in (host, f"https://{host}", _HUB_KEYS.get(host)) if key in auths), None)
    if not isinstance(entry, dict):
        return None
    encoded = str(cast("dict[str, Any]", entry).get("auth") or "")
    if not encoded:
        return None
    try:
        user, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError as error:
        raise NeedsAccess(path, f"the entry for {host} is damaged", hint="log in to the registry again") from error
    return (user, password.rstrip("\0")) if colon else None


def _ask(helper: str, host: str) -> tuple[str, str] | None:
    """What `docker-credential-<helper> get` says; None when it has nothing for the host."""
    program = f"docker-credential-{helper}"
    if not _HELPER_NAME.fullmatch(helper):
        raise NeedsAccess(program, "not a helper name", hint="correct credsStore or credHelpers in config.json")
    try:
        result = subprocess.run(
            [program, "get"], input=host.encode(), capture_output=True, timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NeedsAccess(
            program, f"does not answer: {error}", hint="install it, or log in without a helper"
        ) from error
    if result.returncode != 0:
        return None
    try:
        answer = json.loads(result.stdout)
        return str(answer["Username"]), str(answer["Secret"])
    except (ValueError, KeyError, TypeError) as error:
        raise NeedsAccess(program, "answers something else than credentials", hint="log in again") from error
