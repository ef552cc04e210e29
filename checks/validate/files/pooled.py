"""What sentence-transformers reads beside a model: modules, pooling, prompts and the measure of similarity."""

from __future__ import annotations

import re
from typing import Any, cast

from ....models.errors import UnreadableModel
from ....models.strict_json import items_of, loads
from ..side import Side

PROMPTS = "config_sentence_transformers.json"
_FILES = r"modules\.json|config_sentence_transformers\.json|sentence_\w[\w-]*_config\.json|\d+_\w+/config\.json"
_MAX = 16 << 20
# What a missing key means.
_DEFAULTS: dict[str, Any] = {"include_prompt": True, "do_lower_case": False, "similarity_fn_name": "cosine"}
_NOTES = frozenset({"__version__", "model_type", "model_args", "tokenizer_args", "config_args"})
# Prompts that encode_query and encode_document take without being asked to.
_ROLES = frozenset({"query", "document", "passage", "corpus"})


def judged(name: str) -> bool:
    """Whether a file is one of these."""
    return re.fullmatch(_FILES, name) is not None


def files(side: Side) -> set[str]:
    """These files of a model."""
    return {name for name in side.tree.files if judged(name)}


def settings(side: Side, name: str) -> dict[str, Any]:
    """A file's settings in force, in one form whatever release wrote it; empty where the file is absent.

    Raises UnreadableModel.
    """
    file = side.tree.files.get(name)
    if file is None:
        return {}
    if name == "modules.json":
        if file.size > _MAX:
            raise UnreadableModel(file.path, f"is {file.size:,} bytes long, too long for a list of modules")
        modules = items_of(loads(file.path.read_bytes(), str(file.path)))
        return {"modules": [_module(each) for each in modules]}
    found = {key: value for key, value in (side.json(name) or {}).items() if key not in _NOTES and value is not None}
    for key, value in _DEFAULTS.items():
        if found.get(key) == value:
            del found[key]
    found = {key: value for key, value in found.items() if not (key.startswith("pooling_mode_") and value is False)}
    if isinstance(found.get("pooling_mode"), str):
        found[f"pooling_mode_{_MODES.get(found['pooling_mode'], found['pooling_mode'])}"] = True
        del found["pooling_mode"]
    if "embedding_dimension" in found:
        found["word_embedding_dimension"] = found.pop("embedding_dimension")
    return _prompted(found) if name == PROMPTS else found


_MODES = {"mean": "mean_tokens", "cls": "cls_token", "max": "max_tokens", "mean_sqrt_len": "mean_sqrt_len_tokens"}


def _module(each: Any) -> tuple[str, str]:
    """(folder, class) of a module; the packages that classes lie in moved between releases."""
    entry: dict[str, Any] = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
    return str(entry.get("path", "")), str(entry.get("type", "")).rpartition(".")[2]


def _prompted(found: dict[str, Any]) -> dict[str, Any]:
    """The prompts that are put before texts: that of the default name, and those of roles."""
    table: Any = found.pop("prompts", None)
    prompts: dict[str, Any] = {key: text for key, text in table.items() if text} if isinstance(table, dict) else {}  # pyright: ignore
    name = found.pop("default_prompt_name", None)
    used = {f"prompt of {key}": text for key, text in prompts.items() if key in _ROLES}
    default = prompts.get(name) if isinstance(name, str) else None
    others = {f"prompt {key}": text for key, text in prompts.items() if key not in _ROLES}
    return {**found, **used, **others, **({"default prompt": default} if default else {})}


def addition(key: str) -> bool:
    """Whether a key that is new changes nothing for those who ask for nothing new: a prompt under a new name."""
    return key.startswith("prompt ") and not key.startswith("prompt of ")
