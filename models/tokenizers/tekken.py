"""Read tekken.json, Mistral's byte-pair format."""

from __future__ import annotations

from typing import Any

from ..errors import UnreadableModel
from ..strict_json import as_integer, as_list, as_object, as_string, loads_object
from ..tokenizer import Tokenizer
from ..tree import ModelTree, TreeFile
from .ranks import decoded, ranked

MAX_BYTES = 256 << 20
# Files of before `special_tokens` was written mean these (mistral-common, version v3 to v7).
_NAMED = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    "[SUFFIX]",
)


def read(file: TreeFile, tree: ModelTree) -> Tokenizer:  # noqa: ARG001 - the signature of all readers
    """The tokenizer of a tekken.json: special tokens first, then the tokens by rank up to the vocabulary's size."""
    what = str(file.path)
    if file.size > MAX_BYTES:
        raise UnreadableModel(what, f"{file.size} bytes is more than the {MAX_BYTES} a tokenizer may have")
    document = loads_object(file.path.read_bytes(), what)
    config = as_object(document.get("config"), what, "config")
    size = as_integer(config.get("default_vocab_size"), what, "config.default_vocab_size")
    count = as_integer(config.get("default_num_special_tokens"), what, "config.default_num_special_tokens")
    if not 0 <= count <= size <= 1 << 24:
        raise UnreadableModel(what, f"claims {size} ids of which {count} are special")
    entries = as_list(document.get("vocab"), what, "vocab")
    tokens: list[str] = []
    for index, item in enumerate(entries[: size - count]):
        entry = as_object(item, what, f"vocab[{index}]")
        if entry.get("rank") != index:
            raise UnreadableModel(what, f"vocab[{index}] has the rank {entry.get('rank')!r}, out of order")
        text = as_string(entry.get("token_bytes"), what, f"vocab[{index}].token_bytes")
        tokens.append(decoded(text, what, f"vocab[{index}].token_bytes"))
    specials = _specials(document.get("special_tokens"), count, what)
    pattern = as_string(config.get("pattern"), what, "config.pattern")
    tokenizer = ranked(what, "tekken", dict(enumerate(tokens)), specials=specials, pattern=pattern)
    ids = {name: number for number, name in enumerate(specials)}
    tokenizer.instructions = str(config.get("version") or "")
    tokenizer.special = {
        "unk": ids.get("<unk>"),
        "bos": ids.get("<s>"),
        "eos": ids.get("</s>"),
        "pad": ids.get("<pad>"),
    }
    return tokenizer


def _specials(declared: Any, count: int, what: str) -> list[str]:
    """The special tokens by id, unnamed slots filled."""
    names = [f"<SPECIAL_{number}>" for number in range(count)]
    if declared is None:
        names[: len(_NAMED)] = _NAMED[:count]
        return names
    for index, item in enumerate(as_list(declared, what, "special_tokens")):
        entry = as_object(item, what, f"special_tokens[{index}]")
        rank = as_integer(entry.get("rank"), what, f"special_tokens[{index}].rank")
        if not 0 <= rank < count:
            raise UnreadableModel(what, f"special_tokens[{index}] has the rank {rank}, outside 0 to {count - 1}")
        names[rank] = as_string(entry.get("token_str"), what, f"special_tokens[{index}].token_str")
    return names
