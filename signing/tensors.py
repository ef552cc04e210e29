"""Digests of single tensors, recorded when asked for: they tell a later version which tensors it may reuse."""

from __future__ import annotations

import os
from typing import Any

from ..models.safetensors import parse_header
from ..models.source import FileSource
from .digests import FileReader
from .hashing import open_listed
from .statement import TENSORS
from .tree import Listing, Tree


def of_file(tree: Tree, listing: Listing, name: str) -> dict[str, Any]:
    """For a safetensors file, `{"interlock/tensors": {tensor: BLAKE3 of its bytes}}`; empty for other files.

    Raises UnreadableModel on a file that is no valid safetensors.
    """
    if not name.endswith(".safetensors"):
        return {}
    fd = open_listed(tree, name, listing.files[name])
    try:
        tensors = parse_header(FileSource(fd, tree.locate(name)), name).tensors
        reader = FileReader(("blake3",))
        return {TENSORS: {key: reader.digest(fd, t.begin, t.end)[0] for key, t in sorted(tensors.items())}}
    finally:
        os.close(fd)
