"""The chat templates of both models, rendered once per pair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ....models.errors import UnreadableModel
from ....models.hf_config import OF_THE_TOKENIZER, token_content
from ..rulebase import Context
from ..side import Side
from .cases import ANSWER, ANSWERED, CASES, PROMPT, TOOLS, USER, WITH_TOOLS, Case
from .sandbox import Rendered, render

TOOL_USE = "tool_use"
_KNOWN: WeakKeyDictionary[Side, dict[str, Rendered]] = WeakKeyDictionary()


class Pair(NamedTuple):
    """A template that both models have: its name, NEW's file and what both render.

    `cases` are the conversations for which servers take it, where they take another one for the rest.
    """

    name: str
    file: str
    old: Rendered
    new: Rendered
    cases: Sequence[Case] = CASES

    @property
    def pointer(self) -> str:
        """Where in a JSON file the template is; '' in a file of its own."""
        return "/chat_template" if self.file.endswith(".json") else ""

    @property
    def texts(self) -> Iterator[tuple[Case, str | None, str | None]]:
        """(case, what OLD renders, what NEW renders) for every such conversation; None where it fails."""
        for case, old, new in zip(CASES, self.old.texts, self.new.texts, strict=False):
            if case in self.cases:
                yield case, old, new

    @property
    def failing(self) -> list[tuple[Case, str]]:
        """(case, error) for every such conversation that OLD renders and NEW does not."""
        return self._only(self.new, self.old)

    @property
    def rescued(self) -> list[tuple[Case, str]]:
        """(case, OLD's error) for every such conversation that only NEW renders."""
        return self._only(self.old, self.new)

    def _only(self, fails: Rendered, renders: Rendered) -> list[tuple[Case, str]]:
        both = zip(CASES, fails.errors, renders.errors, strict=False)
        return [(case, error) for case, error, other in both if error and not other and case in self.cases]


def conversations(found: Sequence[object]) -> str:
    """How many conversations these are."""
    return f"{len(found)} conversation{'s' * (len(found) != 1)}"


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


def counterpart(name: str, other: Mapping[str, object]) -> str | None:
    """The template that the other model's servers take for the requests for which they take `name` here.

    With tools, `transformers` and what builds on it take `tool_use` where there is one, and else the default.
    """
    general = name.removesuffix(OF_THE_TOKENIZER)
    chosen = [name, general]
    if general == TOOL_USE:
        chosen += [f"default{OF_THE_TOKENIZER}", "default"]
    return next((each for each in chosen if each in other), None)


def pairs(ctx: Context) -> list[Pair]:
    """NEW's templates, each with the one that OLD's servers take for the same requests, where they may differ."""
    if ctx.old is None or same(ctx):
        return []
    found = [(name, counterpart(name, ctx.old.chat_templates)) for name in ctx.new.chat_templates]
    shared = [(name, before) for name, before in found if before is not None]
    # A template of the tokenizer's own that now says what the processor's does.
    lone = [each for each in ctx.old.chat_templates if each not in ctx.new.chat_templates]
    shared += [(each.removesuffix(OF_THE_TOKENIZER), each) for each in lone if each.endswith(OF_THE_TOKENIZER)]
    files = ctx.new.chat_templates
    shared = [(name, was) for name, was in shared if name in files]
    if not shared:
        return []
    new, old = rendered(ctx.new, ctx.old), rendered(ctx.old)
    return [Pair(name, files[name][0], old[was], new[name], _taken(name, was)) for name, was in shared]


def _taken(name: str, other: str) -> Sequence[Case]:
    """The conversations for which one model's servers take `name` and the other's take `other`."""
    by_itself = {each.removesuffix(OF_THE_TOKENIZER) for each in (name, other)}
    return CASES if len(by_itself) == 1 else WITH_TOOLS


def told_elsewhere(ctx: Context, name: str) -> bool:
    """Whether NEW renders by another template all that OLD renders by `name`, which it has no longer."""
    if ctx.old is None:
        return False
    instead = counterpart(name, ctx.new.chat_templates)
    if instead is None:
        return False
    new, old = rendered(ctx.new, ctx.old)[instead], rendered(ctx.old)[name]
    if old.error or new.error:
        return False
    pair = Pair(name, "", old, new, _taken(name, instead))
    return not pair.failing and all(a == b for _, a, b in pair.texts if a is not None)


def prompt_prefix(result: Rendered, *, tools: bool = False) -> str | None:
    """What follows a question when the model is to answer: the end of the user's turn and the assistant's prefix."""
    text = result.text(TOOLS if tools else PROMPT)
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
