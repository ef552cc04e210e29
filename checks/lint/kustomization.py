"""Kustomization files: which resources they include and how they rewrite images."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from posixpath import dirname, join, normpath

from .sources.kubernetes import Resource
from .sources.pods import Container, Image, parse_image
from .sources.yamlnodes import Map, Seq, text


class Kustomizations:
    """The kustomizations of a run, by the files they include."""

    def __init__(self, found: list[Resource]) -> None:
        self.found = found

    @cached_property
    def _by_folder(self) -> dict[str, Resource]:
        return {normpath(dirname(item.path) or "."): item for item in self.found}

    @cached_property
    def _including(self) -> dict[str, list[Resource]]:
        """File -> the kustomizations that include it, directly or through another, innermost first."""
        found: dict[str, list[Resource]] = defaultdict(list)
        for item in self.found:
            for path in self._files(item, set()):
                found[path].append(item)
        for users in found.values():
            users.sort(key=lambda user: -len(dirname(user.path)))
        return found

    def _files(self, item: Resource, seen: set[int]) -> list[str]:
        if id(item) in seen:
            return []
        seen.add(id(item))
        files: list[str] = []
        for key in ("resources", "bases", "components"):
            entries = item.root.get(key)
            for entry in entries if isinstance(entries, Seq) else ():
                path = normpath(join(dirname(item.path) or ".", text(entry)))
                inner = self._by_folder.get(path)
                files.extend([path] if inner is None else self._files(inner, seen))
        return files

    def of(self, path: str) -> list[Resource]:
        """The kustomizations that include a file."""
        return self._including.get(normpath(path), []) if self.found else []

    def generates(self, name: str, near: Resource) -> bool:
        """Whether a ConfigMap of that name is generated with a content hash in its name."""
        for item in self.of(near.path):
            options = item.root.get_map("generatorOptions")
            for generator in item.root.get_maps("configMapGenerator"):
                local = generator.get_map("options")
                plain = "true" in (local.get_str("disableNameSuffixHash"), options.get_str("disableNameSuffixHash"))
                if generator.get_str("name") == name and not plain:
                    return True
        return False

    def image(self, container: Container) -> Image:
        """The container's image after every `images:` entry that names it."""
        image = container.image
        for item in self.of(container.pod.resource.path):
            for entry in item.root.get_maps("images"):
                if entry.get_str("name") == image.repository:
                    image = _rewritten(image, entry)
        return image


def _rewritten(image: Image, entry: Map) -> Image:
    repository = entry.get_str("newName") or image.repository
    digest = entry.get_str("digest")
    tag = entry.get_str("newTag") or ("" if digest else image.tag)
    reference = repository + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")
    return parse_image(reference)
