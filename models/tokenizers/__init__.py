"""Readers of tokenizer formats, one file each. All yield `models.tokenizer.Tokenizer`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from ..tokenizer import Format, Tokenizer
from ..tree import ModelTree, TreeFile

Reader = Callable[[TreeFile, ModelTree], Tokenizer | None]

_MODULES: dict[Format, str] = {
    "tokenizer.json": "huggingface",
    "sentencepiece": "sentencepiece",
    "tekken": "tekken",
    "tiktoken": "tiktoken",
    "vocab": "vocabulary",
    "gguf": "gguf",
}


def reader(kind: Format) -> Reader:
    """The `read` function of a format."""
    return cast("Reader", import_module(f".{_MODULES[kind]}", __package__).read)
