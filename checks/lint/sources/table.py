"""Which source reads which file, and what else a YAML document yields. Modules are imported when first needed.

A source module has any of

- `from_file(file: TextFile) -> Iterable[subject]` for files of its own,
- `from_document(document: Document, resources: list[Resource]) -> Iterable[subject]` for what YAML embeds
  (a PrometheusRule, scripts in container arguments and ConfigMaps),
- `render(folder: str, options: Options) -> Iterable[TextFile]` for folders that render to YAML.

Subjects have a `path`. Any of these may raise `Unreadable`, which becomes a notice on that file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..lazy import lazy

YAML = frozenset({".yaml", ".yml", ".json"})

# ending of a file -> (what the subjects are, module)
BY_SUFFIX = {
    ".py": ("python", "python"),
    ".pbtxt": ("pbtxt", "pbtxt"),
    ".sh": ("shell", "scripts"),
    ".bash": ("shell", "scripts"),
    ".dockerfile": ("shell", "scripts"),
}
BY_NAME = [
    # (pattern searched in the path, what the subjects are, module)
    (lazy(r"(^|/)(Dockerfile|Containerfile)(\.[\w.-]+|-[\w.-]+)?$"), "shell", "scripts"),
]

# what the subjects are -> modules that find more of them in YAML documents
IN_YAML: dict[str, tuple[str, ...]] = {"shell": ("scripts",), "rules": ("rules_file",)}

# module -> texts of which a file must hold one for the module to find anything in it
MENTIONS = {"rules_file": ("expr", "uery")}

# file that marks a folder -> module that renders it
FOLDERS: dict[str, str] = {"Chart.yaml": "helm"}
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")


@dataclass(frozen=True, slots=True)
class Options:
    """How folders are rendered: Helm values files and `--set` expressions."""

    values: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    extra: dict[str, str] = field(default_factory=dict[str, str])


def sources_of(path: str, suffix: str) -> list[tuple[str, str]]:
    """(what, module) of the sources that read a file by its name; YAML is read besides these."""
    found = [BY_SUFFIX[suffix]] if suffix in BY_SUFFIX else []
    found.extend((what, module) for pattern, what, module in BY_NAME if pattern.search(path))
    return found
