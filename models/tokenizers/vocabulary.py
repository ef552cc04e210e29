"""Read vocab.txt (WordPiece) and vocab.json with merges.txt (byte-level BPE), the formats of before tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ..errors import UnreadableModel
from ..hf_config import read_json_config, token_content
from ..strict_json import as_integer, loads_object
from ..tokenizer import MAX_ID, MAX_TOKENS, AddedToken, Part, Tokenizer
from ..tree import ModelTree, TreeFile
from .extras import added_tokens

MAX_BYTES = 64 << 20


def read(file: TreeFile, tree: ModelTree) -> Tokenizer:
    """The tokenizer of vocab.txt or vocab.json; the switches are those of tokenizer_config.json."""
    data = _text(file)
    config: dict[str, Any] = {}
    declared = tree.files.get("tokenizer_config.json")
    if declared is not None:
        config = read_json_config(declared.path)
    if file.name.endswith(".txt"):
        return _wordpiece(str(file.path), data, config, tree)
    return _bpe(str(file.path), data, config, tree)


def _text(file: TreeFile) -> str:
    if file.size > MAX_BYTES:
        raise UnreadableModel(file.path, f"{file.size} bytes is more than the {MAX_BYTES} a vocabulary may have")
    data = file.path.read_bytes()
    if data.count(b"\n") > MAX_TOKENS:
        raise UnreadableModel(file.path, f"has more than {MAX_TOKENS:,} lines")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableModel(file.path, "not UTF-8", offset=error.start) from None


def _wordpiece(path: str, text: str, config: dict[str, Any], tree: ModelTree) -> Tokenizer:
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    vocab = {line.rstrip("\r"): number for number, line in enumerate(lines)}
    if not vocab:
        raise UnreadableModel(path, "holds no tokens")
    lowercase, strip = bool(config.get("do_lower_case", True)), config.get("strip_accents")
    return Tokenizer(
        path=path,
        format="vocab",
        algorithm="WordPiece",
        vocab=Part(lambda: vocab),
        settings={
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
        added=_literals(tree, vocab, config),
        normalizer={
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": bool(config.get("tokenize_chinese_chars", True)),
            "strip_accents": lowercase if strip is None else strip,
            "lowercase": lowercase,
        },
        pre_tokenizer={"type": "BertPreTokenizer"},
    )


def _literals(tree: ModelTree, vocab: Mapping[str, int], config: dict[str, Any]) -> tuple[AddedToken, ...]:
    """The added tokens, and the special ones that BertTokenizer keeps whole in texts, whatever its files say."""
    found = added_tokens(tree)
    known = {each.content for each in found}
    declared = tree.files.get("special_tokens_map.json")
    named = {**(read_json_config(declared.path) if declared is not None else {}), **config}
    special: dict[str, AddedToken] = {}
    for role, usual in _SPECIAL.items():
        said = named.get(f"{role}_token")
        content = token_content(said) or usual
        if content in vocab and content not in known:
            flags = cast("dict[str, Any]", said) if isinstance(said, dict) else dict[str, Any]()
            lstrip, rstrip = flags.get("lstrip") is True, flags.get("rstrip") is True
            special[content] = AddedToken(
                vocab[content], content, special=True, lstrip=lstrip, rstrip=rstrip, normalized=False
            )
    return (*found, *special.values())


# What the special tokens of BertTokenizer are called unless its files say otherwise.
_SPECIAL = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}


def _bpe(path: str, text: str, config: dict[str, Any], tree: ModelTree) -> Tokenizer:
    vocab: dict[str, int] = {}
    for token, number in loads_object(text.encode(), path).items():
        vocab[token] = as_integer(number, path, f"/{token[:40]}")
        if not 0 <= vocab[token] <= MAX_ID:
            raise UnreadableModel(path, f"/{token[:40]} is {vocab[token]}, not an id")
    merges = tree.files.get("merges.txt")
    tokenizer = Tokenizer(path=path, format="vocab", algorithm="WordLevel", vocab=Part(lambda: vocab))
    tokenizer.added = added_tokens(tree)
    if merges is None:
        tokenizer.settings = {"unk_token": "<unk>"}  # a list of characters, as speech models have
        return tokenizer
    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(_text(merges).split("\n"), 1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        left, space, right = line.rstrip("\r").partition(" ")
        if not space or not left or not right or " " in right:
            raise UnreadableModel(merges.path, f"line {number} is not two tokens and one space")
        pairs.append((left, right))
    tokenizer.algorithm = "BPE"
    tokenizer.merges = Part(lambda: tuple(pairs))
    tokenizer.settings = {"byte_level": True, "ignore_merges": False}
    tokenizer.pre_tokenizer = {
        "type": "ByteLevel",
        "add_prefix_space": bool(config.get("add_prefix_space", False)),
        "use_regex": True,
    }
    return tokenizer
