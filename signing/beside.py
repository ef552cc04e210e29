"""A second signature of the same model at the default place, such as the publisher's beside the buyer's own.

The two cannot cover each other: each was made without the other or not at all. So `model.sig` may stand in a model
that another bundle is verified by, if its content is what the name says: a bundle in the strict form whose statement
lists the very same files with the very same digests. Who signed it is not asked (nothing rests on it), and the report
shows it as not covered. Anything else under that name stays what it is, a file that nobody signed.

What room this leaves to smuggle: free text in fields that readers ignore, inside a JSON object in UTF-8 without control
characters. That is neither an archive nor a pickle nor a model's file in any format, and nothing signed refers to it.
"""

from __future__ import annotations

from ..report.errors import BadInput, Refused
from . import bundle, statement
from .manifest import SIGNATURE, Manifest
from .reasons import refusal
from .tree import Tree


def is_signature_of(tree: Tree, name: str, manifest: Manifest, other: str) -> bool:
    """Whether a listed file is another signature over `manifest`; `other` is the bundle in use, if inside the tree.

    The file of that bundle may be listed: a signature made after it, of everything that was there, covers it.
    """
    if tree.single or name != SIGNATURE:
        return False
    # Whatever cannot be read as one is none, and is refused for being there.
    try:
        found = bundle.load(tree.open(name), tree.locate(name))
        listed = statement.decode(found.payload, found.path).manifest
    except (Refused, BadInput, OSError):
        return False
    return _entries(listed, other) == _entries(manifest, other)


def check(tree: Tree, manifest: Manifest, other: str) -> None:
    """Raises Refused (VER-IGNORED) at the signer's desk where every verifier would refuse what is at the place."""
    if not is_signature_of(tree, SIGNATURE, manifest, other):
        raise refusal(
            "VER-IGNORED",
            tree.locate(SIGNATURE),
            "is no signature of these files as they are now; beside it the new one could not be verified",
            hint=f"remove it, sign over it by leaving out --signature, or allow it for good with --ignore {SIGNATURE}",
        )


def _entries(manifest: Manifest, without: str) -> set[tuple[str, str, str, int, int]]:
    """What a manifest says about content. The order of files and the paths left out are each signer's own."""
    return {(r.name, r.algorithm, r.digest, r.start, r.end) for r in manifest.resources if r.name != without}
