"""Exit codes: the one table that the code, `interlock help exit-codes`, the docs and the tests read."""

from __future__ import annotations

PASS = 0
REFUSED = 1
BAD_INPUT = 2
NOTHING = 3
NEEDS_ACCESS = 4
INTERRUPTED = 130

MEANING = {
    PASS: "pass",
    REFUSED: "the gate says no",
    BAD_INPUT: "usage, bad input, or it could not run",
    NOTHING: "nothing to check",
    NEEDS_ACCESS: "credentials or network needed",
    INTERRUPTED: "interrupted",
}
