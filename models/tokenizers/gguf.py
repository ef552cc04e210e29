"""Read the tokenizer in a GGUF file's metadata (`tokenizer.ggml.*`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UnreadableModel
from ..gguf import STRING, GgufArray, GgufModel, read_array, read_gguf
from ..tokenizer import MAX_TOKENS, AddedToken, Algorithm, Part, Tokenizer
from ..tree import ModelTree, TreeFile
from .spelling import SPACE

_KEY = "tokenizer.ggml"
_MODELS: dict[str, Algorithm] = {"gpt2": "BPE", "llama": "BPE", "bert": "WordPiece", "t5": "Unigram", "gemma4": "BPE"}
# What llama.cpp does for these values of tokenizer.ggml.pre where the file does not say (src/llama-vocab.cpp).
_LLAMA3 = frozenset(
    ("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano")
)
_ADD_BOS = _LLAMA3 | {"tekken", "chameleon"}
_WHOLE_WORDS = _LLAMA3 | {"tekken", "minicpm5", "youtu", "granite-embed-multi-97m"}
UNKNOWN, CONTROL, USER_DEFINED, BYTE = 2, 3, 4, 6


def read(file: TreeFile, tree: ModelTree) -> Tokenizer | None:  # noqa: ARG001 - the signature of all readers
    """The tokenizer of a GGUF file, None for a file without one, such as a projector or a later part of a split."""
    header = read_gguf(file)
    kind = header.metadata.get(f"{_KEY}.model")
    if kind is None or kind in ("none", "no_vocab"):
        return None
    what = str(file.path)
    if kind not in _MODELS:
        raise UnreadableModel(what, f"has a tokenizer of the kind {kind!r}, which is not known")
    tokens = _strings(file, header, "tokens")
    if not tokens:
        raise UnreadableModel(what, f"declares a {kind} tokenizer and holds no tokens")
    types = _numbers(file, header, "token_type") or [1] * len(tokens)
    scores = _numbers(file, header, "scores")
    if len(types) != len(tokens) or (scores and len(scores) != len(tokens)):
        raise UnreadableModel(what, "has token lists of different lengths")
    if kind == "bert":
        tokens = _wordpieces(tokens, types)
    vocab = _vocab(tokens, types, what)
    of_type = {
        k: frozenset(n for n, each in enumerate(types) if each == k) for k in (UNKNOWN, CONTROL, USER_DEFINED, BYTE)
    }
    merges = _merges(_strings(file, header, "merges"), what)
    special = {role: _special(header, role) for role in ("unk", "bos", "eos", "pad")}
    if kind == "llama" and special["unk"] is None and 0 in of_type[UNKNOWN]:
        special["unk"] = 0  # llama.cpp's default
    frame = _classified(header, len(tokens)) if kind == "bert" else _frame(header, kind, special)
    if kind == "bert":  # what it writes as bos and eos are the marks around a text, which other formats call otherwise
        special |= {"bos": None, "eos": None}
    pre = header.metadata.get(f"{_KEY}.pre")
    return Tokenizer(
        path=what,
        format="gguf",
        algorithm=_MODELS[kind],
        vocab=Part(lambda: vocab),
        merges=Part(lambda: merges),
        scores=Part(lambda: dict(enumerate(map(float, scores))) if not merges else {}),
        settings={
            "kind": kind,
            "byte_level": kind == "gpt2",
            "continuing_subword_prefix": "##" if kind == "bert" else None,
            **({"ignore_merges": True} if kind == "gpt2" and pre in _WHOLE_WORDS else {}),
        },
        # llama.cpp cuts control tokens out of a text as well, where the caller asks it to parse special tokens.
        added=tuple(
            AddedToken(n, tokens[n], special=n in of_type[CONTROL], normalized=False)
            for n in sorted(of_type[CONTROL] | of_type[USER_DEFINED])
        ),
        normalizer=_switches(header, SPACES.get(str(kind), {})),
        pre_tokenizer={"type": "llama.cpp", "pre": pre} if kind == "gpt2" else None,
        post_processor=frame,
        special=special,
        unmatched=of_type[UNKNOWN] | of_type[BYTE],
    )


def _array(header: GgufModel, key: str) -> GgufArray | None:
    value = header.metadata.get(f"{_KEY}.{key}")
    if value is None:
        return None
    if not isinstance(value, GgufArray) or value[1] > MAX_TOKENS:
        raise UnreadableModel(header.file, f"{_KEY}.{key} is not a list of at most {MAX_TOKENS} items")
    return value


def _strings(file: TreeFile, header: GgufModel, key: str) -> list[str]:
    array = _array(header, key)
    if array is None:
        return []
    if array.type != STRING:
        raise UnreadableModel(file.path, f"{_KEY}.{key} holds no strings", offset=array.begin)
    # Tokens of models that were trained on raw bytes are not always UTF-8: such bytes stay apart from all text.
    return [item.decode("utf-8", "surrogateescape") for item in read_array(file, header, array)]


def _numbers(file: TreeFile, header: GgufModel, key: str) -> list[Any]:
    array = _array(header, key)
    if array is None:
        return []
    if array.type == STRING:
        raise UnreadableModel(file.path, f"{_KEY}.{key} holds no numbers", offset=array.begin)
    return read_array(file, header, array)


def _wordpieces(tokens: list[str], types: list[int]) -> list[str]:
    """Tokens as WordPiece spells them. The file marks the start of a word, not its inside: ▁run and ning are run and
    ##ning. Files without a single such mark spell them as WordPiece does."""
    texts = [token for token, kind in zip(tokens, types, strict=False) if kind == 1]
    if not any(token.startswith(SPACE) for token in texts):
        return tokens
    return [
        token if kind != 1 else token[1:] if token.startswith(SPACE) else f"##{token}"
        for token, kind in zip(tokens, types, strict=True)
    ]


