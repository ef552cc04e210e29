"""Whether the model inside two tokenizers (merges, pieces, words) gives old text the same tokens: proof or candidates.

Only what is added is judged here: where an old id changed its token, TOK-ID has said all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ....models.tokenizer import Tokenizer
from ....models.tokenizers import consistency
from ....models.tokenizers.spelling import RANKED, alphabet, is_byte_level, unmapped
from .proofs.outcome import Outcome, witness

if TYPE_CHECKING:  # proofs are only imported where something changed
    from .proofs import bpe

_KNOWN: WeakKeyDictionary[Tokenizer, tuple[Tokenizer, Outcome]] = WeakKeyDictionary()
_TABLES: WeakKeyDictionary[Tokenizer, bpe.Table] = WeakKeyDictionary()
_WORDS: WeakKeyDictionary[Tokenizer, Mapping[str, int]] = WeakKeyDictionary()


def compare(old: Tokenizer, new: Tokenizer) -> Outcome:
    """The outcome for merges, pieces and words; settings are judged by `flags`."""
    known = _KNOWN.get(new)
    if known is None or known[0] is not old:
        outcome = _compare(old, new)
        if new.format in RANKED and not outcome.texts:  # back to the spelling of the file
            candidates = tuple(unmapped(token).decode("latin-1") for token in outcome.candidates)
            outcome = replace(outcome, candidates=candidates)
        known = (old, outcome)
        _KNOWN[new] = known
    return known[1]


def _compare(old: Tokenizer, new: Tokenizer) -> Outcome:
    if old.algorithm != new.algorithm:
        return Outcome("unproven", reason=f"the algorithm is {new.algorithm}, and was {old.algorithm}")
    if old.format == new.format and _same_parts(old, new):
        return Outcome("equal", proof="merges, pieces and scores are the same")
    if is_byte_level(old) != is_byte_level(new):
        return Outcome("unproven", reason=f"{new.format} spells tokens in another way than {old.format}")
    for each in (old, new):
        consistency.check(each)
        if each.algorithm == "Unigram" and len(each.vocab.value) != len(each.scores.value):
            return Outcome("unproven", reason="some pieces are listed twice")
    from .proofs import unigram, wordpiece

    if old.algorithm == "Unigram":
        return unigram.compare(_scored(old), _scored(new))
    if old.algorithm == "WordPiece":
        return wordpiece.compare(_words(old), _words(new), str(new.settings["continuing_subword_prefix"]), 10**6)
    if old.algorithm == "WordLevel":
        return _levels(old, new)
    return _bpe(old, new)


def _same_parts(old: Tokenizer, new: Tokenizer) -> bool:
    if old.unmatched != new.unmatched:
        return False
    return old.vocab.same(new.vocab) and old.merges.same(new.merges) and old.scores.same(new.scores)


def vocabulary(tokenizer: Tokenizer) -> Mapping[str, int]:
    """The vocabulary in the spelling of proofs: bytes of rank files in the stand-ins that other formats write."""
    if tokenizer.format not in RANKED:
        return tokenizer.vocab.value
    if tokenizer not in _WORDS:
        shown = {byte: stand_in for stand_in, byte in alphabet().items()}
        hidden = tokenizer.unmatched
        _WORDS[tokenizer] = {
            token if number in hidden else token.translate(shown): number
            for token, number in tokenizer.vocab.value.items()
        }
    return _WORDS[tokenizer]


def _scored(tokenizer: Tokenizer) -> dict[str, float]:
    """Pieces that can match text, with their scores."""
    scores = tokenizer.scores.value
    unknown = (tokenizer.special.get("unk"), tokenizer.settings.get("unk_id"))
    hidden = tokenizer.unmatched.union(number for number in unknown if number is not None)
    if tokenizer.format == "sentencepiece":
        hidden |= {each.id for each in tokenizer.literals}  # user-defined pieces are cut out first
    return {piece: scores[number] for piece, number in vocabulary(tokenizer).items() if number not in hidden}


def _words(tokenizer: Tokenizer) -> frozenset[str]:
    return frozenset(tokenizer.vocab.value)


def _levels(old: Tokenizer, new: Tokenizer) -> Outcome:
    """Words are looked up whole: each that only one side has is a witness, the unknown token aside."""
    different = old.vocab.value.keys() ^ new.vocab.value.keys()
    different -= {old.settings.get("unk_token"), new.settings.get("unk_token")}
    if not different:
        return Outcome("equal", proof="the words are the same")
    return witness(list(different), f"{len(different):,} words are only in one of the two")


def table(tokenizer: Tokenizer) -> bpe.Table:
    """The merges of a BPE tokenizer: listed, or derived from scores or ranks where the format has no list."""
    from .proofs import bpe

    if tokenizer not in _TABLES:
        if tokenizer.merges.value or not tokenizer.scores.value:
            made = bpe.Table.listed(tokenizer.merges.value)
        else:
            made = bpe.Table.derived(_scored(tokenizer).items())
        _TABLES[tokenizer] = made
    return _TABLES[tokenizer]


def splitter(tokenizer: Tokenizer) -> Callable[[str], Sequence[str]] | None:
    """How a token's spelling falls into first symbols; None where symbols do not join to the token."""
    if tokenizer.settings.get("continuing_subword_prefix"):
        return None
    suffix = str(tokenizer.settings.get("end_of_word_suffix") or "")
    if not suffix:
        return list

    def split(token: str) -> Sequence[str]:
        if not token.endswith(suffix) or token == suffix:
            return list(token)
        stem = token.removesuffix(suffix)
        return [*stem[:-1], stem[-1] + suffix]

    return split


