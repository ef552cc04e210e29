"""Byte-pair encoding: an encoder, and a complete decision for tables of which one contains the other.

An encoder repeats: among the adjacent pairs that have a merge, take the one of lowest rank, leftmost first, and join
it, until no pair has a merge. Write A(w) for the result on the symbols of w.

Lemma 1 (restriction). If a run of A on w reaches a state in which some adjacent tokens spell the string s, the merges
done inside s so far are, in order, the first steps of the run of A on s alone.
  Proof. No merge crossed the borders of s, so the state inside s changed by inner merges only. Each was the best of
  all pairs of w at its time, therefore the best inside s; and the run on s alone takes exactly the best inside s.

Lemma 2 (extra merges). Let B contain every pair of A, these in the same relative order. Then A(w) = B(w) for every w
if and only if A(x+y) != [x, y] for every pair (x, y) of B that is not in A.
  Proof. Suppose that runs on w diverge, first at a state where B takes a pair p. If p were in A it would be A's best
  too, the order being the same. So p = (x, y) is extra, and x, y are adjacent in a state of A's run. By lemma 1 the
  run of A on x+y reaches [x, y], and ends there since (x, y) has no merge in A: A(x+y) = [x, y].
  Conversely, if A(x+y) = [x, y] for an extra pair, B cannot end in [x, y], so x+y is a witness.

Appended merges (B = A plus a tail), dead merges and the all-splits tables of tiktoken conversions are cases of it.

Lemma 3 (whole words). With `ignore_merges`, a word that is a token is not run at all. This changes nothing if and
only if every token is its own result: A(t) = [t]; any other t, as a word of its own, is a witness.

Both ask for many results A(x+y) = [x, y] and A(t) = [t]; `tree` answers them for a whole table at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from .outcome import Outcome, witness
from .tree import Trees, reduced, trees

Pair = tuple[str, str]
Split = Callable[[str], Sequence[str]]

# Steps of our own encoder after which a comparison gives up: a few seconds of one core.
BUDGET = 40_000_000
# The same for the search where no lemma applies: it may well end with nothing, so it gives up after about a second.
SEARCH = 4_000_000
_LONG = 48
_NONE = 1 << 62  # after every rank
# For fewer texts the encoder is cheaper than the trees of the whole table.
_MANY = 2_000


class Table:
    """Merges by rank. Pairs of one rank are taken leftmost first."""

    __slots__ = ("_trees", "ascending", "ranks", "work")

    def __init__(self, ranks: Mapping[Pair, int], *, ascending: bool = False) -> None:
        """`ascending`: the mapping is in strictly ascending order of rank."""
        self.ranks = ranks
        self.ascending = ascending
        self.work = 0
        self._trees: Trees | Literal["unknown"] | None = "unknown"

    @classmethod
    def listed(cls, merges: Iterable[Pair]) -> Table:
        """Merges in rank order. A pair that is listed twice has the later rank, as in the `tokenizers` library."""
        listed = list(merges)
        ranks = dict(zip(listed, range(len(listed)), strict=True))
        return cls(ranks, ascending=len(ranks) == len(listed))

    @classmethod
    def derived(cls, pieces: Iterable[tuple[str, float]]) -> Table:
        """Every split of every (piece, score) into a piece or character and another, ranked by score (SentencePiece).

        All splits of a piece have one rank; so have pieces of one score.
        """
        scores = dict(pieces)
        order = {score: rank for rank, score in enumerate(sorted(set(scores.values()), reverse=True))}
        ranks: dict[Pair, int] = {}
        for piece, score in scores.items():
            for at in range(1, len(piece)):
                left, right = piece[:at], piece[at:]
                if (len(left) == 1 or left in scores) and (len(right) == 1 or right in scores):
                    ranks[left, right] = order[score]
        return cls(ranks)

    def trees(self, split: Split) -> Trees | None:
        """How the tokens are made, where that can be told: for proper tables whose symbols are characters."""
        if split is not list or not self.ascending:
            return None
        if self._trees == "unknown":
            self._trees = trees(self.ranks)
        return self._trees

    def encode(self, symbols: Sequence[str]) -> list[str]:
        """The tokens that `symbols` end up as."""
        self.work += len(symbols) * min(len(symbols), _LONG)
        return self._queue(symbols) if len(symbols) > _LONG else self._scan(symbols)

    def _scan(self, symbols: Sequence[str]) -> list[str]:
        tokens = list(symbols)
        rank = self.ranks.get
        none = _NONE
        while len(tokens) > 1:
            best, at = none, -1
            left = tokens[0]
            for index in range(1, len(tokens)):
                right = tokens[index]
                found = rank((left, right), none)
                if found < best:
                    best, at = found, index
                left = right
            if at < 0:
                break
            tokens[at - 1 : at + 1] = [tokens[at - 1] + tokens[at]]
        return tokens

    def _queue(self, symbols: Sequence[str]) -> list[str]:
        """The same for long inputs, with a heap over a linked list."""
        tokens: list[str | None] = list(symbols)
        after = [*range(1, len(symbols)), -1]
        before = list(range(-1, len(symbols) - 1))
        heap: list[tuple[int, int, str, str]] = []

        def offer(index: int) -> None:
            other = after[index]
            left, right = tokens[index], tokens[other] if other >= 0 else None
            if left is not None and right is not None and (rank := self.ranks.get((left, right))) is not None:
                heapq.heappush(heap, (rank, index, left, right))

        for index in range(len(symbols)):
            offer(index)
        while heap:
            _, index, left, right = heapq.heappop(heap)
            other = after[index]
            if tokens[index] != left or other < 0 or tokens[other] != right:
                continue
            tokens[index], tokens[other] = left + right, None
            after[index] = after[other]
            if after[other] >= 0:
                before[after[other]] = index
            if before[index] >= 0:
                offer(before[index])
            offer(index)
        return [token for token in tokens if token is not None]


def compare(old: Table, new: Table, split: Split = list) -> Outcome:
    """Whether two tables give the same tokens for every word; `split` turns a token's spelling into symbols."""
    if old.ranks == new.ranks:
        return Outcome("equal", proof="the merges are the same, in the same order")
    same_order = _same_order(old, new)
    if same_order and old.ranks.keys() == new.ranks.keys():
        return Outcome("equal", proof="the merges are the same, in the same order")
    if not same_order:
        return _few(old, new, split) or _search(old, new, split, "merges that both have changed their order")
    extra_new = [pair for pair in new.ranks if pair not in old.ranks]
    extra_old = [pair for pair in old.ranks if pair not in new.ranks]
    if extra_new and extra_old:
        return _few(old, new, split) or _search(
            old, new, split, f"{len(extra_old):,} merges went and {len(extra_new):,} came"
        )
    small, extra = (old, extra_new) if extra_new else (new, extra_old)
    what = f"{len(extra):,} {'added' if extra_new else 'removed'} merges"
    live = _live(small, extra, split)
    if live is None:
        return Outcome("unproven", reason=f"{what} are more than can be decided in bounded time")
    if live:
        return witness([left + right for left, right in live], f"{len(live):,} of {what} can fire")
    last = max(old.ranks.values(), default=-1)
    appended = bool(extra_new) and all(new.ranks[pair] > last for pair in extra_new)
    proof = f"{what} can never fire: for each, the other table already joins its text differently"
    return Outcome("append-only" if appended else "equal", proof=proof)


