"""GGF-META: metadata changed that no other rule judges."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.gguf import GgufArray, GgufModel, read_array
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side
from .files import pairs
from .ggf_arch import JUDGED
from .stops import KEYS, shown, stops

RULE = Rule(
    id="GGF-META",
    name="gguf-metadata-changed",
    family="GGF",
    severity=Severity.WARNING,
    summary="metadata of the GGUF file changed, and its meaning is not known here",
    what="Keys that are neither bookkeeping (general.*) nor judged by another rule, arrays included; and where "
    "eot_token_id and eom_token_id let answers end.",
    why="llama.cpp builds its graph and its sampling from these keys",
    hint="find out what the key does, then accept the finding with a reason",
    exemptions=(
        "general.*: names, authors, file type",
        "a default that is only written out",
        "the vocabulary, which the tokenizer rules compare, and the chat template, which CHT-DIFF does",
    ),
)

# The tokenizer rules read these.
_VOCABULARY = frozenset(
    f"tokenizer.ggml.{key}"
    for key in (
        *("tokens", "scores", "token_type", "merges", "model", "pre", "bos_token_id", "eos_token_id"),
        *("unknown_token_id", "padding_token_id", "added_tokens"),
    )
)
# TOK-POST compares what they put around a text, defaults included.
_FRAME = {"tokenizer.ggml.add_bos_token": "bos", "tokenizer.ggml.add_eos_token": "eos"}
# CHT-DIFF compares what it renders.
_TEMPLATE = "tokenizer.chat_template"
# Where the converter had the tensors from; nothing reads it.
_LAYOUT = "tensor_data_layout"
# How quantised blocks are laid out.
_FORM, _CURRENT = "general.quantization_version", 2


def check(ctx: Context) -> Iterator[Finding]:
    """Keys that differ."""
    for pair in pairs(ctx):
        assert ctx.old is not None  # noqa: S101
        old, new = pair.old.metadata, pair.new.metadata
        before, after = stops(ctx.old, pair.old), stops(ctx.new, pair.new)
        ends = None if before is None or after is None else (before, after)
        if ends is not None and any(old.get(key) != new.get(key) for key in KEYS):
            yield from _ends(ctx, pair.new.file, *ends)
        for key in sorted(old.keys() | new.keys()):
            own = key.removeprefix(f"{pair.new.architecture}.")
            note = own == _LAYOUT or (key.startswith(("general.", "split.", "quantize.")) and key != _FORM)
            if (
                note
                or (key in KEYS and ends is not None)
                or key in _VOCABULARY
                or own in JUDGED
                or (key in _FRAME and _framed(ctx, _FRAME[key]))
            ):
                continue
            if key == _TEMPLATE and all(each.metadata.get(key) for each in (pair.old, pair.new)) and _templated(ctx):
                continue
            a, b = _value(ctx.old, pair.old, key), _value(ctx.new, pair.new, key)
            if key == _FORM and _CURRENT in (a, b) and None in (a, b):
                continue  # converters of today write it out
            usual = [_usual(model, key) if value is None else value for model, value in ((pair.old, a), (pair.new, b))]
            if usual[0] != usual[1]:
                # Whether BOS or EOS is put around a prompt changes every answer; so does the template.
                level: Level = "restart" if key.startswith("tokenizer.") else "unproven"
                yield ctx.finding(RULE, level, f"{key} changed", old=a, new=b, path=pair.new.file, pointer=key)


def _ends(ctx: Context, file: str, old: dict[int, str], new: dict[int, str]) -> Iterator[Finding]:
    """Tokens at which answers end no more, and those at which they end now. Of the eos itself TOK-EOS speaks."""
    lost = {number: text for number, text in old.items() if number not in new}
    gained = {number: text for number, text in new.items() if number not in old}
    key, why = KEYS[0], "answers run on to the length limit, or end in the middle"
    if lost:
        message = f"answers no longer end at {_listed(lost)}"
        yield ctx.finding(RULE, "breaks", message, path=file, pointer=key, why=why)
    if gained:
        level: Level = "breaks" if gained.keys() & shown(ctx.new) else "hot"
        message = f"answers end at {_listed(gained)} now" + (", a token of ordinary text" if level == "breaks" else "")
        yield ctx.finding(RULE, level, message, path=file, pointer=key, why=why)


def _listed(tokens: dict[int, str]) -> str:
    return ", ".join(f"{text!r} ({number})" for number, text in sorted(tokens.items()))


def _usual(model: GgufModel, key: str) -> object:
    """What llama.cpp takes where a key is not written."""
    if key.startswith("tokenizer.ggml."):
        from ....models.tokenizers.gguf import SPACES

        kind = str(model.metadata.get("tokenizer.ggml.model"))
        return SPACES.get(kind, {}).get(key.removeprefix("tokenizer.ggml."))
    own = key.removeprefix(f"{model.architecture}.")
    return model.get("context_length") if own == "rope.scaling.original_context_length" else None


def _framed(ctx: Context, role: str) -> bool:
    """Whether both files have the tokenizer that serves and say which token it would put there."""
    serving = [side.tokenizer for side in (ctx.old, ctx.new) if side is not None]
    return all(each is not None and each.format == "gguf" and each.special.get(role) is not None for each in serving)


def _templated(ctx: Context) -> bool:
    """Whether the template that serves, of either model, is the one of a GGUF file."""
    serving = [side.chat_templates.get("default", ("", ""))[0] for side in (ctx.old, ctx.new) if side is not None]
    return all(file.endswith(".gguf") for file in serving)


def _value(side: Side, model: GgufModel, key: str) -> object:
    value = model.metadata.get(key)
    if isinstance(value, GgufArray) and value.type in range(13) and value.type != 9:
        items = read_array(side.tree.files[model.file], model, value)
        return [each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in items]
    return value
