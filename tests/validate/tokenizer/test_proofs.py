"""The lemmas, against the `tokenizers` library and exhaustively at small scale."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interlock.checks.validate.tokenizer.proofs import bpe, normalize, onig, pretokens, template, unigram, wordpiece
from interlock.models.tokenizers import pipeline
from interlock.models.tokenizers.spelling import mapped
from tokenizers import Tokenizer as Real
from tokenizers import models, pre_tokenizers
from validate.tokenizer import kit

LETTERS = "abc"
WORDS = ["".join(word) for size in range(1, 7) for word in product(LETTERS, repeat=size)]


@st.composite
def tables(draw: st.DrawFn, most: int = 8) -> list[tuple[str, str]]:
    """Merges over three letters, each of tokens that exist by then."""
    tokens = list(LETTERS)
    pairs: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(1, most))):
        pair = (draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens)))
        if pair in pairs or len(pair[0] + pair[1]) > 6:
            continue
        pairs.append(pair)
        if pair[0] + pair[1] not in tokens:
            tokens.append(pair[0] + pair[1])
    return pairs


def library(merges: list[tuple[str, str]], **options: Any) -> Real:
    vocab = {token: n for n, token in enumerate(dict.fromkeys([*LETTERS, *(a + b for a, b in merges)]))}
    return Real(models.BPE(vocab=vocab, merges=merges, **options))


@given(tables(), st.text(LETTERS, min_size=1, max_size=80))
@settings(max_examples=150, deadline=None)
def test_our_encoder_is_the_library_s(merges: list[tuple[str, str]], text: str) -> None:
    assert bpe.Table.listed(merges).encode(text) == library(merges).encode(text).tokens


@given(tables(), st.data())
@settings(max_examples=120, deadline=None)
def test_lemma_2_decides_tables_that_contain_each_other(merges: list[tuple[str, str]], data: st.DataObject) -> None:
    """Extra merges anywhere in the order: proven equal is equal on all words, and every candidate is a witness."""
    tokens = list(dict.fromkeys([*LETTERS, *(a + b for a, b in merges)]))
    larger = list(merges)
    for _ in range(data.draw(st.integers(1, 4))):
        pair = (data.draw(st.sampled_from(tokens)), data.draw(st.sampled_from(tokens)))
        if pair not in larger and len(pair[0] + pair[1]) <= 6:
            at = data.draw(st.integers(0, len(larger)))
            larger.insert(at, pair)
    for old, new in ((merges, larger), (larger, merges)):
        a, b = bpe.Table.listed(old), bpe.Table.listed(new)
        outcome = bpe.compare(a, b)
        assert outcome.kind != "unproven"
        if outcome.proven:
            assert all(a.encode(word) == b.encode(word) for word in WORDS)
        else:
            assert outcome.candidates
            assert all(a.encode(word) != b.encode(word) for word in outcome.candidates)


@given(tables(10), st.randoms(use_true_random=False))
@settings(max_examples=120, deadline=None)
def test_reordered_tables_are_never_called_equal_wrongly(merges: list[tuple[str, str]], shuffle: random.Random) -> None:
    other = list(merges)
    shuffle.shuffle(other)
    a, b = bpe.Table.listed(merges), bpe.Table.listed(other)
    outcome = bpe.compare(a, b)
    if outcome.proven:
        assert all(a.encode(word) == b.encode(word) for word in WORDS)
    for word in outcome.candidates:
        assert a.encode(word) != b.encode(word)


@given(tables())
@settings(max_examples=100, deadline=None)
def test_lemma_3_ignore_merges(merges: list[tuple[str, str]]) -> None:
    plain, whole = library(merges), library(merges, ignore_merges=True)
    outcome = bpe.whole_words(bpe.Table.listed(merges), plain.get_vocab())
    if outcome.proven:
        assert all(plain.encode(word).tokens == whole.encode(word).tokens for word in WORDS[:400])
    for word in outcome.candidates:
        assert plain.encode(word).tokens != whole.encode(word).tokens


def test_a_pair_listed_twice_has_its_later_rank() -> None:
    merges = [("a", "b"), ("b", "c"), ("a", "b")]
    real = library(merges)
    table = bpe.Table.listed(merges)
    for word in WORDS[:400]:
        assert table.encode(word) == real.encode(word).tokens


def test_budget_ends_in_unproven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe, "BUDGET", 10)
    old = bpe.Table.listed([("a", "b"), ("ab", "c")])
    new = bpe.Table.listed([("a", "b"), ("ab", "c"), ("abc", "a"), ("abc", "b"), ("abc", "c")])
    assert bpe.compare(old, new).kind == "unproven"


SCORES = st.integers(-60, -1).map(lambda n: n / 4)


@given(
    st.dictionaries(st.text(LETTERS, min_size=1, max_size=4), SCORES, min_size=1, max_size=8),
    st.text(LETTERS, min_size=1, max_size=12),
)
@settings(max_examples=200, deadline=None)
def test_our_best_segmentation_is_as_good_as_the_library_s(scores: dict[str, float], text: str) -> None:
    pieces = [("<unk>", -99.0), *scores.items()]
    real = Real(models.Unigram(pieces, unk_id=0))
    ours = unigram.Pieces({"<unk>": -99.0, **scores})
    value = 0.0
    for token, (start, end) in zip(real.encode(text).tokens, real.encode(text).offsets, strict=True):
        unknown = token not in scores
        value += (ours.lowest - unigram.UNKNOWN_PENALTY) * (end - start) if unknown else scores[token]
    assert ours.best(text) == pytest.approx(value)
    assert "".join(ours.segment(text)) == text


@given(
    st.dictionaries(st.text(LETTERS, min_size=2, max_size=4), SCORES, max_size=6),
    st.dictionaries(st.text(LETTERS, min_size=2, max_size=4), SCORES, min_size=1, max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_lemma_5_added_pieces(old: dict[str, float], extra: dict[str, float]) -> None:
    base = {**dict.fromkeys(LETTERS, -3.0), **old}
    larger = {**base, **{piece: score for piece, score in extra.items() if piece not in base}}
    outcome = unigram.compare(base, larger)
    a, b = unigram.Pieces(base), unigram.Pieces(larger)
    if outcome.proven:
        assert all(a.segment(word) == b.segment(word) for word in WORDS[:500])
    for word in outcome.candidates:
        assert a.segment(word) != b.segment(word)


PIECES = st.sets(
    st.text(LETTERS, min_size=1, max_size=4) | st.text(LETTERS, min_size=1, max_size=3).map("##{}".format),
    min_size=1,
    max_size=10,
)


@given(PIECES, st.text(LETTERS, min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_wordpiece_is_the_library_s(pieces: set[str], word: str) -> None:
    vocab = {piece: n for n, piece in enumerate(["[UNK]", *sorted(pieces)])}
    real = Real(models.WordPiece(vocab, unk_token="[UNK]"))
    assert (wordpiece.segment(vocab, word, "##", 100) or ["[UNK]"]) == real.encode(word).tokens


@given(PIECES, PIECES)
@settings(max_examples=150, deadline=None)
def test_wordpiece_candidates_differ(old: set[str], new: set[str]) -> None:
    outcome = wordpiece.compare(old, new, "##", 100)
    if outcome.proven:
        assert old == new
    for word in outcome.candidates:
        assert wordpiece.segment(old, word, "##", 100) != wordpiece.segment(new, word, "##", 100)


GPT4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def split(pattern: str, behaviour: str = "Isolated", *, invert: bool = False) -> kit.Json:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behaviour, "invert": invert}


COMPONENTS: list[kit.Json] = [
    split(kit.LLAMA3),
    split(GPT4O),
    split(r"\d", "Contiguous", invert=True),
    split(r"[^\s]+", "MergedWithNext"),
    split(r"[\[\]a]", "Removed"),
    {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
    {"type": "Whitespace"},
    {"type": "WhitespaceSplit"},
    {"type": "BertPreTokenizer"},
    {"type": "Digits", "individual_digits": True},
    {"type": "Digits", "individual_digits": False},
    *({"type": "Punctuation", "behavior": each} for each in ("Isolated", "Contiguous", "Removed", "MergedWithNext")),
    {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": False},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "CharDelimiterSplit", "delimiter": "-"},
    {
        "type": "Sequence",
        "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}],
    },
]


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda each: json.dumps(each)[:60])
def test_pre_tokenizers_cut_as_the_library_does(component: kit.Json) -> None:
    shell = json.loads(Real(models.BPE()).to_str())
    shell["pre_tokenizer"] = component
    real: Any = Real.from_str(json.dumps(shell)).pre_tokenizer
    canonical = pipeline.pre_tokenizer(component, "x")
    atoms = pretokens._representatives(pretokens._members(canonical))
    run = pretokens._runner(canonical, atoms)
    draw = random.Random(5)
    for _ in range(600):
        text = "".join(draw.choices(atoms, k=draw.randint(1, 8)))
        pieces = [mapped(piece.encode()) if component["type"] == "ByteLevel" else piece for piece in run(text)]
        assert pieces == [piece for piece, _ in real.pre_tokenize_str(text)], ascii(text)


def test_short_witnesses_for_known_patterns() -> None:
    qwen = kit.LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
    found = pretokens.search(split(kit.LLAMA3), split(qwen)).texts[0]
    assert len(found) == 2
    assert found.isdigit()
    assert len(pretokens.search(split(kit.LLAMA3), split(GPT4O)).texts[0]) <= 2
    kept = pretokens.search(split(GPT4O), split(GPT4O, "Removed", invert=True))
    assert not kept.texts
    assert kept.proof


@pytest.mark.parametrize(
    "pattern", [r"^a", r"a$", r"[a&&b]", r"a{2}+", r"(?<=a)b", r"\bx", r"[a[bc]]", r"(", r"\p{Nope}"]
)
def test_what_would_mean_something_else_is_refused(pattern: str) -> None:
    with pytest.raises(onig.Unsupported):
        onig.classes(pattern)
        onig.rewritten(pattern, "abc")


@pytest.mark.parametrize(
    "component",
    [
        {"type": "NFC"},
        {"type": "NFKD"},
        {"type": "Lowercase"},
        {"type": "StripAccents"},
        {"type": "Strip", "strip_left": True, "strip_right": False},
        {"type": "Prepend", "prepend": "_"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "_"},
        {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]},
    ],
    ids=lambda each: each["type"],
)
@given(
    st.text(st.characters(min_codepoint=32, max_codepoint=0x24FF, exclude_categories=["Cn", "Cs", "Co"]), max_size=8)
)
@settings(max_examples=60, deadline=None)
def test_normalizers_are_the_library_s(component: kit.Json, text: str) -> None:
    shell = json.loads(Real(models.BPE()).to_str())
    shell["normalizer"] = component
    real: Any = Real.from_str(json.dumps(shell)).normalizer
    ours = normalize.normalize(component, text)
    # Both follow Unicode, though maybe not the same version of it: where they differ the text is only a candidate.
    if text.isascii():
        assert ours == real.normalize_str(text)
    else:
        assert ours is not None


def test_post_processors_frame_as_the_library_does() -> None:
    document = kit.wordpiece()
    real = Real.from_str(json.dumps(document))
    frames = template.frames(pipeline.post_processor(document["post_processor"], "x"))
    assert frames is not None
    inner = {
        "A": real.encode("run", add_special_tokens=False).ids,
        "B": real.encode("a b", add_special_tokens=False).ids,
    }
    for frame, encoding in zip(frames, (real.encode("run"), real.encode("run", "a b")), strict=True):
        ids = [each for step, _ in frame for each in (inner[step] if isinstance(step, str) else [step])]
        types = [kind for step, kind in frame for _ in (inner[step] if isinstance(step, str) else [step])]
        assert (ids, types) == (encoding.ids, encoding.type_ids)


def test_library_is_the_one_we_think() -> None:
    """The pre-tokenizer classes that the proofs model still exist under their names."""
    for component in COMPONENTS:
        assert component["type"] == "Sequence" or hasattr(pre_tokenizers, component["type"])
