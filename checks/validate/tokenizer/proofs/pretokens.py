"""Where pre-tokenizers cut: an own run of the known kinds, and an exhaustive search for a short text that tells.

Both sides' patterns sort all characters into atoms: two characters that no class tells apart behave alike. All texts
over one representative per atom are tried up to a length, then longer ones at random. Finding none proves nothing
beyond that length, and the report says so.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

from .....models.tokenizers.pipeline import parts
from . import onig

Cut = Callable[[str], list[str]]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# Characters to draw representatives from: the plain ones first, then scripts, marks, digits and signs from elsewhere.
# Every general category is there, controls that are white space and that are not, so no atom of classes is missing.
_UNIVERSE = "".join(map(chr, [*range(0x20, 0x7F), 9, 10, 11, 12, 13, *range(0xA0, 0x3000)])) + (
    "\x00\x85\ue000\u3000\u3042\u30a2\u4e2d\uac00\uff11\uff21\uff41\uff0c\ufb01\ufeff\ufffd\U00010400\U0001d7ce\U0001f600\U00020000"
)
TEXTS = 150_000
RANDOM = 15_000


class Search(NamedTuple):
    """The first texts that are cut differently, or the length up to which there is none.

    Not every cut shows in ids, so there are several. `reason` says why nothing could be run, `proof` why no text at
    all is cut differently.
    """

    texts: tuple[str, ...] = ()
    length: int = 0
    reason: str = ""
    proof: str = ""


def search(old: Any, new: Any, keep: int = 200) -> Search:
    """Look for the shortest texts that canonical pre-tokenizers `old` and `new` cut differently."""
    try:
        atoms = _representatives([*_members(old), *_members(new)])
        if _total(old, atoms) == _total(new, atoms):
            return Search(proof="the pattern matches every character, so to keep what matches is to keep all")
        first, second = _runner(old, atoms), _runner(new, atoms)
    except onig.Unsupported as error:
        return Search(reason=f"{error} is not understood here")
    length = 1
    while len(atoms) ** (length + 1) <= TEXTS:
        length += 1
    found: list[str] = []
    for text in _texts(atoms, length):
        if first(text) != second(text):
            found.append(text)
            if len(found) >= keep:
                break
    return Search(tuple(found), length)


def _texts(atoms: str, length: int) -> Iterator[str]:
    for size in range(1, length + 1):
        yield from map("".join, product(atoms, repeat=size))
    # Seeded, so that the same pair gets the same answer every time.
    draw = random.Random(1)  # noqa: S311 - not for secrets
    for _ in range(RANDOM):
        yield "".join(draw.choices(atoms, k=draw.randint(length + 1, length + 9)))


def _representatives(tests: list[onig.Member]) -> str:
    """One character per combination of memberships that occurs; a character that is a class of its own is one."""
    literals = {test.character for test in tests if isinstance(test, onig.Literal)}
    classes = [test for test in dict.fromkeys(tests) if not isinstance(test, onig.Literal)]
    chosen: dict[object, str] = {}
    for character in (*_UNIVERSE, *sorted(literals)):
        key = character if character in literals else tuple(test(character) for test in classes)
        chosen.setdefault(key, character)
    return "".join(chosen.values())


def _total(component: Any, atoms: str) -> list[dict[str, Any]]:
    """The parts, with splits that only drop what a pattern leaves out made plain where it leaves nothing out."""
    plain: list[dict[str, Any]] = []
    for part in parts(component):
        match part:
            case {"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": "Removed", "invert": True} if (
                onig.covers(pattern, atoms)
            ):
                plain.append({**part, "behavior": "Isolated", "invert": False})
            case {"type": "Split", "behavior": "Isolated"}:
                plain.append({**part, "invert": False})  # what is kept apart is all the same
            case _:
                plain.append(part)
    return plain


def _members(component: Any) -> list[onig.Member]:
    tests: list[onig.Member] = []
    for part in parts(component):
        match part:
            case {"type": "Split", "pattern": {"Regex": str(pattern)}}:
                tests += onig.classes(pattern)
            case {"type": "Split", "pattern": {"String": str(text)}}:
                tests += [onig.Literal(c) for c in text]
            case {"type": "ByteLevel"}:
                tests += onig.classes(GPT2 if part.get("use_regex") else " ")
            case {"type": "CharDelimiterSplit", "delimiter": str(text)}:
                tests += [onig.Literal(c) for c in text]
            case {"type": "Metaspace"}:
                tests += [onig.Literal(" "), onig.Literal(str(part.get("replacement")))]
            case {"type": "Digits"}:
                tests.append(_numeric)
            case {"type": "Punctuation"}:
                tests.append(_punctuation)
            case {"type": "Whitespace" | "WhitespaceSplit" | "BertPreTokenizer"}:
                tests += [*onig.classes(r"\w\s"), _punctuation]
            case _:
                raise onig.Unsupported(str(part.get("type")))
    return tests


def _numeric(character: str) -> bool:
    return unicodedata.category(character)[0] == "N"


def _punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] == "P" or (character.isascii() and character in "$+<=>^`|~")


def _runner(component: Any, atoms: str) -> Cut:
    """The whole pre-tokenizer as a function from a text over `atoms` to its pieces."""
    whole = parts(component)
    if any(part.get("prepend_scheme") == "first" for part in whole[1:]):
        raise onig.Unsupported("a prefix for the first word only")
    steps = [step for part in whole if (step := _step(part, atoms)) is not _whole]
    if len(steps) == 1:
        return steps[0]

    def run(text: str) -> list[str]:
        pieces = [text]
        for step in steps:
            pieces = [part for piece in pieces for part in step(piece)]
        return [piece for piece in pieces if piece]

    return run


def _step(part: dict[str, Any], atoms: str) -> Cut:
    match part:
        case {"type": "Split", "pattern": {"Regex": str(pattern)}, "behavior": str(behaviour)}:
            return _cutter(pattern, atoms, behaviour, invert=bool(part.get("invert")))
        case {"type": "Split", "pattern": {"String": str(text)}, "behavior": str(behaviour)}:
            escaped = "".join(f"\\x{{{ord(c):x}}}" for c in text)
            return _cutter(escaped, atoms, behaviour, invert=bool(part.get("invert")))
        case {"type": "ByteLevel"}:
            cut = _cutter(GPT2, atoms, "Isolated") if part.get("use_regex") else _whole
            return _prefixed(cut) if part.get("add_prefix_space") else cut
        case {"type": "CharDelimiterSplit", "delimiter": str(text)}:
            return _cutter(f"\\x{{{ord(text[0]):x}}}", atoms, "Removed")
        case {"type": "Whitespace"}:
            return _cutter(r"\w+|[^\w\s]+", atoms, "Removed", invert=True)
        case {"type": "WhitespaceSplit"}:
            return _cutter(r"\s", atoms, "Removed")
        case {"type": "Digits"}:
            return _matching(_numeric, "Isolated" if part.get("individual_digits") else "Contiguous")
        case {"type": "Punctuation"}:
            return _matching(_punctuation, str(part.get("behavior", "Isolated")))
        case {"type": "BertPreTokenizer"}:
            spaces, punctuation = _cutter(r"\s", atoms, "Removed"), _matching(_punctuation, "Isolated")
            return lambda text: [piece for word in spaces(text) for piece in punctuation(word)]
        case {"type": "Metaspace", "prepend_scheme": str(scheme), "replacement": str(mark)}:
            return _metaspace(mark, scheme, split=bool(part.get("split", True)))
        case _:
            raise onig.Unsupported(str(part.get("type")))


def _whole(text: str) -> list[str]:
    return [text]


def _prefixed(cut: Cut) -> Cut:
    return lambda text: cut(text if text.startswith(" ") else " " + text)


def _metaspace(mark: str, scheme: str, *, split: bool) -> Cut:
    cut = _matching(onig.Literal(mark), "MergedWithNext")

    def run(text: str) -> list[str]:
        text = text.replace(" ", mark)
        if scheme in ("always", "first") and not text.startswith(mark):
            text = mark + text
        return cut(text) if split else [text]

    return run


def _cutter(pattern: str, atoms: str, behaviour: str, *, invert: bool = False) -> Cut:
    compiled = onig.rewritten(pattern, atoms)

    plain = behaviour == "Isolated" or (behaviour == "Removed" and invert)

    def run(text: str) -> list[str]:
        spans: list[tuple[str, bool]] = []
        end = 0
        if plain and not compiled.groups:
            pieces = compiled.findall(text)
            if len("".join(pieces)) == len(text):
                return pieces  # nothing between the matches, which is the usual case
        for found in compiled.finditer(text):
            if found.start() == found.end():
                continue
            if found.start() > end:
                spans.append((text[end : found.start()], invert))
            spans.append((found.group(), not invert))
            end = found.end()
        if end < len(text):
            spans.append((text[end:], invert))
        return _merged(spans, behaviour)

    return run


def _matching(test: onig.Member, behaviour: str) -> Cut:
    def run(text: str) -> list[str]:
        spans: list[tuple[str, bool]] = []
        for character in text:
            match = test(character)
            if spans and not match and not spans[-1][1]:
                spans[-1] = (spans[-1][0] + character, False)
            else:
                spans.append((character, match))
        return _merged(spans, behaviour)

    return run


def _merged(spans: list[tuple[str, bool]], behaviour: str) -> list[str]:
    """Pieces from (text, is delimiter) spans, by what happens to delimiters."""
    if behaviour == "Removed":
        return [text for text, delimiter in spans if not delimiter]
    if behaviour == "Isolated":
        return [text for text, _ in spans]
    pieces: list[str] = []
    last: bool | None = None
    for text, delimiter in spans if behaviour != "MergedWithNext" else reversed(spans):
        joins = last is not None and (delimiter == last if behaviour == "Contiguous" else delimiter and not last)
        if joins:
            pieces[-1] = text + pieces[-1] if behaviour == "MergedWithNext" else pieces[-1] + text
        else:
            pieces.append(text)
        last = delimiter
    return pieces[::-1] if behaviour == "MergedWithNext" else pieces
