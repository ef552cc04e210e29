"""Tokenizer: one canonical form for every tokenizer format, and the choice of reader.

Two tokenizers are compared in this form, so what a format writes in more than one way (an empty sequence and null,
merges as strings and as pairs) has to look the same here. Vocabulary and merges are parsed only when asked for:
where both sides hold the same bytes, their digests say so already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from .errors import UnreadableModel
from .tree import ModelTree, TreeFile

Algorithm = Literal["BPE", "Unigram", "WordPiece", "WordLevel"]
Format = Literal["tokenizer.json", "sentencepiece", "tekken", "tiktoken", "gguf", "vocab"]
T = TypeVar("T")

MAX_ID = 0xFFFF_FFFF
MAX_TOKENS = 2_000_000  # the largest vocabulary in public use has 900,000


class Part(Generic[T]):
    """A large part of a tokenizer, read on demand. `digest` is of its source bytes, empty where there are none."""

    __slots__ = ("_load", "_value", "digest")

    def __init__(self, load: Callable[[], T], digest: str = "") -> None:
        self._load: Callable[[], T] | None = load
        self._value: T | None = None
        self.digest = digest

    @property
    def value(self) -> T:
        """The parsed part. Raises UnreadableModel."""
        if self._load is not None:
            self._value = self._load()
            self._load = None
        return self._value  # pyright: ignore[reportReturnType]

    def same(self, other: Part[T]) -> bool:
        """Whether both hold the same, by their bytes or else by their values."""
        return (bool(self.digest) and self.digest == other.digest) or self.value == other.value


FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A literal that is cut out of the text before the model sees it."""

    id: int
    content: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True

    @property
    def flags(self) -> tuple[bool, bool, bool, bool, bool]:
        """What decides how the literal matches, in the order of `FLAGS`."""
        return (self.special, self.single_word, self.lstrip, self.rstrip, self.normalized)


@dataclass(slots=True, kw_only=True, eq=False, weakref_slot=True)
class Tokenizer:
    """A tokenizer in canonical form.

    `vocab` maps the model's tokens to ids, as the format spells tokens; `merges` are pairs in rank order (BPE);
    `scores` are the log probabilities by id (Unigram, SentencePiece). `settings` are the model's other options,
    defaults filled in. `normalizer`, `pre_tokenizer`, `post_processor` and `decoder` are canonical JSON (see
    `models.tokenizers.pipeline`), None for nothing. `special` holds the ids of eos, bos, pad and unk where the
    format itself declares them. `controls` are special ids that never match text, `unmatched` all ids that do not,
    byte pieces included. `instructions` is the version of the chat format that the file asks for (tekken).
    """

    path: str
    format: Format
    algorithm: Algorithm
    vocab: Part[Mapping[str, int]]
    merges: Part[tuple[tuple[str, str], ...]] = field(default_factory=lambda: Part(tuple[tuple[str, str], ...]))
    scores: Part[Mapping[int, float]] = field(default_factory=lambda: Part(dict[int, float]))
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    added: tuple[AddedToken, ...] = ()
    normalizer: Any = None
    pre_tokenizer: Any = None
    post_processor: Any = None
    decoder: Any = None
    truncation: Any = None
    padding: Any = None
    special: dict[str, int | None] = field(default_factory=dict[str, int | None])
    controls: frozenset[int] = frozenset()
    unmatched: frozenset[int] = frozenset()
    instructions: str = ""
    merge_form: Literal["", "string", "pair"] = ""
    top_id: Callable[[], int] | None = None
    _tokens: dict[int, str] | None = None
    _literals: tuple[AddedToken, ...] | None = None

    @property
    def literals(self) -> tuple[AddedToken, ...]:
        """The added tokens with the ids that they really get.

        The `tokenizers` library does not use the ids of the file: a literal that is in the vocabulary has its id
        there, any other the next free one. A file whose ids say otherwise is numbered anew when it is loaded.
        """
        if self._literals is None:
            self._literals = self._numbered() if self.format == "tokenizer.json" else self.added
        return self._literals

    def _numbered(self) -> tuple[AddedToken, ...]:
        vocab = self.vocab.value
        ids: dict[str, int] = {}
        top = -1
        by_id: dict[int, AddedToken] = {}
        for each in self.added:
            number = vocab.get(each.content, ids.get(each.content))
            if number is None:
                number = max(top + 1, len(vocab))
            ids[each.content] = number
            top = max(top, number)
            by_id[number] = replace(each, id=number)
        return tuple(by_id.values())

    @property
    def tokens(self) -> dict[int, str]:
        """The token of every id: the vocabulary with added tokens laid over it."""
        if self._tokens is None:
            self._tokens = dict(zip(self.vocab.value.values(), self.vocab.value, strict=True))
            self._tokens.update((each.id, each.content) for each in self.literals)
        return self._tokens

    @property
    def bound(self) -> int:
        """An upper bound of the ids in use, without parsing the vocabulary where the reader can tell."""
        ids = [each.id for each in self.added]
        model = self.top_id() if self.top_id is not None else max(self.vocab.value.values(), default=-1)
        return max([model, *ids], default=-1)

    @property
    def largest(self) -> int:
        """The largest id in use, -1 for an empty tokenizer."""
        return max(self.tokens, default=-1)

    def id_of(self, token: str) -> int | None:
        """The id of a token, added tokens first; by the file's word while the vocabulary has not been read."""
        for each in self._literals if self._literals is not None else self.added:
            if each.content == token:
                return each.id
        return self.vocab.value.get(token)

    def fingerprint(self) -> str:
        """SHA-256 over (id, bytes, special?) of every token: equal across formats for one vocabulary."""
        from .tokenizers.spelling import speller

        spell = speller(self)
        special = {each.id for each in self.literals if each.special} | self.controls
        literals = {each.id for each in self.literals}
        digest = hashlib.sha256()
        for number, token in sorted(self.tokens.items()):
            raw = token.encode("utf-8", "surrogateescape") if number in special or number in literals else spell(token)
            digest.update(b"%d %d %d " % (number, number in special, len(raw)) + raw)
        return digest.hexdigest()


