"""The special tokens of a model: what its files say eos, bos, pad and unk are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ....models.hf_config import nested_ids, stop_ids, token_content
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side
from .changes import both
from .model import complete

Role = Literal["eos", "bos", "pad", "unk"]

# In these, tokenizer_config.json beside the file says which token plays which role.
_MUTE = frozenset({"tokenizer.json", "tiktoken", "vocab"})


_MAP = "special_tokens_map.json"


class Special(NamedTuple):
    """A special token: its text, its ids and the file that declares it; empty where nothing does."""

    content: str | None
    ids: frozenset[int]
    file: str

    def __str__(self) -> str:
        ids = ", ".join(map(str, sorted(self.ids)))
        if self.content is None:
            return ids or "none"
        return f"{self.content!r} ({ids})" if ids else repr(self.content)


def special(side: Side, role: Role) -> Special:
    """The token that plays `role`: from the tokenizer's configuration, its own file, or the model's configuration."""
    tokenizer = side.tokenizer
    for file in ("tokenizer_config.json", _MAP):
        content = token_content((side.json(file) or {}).get(f"{role}_token"))
        if content is not None:
            number = tokenizer.id_of(content) if tokenizer is not None else None
            return Special(content, _config_ids(side, role) if number is None else frozenset({number}), file)
    if tokenizer is not None:
        number = tokenizer.special.get(role)
        content = tokenizer.settings.get("unk_token") if role == "unk" else None
        if number is None and content is not None:
            number = tokenizer.id_of(content)
        if number is None and role == "unk":
            number = tokenizer.settings.get("unk_id")
        if number is not None:
            return Special(tokenizer.tokens.get(number, content), frozenset({number}), _name(side))
    ids = _config_ids(side, role)
    return Special(None, ids, "config.json" if ids else "")


def _config_ids(side: Side, role: Role) -> frozenset[int]:
    return _top_ids(side, role) or nested_ids(side.config or {}, f"{role}_token_id")


def _top_ids(side: Side, role: Role) -> frozenset[int]:
    return stop_ids((side.config or {}).get(f"{role}_token_id"))


def outside(side: Side, role: Role) -> frozenset[int]:
    """The ids that config.json, outside of its text part, and generation_config.json list for `role`."""
    return _top_ids(side, role) | stop_ids((side.generation_config or {}).get(f"{role}_token_id"))


def declared(side: Side, role: Role) -> frozenset[int]:
    """The ids that configuration files list for `role`, at the top or in the text part."""
    return outside(side, role) | _config_ids(side, role)


def _elsewhere(old: Side, new: Side, role: Role) -> tuple[frozenset[int], frozenset[int]]:
    """The ids that both models' config.json and generation_config.json declare.

    Those of the text part count where the models differ in nothing else: many only spell out a default there.
    """
    tops = outside(old, role), outside(new, role)
    if tops[0] and tops[0] == tops[1]:
        return tops
    return declared(old, role), declared(new, role)


def _name(side: Side) -> str:
    return side.tokenizer.path.rsplit("/", 1)[-1] if side.tokenizer is not None else ""


def moved(ctx: Context, rule: Rule, role: Role, cost: str, *, gained: Level) -> Iterator[Finding]:
    """A finding where the text or id of `role` differs; `gained` is the level where there was none before."""
    if ctx.old is None:
        return
    old, new = special(ctx.old, role), special(ctx.new, role)
    texts = old.content is not None and new.content is not None and old.content != new.content
    ids = bool(old.ids) and bool(new.ids) and old.ids != new.ids
    before, after = _elsewhere(ctx.old, ctx.new, role)
    if role == "eos" and ids and not texts and _numbers(ctx.old, old) and _numbers(ctx.new, new):
        stops = declared(ctx.old, role), declared(ctx.new, role)
        if stops[0] <= stops[1]:
            return  # the token is the same as far as anything says; GEN-EOS judges the numbers at which answers end
    if not texts and not ids and role in ("bos", "pad") and before and after and before != after:
        yield ctx.finding(
            rule,
            "breaks",
            f"{role}_token_id of the configuration changed",
            path="config.json" if "config.json" in ctx.new.tree.files else "generation_config.json",
            pointer=f"/{role}_token_id",
            old=", ".join(map(str, sorted(before))),
            new=", ".join(map(str, sorted(after))),
            why=cost,
        )
        return
    # The text was declared for the tokenizer; an id in a configuration does not replace it.
    lost = old.content is not None and new.content is None and old.file != "config.json"
    had, has = bool(old.ids or old.content is not None), bool(new.ids or new.content is not None)
    if not had and new.file == "config.json" and not _top_ids(ctx.new, role):
        return  # saving again spells out defaults in the text part
    if {old.file, new.file} <= {"config.json", ""} and before and before == after:
        return  # one of the configurations says it again, or no more
    if not (texts or ids or lost or had != has):
        if old.file == "tokenizer_config.json" and new.file == _MAP and _unread(ctx.new):
            message = f"the {role} token is named by {_MAP} alone, which transformers does not read any more"
            hint = "name it in tokenizer_config.json, which lists added_tokens_decoder and so is all that is read"
            yield ctx.finding(rule, "unproven", message, path=_MAP, pointer=f"/{role}_token", why=cost, hint=hint)
        return
    level = "breaks" if had else gained
    if had and not has and _mute(ctx.new):
        level = "unproven"
    pair = both(ctx)
    if (
        role == "unk"
        and had != has
        and (new.ids or not has)
        and pair is not None
        and complete(pair[0])
        and complete(pair[1])
    ):
        level = "hot"  # every byte is a token, so nothing is ever unknown
    yield ctx.finding(
        rule,
        level,
        _message(role, had=had, mute=level == "unproven"),
        path=new.file or old.file,
        pointer=f"/{role}_token" if new.file.endswith(".json") and new.content is not None else "",
        old=str(old),
        new=str(new),
        why=cost,
        plan=("reload-tokenizer",),
    )


def _numbers(side: Side, found: Special) -> bool:
    """Whether the ids of a token are what the model's configuration lists, since no tokenizer gives its text one."""
    tokenizer = side.tokenizer
    return found.content is None or tokenizer is None or tokenizer.id_of(found.content) is None


def _unread(side: Side) -> bool:
    """Whether transformers takes the names of special tokens from tokenizer_config.json alone (since 4.34)."""
    return "added_tokens_decoder" in (side.tokenizer_config or {})


def _mute(side: Side) -> bool:
    """Whether the model is one tokenizer file of a kind that has no place for special tokens' roles."""
    tokenizer = side.tokenizer
    return side.tree.single and tokenizer is not None and tokenizer.format in _MUTE


def _message(role: Role, *, had: bool, mute: bool) -> str:
    if mute:
        return f"the new file alone does not say the {role} token"
    return f"the {role} token changed" if had else f"the {role} token was not declared before"
