"""CI files: the shell steps of GitHub workflows, composite actions and GitLab pipelines, with file positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .embedded import script_in
from .shell import SHELLS, Script
from .text import TextFile
from .yamlnodes import Map, Seq, text

_SECTIONS = ("before_script", "script", "after_script")


@dataclass(slots=True)
class Step:
    """One shell step: the YAML entry that holds it, the job it is in, and its commands."""

    job: str
    holder: Map | Seq
    slot: str | int
    script: Script


def is_github(root: object) -> bool:
    """Whether a document is a workflow or a composite action."""
    if not isinstance(root, Map):
        return False
    # `on` is a boolean in YAML 1.1, and the loader keeps the key's text.
    return ("jobs" in root and "on" in root) or (isinstance(root.get("runs"), Map) and "using" in root.get_map("runs"))


def is_gitlab(root: object, path: str) -> bool:
    """Whether a document is a GitLab pipeline."""
    return isinstance(root, Map) and path.rsplit("/", 1)[-1].endswith((".gitlab-ci.yml", ".gitlab-ci.yaml"))


def steps(file: TextFile, root: object) -> Iterator[Step]:
    """The shell steps of a CI document; nothing for any other document."""
    if not isinstance(root, Map):
        return
    if is_github(root):
        yield from _github(file, root)
    elif is_gitlab(root, file.path):
        yield from _gitlab(file, root)


def _github(file: TextFile, root: Map) -> Iterator[Step]:
    jobs = root.get_map("jobs")
    for name, job in [*jobs.items(), ("", root.get_map("runs"))]:
        if not isinstance(job, Map):
            continue
        for step in job.get_maps("steps"):
            shell = text(step.get("shell")).split(" ", 1)[0]
            if isinstance(step.get("run"), str) and (not shell or shell in SHELLS):
                yield Step(name, step, "run", script_in(file, step, "run", _constants(root, job, step)))


def _gitlab(file: TextFile, root: Map) -> Iterator[Step]:
    for name, job in [*root.items(), ("", root)]:
        if not isinstance(job, Map):
            continue
        for section in _SECTIONS:
            lines = job.get(section)
            if isinstance(lines, str):
                yield Step(name, job, section, script_in(file, job, section, _constants(root, job)))
            elif isinstance(lines, Seq):
                for index, line in enumerate(lines):
                    if isinstance(line, str):
                        yield Step(name, lines, index, script_in(file, lines, index, _constants(root, job)))


def _constants(*levels: Map) -> dict[str, str]:
    """Environment values that hold no expression; the innermost level wins."""
    known: dict[str, str] = {}
    for level in levels:
        for section in ("env", "variables"):
            known.update({name: text(value) for name, value in level.get_map(section).items()})
    return {name: value for name, value in known.items() if "$" not in value}
