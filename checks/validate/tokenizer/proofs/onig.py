r"""Oniguruma patterns in the terms of `re`, over a finite set of characters.

Pre-tokenizers use classes such as \p{L} that `re` does not know. Over a finite set of representative characters each
class is just the list of its members, so the pattern can be rewritten. What cannot be rewritten faithfully (anchors,
class intersections, possessive intervals) is refused.
"""

from __future__ import annotations

import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

Member = Callable[[str], bool]

_TOKEN = re.compile(
    r"\\p\{(?P<not>\^?)(?P<name>[A-Za-z_]+)\}|\\P\{(?P<other>[A-Za-z_]+)\}|\\(?P<class>[sSdDwW])"
    r"|\\x\{(?P<hex>[0-9A-Fa-f]{1,6})\}|\\u(?P<four>[0-9A-Fa-f]{4})|(?P<escape>\\.)|(?P<plain>.)",
    re.DOTALL,
)
_SIMPLE = {r"\n": "\n", r"\r": "\r", r"\t": "\t", r"\f": "\f", r"\v": "\v"}
_WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LONG = {
    "Letter": "L",
    "Lowercase_Letter": "Ll",
    "Uppercase_Letter": "Lu",
    "Number": "N",
    "Nd": "Nd",
    "Punctuation": "P",
    "Mark": "M",
    "Symbol": "S",
    "Separator": "Z",
}
_SCRIPTS = {"Han": "CJK UNIFIED", "Hiragana": "HIRAGANA", "Katakana": "KATAKANA", "Hangul": "HANGUL"}


_SHOWN = 200
_NEVER, _ALWAYS = r"[^\s\S]", r"[\s\S]"


class Unsupported(ValueError):
    """A construct whose meaning would change in `re`."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Membership in the class of one character."""

    character: str

    def __call__(self, character: str) -> bool:
        """Whether it is that one."""
        return character == self.character


@cache
def member(name: str) -> Member:
    """Membership in a Unicode property by its name in patterns."""
    if name in _SCRIPTS:
        prefix = _SCRIPTS[name]
        return lambda c: unicodedata.name(c, "").startswith(prefix)
    category = _LONG.get(name, name)
    if len(category) > 2 or category[0] not in "LMNPSZC":
        raise Unsupported(rf"\p{{{name}}}")
    return lambda c: unicodedata.category(c).startswith(category)


def _is_word(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


_CLASSES: dict[str, Member] = {
    "s": lambda c: c in _WHITE,
    "d": lambda c: unicodedata.category(c) == "Nd",
    "w": _is_word,
}


def classes(pattern: str) -> list[Member]:
    """The classes and literal characters that a pattern tells apart."""
    found: list[Member] = []
    for token in _TOKEN.finditer(pattern):
        name = token["name"] or token["other"]
        if name:
            found.append(member(name))
        elif token["class"]:
            found.append(_CLASSES[token["class"].lower()])
        else:
            literal = _literal(token)
            if literal is not None:
                found += [Literal(each) for each in {literal, literal.lower(), literal.upper()} if len(each) == 1]
    return found


def _literal(token: re.Match[str]) -> str | None:
    """The character that a token stands for, None for operators."""
    if token["hex"] or token["four"]:
        number = int(token["hex"] or token["four"], 16)
        if number > sys.maxunicode:
            raise Unsupported(f"the character {number:X}, which there is not")
        return chr(number)
    if token["escape"]:
        return _SIMPLE.get(token["escape"], token["escape"][1])
    return token["plain"] if token["plain"] not in "[]()|*+?{}^$.-:,=!<>0123456789" else None


def rewritten(pattern: str, universe: Iterable[str]) -> re.Pattern[str]:
    """`pattern` for texts over `universe`. Raises Unsupported."""
    characters = list(universe)
    if re.search(r"&&|\{\d+(?:,\d*)?\}\+|\(\?<|\(\?[^:=!>i]|\\[AzZbBGhHRXK0-9]", pattern):
        raise Unsupported(pattern[:_SHOWN])
    parts: list[str] = []
    opened = -1  # where the class being read starts in `parts`
    for token in _TOKEN.finditer(pattern):
        inside = opened >= 0
        name = token["name"] or token["other"]
        if name or token["class"]:
            kind = token["class"]
            test = member(name) if name else _CLASSES[kind.lower()]
            negated = bool(token["other"] or token["not"] or (kind and kind.isupper()))
            members = "".join(re.escape(c) for c in characters if test(c) != negated)
            parts.append(members if inside else f"[{members}]" if members else _NEVER)
        elif token["escape"] or token["hex"] or token["four"]:
            parts.append(re.escape(_literal(token) or ""))
        elif token["plain"] == "[":
            if inside:
                raise Unsupported("a class inside a class")
            opened = len(parts)
            parts.append("[")
        elif token["plain"] == "]" and inside:
            body = "".join(parts[opened + 1 :])
            # A class of none of the representatives is legal here and not in `re`.
            parts[opened:] = [_NEVER if not body else _ALWAYS if body == "^" else f"[{body}]"]
            opened = -1
        else:
            plain = token["plain"]
            if plain in "^$" and (not inside or opened != len(parts) - 1):
                raise Unsupported(f"the anchor {plain}")
            parts.append(plain)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what may mean something else one day
            return re.compile("".join(parts))
    except (re.error, OverflowError, RecursionError) as error:
        raise Unsupported(f"{pattern[:_SHOWN]}: {error}") from None


def covers(pattern: str, universe: Iterable[str]) -> bool:
    """Whether matches of `pattern` leave no character out, of any text over `universe`. Raises Unsupported.

    So it is if no branch matches nothing, and every character alone is a match of a branch that looks at nothing
    around it: that branch matches at the character whatever follows, so a match begins wherever the last one ended.
    """
    branches = _branches(pattern)
    if any(rewritten(_ASSERTION.sub("", branch), universe).fullmatch("") for branch in branches):
        return False
    blind = [rewritten(branch, universe) for branch in branches if not _LOOKING.search(branch)]
    return all(any(branch.fullmatch(character) for branch in blind) for character in universe)


_ASSERTION = re.compile(r"\(\?<?[=!][^()]*\)")
# Assertions, and quantifiers that give nothing back.
_LOOKING = re.compile(r"\(\?[=!<>]|[*+?]\+|[\^$](?![^\[]*\])")


def _branches(pattern: str) -> list[str]:
    """The alternatives of a pattern."""
    branches, depth, inside = [""], 0, False
    for token in _TOKEN.finditer(pattern):
        text = token.group()
        inside = (inside and text != "]") or (not inside and text == "[")
        if not inside:
            depth += (text == "(") - (text == ")")
        if text == "|" and depth == 0 and not inside:
            branches.append("")
        else:
            branches[-1] += text
    return branches
