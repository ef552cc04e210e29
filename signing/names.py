"""Resource names: one spelling per file, on every system that may load the model.

OMS v1.0 names files by POSIX path relative to the model root. A name that a file system could read in two ways (NFC
and NFD twins, case-fold twins, a trailing dot on Windows, a backslash) would let what is verified differ from what is
loaded.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

MAX_LENGTH = 4096
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{device}{digit}" for device in ("com", "lpt") for digit in "123456789\u00b9\u00b2\u00b3"]
)


def problem(name: str) -> tuple[str, str] | None:
    """(reason code, what is wrong) of a resource name, or None for a canonical one."""
    if name.isascii() and name.isprintable():
        plain = True
    else:
        plain = False
        if any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") for c in name):
            return "VER-NAME", "holds a control, invisible or non-UTF-8 character"
        if unicodedata.normalize("NFC", name) != name:
            return "VER-NAME", "is not in Unicode normal form NFC"
    if "\\" in name or ":" in name:
        return "VER-NAME", "holds a backslash or colon, which is a separator on other systems"
    if not name or len(name) > MAX_LENGTH:
        return "VER-NAME", "is empty" if not name else f"is longer than {MAX_LENGTH} characters"
    if name.startswith("/"):
        return "VER-TRAVERSAL", "is an absolute path"
    for part in name.split("/"):
        if part == "..":
            return "VER-TRAVERSAL", "leaves the model directory"
        if part in ("", "."):
            return "VER-NAME", "is not canonical: it holds an empty or '.' component"
        if part != part.strip() or part[-1] == ".":
            return "VER-NAME", "has a component that starts or ends in a space, or ends in a dot"
        if part.split(".", 1)[0].rstrip(" ").lower() in _RESERVED:
            return "VER-NAME", f"uses the device name '{part}' of Windows"
        if not plain and len(part.encode()) > 255:
            return "VER-NAME", "has a component longer than 255 bytes"
    return None


def twins(names: Iterable[str]) -> tuple[str, str] | None:
    """Two names that one case-insensitive or normalising file system would take for the same file."""
    seen: dict[str, str] = {}
    for name in names:
        folded = name.lower() if name.isascii() else unicodedata.normalize("NFKC", name).casefold()
        if folded in seen:
            return seen[folded], name
        seen[folded] = name
    # A file cannot also be a folder: `a` beside `a/b` (or `A/b`).
    for folded, name in seen.items():
        parent = folded.rpartition("/")[0]
        while parent:
            if parent in seen:
                return seen[parent], name
            parent = parent.rpartition("/")[0]
    return None
