"""Normalizers in the standard library's terms, to find a text on which two of them differ without another library."""

from __future__ import annotations

import re
import unicodedata
from typing import Any


def normalize(component: Any, text: str) -> str | None:
    """What a canonical normalizer makes of `text`, None for one that is not known here."""
    match component:
        case None:
            return text
        case {"type": "Sequence", "normalizers": [*parts]}:
            result: str | None = text
            for part in parts:
                result = None if result is None else normalize(part, result)
            return result
        case {"type": ("NFC" | "NFD" | "NFKC" | "NFKD") as form}:
            return unicodedata.normalize(form, text)
        case {"type": "Lowercase"}:
            return text.lower()
        case {"type": "StripAccents"}:
            return "".join(c for c in text if unicodedata.category(c) != "Mn")
        case {"type": "Strip"}:
            left, right = component.get("strip_left", True), component.get("strip_right", True)
            text = text.lstrip() if left else text
            return text.rstrip() if right else text
        case {"type": "Prepend", "prepend": str(prefix)}:
            return prefix + text if text else text
        case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if old:
            return text.replace(old, new)
        case {"type": "BertNormalizer"}:
            return _bert(component, text)
        case _:
            return None


def _bert(component: dict[str, Any], text: str) -> str:
    if component.get("clean_text", True):
        kept = (c for c in text if not _control(c) and c not in "\0\ufffd")
        text = "".join(" " if c.isspace() else c for c in kept)
    if component.get("handle_chinese_chars", True):
        text = re.sub("([\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff])", r" \1 ", text)
    lowercase = component.get("lowercase", True)
    strip = component.get("strip_accents")
    if lowercase if strip is None else strip:
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    return text.lower() if lowercase else text


def _control(character: str) -> bool:
    return character not in "\t\n\r" and unicodedata.category(character).startswith("C")
