"""TOK-CONF: settings of tokenizer_config.json whose effect depends on the class that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....models.hf_config import token_content
from ....models.strict_json import describe, items_of
from ....report.finding import Severity
from ..config.shown import change
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side
from .repeated import repeated
from .written_out import kept

RULE = Rule(
    id="TOK-CONF",
    name="tokenizer-settings-changed",
    family="TOK",
    severity=Severity.WARNING,
    summary="settings of tokenizer_config.json or special_tokens_map.json differ",
    what="Every key that no other rule judges. add_bos_token and add_eos_token change what is put around a text, "
    "clean_up_tokenization_spaces how answers read; for any other key nothing is known.",
    why="the same tokenizer.json behaves in another way, depending on the class and release that load it",
    hint="keep the key, or try the new version with your server and accept the finding with a reason",
    bad='{"add_bos_token": false}   (was true)',
    good='{"add_bos_token": true}',
    example="json",
    exemptions=(
        "names, paths and versions that are only notes",
        "keys that only repeat what the tokenizer file says: lists of added or special tokens, new names for special "
        "tokens, the byte-level prefix space, and the class with or without Fast",
        "what saving writes out: truncation and padding of tokenizer.json, the library that read it",
        "how decoded text is cleaned, where the model only classifies or embeds",
        "a default that is only written out, and what special_tokens_map.json copies from tokenizer_config.json",
    ),
    reads=("tokenizer-config",),
)

_FILE = "tokenizer_config.json"
# Judged by other rules.
_ELSEWHERE = frozenset(
    ("eos_token", "bos_token", "pad_token", "unk_token", "padding_side", "truncation_side", "model_max_length")
) | {"chat_template", "auto_map"}
_NOTES = frozenset(
    ("name_or_path", "_name_or_path", "special_tokens_map_file", "tokenizer_file", "vocab_file", "merges_file")
) | {"transformers_version", "processor_class", "_commit_hash", "added_tokens_file", "cache_dir", "device_map"}
# Which library loaded it, and from where; use_fast is an argument of the call, and is read from nowhere else.
_LOADED = frozenset(("backend", "is_local", "local_files_only", "use_fast"))
# What a missing key means, whatever the class.
_MEANS: dict[str, Any] = {
    "extra_special_tokens": {},
    "additional_special_tokens": [],
    "sp_model_kwargs": {},
    "add_eos_token": False,
    "split_special_tokens": False,
    "use_default_system_prompt": False,
    "errors": "replace",
    "trim_offsets": True,
    "legacy": True,
}
# The class that reads tokenizer.json as it is, and its name since transformers 5, which older ones do not know.
_READER, _NEWER = "PreTrainedTokenizerFast", "TokenizersBackend"
# Models whose results hold no text that a tokenizer made.
_CLASSIFIES = ("ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice")
_ROLES = ("eos", "bos", "pad", "unk", "sep", "cls", "mask")
_FRAME = frozenset(("add_bos_token", "add_eos_token"))
_TEXT = frozenset(("clean_up_tokenization_spaces", "spaces_between_special_tokens"))


def check(ctx: Context) -> Iterator[Finding]:
    """What no class reads, then one finding a key that differs."""
    yield from _refused(ctx)
    if ctx.old is None:
        return
    for file in (_FILE, "special_tokens_map.json"):
        old, new = ctx.old.json(file), ctx.new.json(file)
        if old is None or new is None:
            continue
        for key in sorted((old.keys() | new.keys()) - _NOTES - _LOADED):
            if key.endswith("_token") and _matching(old.get(key)) != _matching(new.get(key)):
                message = f"{key} matches differently in text"
                yield ctx.finding(
                    RULE, "unproven", message, path=file, pointer=f"/{key}", old=old.get(key), new=new.get(key)
                )
            judged = key in _ELSEWHERE and (file == _FILE or token_content(old.get(key)) is None)
            before, after = _plain(key, old), _plain(key, new)
            # 1 is not True: a class may refuse it.
            same = before == after and isinstance(before, bool) == isinstance(after, bool)
            if judged or same or repeated(ctx.old, ctx.new, key, file):
                continue
            if not (kept(ctx.old, key) and kept(ctx.new, key)):
                message = f"{key} differs{'; it needs transformers >= 5.0' if after == _NEWER else ''}"
                yield ctx.finding(
                    RULE,
                    _level(ctx, key, before, after),
                    f"{message}: {change(before, after)}",
                    path=file,
                    pointer=f"/{key}",
                    plan=("reload-tokenizer",),
                )


def _refused(ctx: Context) -> Iterator[Finding]:
    """Special tokens that are no text, unless the live model has them as well."""
    old, new = ((side.tokenizer_config if side is not None else None) or {} for side in (ctx.old, ctx.new))
    read = {} if "added_tokens_decoder" in new else ctx.new.special_tokens_map or {}  # which then comes first
    for key in (f"{role}_token" for role in _ROLES if token_content(read.get(f"{role}_token")) is None):
        value = new.get(key)
        if value is not None and token_content(value) is None and (ctx.old is None or old.get(key) != value):
            message = f"{key} is {describe(value)}, not a token: transformers refuses to load the tokenizer"
            yield ctx.finding(RULE, "breaks", message, path=_FILE, pointer=f"/{key}")


def _plain(key: str, values: dict[str, Any]) -> Any:
    """A value with the two ways to write a special token made one."""
    value = values.get(key, _MEANS.get(key))
    if value is None and key == "strip_accents":
        return values.get("do_lower_case")  # as in the library: accents go with the capitals
    if value is None:
        return _MEANS.get(key)
    if key.endswith("_token"):
        return token_content(value) or value
    if key == "extra_special_tokens":
        return value or {}  # a list since transformers 5
    if key == "additional_special_tokens":
        return [token_content(each) or each for each in items_of(value)]
    return value


def _matching(value: Any) -> dict[str, bool]:
    """The flags of a special token that is written as an object: they override those of tokenizer.json."""
    match value:
        case {**entries}:
            return {flag: True for flag in ("lstrip", "rstrip", "single_word") if entries.get(flag)}
        case _:
            return {}


def _level(ctx: Context, key: str, old: Any, new: Any) -> Level:
    said = isinstance(old, bool) and isinstance(new, bool)
    if key in _FRAME and said:
        return "breaks"  # every prompt starts or ends otherwise, as in TOK-POST
    if key == "tokenizer_class" and (old, new) in ((_READER, _NEWER), (_NEWER, _READER)):
        return "restart" if new == _NEWER else "hot"
    if key in _TEXT and ctx.contract.level != "strict" and all(map(_says_nothing, (ctx.old, ctx.new))):
        return "hot"
    if key in _TEXT and said:
        return "breaks" if ctx.contract.level in ("ids", "strict") else "restart"
    return "unproven"


def _says_nothing(side: Side | None) -> bool:
    """Whether the model gives classes or vectors, and never a text."""
    named = [str(each) for each in items_of(((side.config if side is not None else None) or {}).get("architectures"))]
    pools = side is not None and "pooling" in side.tree.kinds
    return pools or (bool(named) and all(each.endswith(_CLASSIFIES) for each in named))
