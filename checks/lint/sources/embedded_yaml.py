"""YAML inside YAML: a block scalar such as `serveConfigV2` read as a document whose positions lie in the outer file."""

from __future__ import annotations

from collections.abc import Iterator

from .kubernetes import Resource
from .text import TextFile
from .yamlnodes import Document, Map
from .yamlreader import documents


def embedded(resource: Resource, holder: Map, key: str) -> list[Resource]:
    """The mappings that the text under `key` holds, each as a resource that reports under the outer object's identity.

    A literal block keeps exact lines and columns; of other scalars only the first line is known. Text that is not
    YAML, a template for instance, yields nothing: the outer document has been read, and what is in it is free text.
    """
    known = resource.inner.get((id(holder), key))
    if known is None:
        known = resource.inner[id(holder), key] = list(_read(resource, holder, key))
    return known


def _read(resource: Resource, holder: Map, key: str) -> Iterator[Resource]:
    value = holder.get(key)
    if not isinstance(value, str) or ":" not in value:
        return
    span = holder.span(key)
    outer = resource.document.file
    inner = TextFile(outer.path, value, outer.origin)
    if span.style == "|":
        first = span.line  # the line of the indicator, counted from 1: so many lines come before the text
        lines = outer.lines[first : span.end_line]
        indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
        inner.text = "\n" * first + "\n".join(" " * indent + line if line else line for line in value.split("\n"))
    for document in documents(inner):
        if isinstance(document.root, Map):
            found = Resource(Document(outer, document.line, document.root), document.root)
            found.identity = resource.identity
            yield found
