"""The error tree. A leaf knows what failed, why, where, and what to do next; its class knows the exit code.

InterlockError            2  could not run
├── BadInput              2  a file, reference, option or setting that cannot be used as given
├── Refused               1  the gate says no
├── NothingToCheck        3  the inputs hold nothing this command looks at
└── NeedsAccess           4  credentials or network needed
"""

from __future__ import annotations

from . import exits


class InterlockError(Exception):
    """Something that stops a command, told so that a person can act on it.

    `what` names the thing (a path, reference, option or key), `reason` says what is wrong with it and `hint` what
    to do next; both are lower case without a final period. `line` and `column` count from 1. `code` is a stable
    typed reason such as `VER-EXPIRED` where one exists.
    """

    exit_code = exits.BAD_INPUT

    def __init__(
        self,
        what: object,
        reason: str,
        *,
        hint: str = "",
        line: int | None = None,
        column: int | None = None,
        code: str = "",
    ) -> None:
        self.what = str(what)
        self.reason = reason
        self.hint = hint
        self.line = line
        self.column = column
        self.code = code
        super().__init__(self.what, reason)

    def __str__(self) -> str:
        position = "".join(f":{number}" for number in (self.line, self.column) if number is not None)
        code = f" [{self.code}]" if self.code else ""
        return f"{self.what}{position}: {self.reason}{code}"


class BadInput(InterlockError):
    """A file, reference, option or setting that cannot be used as given."""


class Refused(InterlockError):
    """The gate says no."""

    exit_code = exits.REFUSED


class NothingToCheck(InterlockError):
    """The inputs hold nothing that this command looks at."""

    exit_code = exits.NOTHING


class NeedsAccess(InterlockError):
    """Credentials or network are needed and absent."""

    exit_code = exits.NEEDS_ACCESS