def _few(old: Table, new: Table, split: Split) -> Outcome | None:
    """The comparison of the merges that are enough for each; None where these decide nothing."""
    if split is not list:
        return None
    first, second = reduced(old.ranks), reduced(new.ranks)
    if first is None or second is None or first.keys() != second.keys():
        return None
    # Merges that share a rank commute, so one order that is right for both tables is enough.
    order = sorted(first, key=lambda pair: (first[pair], second[pair]))
    if any(second[a] > second[b] for a, b in pairwise(order)):
        return None
    counts = f"{len(first):,} merges are enough, of {len(old.ranks):,} and of {len(new.ranks):,}"
    return Outcome("equal", proof=f"{counts}, and they are the same, in the same order")


def _live(table: Table, extra: Sequence[Pair], split: Split) -> list[Pair] | None:
    """The extra pairs (x, y) with table(x+y) = [x, y]; None when the budget is spent."""
    grown = table.trees(split) if len(extra) > _MANY else None
    if grown is not None:
        return [(left, right) for left, right in extra if grown.apart(left, right)]
    live: list[Pair] = []
    known: dict[str, list[str]] = {}
    for left, right in extra:
        text = left + right
        if text not in known:
            if table.work > BUDGET:
                return None
            known[text] = table.encode(split(text))
        if known[text] == [left, right]:
            live.append((left, right))
    return live