def _bpe(old: Tokenizer, new: Tokenizer) -> Outcome:
    settings = ("continuing_subword_prefix", "end_of_word_suffix")
    split = splitter(new)
    if split is None or any(old.settings.get(key) != new.settings.get(key) for key in settings):
        return Outcome("unproven", reason="tokens inside of words are spelled with a prefix")
    if old.settings.get("dropout") or new.settings.get("dropout"):
        return Outcome("unproven", reason="with dropout no text has fixed tokens")
    fresh = _fresh(old, new, split)
    if fresh:
        return fresh
    from .proofs import bpe

    outcome = bpe.compare(table(old), table(new), split)
    ignoring = [each for each in (old, new) if each.settings.get("ignore_merges")]
    if outcome.proven and len(ignoring) == 1 and old.format != new.format:
        # Only one takes words that are tokens whole; within one format TOK-FLAG asks for that.
        whole = _whole(old, new, ignoring[0])
        if not whole.proven:
            return whole
        outcome = replace(outcome, proof=f"{outcome.proof}; {whole.proof}")
    return outcome


def _whole(old: Tokenizer, new: Tokenizer, ignoring: Tokenizer) -> Outcome:
    """Whether taking words whole changes nothing. Of two tables that give the same, the smaller one tells sooner."""
    from .proofs import bpe

    hidden = ignoring.unmatched
    tokens = {token: number for token, number in vocabulary(ignoring).items() if number not in hidden and token}
    literals = frozenset(each.content for each in (*old.added, *new.added))
    small = min((table(old), table(new)), key=_size)
    return bpe.whole_words(small, tokens, splitter(new) or list, literals)


def _size(merges: bpe.Table) -> int:
    return len(merges.ranks)


def _fresh(old: Tokenizer, new: Tokenizer, split: Callable[[str], Sequence[str]]) -> Outcome | None:
    """Tokens that only one side has and that need no merge: single symbols and, with ignore_merges, whole words."""
    literals = {each.content for each in (*old.added, *new.added)}
    symbols: list[str] = []
    words: list[str] = []
    for one, other in ((new, old), (old, new)):
        hidden = one.unmatched
        vocab = vocabulary(one)
        only = [t for t in vocab.keys() - vocabulary(other).keys() if t not in literals and vocab[t] not in hidden]
        symbols += [token for token in only if len(split(token)) == 1]
        if one.settings.get("ignore_merges"):
            words += only
    if symbols:
        return witness(symbols, f"{len(symbols):,} single symbols are tokens in one of the two only")
    if words:
        return witness(words, f"{len(words):,} whole words are tokens in one of the two only")
    return None


def flags(old: Tokenizer, new: Tokenizer, key: str) -> Outcome:
    """What a changed setting `key` of the model does to text."""
    if key == "ignore_merges":
        split = splitter(new)
        if split is None:
            return Outcome("unproven", reason="tokens inside of words are spelled with a prefix")
        return _whole(old if compare(old, new).proven else new, new, new)
    if key in ("unk_token", "fuse_unk", "byte_fallback", "unk_id") and complete(old) and complete(new):
        return Outcome("equal", proof="every byte is a token, so nothing is ever unknown")
    if key == "fuse_unk" and old.settings.get("unk_token") is None and new.settings.get("unk_token") is None:
        return Outcome("equal", proof="there is no unknown token to fuse")
    if key == "max_input_chars_per_word":
        limits = [value for value in (old.settings[key], new.settings[key]) if isinstance(value, int)]
        letters = [token for token in new.vocab.value if len(token) == 1 and token.isalpha()]
        if limits and letters:
            text = letters[0] * (min(limits) + 1)
            return Outcome("witness", reason="a word of that many letters", candidates=(text,), count=1, texts=True)
    if key in ("unk_token", "fuse_unk", "byte_fallback", "unk_id"):
        texts = _unknown(old, new)
        return Outcome("witness", reason="characters that are no token", candidates=texts, count=len(texts), texts=True)
    return Outcome("unproven", reason="its effect depends on the text")


def complete(tokenizer: Tokenizer) -> bool:
    """Whether a byte-level vocabulary holds all 256 bytes."""
    if not is_byte_level(tokenizer):
        return False
    vocab = vocabulary(tokenizer)
    return all(character in vocab for character in alphabet())


_RARE = "\u4e2d\u0e01\u05d0\u0391\u00e9Qz7~\u2603\U0001f600\U0001d400\ua66e\u12a0\u1401\U00013000"


def _unknown(old: Tokenizer, new: Tokenizer) -> tuple[str, ...]:
    """Characters that neither vocabulary has, alone and doubled."""
    rare = [c for c in _RARE if c not in old.vocab.value and c not in new.vocab.value]
    return (*rare, *(c + c for c in rare), *(f"a{c}{d}a" for c, d in pairwise(rare)))
