"""What a comparison ends with: a proof that nothing changes, candidates for a witness, or neither."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Outcome:
    """`equal` and `append-only` carry a `proof`, `witness` carries `candidates`, `unproven` says why in `reason`.

    `append-only` means that old text keeps its ids although there is something new. A candidate is a token as the
    tokenizer spells it, or a text where `texts` is set; on each of them the two models were computed to differ.
    """

    kind: Literal["equal", "append-only", "witness", "unproven"]
    proof: str = ""
    reason: str = ""
    candidates: tuple[str, ...] = ()
    count: int = 0
    texts: bool = False

    @property
    def proven(self) -> bool:
        """Whether old text keeps its ids for certain."""
        return self.kind in ("equal", "append-only")


def witness(candidates: list[str], reason: str, *, texts: bool = False, keep: int = 64) -> Outcome:
    """A difference, its candidates shortest first."""
    shortest = sorted(set(candidates), key=lambda each: (len(each), each))
    return Outcome("witness", reason=reason, candidates=tuple(shortest[:keep]), count=len(shortest), texts=texts)
