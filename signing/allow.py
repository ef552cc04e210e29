"""Named exceptions: `--allow VER-EXPIRED`, `--allow VER-EXTRA=notes.txt`. The result shows each one that was used."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ..report.errors import BadInput
from .reasons import REASONS


class Allowed:
    """Asked before each refusal; remembers what it let pass."""

    def __init__(self, exceptions: Iterable[str] = (), ignored: Iterable[str] = ()) -> None:
        """`exceptions` as given to `--allow`, `ignored` as in `trust.allow_ignored`.

        Raises BadInput on what cannot be allowed.
        """
        self._whole: set[str] = set()
        self._paths: dict[str, list[str]] = {}
        self._used: dict[str, None] = {}
        for item in exceptions:
            self._add(item)
        self._paths.setdefault("VER-IGNORED", []).extend(path.strip("/") for path in ignored)

    def _add(self, item: str) -> None:
        code, equals, path = item.partition("=")
        if code not in REASONS:
            close = difflib.get_close_matches(code, REASONS, n=1)
            hint = f"did you mean '{close[0]}'?" if close else "see interlock rules"
            raise BadInput(f"--allow {item}", "unknown reason code", hint=hint)
        kind = REASONS[code].allow
        if kind == "no":
            raise BadInput(f"--allow {item}", "this reason cannot be allowed", hint="see interlock explain " + code)
        if kind == "path" and not path.strip("/"):
            raise BadInput(f"--allow {item}", "this reason is allowed for one path at a time", hint=f"{code}=PATH")
        if kind == "yes" and equals:
            raise BadInput(f"--allow {item}", "this reason takes no path", hint=f"--allow {code}")
        if equals:
            self._paths.setdefault(code, []).append(path.strip("/"))
        else:
            self._whole.add(code)

    def __call__(self, code: str, name: str = "") -> bool:
        """Whether a refusal is allowed, for a file name at or below one of the paths given; remembers that it was."""
        exception = self.permits(code, name)
        if exception:
            self._used[exception] = None
        return bool(exception)

    def permits(self, code: str, name: str = "") -> str:
        """The exception that would let a refusal pass, or empty; asking is no use of it."""
        if code in self._whole:
            return code
        for path in self._paths.get(code, ()):
            if name == path or name.startswith(path + "/"):
                return f"{code}={path}"
        return ""

    @property
    def used(self) -> list[str]:
        """The exceptions that let something pass, in order of use."""
        return list(self._used)
