"""How the tokens of a merge table are made, and whether two of them stay apart: answers without running the encoder.

A table is *proper* if ranks are strict and every merge ranks after all merges that make one of its parts. Tables that
were trained are proper; the all-splits tables of tiktoken conversions are not.

Lemma 6 (phases). In a proper table a run takes its merges in ascending order of rank, each wherever its pair stands,
leftmost first. Proof. A merge enables only pairs with the token that it makes, and these rank after it.

So a run on x+y, where A(x) = [x] and A(y) = [y], goes through the states of x beside the states of y until a pair
crosses the border. Let d be the last token of x's state and f the first of y's, alive in the same phases, and let d
end at rank D and f at rank F (never: infinite), as parts of the next token. The pair (d, f) of rank r crosses if and
only if r < D and r <= F:
- it ranks after both parts were made, since the table is proper;
- r > D or r > F: one of the two is no longer there;
- r = D: d is joined on its left by that very pair (c, d) = (d, f), so c = d = f; leftmost first, it goes to c;
- r = F < D: f would be joined by (f, g) = (d, f), so d = f = g; leftmost first, the border's d takes f.
The pairs (d, f) are found by undoing the later of the two last merges, again and again. Their number is at most the
number of characters.

Lemma 7 (apart). A(x+y) = [x, y] if and only if A(x) = [x], A(y) = [y], (x, y) is no merge, and no pair crosses.
Lemma 8 (made). A(t) = [t] for a token t of several characters if and only if some merge (x, y) with x+y = t has
A(x) = [x], A(y) = [y], and no pair crosses before its rank; the last merge of t's run is such a one.
  Proof of both. Lemma 1 of `bpe`: without a crossing the run inside x is the run on x alone; and a crossing leaves a
  token over the border, which neither [x, y] nor a run that ends with the merge (x, y) has.
"""

from __future__ import annotations

from collections.abc import Mapping

Pair = tuple[str, str]
_NEVER = 1 << 62
_BITS = 32


class Trees:
    """The last merge of every token that is what its own text encodes to.

    Only such tokens ever stand in a state of a run (lemma 1), so only they have a number, and only pairs of them a
    rank. Merges are added in ascending order of rank.
    """

    __slots__ = ("_left", "_numbers", "_pairs", "_rank", "_right")

    def __init__(self, ranks: Mapping[Pair, int]) -> None:
        """`ranks` in ascending order, and proper."""
        self._numbers: dict[str, int] = {}
        self._rank: list[int] = []  # of the last merge, and its two parts; -1 for a character
        self._left: list[int] = []
        self._right: list[int] = []
        self._pairs: dict[int, int] = {}
        for (left, right), rank in ranks.items():
            x, y = self._number(left), self._number(right)
            if x is None or y is None:
                continue
            self._pairs[x << _BITS | y] = rank
            if left + right not in self._numbers and self._open(x, y, rank):
                self._place(left + right, rank, x, y)

    def add(self, left: str, right: str, rank: int) -> None:
        """Append a merge of two tokens that are apart."""
        x, y = self._number(left), self._number(right)
        if x is not None and y is not None:
            self._pairs[x << _BITS | y] = rank
            self._place(left + right, rank, x, y)

    def own(self, token: str) -> bool:
        """Whether the table gives a token's text that token."""
        return self._number(token) is not None

    def apart(self, left: str, right: str) -> bool:
        """Whether the table gives the text of two tokens these two."""
        if left + right in self._numbers:
            return False  # it gives one token
        x, y = self._number(left), self._number(right)
        return x is not None and y is not None and x << _BITS | y not in self._pairs and self._open(x, y)

    def _number(self, token: str) -> int | None:
        number = self._numbers.get(token)
        return self._place(token, -1, -1, -1) if number is None and len(token) == 1 else number

    def _place(self, token: str, rank: int, left: int, right: int) -> int:
        self._numbers[token] = number = len(self._rank)
        self._rank.append(rank)
        self._left.append(left)
        self._right.append(right)
        return number

    def _open(self, d: int, f: int, rank: int = _NEVER) -> bool:
        """Whether no pair crosses the border between two tokens of their own before `rank`."""
        made, pairs = self._rank, self._pairs.get
        d_ends = f_ends = rank
        d_made, f_made = made[d], made[f]
        while d_made >= 0 or f_made >= 0:
            if d_made >= f_made:
                d_ends, d = d_made, self._right[d]
                d_made = made[d]
            else:
                f_ends, f = f_made, self._left[f]
                f_made = made[f]
            crossing = pairs(d << _BITS | f)
            if crossing is not None and crossing < d_ends and crossing <= f_ends:
                return False
        return True


def trees(ranks: Mapping[Pair, int]) -> Trees | None:
    """The trees of a table; None where it is not proper."""
    last = -1
    made: dict[str, int] = {}
    for (left, right), rank in ranks.items():
        if rank <= last or not left or not right:
            return None
        last = made[left + right] = rank
    ended = made.get
    if any(ended(left, -1) >= rank or ended(right, -1) >= rank for (left, right), rank in ranks.items()):
        return None
    return Trees(ranks)


def reduced(ranks: Mapping[Pair, int]) -> dict[Pair, int] | None:
    """The merges that are enough, one a token and in ascending order: they give every text what `ranks` gives it.

    By lemma 2 of `bpe` that is so if no other merge is of two tokens that are apart; otherwise the result is None.
    Tables that list all splits of their tokens, with one rank or one each, become the ones that they were made from.
    Merges of two tokens may share a rank where they commute: where neither makes a part of the other, and no token
    can be the right part of one and the left part of the other. Any order of them gives the same.
    """
    grown = Trees({})
    kept: dict[Pair, int] = {}
    group: list[Pair] = []  # those of the last rank
    for (left, right), rank in sorted(ranks.items(), key=lambda item: item[1]):
        if not left or not right:
            return None
        if grown.apart(left, right):
            group = group if group and kept[group[0]] == rank else []
            if any(right == x or y == left or x + y in (left, right) for x, y in group):
                return None
            group.append((left, right))
            kept[left, right] = rank
            grown.add(left, right, len(kept))
    if any(pair not in kept and grown.apart(*pair) for pair in ranks):
        return None
    return kept
