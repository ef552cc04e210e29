"""TOK-TWIN: two tokenizers in one model that disagree."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.tokenizer import Tokenizer, candidates, read_tokenizers
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .changes import changes, shown
from .judge import file_of
from .written_out import listed_again

RULE = Rule(
    id="TOK-TWIN",
    name="twin-tokenizers-disagree",
    family="TOK",
    severity=Severity.WARNING,
    summary="two tokenizer files of one model give ids different meanings",
    what="All tokenizer files of one directory, whatever their formats, by the bytes of each id.",
    why="which one is loaded depends on the server and on a flag: the same model then has two vocabularies",
    hint="convert one from the other again, or ship only one",
    bad="tokenizer.model names id 3 <0x00>, tokenizer.json names it [INST]",
    good="both give every id the same bytes",
    example="text",
    exemptions=(
        "added tokens that only one of the formats can hold",
        "an added_tokens.json that lists tokens of tokenizer.json under the same ids",
        "a vocab.txt, or a vocab.json and merges.txt, that hold what tokenizer.json does",
    ),
    references=("huggingface/transformers#27279", "huggingface/tokenizers#1786"),
    reads=("tokenizer", "gguf"),
)

_ADDED = "added_tokens.json"


def check(ctx: Context) -> Iterator[Finding]:
    """Compare every other tokenizer with the serving one; files that OLD has byte by byte tell nothing new."""
    names = [file.name for _, file in candidates(ctx.new.tree)]
    yield from _unserved(ctx)
    if len(names) < 2:
        return
    if ctx.old is not None and all(name in ctx.old.tree.files and ctx.same(name, name) == "same" for name in names):
        return
    first, *others = read_tokenizers(ctx.new.tree, ctx.new.tokenizer) or [None]
    for other in others:
        if first is None or other is None:
            continue
        found = _disagreement(first, other)
        if found:
            yield ctx.finding(
                RULE, "unproven", f"{file_of(first)} and {file_of(other)} disagree on {found}", path=file_of(other)
            )


def _unserved(ctx: Context) -> Iterator[Finding]:
    """Files of tokenizers that are not the serving one: some server may load them, and no other rule reads them."""
    if ctx.old is None or ctx.old.tokenizer is None or ctx.new.tokenizer is None:
        return
    read = {file_of(ctx.old.tokenizer), file_of(ctx.new.tokenizer)}
    if ctx.new.tokenizer.format == "vocab":
        read |= {"merges.txt", _ADDED}
    sides = (ctx.old.tree, ctx.new.tree)
    names = {file.name for tree in sides for file in tree.of("tokenizer") if "/" not in file.name}
    names |= {name for name in (_ADDED,) if any(name in tree.files for tree in sides)}
    for name in sorted(names - read):
        if ctx.same(name, name) != "same" and not (ctx.old.tree.single or ctx.new.tree.single):
            there = [name in tree.files for tree in sides]
            word = "changed" if all(there) else "is new" if there[1] else "is gone"
            having = [side for side, has in zip((ctx.old, ctx.new), there, strict=True) if has]
            told = all(_says_the_same(side, name) for side in having)
            what = "it names the same tokens as" if told else "what was compared is"
            yield ctx.finding(
                RULE,
                "hot" if told else "unproven",
                f"{name} {word}; {what} {file_of(ctx.new.tokenizer)}",
                path=name,
                side=having[-1],
            )


def _says_the_same(side: Side, name: str) -> bool:
    """Whether a list of tokens, which holds nothing else, gives all ids the tokens of the serving tokenizer beside it.

    Then whatever changed in it is told by the rules on that one.
    """
    if name == _ADDED:
        return _added_again(side)
    if name != "vocab.txt":
        return listed_again(side, name)
    first, *others = read_tokenizers(side.tree, side.tokenizer)
    twin = next((each for each in others if file_of(each) == name), None)
    return twin is not None and not _disagreement(first, twin) and not changes(first, twin).added


def _added_again(side: Side) -> bool:
    """Whether every token of added_tokens.json is an added token of the serving tokenizer, with the same id."""
    tokenizer, listed = side.tokenizer, side.json(_ADDED)
    if tokenizer is None or listed is None:
        return False
    known = {each.content: each.id for each in tokenizer.literals}
    return all(type(number) is int and known.get(content) == number for content, number in listed.items())


def _disagreement(one: Tokenizer, other: Tokenizer) -> str:
    """Ids that both name, otherwise; empty where they agree."""
    found = changes(one, other)
    literals = {each.id for each in (*one.literals, *other.literals)}
    different = {
        number: pair
        for number, pair in {**found.renamed, **found.activated}.items()
        if number not in literals or pair[0].strip() != pair[1].strip()
    }
    largest = other.largest
    missing = {n: token for n, token in found.removed.items() if n not in literals and n <= largest}
    if different:
        return f"{len(different):,} ids: {shown(different, 3)}"
    return f"{len(missing):,} ids that only the first has: {shown(missing, 3)}" if missing else ""
