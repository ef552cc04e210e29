"""Finding: the only currency between the checks and the outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How bad a finding is; ordered by `rank`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """2 for error, 1 for warning, 0 for info."""
        return ("info", "warning", "error").index(self.value)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a finding points. Lines and columns count from 1; `end_column` is one past the last character.

    `object` names the thing in its own terms (`Deployment/prod/vllm`, a tensor name); `pointer` is the JSON pointer
    (RFC 6901) or protobuf path inside the document.
    """

    path: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    object: str = ""
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text from (line, column) up to (end_line, end_column), all counted from 1, with `text`."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Text edits of one file that remove the finding. `safe` edits never change what is served."""

    edits: tuple[Edit, ...]
    safe: bool = True
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing a check has to say.

    `message` says what is wrong in one lower-case line, `why` what it costs, `hint` the next step. `level` is set by
    validate (`equal`, `hot`, `restart`, `breaks`, `unproven`). `witness` is a replayable counter-example, `proof` the
    argument that there is none, `plan` the swap-plan steps the finding asks for. `suppressed` holds the reason given
    by the user who silenced it. `covers` lists the places of a finding on more than the one that `where` names.
    """

    rule: str
    name: str
    severity: Severity
    message: str
    where: Location | None = None
    why: str = ""
    hint: str = ""
    url: str = ""
    level: str = ""
    witness: dict[str, Any] | None = None
    proof: str = ""
    plan: tuple[str, ...] = ()
    fix: Fix | None = None
    suppressed: str | None = None
    related: tuple[Location, ...] = field(default=())
    covers: tuple[Location, ...] = ()
