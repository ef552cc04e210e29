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
_DEFAULTS: dict[str, Any] = {
    "include_prompt": True,
    "do_lower_case": False,
    "similarity_fn_name": "cosine",
    "transformer_task": "feature-extraction",
    "module_output_name": "token_embeddings",
    "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
}
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
    if re.match(r"sentence_", name) and (longest := _longest(side, found)) is not None:
        found["max_seq_length"] = longest
    return _prompted(found) if name == PROMPTS else found


def length(side: Side) -> int | None:
    """After how many tokens texts are cut before they are embedded; None where that is not known."""
    name = next((each for each in side.tree.files if re.fullmatch(r"sentence_\w[\w-]*_config\.json", each)), None)
    return settings(side, name).get("max_seq_length") if name is not None else None


def _longest(side: Side, found: dict[str, Any]) -> int | None:
    """max_seq_length, or what sentence-transformers takes where it is not written."""
    if "max_seq_length" in found:
        return found["max_seq_length"]
    positions = (side.config or {}).get("max_position_embeddings")
    limit = (side.tokenizer_config or {}).get("model_max_length")
    both = [each for each in (positions, limit) if isinstance(each, int | float) and not isinstance(each, bool)]
    return int(min(both)) if len(both) == 2 else None


_WEIGHTLESS = frozenset({"Pooling", "Normalize"})
_MODES = {"mean": "mean_tokens", "cls": "cls_token", "max": "max_tokens", "mean_sqrt_len": "mean_sqrt_len_tokens"}


def _module(each: Any) -> tuple[str, str]:
    """(folder, class) of a module; the packages that classes lie in moved between releases."""
    entry: dict[str, Any] = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
    return str(entry.get("path", "")), str(entry.get("type", "")).rpartition(".")[2]


def renamed(old: Side, new: Side) -> dict[str, str]:
    """Folder of OLD → folder of NEW, of modules that stand at the same place, have no weights and got another name."""
    before, after = (settings(side, "modules.json").get("modules", []) for side in (old, new))
    if [kind for _, kind in before] != [kind for _, kind in after]:
        return {}
    return {
        a: b
        for (a, kind), (b, _) in zip(before, after, strict=True)
        if a != b and kind in _WEIGHTLESS and all(judged(f"{each}/config.json") for each in (a, b))
    }


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
