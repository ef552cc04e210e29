"""Finds the files of a run and reads each into subjects. One that cannot be read is noted, and the run goes on."""

# A run handles tens of thousands of paths, and pathlib costs ten times as much a path.
# ruff: noqa: PTH112, PTH113, PTH118, PTH119, PTH120, PTH122

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from typing import Any

from ...report.errors import BadInput
from .lazy import lazy
from .sources import table
from .sources.gotemplate import flattened, is_template
from .sources.kubernetes import Resource, misshapen, resources
from .sources.text import STDIN, TextFile, Unreadable, decode, read_bytes
from .sources.yamlnodes import Document, Map
from .sources.yamlreader import documents

_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})
# What a YAML file must mention to be worth parsing, and what makes it a template that is not YAML yet.
_YAML_OF_INTEREST = lazy(
    r"""^[{ \t-]*["']?(apiVersion|kind|groups|Resources|jobs|runs|script|services)["']?\s*:""", re.MULTILINE
)
_JSON_OF_INTEREST = lazy(r'"apiVersion"\s*:')


@dataclass
class Inputs:
    """What a run has read. `unread` pairs a path with why; `notices` are odd but read."""

    files: list[TextFile] = field(default_factory=list[TextFile])
    resources: list[Resource] = field(default_factory=list[Resource])
    documents: list[Document] = field(default_factory=list[Document])
    subjects: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    unread: list[tuple[str, Unreadable]] = field(default_factory=list[tuple[str, Unreadable]])
    notices: list[tuple[str, Unreadable]] = field(default_factory=list[tuple[str, Unreadable]])
    others: int = 0
    templates: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    reader: Callable[[str], bytes] = read_bytes

    @property
    def count(self) -> int:
        """How many things were recognised: objects, and subjects that are no part of one."""
        return len(self.resources) + self.others

    def text(self, path: str) -> TextFile:
        """A file, or standard input, as text. Raises Unreadable on what is too large, special or not text."""
        return TextFile(path, decode(self.reader(path)))


def discover(paths: Iterable[str], exclude: Iterable[str] = ()) -> Iterator[tuple[str, bool]]:
    """(file, named by the user) of every file below `paths`, in order. Raises BadInput on a path that does not exist.

    Standard input comes out as STDIN. Folder links are not followed, so a loop of links is harmless; hidden folders
    other than .github are left out.
    """
    patterns = tuple(exclude)
    seen: set[str] = set()
    for path in paths:
        if path != "-" and not os.path.lexists(path):
            raise BadInput(path, "no such file or folder", hint="give files, folders, or - for standard input")
        given = STDIN if path == "-" else path
        for file, named in _below(path, patterns) if os.path.isdir(path) else [(given, True)]:
            if file not in seen:
                seen.add(file)
                yield file, named


