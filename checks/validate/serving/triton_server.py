"""How Triton watches its model repository: by the declared command line, or by the manifests that lint reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os.path import relpath
from typing import NamedTuple

from ....report.errors import BadInput

MODES = ("none", "poll", "explicit")
_PROGRAM = "tritonserver"
_MODE, _SECONDS = "--model-control-mode", "--repository-poll-secs"


class Watching(NamedTuple):
    """One server: its mode of model control, whether an interval for polling is given, and who says so."""

    mode: str
    interval: bool
    where: str


def declared(command: str) -> Watching | None:
    """The server of `contract.server`, None where that is not Triton. Raises BadInput on an unknown mode."""
    from ...lint.sources.argv import split_script

    for line in split_script(command):
        words = [word for word, _ in line]
        if _starts(words):
            found = _watching(_options(words), "contract.server")
            if found.mode not in MODES:
                raise BadInput("contract.server", f"{_MODE} is {found.mode!r}", hint=f"one of {', '.join(MODES)}")
            return found
    return None


def in_manifests(paths: Sequence[str], exclude: Sequence[str]) -> list[Watching]:
    """The Triton servers of the manifests and scripts below `paths`. What cannot be read is lint's to report."""
    from ...lint.collect import collect
    from ...lint.index import Index
    from ...lint.paths import is_test
    from ...lint.sources.scripts import ShellText

    inputs = collect(paths, exclude)
    index = Index(inputs.resources, inputs.subjects)
    found: list[Watching] = []
    for pod in index.pods:
        for container in index.servers(pod):
            if container.runtime is not None and container.runtime.id == "triton" and not is_test(pod.resource.path):
                said = [(name, container.env_value(name) or "") for name in container.env]
                options = [(_MODE, value) for name, value in said if name.upper().endswith("MODEL_CONTROL_MODE")]
                options += [(flag.name, container.expand(flag.value or "")) for flag in container.flags]
                found.append(_watching(options, f"{container.name} in {relpath(pod.resource.path)}"))
    for script in index.of("shell"):
        if isinstance(script, ShellText) and script.container is None and not is_test(script.path):
            started = [command.argv for command in script.commands if _starts(command.argv)]
            found += [_watching(_options(words), relpath(script.path)) for words in started]
    return found


def _starts(words: Sequence[str]) -> bool:
    return any(word.rpartition("/")[2] == _PROGRAM for word in words)


def _options(words: Sequence[str]) -> Iterable[tuple[str, str]]:
    """(name, value) of the options of a command line."""
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            following = words[index + 1] if index + 1 < len(words) else ""
            yield name, value if equals else "" if following.startswith("--") else following


def _watching(options: Iterable[tuple[str, str]], where: str) -> Watching:
    said = {name.replace("_", "-"): value.strip().lower() for name, value in options}
    return Watching(said.get(_MODE) or "none", _SECONDS in said, where)
