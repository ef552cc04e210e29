"""Where a signature goes, and what it may take the place of: an older signature, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..report.errors import BadInput
from . import bundle
from .manifest import SIGNATURE
from .tree import Tree

_HINT = "name another file with --signature (-s), or remove this one if nobody needs it; nothing was overwritten"
_KEY_HINT = "name the bundle to write with --signature (-s), such as model.sig; nothing was overwritten"


def default(tree: Tree) -> str:
    """Where the bundle goes unless told: inside a model directory, beside a single file."""
    path = Path(tree.path)
    return str(path.with_name(f"{path.name}.sig") if tree.single else path / SIGNATURE)


def check(target: str, keys: Iterable[str | os.PathLike[str] | None]) -> None:
    """Raises BadInput where writing the bundle would destroy something.

    `keys` are files of private keys, there already or about to be made. Neither they nor their public halves may be
    the target, nor may any file that is there and is no bundle: a signature is easily made again, a key or a model is
    not.
    """
    for path, thing in (each for key in keys if key for each in _pair(key)):
        if os.path.realpath(path) == os.path.realpath(target):
            raise BadInput(target, f"is the {thing} key, which the signature would overwrite", hint=_KEY_HINT)
    if not Path(target).parent.is_dir():
        raise BadInput(target, "cannot be written: its folder does not exist", hint="make the folder first")
    if Path(target).exists() and not Path(target).is_file():
        raise BadInput(target, "cannot be written: it is no regular file", hint=_KEY_HINT)
    # What a link leads to is judged, although only the link would be lost: it is there for what it leads to.
    if Path(target).exists() and not bundle.is_one(target):
        raise BadInput(
            target,
            "is there already and is no Sigstore bundle; only a bundle is overwritten",
            hint=_HINT,
        )


def _pair(key: str | os.PathLike[str]) -> Iterable[tuple[str, str]]:
    """The private key's file and the one beside it where `--generate-key` puts the public half."""
    yield os.fspath(key), "private"
    yield str(Path(key).with_suffix(".pub")), "public"
