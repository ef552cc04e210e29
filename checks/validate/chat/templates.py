"""The chat templates of both models, rendered once per pair."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ....models.errors import UnreadableModel
from ....models.hf_config import token_content
from ..rulebase import Context
from ..side import Side
from .cases import ANSWER, ANSWERED, PROMPT, USER
from .sandbox import Rendered, render

_KNOWN: WeakKeyDictionary[Side, dict[str, Rendered]] = WeakKeyDictionary()


class Pair(NamedTuple):
    """A template that both models have: its name, NEW's file and what both render."""

    name: str
    file: str
    old: Rendered
    new: Rendered


def rendered(side: Side, *also: Side) -> dict[str, Rendered]:
    """What the model's templates render, by name; the other sides' are rendered in the same go.

    Raises UnreadableModel for one that was stopped: what it renders nobody knows.
    """
    wanted = [each for each in (side, *also) if each not in _KNOWN]
    jobs = [(each, name, source) for each in wanted for name, (_, source) in each.chat_templates.items()]
    for each in wanted:
        _KNOWN[each] = {}
    results = render([(source, special_tokens(each)) for each, _, source in jobs]) if jobs else []
    for (each, name, _), result in zip(jobs, results, strict=True):
        _KNOWN[each][name] = result
    for name, result in _KNOWN[side].items():
        if result.stopped:
            file = side.tree.files[side.chat_templates[name][0]].path
            hint = "a server renders it for every request: give it loops that end"
            raise UnreadableModel(file, f"the chat template '{name}' {result.error}", hint=hint)
    return _KNOWN[side]


def special_tokens(side: Side) -> dict[str, str]:
    """What a template sees as bos_token, eos_token and so on."""
    found: dict[str, str] = {}
    for declared in (side.special_tokens_map or {}, side.tokenizer_config or {}):
        for key, value in declared.items():
            content = token_content(value) if key.endswith("_token") else None
            if content is not None:
                found[key] = content
    if not found and side.tokenizer is not None:
        for role, number in side.tokenizer.special.items():
            if number is not None and number in side.tokenizer.tokens:
                found[f"{role}_token"] = side.tokenizer.tokens[number]
    return found


def same(ctx: Context) -> bool:
    """Whether both models render alike for certain: the same sources with the same special tokens."""
    if ctx.old is None:
        return False
    sources = [{name: source for name, (_, source) in side.chat_templates.items()} for side in (ctx.old, ctx.new)]
    return sources[0] == sources[1] and special_tokens(ctx.old) == special_tokens(ctx.new)


def pairs(ctx: Context) -> list[Pair]:
    """The templates that both models have, where they may differ."""
    if ctx.old is None or same(ctx):
        return []
    shared = [name for name in ctx.old.chat_templates if name in ctx.new.chat_templates]
    if not shared:
        return []
    new, old = rendered(ctx.new, ctx.old), rendered(ctx.old)
    return [Pair(name, ctx.new.chat_templates[name][0], old[name], new[name]) for name in shared]


def prompt_prefix(result: Rendered) -> str | None:
    """What follows a question when the model is to answer: the end of the user's turn and the assistant's prefix."""
    text = result.text(PROMPT)
    return text.rpartition(USER)[2] if text is not None and USER in text else None


def after_answer(result: Rendered) -> str | None:
    """What the template writes after an answer: its end of turn, and maybe more."""
    text = result.text(ANSWERED)
    return text.rpartition(ANSWER)[2] if text is not None and ANSWER in text else None


def stop_mark(result: Rendered) -> str | None:
    """The first special token after an answer, else the first line there."""
    tail = after_answer(result)
    if tail is None:
        return None
    return first_literal(tail, ()) or tail.split("\n", 1)[0]


_LITERAL = re.compile(r"<\|[^<>|\s]{1,60}\|>|<(?:start|end)_of_turn>|<\uff5c[^<>\s]{1,60}\uff5c>|</s>|\[/?INST\]")


def first_literal(text: str, known: Iterable[str]) -> str | None:
    """The first special token in `text`: one of the tokenizer's own (`known`), or something that looks like one."""
    best: tuple[int, int, str] | None = None
    for content in known:
        at = text.find(content)
        if at >= 0 and (best is None or (at, -len(content)) < best[:2]):
            best = (at, -len(content), content)
    looks = _LITERAL.search(text)
    if looks is not None and (best is None or looks.start() < best[0]):
        return looks.group()
    return best[2] if best is not None else None


def literals(text: str) -> list[str]:
    """Everything in `text` that looks like a special token, in order and once."""
    return list(dict.fromkeys(_LITERAL.findall(text)))
