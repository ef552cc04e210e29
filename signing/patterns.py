"""Identity patterns that let strangers in, found by making the stranger's identity.

A subject pattern must match the whole identity (`re.fullmatch`), but that alone does not make it safe: `.*acme\\.ai` is
matched by `mallory@notacme.ai`, and `https://github\\.com/acme.*` by `https://github.com/acme-mallory/…`. Only a small
part of the regular expression syntax is taken, so that every pattern can be judged; the judgement is a witness.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

MAX_ALTERNATIVES = 64
MALLORY = "mallory"


@dataclass(frozen=True, slots=True)
class Piece:
    """A literal character or a character set with its quantifier; `text` is its regular expression without that."""

    text: str
    literal: str = ""
    quantifier: str = ""

    @property
    def repeats(self) -> bool:
        """Whether it may match arbitrarily much."""
        return self.quantifier[:1] in ("*", "+") or self.quantifier.endswith(",}")


class Unsupported(ValueError):
    """A construct outside the part of the syntax that can be judged."""


def weakness(pattern: str, *, ref_pinned: bool = False) -> tuple[str, str] | None:
    """(what is weak, an identity that would slip in) for a subject pattern, or None.

    `ref_pinned` tells that the policy pins the source ref separately. The witness is empty where the pattern is refused
    for not being understood.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # sets whose meaning is about to change
            compiled = re.compile(pattern)
        sequences = list(_alternatives(pattern))
    except (re.error, Unsupported, FutureWarning) as error:
        return str(error), ""
    try:
        for pieces in sequences:
            for what, witness in _attacks(pieces, ref_pinned):
                if compiled.fullmatch(witness):
                    return what, witness
    except Unsupported as error:
        return str(error), ""
    return None


def _attacks(pieces: list[Piece], ref_pinned: bool) -> Iterator[tuple[str, str]]:
    """Identities of strangers that a sequence might match, with the weakness that each would show."""
    sample = [_sample(piece) for piece in pieces]
    for i, piece in enumerate(pieces):
        if piece.text == "." and not piece.quantifier:
            stranger = "".join([*sample[:i], "x", *sample[i + 1 :]])
            yield "an unescaped dot matches any character", stranger
    prefix = "".join(piece.literal for piece in _literal_prefix(pieces))
    rest = "".join(sample[1:])
    if not pieces or not pieces[0].literal:
        for start in (
            f"https://evil.example/{MALLORY}?",
            f"{MALLORY}@evil.example/",
            f"{MALLORY}@evil.example",
            # In `[^@]+@acme\\.ai` whoever stands before the @ is one of acme.ai.
            *(() if rest.startswith("@") else (f"{MALLORY}-not",)),
        ):
            yield "it does not say where the identity starts", start + rest
        # A branch name may hold almost anything, an email address among it.
        yield "it does not say where the identity starts", f"https://github.com/{MALLORY}/x@refs/heads/{rest}"
    tail = "".join(sample[len(prefix) :])
    after = "".join(sample[len(prefix) + 1 :])
    if "://" in prefix:
        host, slash, path = prefix.partition("://")[2].partition("/")
        if not slash:
            yield "the host does not end in a slash", f"{prefix}.evil.example/{tail}"
            yield "the host does not end in a slash", f"{prefix}-{MALLORY}.example/{tail}"
        elif host and "/" not in path:
            unnamed = "the owner is not named, or does not end in a slash"
            if path:
                yield unnamed, f"{prefix}-{MALLORY}/{tail}"
                yield unnamed, f"{prefix}-{MALLORY}/x"
            yield unnamed, f"{prefix}{MALLORY}{after}"
            yield unnamed, f"{prefix}{MALLORY}/x"
    if pieces and pieces[-1].repeats:
        body = "".join(sample[:-1])
        if "@" in body and "://" not in body and not body.endswith("@"):
            yield "the domain has no end", f"{body}.evil.example"
            yield "the domain has no end", f"{body}x"
        if "://" in body and "@refs/" not in body and not ref_pinned:
            end = "" if body.endswith("@") else "@" if "@" in body else "x@"
            yield "it takes any ref, pull requests among them; pin ref", f"{body}{end}refs/pull/1/merge"


def _literal_prefix(pieces: list[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        if not piece.literal or piece.quantifier:
            return
        yield piece


def _sample(piece: Piece) -> str:
    """Some text that the piece matches; the empty text only where nothing else is found."""
    if piece.literal:
        return piece.literal
    if piece.text[0] not in ".[\\":
        return piece.text
    for candidate in ("m", "M", "1", "-", ".", "/", "@", "_", ":", "~", "+", "#", "?", "=", "%", "&", "!", " "):
        if re.fullmatch(piece.text, candidate):
            return candidate * max(1, int((re.match(r"\{(\d+)", piece.quantifier) or ["", "1"])[1]))
    raise Unsupported(f"nothing that {piece.text} matches is known")


def _alternatives(pattern: str) -> Iterator[list[Piece]]:
    """Every sequence of pieces that a pattern of literals, sets, groups and alternatives stands for."""
    sequences, rest = _parse(pattern, 0)
    if rest != len(pattern):
        raise Unsupported(f"unbalanced ')' at character {rest + 1}")
    yield from sequences


def _parse(pattern: str, at: int) -> tuple[list[list[Piece]], int]:
    done: list[list[Piece]] = []
    current: list[list[Piece]] = [[]]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            done, current, at = done + current, [[]], at + 1
            continue
        if pattern[at] == "(":
            inner, at = _group(pattern, at)
            current = [left + right for left in current for right in inner]
        else:
            piece, at = _piece(pattern, at)
            current = [[*left, piece] for left in current] if piece else current
        if len(done) + len(current) > MAX_ALTERNATIVES:
            raise Unsupported(f"more than {MAX_ALTERNATIVES} alternatives")
    return done + current, at


def _group(pattern: str, at: int) -> tuple[list[list[Piece]], int]:
    start = at + 3 if pattern.startswith("(?:", at) else at + 1
    if pattern.startswith("?", start):
        raise Unsupported(f"the construct at character {at + 1} is not taken in identity patterns")
    inner, end = _parse(pattern, start)
    quantifier, after = _quantifier(pattern, end + 1)
    if quantifier == "?":
        inner = [*inner, []]
    elif quantifier:
        raise Unsupported(f"a repeated group at character {at + 1} is not taken in identity patterns")
    return inner, after


def _piece(pattern: str, at: int) -> tuple[Piece | None, int]:
    character = pattern[at]
    if character in "^$":  # the whole identity has to match anyway
        return None, at + 1
    if character == "[":
        end = at + 1 + (pattern[at + 1 : at + 2] == "^")
        end = pattern.index("]", end + 1)
        while pattern[end - 1] == "\\":
            end = pattern.index("]", end + 1)
        text, literal, after = pattern[at : end + 1], "", end + 1
    elif character == "\\":
        escaped = pattern[at + 1]
        if escaped.isalnum() and escaped not in "dDsSwW":
            raise Unsupported(f"\\{escaped} is not taken in identity patterns")
        text, literal, after = pattern[at : at + 2], "" if escaped.isalnum() else escaped, at + 2
    else:
        text, literal, after = character, "" if character == "." else character, at + 1
    quantifier, after = _quantifier(pattern, after)
    return Piece(text, "" if quantifier else literal, quantifier), after


def _quantifier(pattern: str, at: int) -> tuple[str, int]:
    match = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?").match(pattern, at)
    return (match.group(), match.end()) if match else ("", at)
