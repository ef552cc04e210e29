"""CI files: the shell steps of GitHub workflows, composite actions and GitLab pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .shell import SHELLS
from .yamlnodes import Map, Seq, text

_SECTIONS = ("before_script", "script", "after_script")


@dataclass(slots=True)
class Step:
    """One shell step: the job it is in, the YAML entry that holds its text, and the environment that is constant."""

    job: str
    holder: Map | Seq
    slot: str | int
    text: str
    variables: dict[str, str]


def is_github(root: object) -> bool:
    """Whether a document is a workflow or a composite action."""
    if not isinstance(root, Map):
        return False
    # `on` is a boolean in YAML 1.1, and the loader keeps the key's text.
    return ("jobs" in root and "on" in root) or (isinstance(root.get("runs"), Map) and "using" in root.get_map("runs"))


def is_gitlab(root: object, path: str) -> bool:
    """Whether a document is a GitLab pipeline."""
    return isinstance(root, Map) and path.rsplit("/", 1)[-1].endswith((".gitlab-ci.yml", ".gitlab-ci.yaml"))


def steps(path: str, root: object) -> Iterator[Step]:
    """The shell steps of a CI document; nothing for any other document."""
    if not isinstance(root, Map):
        return
    if is_github(root):
        yield from _github(root)
    elif is_gitlab(root, path):
        yield from _gitlab(root)


def _github(root: Map) -> Iterator[Step]:
    jobs = root.get_map("jobs")
    for name, job in [*jobs.items(), ("", root.get_map("runs"))]:
        if not isinstance(job, Map):
            continue
        for step in job.get_maps("steps"):
            shell = text(step.get("shell")).split(" ", 1)[0]
            if isinstance(step.get("run"), str) and (not shell or shell in SHELLS):
                yield Step(name, step, "run", step["run"], _constants(root, job, step))


def _gitlab(root: Map) -> Iterator[Step]:
    for name, job in [*root.items(), ("", root)]:
        if not isinstance(job, Map):
            continue
        for section in _SECTIONS:
            lines = job.get(section)
            if isinstance(lines, str):
                yield Step(name, job, section, lines, _constants(root, job))
            elif isinstance(lines, Seq):
                for index, line in enumerate(lines):
                    if isinstance(line, str):
                        yield Step(name, lines, index, line, _constants(root, job))


def _constants(*levels: Map) -> dict[str, str]:
    """Environment values that hold no expression; the innermost level wins."""
    known: dict[str, str] = {}
    for level in levels:
        for section in ("env", "variables"):
            known.update({name: text(value) for name, value in level.get_map(section).items()})
    return {name: value for name, value in known.items() if "$" not in value}
