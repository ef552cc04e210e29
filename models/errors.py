"""Why a model artefact could not be read. `models` knows no other room, so the CLI maps this to exit 2."""

from __future__ import annotations


class UnreadableModel(ValueError):
    """A model file that cannot be read as what it claims to be.

    `what` names the file, `reason` says what is wrong with it, `hint` what to do next and `offset` the byte position
    where one is known. It is never a pass: callers report it.
    """

    def __init__(self, what: object, reason: str, *, hint: str = "", offset: int | None = None) -> None:
        self.what = str(what)
        self.reason = reason
        self.hint = hint
        self.offset = offset
        super().__init__(self.what, reason)

    def __str__(self) -> str:
        at = "" if self.offset is None else f" at byte {self.offset}"
        return f"{self.what}: {self.reason}{at}"
