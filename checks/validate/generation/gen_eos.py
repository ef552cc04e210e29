"""GEN-EOS: the tokens that end an answer."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.hf_config import nested_ids, stop_ids
from ....report.finding import Severity
from ..chat.templates import after_answer, first_literal, rendered, same
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side
from ..tokenizer.changes import quoted
from ..tokenizer.special import declared, outside, special
from .visible import visible

RULE = Rule(
    id="GEN-EOS",
    name="stop-set-changed",
    family="GEN",
    severity=Severity.ERROR,
    summary="answers no longer end where they ended before, never end, or end in the middle",
    what="eos_token_id of generation_config.json, or of config.json where there is no such file, and the tokenizer's "
    "eos token, at which only some servers stop as well. NEW's must hold all of OLD's: one that only the tokenizer "
    "still names is unproven, one that only config.json names beside generation_config.json is lost. Any of the three "
    "must name the token with which the chat template ends a turn; what is added must be special tokens, which no "
    "answer shows.",
    why="the model writes its end of turn, nobody stops, and the client gets everything up to the length limit",
    hint="list every stop token in eos_token_id of generation_config.json, and no token of ordinary text",
    bad='{"eos_token_id": 128001}   with a template that ends turns with <|eot_id|> (128009)',
    good='{"eos_token_id": [128001, 128009]}',
    example="json",
    exemptions=("a folder that is a tokenizer and nothing else: its model's configuration lists the stop tokens",),
    references=("vllm-project/vllm#4180",),
    reads=("config", "generation-config", "tokenizer-config", "chat-template"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """The stop set against OLD's, then against the template."""
    new = stops(ctx.new)
    if not new:
        return
    if ctx.old is not None:
        yield from _lost(ctx, ctx.old)
        yield from _gained(ctx, sorted(new - stops(ctx.old)))
        if same(ctx) and stops(ctx.old) == new:
            return
    if ctx.old is not None:
        rendered(ctx.new, ctx.old)
    fault = terminator(ctx.new)
    if fault is None or fault[1] in new:
        return
    before = terminator(ctx.old) if ctx.old is not None else None
    known = ctx.old is not None and before is not None and before == fault and fault[1] not in stops(ctx.old)
    lone = _only_tokenizer(ctx.new)
    note = ", as before" if known else "; the model's configuration has to list it" if lone else ""
    yield ctx.finding(
        RULE,
        "hot" if known or lone else "breaks",
        f"the template ends a turn with {fault[0]} ({fault[1]}), which is no stop token{note}",
        path=_file(ctx.new),
        pointer="/eos_token_id",
        new=_shown(new),
    )


def _lost(ctx: Context, before: Side) -> Iterator[Finding]:
    """Stop tokens of OLD that NEW has no longer, or that only some servers still take for one."""
    if not (declared(before, "eos") or declared(ctx.new, "eos")):
        return  # the tokenizer's eos is all that either side declares: TOK-EOS has said it
    old, new = _effective(before), _effective(ctx.new)
    own, was = special(ctx.new, "eos").ids, special(before, "eos").ids
    listed = declared(ctx.new, "eos")
    gone = (stops(before) - _idle(before)) - stops(ctx.new)
    less = (old - new) & stops(ctx.new)
    verdicts: tuple[tuple[frozenset[int], Level, str], ...] = (
        (gone & (old | was), "breaks", ""),
        (
            gone - old - was,
            "unproven",
            "; generation_config.json did not list it: servers that read config.json too did",
        ),
        (less & own, "unproven", ": only servers that add the tokenizer's eos stop there"),
        (
            less & listed - own,
            "breaks",
            ": only servers that read config.json beside generation_config.json stop there",
        ),
    )
    for ids, level, words in verdicts:
        if ids:
            names = ", ".join(f"{n} {_name(before, n)}".strip() for n in sorted(ids))
            yield ctx.finding(
                RULE,
                level,
                f"answers no longer end at {names}{words}",
                path=_file(ctx.new),
                pointer="/eos_token_id",
                old=_shown(old | was),
                new=_shown(new),
            )


def _effective(side: Side) -> frozenset[int]:
    """The ids at which `transformers` stops: generation_config.json is the only word on it where it exists."""
    if side.generation_config is not None:
        return stop_ids(side.generation_config.get("eos_token_id"))
    # A config.json without one leaves the default of the model's class, which is what its tokenizer has.
    return declared(side, "eos") or special(side, "eos").ids


def _gained(ctx: Context, added: list[int]) -> Iterator[Finding]:
    """Stop tokens that OLD did not have: ordinary text breaks answers off, a special token does not."""
    known = ctx.old is not None and bool(declared(ctx.old, "eos"))
    verdicts: tuple[tuple[bool | None, Level, str], ...] = (
        (True, "breaks", "which is ordinary text: answers are cut there"),
        (None, "unproven", "and no tokenizer tells whether that is ordinary text"),
        (False, "hot", "a special token, which answers do not show"),
    )
    for shown, level, words in verdicts:
        ids = [number for number in added if visible(ctx.new, number) is shown]
        if ids and (level == "breaks" or known):
            names = ", ".join(f"{number} {_name(ctx.new, number)}".strip() for number in ids[:5])
            yield ctx.finding(
                RULE,
                level,
                f"answers now end at {names} as well, {words}",
                path=_file(ctx.new),
                pointer="/eos_token_id",
                witness={"kind": "stop", "ids": ids[:5]} if level == "breaks" else None,
            )


def _only_tokenizer(side: Side) -> bool:
    """Whether the folder cannot say where answers end, since neither weights nor a configuration of them is there."""
    return side.tree.kinds.isdisjoint({"config", "generation-config", "safetensors", "gguf", "onnx", "pickle"})


def stops(side: Side) -> frozenset[int]:
    """The ids that end an answer, from every file that declares some."""
    return declared(side, "eos") | special(side, "eos").ids


def _idle(side: Side) -> frozenset[int]:
    """Ids that the text part alone lists, beside a generation_config.json that lists others: nothing stops at them."""
    if not stop_ids((side.generation_config or {}).get("eos_token_id")):
        return frozenset()
    return nested_ids(side.config or {}, "eos_token_id") - outside(side, "eos") - special(side, "eos").ids


def terminator(side: Side) -> tuple[str, int] | None:
    """(text, id) of the token with which the default template ends a turn, None where there is no telling."""
    tokenizer = side.tokenizer
    if tokenizer is None or "default" not in side.chat_templates:
        return None
    tail = after_answer(rendered(side)["default"])
    if not tail:
        return None
    known = [each.content for each in tokenizer.added if each.special]
    literal = first_literal(tail, known)
    number = tokenizer.id_of(literal) if literal is not None else None
    return (literal, number) if literal is not None and number is not None else None


def _name(side: Side, number: int) -> str:
    token = side.tokenizer.tokens.get(number) if side.tokenizer is not None else None
    return quoted(token) if token is not None else ""


def _file(side: Side) -> str:
    for name in ("generation_config.json", "config.json", "tokenizer_config.json"):
        if name in side.tree.files:
            return name
    return ""


def _shown(ids: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(ids))) or "none"