def _vocab(tokens: list[str], types: list[int], what: str) -> dict[str, int]:
    """Token to id. Padding entries may repeat a text; a token that matches text may not."""
    vocab: dict[str, int] = {}
    for number, token in enumerate(tokens):
        if token in vocab:
            if types[number] in (1, USER_DEFINED) and types[vocab[token]] in (1, USER_DEFINED):
                raise UnreadableModel(what, f"holds the token {token[:40]!r} twice")
            token = f"{token}\0{number}"  # noqa: PLW2901 - a name of its own
        vocab[token] = number
    return vocab


def _merges(lines: list[str], what: str) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for index, line in enumerate(lines):
        left, space, right = line.partition(" ") if not line.startswith(" ") else (" ", " ", line[2:])
        if not space or not right:
            raise UnreadableModel(what, f"{_KEY}.merges[{index}] is {line[:40]!r}, not two tokens")
        pairs.append((left, right))
    return tuple(pairs)


def _special(header: GgufModel, role: str) -> int | None:
    names = {"unk": "unknown_token_id", "bos": "bos_token_id", "eos": "eos_token_id", "pad": "padding_token_id"}
    value = header.metadata.get(f"{_KEY}.{names[role]}")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _frame(header: GgufModel, kind: str, special: dict[str, int | None]) -> dict[str, Any] | None:
    """What llama.cpp puts around a text, as a template; its defaults depend on the kind."""
    starts = kind == "llama" or (kind == "gpt2" and header.metadata.get(f"{_KEY}.pre") in _ADD_BOS)
    before = header.metadata.get(f"{_KEY}.add_bos_token", starts)
    after = header.metadata.get(f"{_KEY}.add_eos_token", kind == "t5")
    return _around({"bos": special["bos"] if before else None, "eos": special["eos"] if after else None})


def _around(ids: dict[str, int | None]) -> dict[str, Any] | None:
    """A template that puts these ids, those of them that there are, before and after a text."""
    steps: list[dict[str, Any]] = [{"Sequence": {"id": "A", "type_id": 0}}]
    if ids["bos"] is not None:
        steps.insert(0, {"SpecialToken": {"id": "bos", "type_id": 0}})
    if ids["eos"] is not None:
        steps.append({"SpecialToken": {"id": "eos", "type_id": 0}})
    if len(steps) == 1:
        return None
    tokens = {role: {"ids": [number]} for role, number in ids.items()}
    return {"type": "TemplateProcessing", "single": steps, "pair": [], "special_tokens": tokens}


def _classified(header: GgufModel, count: int) -> dict[str, Any] | None:
    """The marks that llama.cpp puts around every text of a bert model, whatever the file says of adding them."""
    names = {"bos": (("bos_token_id", "cls_token_id"), 101), "eos": (("seperator_token_id", "eos_token_id"), 102)}
    ids: dict[str, int | None] = {}
    for role, (keys, default) in names.items():
        declared = (header.metadata.get(f"{_KEY}.{key}") for key in keys)
        number = next((each for each in declared if isinstance(each, int) and not isinstance(each, bool)), default)
        ids[role] = number if number < count else None
    return _around(ids)


# How llama.cpp treats spaces where the file does not say, by the kind of its tokenizer (llama-vocab.cpp).
SPACES: Mapping[str, Mapping[str, bool]] = {"llama": {"add_space_prefix": True, "remove_extra_whitespaces": False}}


def _switches(header: GgufModel, defaults: Mapping[str, bool]) -> dict[str, Any] | None:
    """What the file says about spaces, without what llama.cpp does anyway."""
    said = {name: header.metadata.get(f"{_KEY}.{name}") for name in ("add_space_prefix", "remove_extra_whitespaces")}
    found = {name: bool(value) for name, value in said.items() if value is not None and value != defaults.get(name)}
    return {"type": "llama.cpp", **found} if found else None