# Preferred first: what the serving stacks load when several formats lie side by side.
_ORDER: tuple[Format, ...] = ("tokenizer.json", "tekken", "sentencepiece", "tiktoken", "vocab", "gguf")


def read_tokenizer(tree: ModelTree) -> Tokenizer | None:
    """The tokenizer that serves from this model, None where there is none. Raises UnreadableModel."""
    return next(_tokenizers(tree), None)


def read_tokenizers(tree: ModelTree, serving: Tokenizer | None = None) -> list[Tokenizer]:
    """Every tokenizer of the model, the serving one first. Raises UnreadableModel.

    Who has read `serving` already hands it in: its file is not parsed again.
    """
    return list(_tokenizers(tree, serving))


def _tokenizers(tree: ModelTree, serving: Tokenizer | None = None) -> Iterator[Tokenizer]:
    known = serving.path.rsplit("/", 1)[-1] if serving is not None else ""
    for kind, file in sorted(candidates(tree), key=lambda pair: _ORDER.index(pair[0])):
        tokenizer = serving if file.name == known else _read(kind, file, tree)
        if tokenizer is not None:
            yield tokenizer


def candidates(tree: ModelTree) -> Iterator[tuple[Format, TreeFile]]:
    """The files that may hold a tokenizer of the model, each with its format, in order of name."""
    for file in tree.files.values():
        if "/" in file.name:
            continue  # a tokenizer of another component
        if file.kind == "gguf":
            yield "gguf", file
        elif file.kind == "tokenizer":
            kind = _format(file)
            if kind:
                yield kind, file


def _format(file: TreeFile) -> Format | None:
    name = file.name.lower()
    if name.startswith("tekken"):
        return "tekken"
    if name.endswith((".tiktoken", ".model")) and _looks_like_tiktoken(file):
        return "tiktoken"
    if name in {"vocab.txt", "vocab.json"}:
        return "vocab"
    if name == "merges.txt":
        return None  # read with vocab.json
    if name.endswith(".json"):
        return "tokenizer.json"
    with file.path.open("rb") as stream:
        return "tokenizer.json" if stream.read(1) == b"{" else "sentencepiece"


def _looks_like_tiktoken(file: TreeFile) -> bool:
    """A line of base64, a space and a rank; a SentencePiece model starts with a length-delimited field."""
    with file.path.open("rb") as stream:
        first = stream.read(64).split(b"\n", 1)[0]
    encoded, _, rank = first.partition(b" ")
    return bool(encoded) and rank.strip().isdigit() and not encoded.startswith(b"\x0a")


def _read(kind: Format, file: TreeFile, tree: ModelTree) -> Tokenizer | None:
    from . import tokenizers

    try:
        return tokenizers.reader(kind)(file, tree)
    except OSError as error:
        raise UnreadableModel(file.path, (error.strerror or str(error)).lower()) from error