def _below(folder: str, exclude: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    for base, folders, names in os.walk(folder):
        # A chart's templates are not YAML until they are rendered, and the renderer reads them.
        rendered = [marker for marker in table.FOLDERS if marker in names]
        keep = [name for name in folders if name not in _SKIPPED and (not name.startswith(".") or name == ".github")]
        if "Chart.yaml" in rendered:
            keep = [name for name in keep if name not in ("templates", "charts")]
        clean = base.removeprefix("./") if base != "." else ""
        folders[:] = sorted(name for name in keep if not excluded(os.path.join(clean, name), exclude))
        for name in sorted(names):
            path = os.path.join(clean, name)
            if not excluded(path, exclude):
                yield path, False


def excluded(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path, or a folder above it, matches one of the glob patterns."""
    for pattern in patterns:
        bare = pattern.rstrip("/")
        if (
            fnmatch(path, bare)
            or fnmatch(path, f"*/{bare}")
            or fnmatch(path, f"{bare}/*")
            or fnmatch(path, f"*/{bare}/*")
        ):
            return True
    return False


def collect(
    paths: Iterable[str],
    exclude: Iterable[str] = (),
    options: table.Options | None = None,
    reader: Callable[[str], bytes] = read_bytes,
) -> Inputs:
    """Read everything below `paths` that some source knows; `reader` gives the bytes of a file."""
    inputs = Inputs(reader=reader)
    paths = list(paths)
    built = {file for path in paths for file in _build(path, inputs)}
    for path, named in discover(paths, exclude):
        if path not in built:
            _try(path, named, inputs, options or table.Options())
    _template_notices(inputs)
    return inputs


def _build(path: str, inputs: Inputs) -> list[str]:
    """Read what a Kustomize folder builds, where it is named itself; the files that it is built from.

    Where it cannot be built its files are read as they are written, and why is noted.
    """
    if not any(os.path.isfile(os.path.join(path, name)) for name in table.KUSTOMIZATIONS):
        return []
    kustomize = _source("kustomize")
    if kustomize.tool() is None:
        return []
    try:
        found = kustomize.sources(path)
        file = kustomize.build(path, found)
        files = [*found.kustomizations, *found.files]
        _read_yaml(file, inputs, rendered=True)
        # Suppressions stand in comments, which the build drops.
        inputs.files.extend(inputs.text(each) for each in dict.fromkeys(files))
    except Unreadable as error:
        inputs.notices.append((os.path.join(path, "kustomization.yaml"), error))
        return []
    return files


def _try(path: str, named: bool, inputs: Inputs, options: table.Options) -> None:
    try:
        _read(path, named, inputs, options)
    except Unreadable as error:
        inputs.unread.append((path, error))
    except OSError as error:
        inputs.unread.append((path, Unreadable(f"cannot read: {(error.strerror or str(error)).lower()}")))


@cache
def _source(name: str) -> Any:
    """A module of `sources`, imported when the first file needs it."""
    return import_module(f".sources.{name}", __package__)


def _read(path: str, named: bool, inputs: Inputs, options: table.Options) -> None:
    name = os.path.basename(path)
    if name in table.FOLDERS:
        _render(path, inputs, options)
    suffix = os.path.splitext(name)[1].lower()
    sources = table.sources_of(path, suffix)
    is_yaml = suffix in table.YAML or (named and not sources)
    if not sources and not is_yaml:
        return
    file = inputs.text(path)
    known = sum(map(len, inputs.subjects.values()))
    for what, source in sources:
        inputs.subjects[what].extend(_source(source).from_file(file))
    if is_yaml:
        _read_yaml(file, inputs, rendered=False, of_interest=named)
    elif (found := sum(map(len, inputs.subjects.values())) - known) > 0:
        inputs.files.append(file)
        inputs.others += found
        inputs.unread.extend((path, notice) for notice in file.notices)


def _render(path: str, inputs: Inputs, options: table.Options) -> None:
    """What the folder of a marker file renders to; where that fails, a chart's templates as they are written."""
    folder, name = os.path.split(path)
    try:
        for file in _source(table.FOLDERS[name]).render(folder or ".", options):
            _read_yaml(file, inputs, rendered=True)
    except Unreadable as error:
        inputs.unread.append((path, error))
        templates = os.path.join(folder, "templates")
        if name == "Chart.yaml" and os.path.isdir(templates):
            for template, _ in _below(templates, ()):
                _try(template, False, inputs, options)


def _read_yaml(file: TextFile, inputs: Inputs, *, rendered: bool, of_interest: bool = True) -> None:
    """Documents and objects of a YAML or JSON file, and what its documents embed."""
    wanted = _JSON_OF_INTEREST if file.path.endswith(".json") else _YAML_OF_INTEREST
    kustomization = os.path.basename(file.path).startswith("kustomization.")
    if not of_interest and not kustomization and not wanted.search(file.text):
        return
    if file.origin is None and "# Source: " in file.text:
        file.origin = _source("helm").sources_of(file)
    found = list(documents(file)) if rendered or not is_template(file.text) else _template(file, inputs)
    inputs.files.append(file)
    idle = {m for m, texts in table.MENTIONS.items() if not any(text in file.text for text in texts)}
    for document in found:
        inputs.documents.append(document)
        objects = list(resources(document))
        if not objects and kustomization and isinstance(document.root, Map):
            objects = [Resource(document, document.root)]
            objects[0].kind = "Kustomization"
        # What a cluster would refuse cannot be judged, and must not count as if it had been.
        problems = {id(item): found for item in objects if (found := list(misshapen(item)))}
        inputs.unread.extend((file.path, problem) for found in problems.values() for problem in found)
        objects = [item for item in objects if id(item) not in problems]
        inputs.resources.extend(item for item in objects if item.kind != "CustomResourceDefinition")
        # The branches of a template that exclude each other may write the same key; other YAML is not our subject.
        for key, line, column in document.duplicates if objects and not document.file.template else ():
            notice = Unreadable(f"key '{key}' appears twice, the last one counts", line=line, column=column)
            inputs.notices.append((file.path, notice))
        for what, modules in table.IN_YAML.items():
            for module in modules:
                if module in idle:
                    continue
                source = _source(module)
                subjects = list(source.from_document(document, objects))
                inputs.subjects[what].extend(subjects)
                inputs.others += 0 if objects else len(subjects)
    inputs.unread.extend((file.path, notice) for notice in file.notices)


def _template(file: TextFile, inputs: Inputs) -> list[Document]:
    """The documents of a Helm template that is not rendered, as far as they are written down."""
    flat = flattened(file)
    found = list(documents(flat))
    if flat.notices:
        line = flat.notices[0].line
        raise Unreadable("a Helm template: not YAML until it is rendered", line=line, hint=_RENDER)
    if any(True for document in found for _ in resources(document)):
        inputs.templates[os.path.dirname(file.path)].append(file.path)
    return found


def _template_notices(inputs: Inputs) -> None:
    """One notice a folder of templates, however many they are."""
    for paths in inputs.templates.values():
        what = "a Helm template is" if len(paths) == 1 else f"{len(paths)} Helm templates in this folder are"
        note = Unreadable(f"{what} read without values: only what is written down is judged", hint=_RENDER)
        inputs.notices.append((paths[0], note))


_RENDER = "lint the chart's folder, or pipe the output of helm template into interlock lint -"
