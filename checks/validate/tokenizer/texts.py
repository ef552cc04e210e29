"""Texts to try: what a token looks like in a text, and strings on which tokenizers tend to disagree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....models.tokenizer import Tokenizer
from ....models.tokenizers.spelling import token_bytes

# Digits, cases, contractions, scripts, marks, white space, controls, emoji: one string each, all short.
ADVERSARIAL = (
    "a", "aA", "Aa", "AB", "11", "1111", "a1", "1a", "1.5", "don't", "DON'T", "we'll", "I'Ve", "eBay", "mL", "NaOH",
    "pH", " a", "  a", "a ", "a  b", "a\tb", "a\nb", "\n\n", "\r\n", " \n", "a \n b", "\xa0a", "\u200b", "\u3000",
    "\xe9", "e\u0301", "E\u0301", "\xc9", "\ufb01", "\uff21", "\u0130", "\xdf", "\xbd", "\u2460", "\u0661", "\u1e9e",
    "\u4e2d\u6587", "\u3042", "\uac00", "\u0e01\u0e33", "\u0915\u094d\u0937", "\u0627\u0644", "\u05d0",
    "\u03c3\u03c2", "\U0001f600", "\U0001f468\u200d\U0001f469", "\U0001f1e9\U0001f1ea", "\ufeffa", "\x00", "\x07",
    "\ufffd", "\U0001d400", "a,b", "a, b", "!!", "?!", "...", "--", "a_b", "a-b", "http://a.b/c?d=e", "a@b", "#a",
    "$1", "<a>", "</s>", "<unk>", "{}", "    if x:\n", "x=1;", "//", "/* */", "\\n", "'", '"', "''", "`", "\u2019s",
    "\u2014", "\u2581", "\u0120", "##a", "<0x41>",
)  # fmt: skip


def text_of(tokenizer: Tokenizer, token: str) -> str | None:
    """The text that a token stands for, None for bytes that are no whole characters."""
    if tokenizer.algorithm == "WordPiece":
        return token.removeprefix(str(tokenizer.settings.get("continuing_subword_prefix", "")))
    suffix = tokenizer.settings.get("end_of_word_suffix")
    try:
        return token_bytes(tokenizer, token.removesuffix(str(suffix)) if suffix else token).decode()
    except UnicodeDecodeError:
        return None


def in_context(tokenizer: Tokenizer, tokens: Iterable[str]) -> Iterator[str]:
    """Texts that hold the tokens: alone, then at the start, the end and inside of other text."""
    texts = [text for token in tokens if (text := text_of(tokenizer, token))]
    yield from texts
    stripped = [text.strip() for text in texts if text.strip() and text.strip() != text]
    yield from stripped
    for text in texts[:200]:
        yield from (f" {text}", f"a {text}", f"{text} a", f"a{text}", f"{text}a")


def literal_contexts(content: str) -> Iterator[str]:
    """Texts that show how a literal matches: its borders, neighbours, case and spaces."""
    yield from (content, f" {content}", f"{content} ", f"a{content}", f"{content}a", f" {content} ", f"a {content} a")
    yield from (f"a  {content}  a", content.lower(), content.upper(), f"{content}{content}", f".{content}.")
