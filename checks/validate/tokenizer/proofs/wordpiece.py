"""WordPiece: the longest piece that fits, again and again; a word that does not work out is unknown as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

from .outcome import Outcome, witness

_STARTS = 400
_ENOUGH = 256


def segment(vocab: Collection[str], word: str, prefix: str, longest: int) -> list[str] | None:
    """The pieces of `word`, None where it is unknown. `longest` is the limit of characters in a word."""
    if len(word) > longest:
        return None
    pieces: list[str] = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else prefix + word[start:end]
            if piece in vocab:
                pieces.append(piece)
                start = end
                break
        else:
            return None
    return pieces


def compare(old: Collection[str], new: Collection[str], prefix: str, longest: int) -> Outcome:
    """Whether two vocabularies give the same pieces for every word.

    A piece that only one side has changes the word that it is, unless no word can hold it: every word of our own
    making is checked with both sides, so a candidate differs for certain.
    """
    fresh = [piece for piece in new if piece not in old] + [piece for piece in old if piece not in new]
    if not fresh:
        return Outcome("equal", proof="the pieces are the same")
    found: list[str] = []
    for word in _words(fresh, [*islice((p for p in old if p and not p.startswith(prefix)), _STARTS)], prefix):
        if segment(old, word, prefix, longest) != segment(new, word, prefix, longest):
            found.append(word)
            if len(found) >= _ENOUGH:
                break
    reason = f"{len(fresh):,} pieces are only in one of the two"
    return (
        witness(found, reason, texts=True) if found else Outcome("unproven", reason=f"{reason}; no witness was found")
    )


def _words(fresh: Iterable[str], starts: list[str], prefix: str) -> Iterable[str]:
    starts.sort(key=len)
    for piece in fresh:
        if prefix and piece.startswith(prefix) and len(piece) > len(prefix):
            for start in starts[:32]:
                yield start + piece.removeprefix(prefix)
        elif piece:
            yield piece
