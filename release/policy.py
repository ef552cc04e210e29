"""What a gate judges by, as one digest: when any of it changes, older evidence no longer counts."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..config.load import Config
from ..report.errors import BadInput
from . import durable
from .descriptor import canonical, digest_of


def policy_digest(gate: str, config: Config, against: str) -> str:
    """The digest of the settings that a gate reads, the contents of the files they name, and the version that it
    compares with. Raises BadInput when one of those files cannot be read."""
    settings = config.settings
    material: dict[str, Any] = {"gate": gate}
    if gate == "lint":
        material |= {"lint": asdict(settings.lint), "files": _contents(config, lint_paths(config))}
        material["baseline"] = _contents(config, [settings.lint.baseline] if settings.lint.baseline else [])
    elif gate == "verify":
        trust = settings.trust
        named = [*trust.keys, *trust.certificates, trust.root, trust.deny, trust.deny_key]
        material |= {"trust": asdict(trust), "files": _contents(config, [path for path in named if path])}
    elif gate == "validate":
        material |= {"contract": asdict(settings.contract), "against": against}
    else:
        # The values that generated inputs take decide what is measured as much as their shapes do.
        material |= {"bench": asdict(settings.bench), "domains": settings.contract.domains, "against": against}
    return digest_of(canonical(material))


def lint_paths(config: Config) -> list[str]:
    """What the lint gate reads; without any there is nothing it could vouch for."""
    paths = config.settings.lint.paths
    if not paths:
        hint = "name the manifests and serving code: lint: {paths: [deploy/]}"
        raise BadInput(config.path or "interlock.yaml", "the lint gate needs lint.paths", hint=hint)
    return paths


def _contents(config: Config, paths: list[str]) -> dict[str, str]:
    """Digest by path of each file, and of each file below each folder."""
    found: dict[str, str] = {}
    for path in paths:
        place = config.resolve(path)
        if place.is_dir():
            for inner, folders, names in os.walk(place):
                folders[:] = sorted(name for name in folders if name != ".git")
                for name in sorted(names):
                    file = Path(inner) / name
                    if file.is_file():
                        found[str(Path(path) / file.relative_to(place))] = durable.hash_file(file)[0]
        elif place.exists():
            found[path] = durable.hash_file(place)[0]
        else:
            hint = f"correct the path in {config.path}" if config.path else ""
            raise BadInput(place, "no such file or directory", hint=hint)
    return found
