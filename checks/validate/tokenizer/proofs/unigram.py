"""Unigram: the best segmentation by summed log probability, and when an added piece can be part of one.

Lemma 5. Let NEW have all pieces of OLD with the same scores and some more. If every added piece p scores less than
OLD's best segmentation of p, no best segmentation in NEW uses an added piece, so both give the same tokens. If some
p scores more than OLD's best segmentation of p, the text p is a witness.
  Proof. Replacing an added piece inside a segmentation by OLD's best segmentation of its text raises the sum, so a
  segmentation with an added piece is not the best. In the second case NEW's best segmentation of the text p sums to
  at least score(p), more than any made of old pieces; so it uses an added piece, which OLD does not have.
Characters that no piece covers cost `lowest score - 10` each. An added piece may lower that; the choice is untouched
where every character of every piece is a piece of its own, because then it is paid for the same characters in all
segmentations.
"""

from __future__ import annotations

from collections.abc import Mapping

from .outcome import Outcome, witness

UNKNOWN_PENALTY = 10.0
# Sums of double precision in another order than the library's differ by rounding; closer than this is a tie.
_TIE = 1e-6
BUDGET = 20_000_000


class Pieces:
    """Scored pieces with the library's search for the best segmentation."""

    __slots__ = ("longest", "lowest", "scores", "work")

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores
        self.longest = max(map(len, scores), default=0)
        self.lowest = min(scores.values(), default=0.0)
        self.work = 0

    def best(self, text: str) -> float:
        """The score of the best segmentation of `text`, unknown characters at their penalty."""
        return self._search(text)[0][-1]

    def segment(self, text: str) -> list[str]:
        """The best segmentation; of equal ones the first that is found, as in the library."""
        starts = self._search(text)[1]
        pieces: list[str] = []
        at = len(text)
        while at > 0:
            pieces.append(text[starts[at] : at])
            at = starts[at]
        return pieces[::-1]

    def _search(self, text: str) -> tuple[list[float], list[int]]:
        size = len(text)
        scores, longest = self.scores, self.longest
        unknown = self.lowest - UNKNOWN_PENALTY
        best = [0.0] + [float("-inf")] * size
        starts = [0] * (size + 1)
        for start in range(size):
            base = best[start]
            single = False
            self.work += min(longest, size - start)
            for end in range(start + 1, min(size, start + longest) + 1):
                score = scores.get(text[start:end])
                if score is None:
                    continue
                single = single or end == start + 1
                if base + score > best[end]:
                    best[end], starts[end] = base + score, start
            if not single and base + unknown > best[start + 1]:
                best[start + 1], starts[start + 1] = base + unknown, start
        return best, starts


def compare(old: Mapping[str, float], new: Mapping[str, float]) -> Outcome:
    """Whether two sets of scored pieces give the same tokens for every text."""
    if old == new:
        return Outcome("equal", proof="the pieces and their scores are the same")
    added = {piece: score for piece, score in new.items() if piece not in old}
    if len(old) + len(added) != len(new) or any(new[piece] != score for piece, score in old.items()):
        return _search(Pieces(old), Pieces(new))
    before = Pieces(old)
    above: list[str] = []
    ties = 0
    for piece, score in added.items():
        if before.work > BUDGET:
            return Outcome(
                "unproven", reason=f"{len(added):,} added pieces are more than can be decided in bounded time"
            )
        best = before.best(piece)
        if score > best + _TIE:
            above.append(piece)
        elif score >= best - _TIE:
            ties += 1
    if above:
        return witness(above, f"{len(above):,} of {len(added):,} added pieces win over the old segmentation")
    if ties:
        return Outcome("unproven", reason=f"{ties:,} added pieces score the same as the old segmentation")
    if min(new.values()) < before.lowest and not _covered(old):
        return Outcome("unproven", reason="the penalty of unknown characters changed, and some are inside of pieces")
    proof = f"each of {len(added):,} added pieces scores less than the old segmentation of its text"
    return Outcome("append-only", proof=proof)


def _covered(scores: Mapping[str, float]) -> bool:
    """Whether every character that occurs in a piece is a piece of its own."""
    return all(character in scores for character in set[str]().union(*scores))


def _search(old: Pieces, new: Pieces) -> Outcome:
    """Segment every piece's own text with both; each difference is a candidate."""
    found: list[str] = []
    for piece in [*old.scores, *(piece for piece in new.scores if piece not in old.scores)]:
        if old.work + new.work > BUDGET or len(found) >= 64:
            break
        if old.segment(piece) != new.segment(piece):
            found.append(piece)
    reason = _scaled(old.scores, new.scores) or "pieces or scores that both have changed"
    return witness(found, reason) if found else Outcome("unproven", reason=f"{reason}; no witness was found")


def _scaled(old: Mapping[str, float], new: Mapping[str, float]) -> str:
    """What a common factor of all scores leaves open; empty where there is none.

    A positive factor alone keeps the best segmentation. The penalty of unknown characters is no multiple of it, so a
    text that has some may be cut otherwise around them, and sums that were equal may be rounded apart.
    """
    factor = next((new.get(piece, 0.0) / score for piece, score in old.items() if score), 0.0)
    if factor <= 0 or old.keys() != new.keys():
        return ""
    if any(abs(new[piece] - factor * score) > _TIE * max(1.0, abs(new[piece])) for piece, score in old.items()):
        return ""
    penalty = f"the penalty of unknown characters stays {UNKNOWN_PENALTY:g} below the lowest"
    return f"all scores are {factor:.3g} times what they were, but {penalty}: texts with such characters may differ"
