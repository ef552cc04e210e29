"""Lemmas 6 to 8: what the trees of a table answer is what the encoder gives, and the library."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.validate.tokenizer.proofs import bpe
from interlock.checks.validate.tokenizer.proofs.tree import reduced, trees
from tokenizers import Tokenizer as Real
from tokenizers import models

Pairs = list[tuple[str, str]]


@st.composite
def tables(draw: st.DrawFn) -> Pairs:
    """Merges over two or three letters, each of tokens that exist by then: repetitions overlap the most with two."""
    tokens = list(draw(st.sampled_from(["ab", "abc"])))
    pairs: Pairs = []
    for _ in range(draw(st.integers(1, 14))):
        pair = (draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens)))
        if pair not in pairs and len(pair[0] + pair[1]) <= 9:
            pairs.append(pair)
            tokens += [pair[0] + pair[1]] if pair[0] + pair[1] not in tokens else []
    return pairs


@given(tables())
@settings(max_examples=100, deadline=None)
def test_trees_answer_as_the_encoder_does(pairs: Pairs) -> None:
    table = bpe.Table.listed(pairs)
    grown = trees(table.ranks)
    if grown is None:
        return
    tokens = list(dict.fromkeys([*"abc", *(a + b for a, b in pairs)]))
    for token in tokens:
        assert grown.own(token) == (table.encode(token) == [token]), token
    for x, y in product(tokens, repeat=2):
        assert grown.apart(x, y) == (table.encode(x + y) == [x, y]), (x, y)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_trees_answer_as_the_library_does(pairs: Pairs) -> None:
    grown = trees(bpe.Table.listed(pairs).ranks)
    tokens = list(dict.fromkeys([*"abc", *(a + b for a, b in pairs)]))
    real = Real(models.BPE(vocab={token: n for n, token in enumerate(tokens)}, merges=pairs))
    for x, y in product(tokens, repeat=2) if grown is not None else ():
        assert grown is not None
        assert grown.apart(x, y) == (real.encode(x + y).tokens == [x, y]), (x, y)


@pytest.mark.parametrize(
    "pairs",
    [
        [("a", "bc"), ("b", "c")],  # bc is made after the merge that needs it
        [("a", "b"), ("ab", "c"), ("b", "c"), ("a", "bc"), ("bc", "a"), ("b", "ca"), ("c", "a")],
        [("", "a")],
    ],
)
def test_tables_that_are_not_proper_have_no_trees(pairs: Pairs) -> None:
    assert trees(bpe.Table.listed(pairs).ranks) is None


def test_pairs_listed_twice_are_left_to_the_encoder() -> None:
    table = bpe.Table.listed([("a", "b"), ("b", "c"), ("a", "b")])
    assert not table.ascending
    assert table.trees(list) is None


@given(tables(), st.data())
@settings(max_examples=80, deadline=None)
def test_both_ways_decide_alike(pairs: Pairs, data: st.DataObject) -> None:
    """The comparison with trees and the one with the encoder give one outcome, candidates included."""
    tokens = list(dict.fromkeys([*"abc", *(a + b for a, b in pairs)]))
    extra = [(data.draw(st.sampled_from(tokens)), data.draw(st.sampled_from(tokens))) for _ in range(3)]
    larger = [*pairs, *(pair for pair in dict.fromkeys(extra) if pair not in pairs)]
    outcomes: list[object] = []
    many = bpe._MANY  # pyright: ignore[reportPrivateUsage]
    try:
        for most in (many, -1):
            bpe._MANY = most  # pyright: ignore[reportPrivateUsage]
            old, new = bpe.Table.listed(pairs), bpe.Table.listed(larger)
            vocab = dict.fromkeys(tokens)
            outcomes.append((bpe.compare(old, new), bpe.compare(new, old), bpe.whole_words(old, vocab)))
    finally:
        bpe._MANY = many  # pyright: ignore[reportPrivateUsage]
    assert outcomes[0] == outcomes[1]


@given(tables(), st.text("abc", max_size=40))
@settings(max_examples=100, deadline=None)
def test_the_merges_that_are_enough_give_the_same(pairs: Pairs, text: str) -> None:
    """Of tables with all splits of their tokens, in one rank or one after the other, and of any other table."""
    tokens = list(dict.fromkeys([*"abc", *(a + b for a, b in pairs)]))
    ranked = bpe.Table.derived([(token, -float(n)) for n, token in enumerate(tokens)])
    listed = bpe.Table.listed(sorted(ranked.ranks, key=lambda pair: (ranked.ranks[pair], pair)))
    for table in (ranked, listed, bpe.Table.listed(pairs)):
        few = reduced(table.ranks)
        if few is not None:
            small = bpe.Table.listed(few)
            assert small.encode(text) == table.encode(text)
            assert all(small.encode(x + y) == table.encode(x + y) for x, y in product(tokens, repeat=2))


@given(tables())
@settings(max_examples=100, deadline=None)
def test_all_splits_in_two_orders_are_never_called_equal_wrongly(pairs: Pairs) -> None:
    tokens = list(dict.fromkeys([*"abc", *(a + b for a, b in pairs)]))
    ranked = bpe.Table.derived([(token, -float(n)) for n, token in enumerate(tokens)])
    listed = bpe.Table.listed(sorted(ranked.ranks, key=lambda pair: (ranked.ranks[pair], pair)))
    outcome = bpe.compare(ranked, listed)
    words = ["".join(word) for size in range(1, 7) for word in product("ab", repeat=size)]
    if outcome.proven:
        assert all(ranked.encode(word) == listed.encode(word) for word in words)
    for word in outcome.candidates:
        assert ranked.encode(word) != listed.encode(word)


@given(tables(), st.lists(st.integers(0, 3), min_size=20, max_size=20), st.text("abc", max_size=30))
@settings(max_examples=60, deadline=None)
def test_merges_that_share_a_rank(pairs: Pairs, steps: list[int], text: str) -> None:
    """Ranks with ties, as SentencePiece has them for pieces of one score."""
    ranks: dict[tuple[str, str], int] = {}
    for pair, step in zip(pairs, steps, strict=False):
        ranks[pair] = max(ranks.values(), default=0) + step
    few = reduced(ranks)
    if few is not None:
        tied, ordered = bpe.Table(ranks), bpe.Table.listed(sorted(few, key=lambda pair: (few[pair], pair)))
        words = [text, *("".join(word) for size in range(1, 6) for word in product("abc", repeat=size))]
        assert all(tied.encode(word) == ordered.encode(word) for word in words if word)
        outcome = bpe.compare(tied, bpe.Table.listed(sorted(ranks, key=lambda pair: (ranks[pair], pair))))
        if outcome.proven:
            assert all(tied.encode(word) == ordered.encode(word) for word in words if word)


def test_tokens_of_one_rank_have_no_order() -> None:
    commuting = {("a", "b"): 0, ("c", "d"): 0}
    assert reduced(commuting) == commuting
    assert reduced({("a", "b"): 0, ("b", "c"): 0}) is None
    splits = {("a", "b"): 0, ("ab", "c"): 1, ("a", "bc"): 1, ("b", "c"): 2}
    assert reduced(splits) == {("a", "b"): 0, ("ab", "c"): 1, ("b", "c"): 2}


def test_ranks_beyond_the_number_of_merges_count() -> None:
    assert bpe.Table({("a", "b"): 99}).encode("abab") == ["ab", "ab"]