def _same_order(old: Table, new: Table) -> bool:
    """Whether the pairs that both tables have come in the same order of rank, ties included."""
    if old.ascending and new.ascending:  # then the order of rank is that of the dict, without ties
        return [p for p in old.ranks if p in new.ranks] == [p for p in new.ranks if p in old.ranks]
    return _order(old, new) == _order(new, old)


def _order(table: Table, other: Table) -> list[tuple[Pair, bool]]:
    """The pairs that `other` has too by rank, each with whether it ties with the one before."""
    pairs = sorted((rank, pair) for pair, rank in table.ranks.items() if pair in other.ranks)
    return [(pair, i > 0 and pairs[i - 1][0] == rank) for i, (rank, pair) in enumerate(pairs)]


def _search(old: Table, new: Table, split: Split, reason: str) -> Outcome:
    """Look for a witness where no lemma applies: the texts of pairs that differ, alone and with a neighbour."""
    moved = [pair for pair in old.ranks.keys() | new.ranks.keys() if old.ranks.get(pair) != new.ranks.get(pair)]
    found: list[str] = []
    start = old.work + new.work
    for text in _texts(moved, old, new):
        if old.work + new.work - start > SEARCH or len(found) >= 64:
            break
        symbols = split(text)
        if old.encode(symbols) != new.encode(symbols):
            found.append(text)
    return witness(found, reason) if found else Outcome("unproven", reason=f"{reason}; no witness was found")


def _texts(moved: list[Pair], old: Table, new: Table) -> Iterable[str]:
    moved.sort(key=lambda pair: (len(pair[0]) + len(pair[1]), pair))
    yield from (left + right for left, right in moved)
    # Order matters only between merges that share a token: (x, y) against (y, z) on the text xyz.
    follows: dict[str, list[str]] = {}
    for left, right in old.ranks.keys() | new.ranks.keys():
        follows.setdefault(left, []).append(right)
    for left, right in moved:
        for after in sorted(follows.get(right, ()), key=len)[:64]:
            yield left + right + after


def whole_words(
    table: Table, tokens: Mapping[str, object], split: Split = list, skipped: frozenset[str] = frozenset()
) -> Outcome:
    """Lemma 3: the tokens that are not their own result, as candidates; `skipped` tokens are never a word."""
    found: list[str] = []
    grown = table.trees(split) if len(tokens) > _MANY else None
    for token in tokens:
        if len(token) < 2 or token in skipped:
            continue
        if grown is not None:
            if not grown.own(token):
                found.append(token)
            continue
        if table.work > BUDGET:
            return Outcome("unproven", reason="the vocabulary is too large to check every token")
        if len(table.encode(split(token))) != 1:
            found.append(token)
    if found:
        return witness(found, f"{len(found):,} tokens are not what their own text encodes to")
    return Outcome("equal", proof=f"all {len(tokens):,} tokens are what their own text encodes to")
