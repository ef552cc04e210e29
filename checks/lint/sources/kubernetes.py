"""Kubernetes objects in YAML documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ....report.finding import Location
from .argv import Word
from .pods import Pod
from .text import Unreadable
from .workloads import pods_of
from .yamlnodes import Document, Map, Seq, pointer, text

_SELECTED = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Rollout"})


@dataclass(eq=False)
class Resource:
    """One object of a document. `root` is its mapping, `document` the YAML document it stands in; `inner` keeps what
    YAML inside its texts has been read as, so that several rules read it once."""

    document: Document
    root: Map
    inner: dict[tuple[int, str], list[Resource]] = field(default_factory=dict[tuple[int, str], "list[Resource]"])

    @property
    def path(self) -> str:
        return self.document.file.path

    @cached_property
    def kind(self) -> str:
        return self.root.get_str("kind")

    @cached_property
    def api(self) -> str:
        """apiVersion, such as apps/v1."""
        return self.root.get_str("apiVersion")

    @cached_property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api.rpartition("/")[0]

    @property
    def meta(self) -> Map:
        return self.root.get_map("metadata")

    @property
    def spec(self) -> Map:
        return self.root.get_map("spec")

    @cached_property
    def name(self) -> str:
        return self.meta.get_str("name") or self.meta.get_str("generateName")

    @cached_property
    def namespace(self) -> str:
        """The namespace written down; empty when the apply decides it."""
        return self.meta.get_str("namespace")

    @cached_property
    def labels(self) -> dict[str, str]:
        return {key: text(value) for key, value in self.meta.get_map("labels").items()}

    @cached_property
    def annotations(self) -> dict[str, str]:
        return {key: text(value) for key, value in self.meta.get_map("annotations").items()}

    @cached_property
    def identity(self) -> str:
        """`Kind/namespace/name`, the namespace left out where it is not written down."""
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)

    @cached_property
    def is_patch(self) -> bool:
        """A Kustomize patch: a workload without selector, or one whose containers have no image."""
        if self.kind in _SELECTED and not self.api.endswith(("beta1", "beta2")) and "selector" not in self.spec:
            return True
        plain = [container for pod in self.pods for container in pod.spec.get_maps("containers")]
        return bool(plain) and self.kind in _SELECTED and not any("image" in container for container in plain)

    @cached_property
    def pods(self) -> list[Pod]:
        """The pods it makes, in the order of the manifest."""
        return list(pods_of(self))

    def at(self, holder: Map | Seq, key: str | int) -> Location:
        """Where the entry `key` of a container stands: its value when that is a scalar on one line, else its key.

        Where there is no such entry, the mapping that lacks it.
        """
        if isinstance(holder, Map) and key not in holder:
            return self.at_map(holder)
        span = holder.span(key)  # pyright: ignore[reportArgumentType]
        value: Any = holder[key]  # pyright: ignore
        where = pointer(holder, key)
        if isinstance(holder, Map) and isinstance(value, Map | Seq):
            ends = (span.key_line, span.key_column, span.key_line, span.key_end_column)
        elif span.line != span.end_line or isinstance(value, Map | Seq):
            ends = (span.line, span.column, None, None)
        else:
            ends = (span.line, span.column, span.end_line, span.end_column)
        return self.document.file.location(*ends, object=self.identity, pointer=where)

    def at_key(self, holder: Map, key: str) -> Location:
        """Where the key of an entry stands, or the mapping that lacks it."""
        if key not in holder:
            return self.at_map(holder)
        span = holder.span(key)
        ends = (span.key_line, span.key_column, span.key_line, span.key_end_column)
        return self.document.file.location(*ends, object=self.identity, pointer=pointer(holder, key))

    def at_map(self, holder: Map) -> Location:
        """Where a mapping starts: its `name` or `image` where it has one, else its first key."""
        for key in ("name", "image", *holder):
            if key in holder:
                where = self.at(holder, key) if key in ("name", "image") else self.at_key(holder, key)
                return Location(
                    where.path, where.line, where.column, where.end_line, where.end_column,
                    self.identity, pointer(holder),
                )  # fmt: skip
        return self.document.file.location(self.document.line, object=self.identity)

    def at_word(self, word: Word, part: str = "") -> Location:
        """Where a word of a command line stands; in a script, the line that holds it. `part` narrows to a substring."""
        span = word.holder.span(word.slot)  # pyright: ignore[reportArgumentType]
        where = pointer(word.holder, word.slot)
        lines = self.document.file.lines
        needle = part or word.text.split("\n", 1)[0]
        if span.style in ("|", ">") or word.script or part:
            first, skip = span.line, 0
            if word.script and span.style == "|":
                source = text(word.holder[word.slot])  # pyright: ignore[reportArgumentType,reportCallIssue]
                first = span.line + 1 + source.count("\n", 0, word.offset)
            elif span.style not in ("|", ">"):
                skip = span.column - 1
            for number in range(first, min(span.end_line, first + 2000) + 1):
                column = lines[number - 1].find(needle, skip) if number <= len(lines) else -1
                if column >= 0:
                    end = column + len(needle) + 1
                    return self.document.file.location(
                        number, column + 1, number, end, object=self.identity, pointer=where
                    )
                skip = 0
            return self.document.file.location(first, object=self.identity, pointer=where)
        return self.at(word.holder, word.slot)


def resources(document: Document) -> Iterator[Resource]:
    """The objects of a document; the items of a List each for themselves."""
    root = document.root
    if not isinstance(root, Map) or not isinstance(root.get("kind"), str):
        return
    items = root.get("items")
    if root.get_str("kind").endswith("List") and isinstance(items, Seq):
        for item in items:
            if isinstance(item, Map) and isinstance(item.get("kind"), str):
                yield Resource(document, item)
    elif isinstance(root.get("apiVersion"), str) or root.get_str("kind") in ("InferencePool",):
        yield Resource(document, root)


def misshapen(resource: Resource) -> Iterator[Unreadable]:
    """Why the pods of an object cannot be judged: containers that are no list of mappings."""
    if resource.document.file.template:
        return
    for pod in resource.pods:
        for key in ("containers", "initContainers"):
            value = pod.spec.get(key)
            if value is None or (isinstance(value, Seq) and all(isinstance(item, Map) for item in value)):
                continue
            span = pod.spec.span(key)
            reason = f"{key} of {resource.identity} is not a list of containers"
            yield Unreadable(reason, line=span.key_line, column=span.key_column, hint="kubectl would refuse it")
