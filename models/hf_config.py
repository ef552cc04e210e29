"""Read the small JSON and Jinja files of a Hugging Face model directory, strictly and with bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .errors import UnreadableModel
from .strict_json import items_of, loads_object
from .tree import ModelTree

# The largest in public use is about 1.2 MB: a tokenizer_config.json that lists 6,000 added tokens.
MAX_BYTES = 64 << 20
MAX_TEMPLATE = 4 << 20


def read_json_config(path: Path) -> dict[str, Any]:
    """A JSON object with its duplicate keys refused. Raises UnreadableModel with line and column."""
    return loads_object(_bounded(path, MAX_BYTES), str(path))


def read_template(path: Path) -> str:
    """The text of a chat template file. Raises UnreadableModel."""
    data = _bounded(path, MAX_TEMPLATE)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableModel(path, "not UTF-8", offset=error.start) from None


def _bounded(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise UnreadableModel(path, (error.strerror or str(error)).lower()) from error
    if len(data) > limit:
        raise UnreadableModel(path, f"is larger than the {limit >> 20} MiB that such a file may have")
    return data


def token_content(value: Any) -> str | None:
    """A special token's text: configs hold it as a string or as an object with `content`."""
    match value:
        case str(content) | {"content": str(content)}:
            return content
        case _:
            return None


def text_config(config: dict[str, Any]) -> dict[str, Any]:
    """The language model's part of a configuration: multimodal ones nest it."""
    name = text_part(config)
    return {**config, **config[name]} if name else config


def text_part(config: dict[str, Any]) -> str:
    """The key that holds the language model's part, empty where the configuration is flat."""
    names = ("text_config", "llm_config", "language_config")
    return next((name for name in names if isinstance(config.get(name), dict)), "")


# Where the configurations of multimodal and of encoder-decoder models keep what is the decoder's.
_DECODERS = ("decoder_config", "decoder", "generator_config")


def nested_ids(config: dict[str, Any], key: str) -> frozenset[int]:
    """The ids under `key` in the text part: `transformers` 5 moves them there. The top level wins where it has some."""
    if config.get(key) is not None:
        return frozenset()
    for name in (text_part(config), *_DECODERS):
        match config.get(name):
            case {**part} if part.get(key) is not None:
                return stop_ids(part[key])
            case _:
                pass
    return frozenset()


def stop_ids(value: Any) -> frozenset[int]:
    """`eos_token_id` as a set: an id, a list of ids, or nothing."""
    return frozenset(item for item in items_of(value) if isinstance(item, int) and not isinstance(item, bool))


OF_THE_TOKENIZER = " of the tokenizer"


def read_chat_templates(tree: ModelTree) -> dict[str, tuple[str, str]]:
    """Chat templates as name → (file, Jinja source); the unnamed one is `default`.

    As in `transformers`, the files chat_template.jinja and additional_chat_templates/*.jinja replace everything that
    configurations say. Without them a processor has chat_template.json, or else its key in processor_config.json,
    and the tokenizer has tokenizer_config.json: where it says otherwise than the processor, its template is another
    one, `default of the tokenizer`, because servers take that for some requests. A GGUF file's own counts where there
    is no other. Raises UnreadableModel.
    """
    found = _files(tree)
    if not found:
        tokenizer = _configured(tree, "tokenizer_config.json")
        found = _configured(tree, "chat_template.json") or _configured(tree, "processor_config.json")
        for name, (file, source) in tokenizer.items():
            if found.setdefault(name, (file, source))[1] != source:
                found[name + OF_THE_TOKENIZER] = (file, source)
    for file in tree.of("gguf") if not found else ():
        from .gguf import read_gguf

        template = read_gguf(file).metadata.get("tokenizer.chat_template")
        if isinstance(template, str | bytes):
            found["default"] = (file.name, _text(template, file.path))
    return found


def _files(tree: ModelTree) -> dict[str, tuple[str, str]]:
    """The templates that have a file of their own."""
    found: dict[str, tuple[str, str]] = {}
    for file in tree.files.values():
        folder, _, base = file.name.rpartition("/")
        if file.name == "chat_template.jinja":
            found["default"] = (file.name, read_template(file.path))
        elif folder == "additional_chat_templates" and base.endswith(".jinja"):
            found[base.removesuffix(".jinja")] = (file.name, read_template(file.path))
    return found


def _configured(tree: ModelTree, name: str) -> dict[str, tuple[str, str]]:
    """The templates under the key of a configuration file."""
    found: dict[str, tuple[str, str]] = {}
    file = tree.files.get(name)
    if file is not None and not file.partial:
        _declared(read_json_config(file.path).get("chat_template"), name, str(file.path), found)
    return found


def _text(value: str | bytes, path: Path) -> str:
    if isinstance(value, str):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableModel(path, "has a chat template that is not UTF-8") from None


def _declared(value: Any, file: str, path: str, into: dict[str, tuple[str, str]]) -> None:
    """A template, or a list of named ones."""
    for index, item in enumerate(items_of(value)):
        match item:
            case str(source):
                into["default"] = (file, source)
            case {"name": str(name), "template": str(source)}:
                into[name] = (file, source)
            case _:
                raise UnreadableModel(path, f"chat_template[{index}] is neither a template nor a named one")
