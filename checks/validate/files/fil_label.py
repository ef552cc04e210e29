"""FIL-LABEL: the file that gives class indices their names changed."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.errors import UnreadableModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .label_files import MAX, label_files, listed, named
from .labels import difference, labels

RULE = Rule(
    id="FIL-LABEL",
    name="label-file-changed",
    family="FIL",
    severity=Severity.ERROR,
    summary="a label file names class indices otherwise, or has another number of them",
    what="labels.txt, classes.txt, label_map.json or .pbtxt, *.names, tags.csv and the like, files that label_filename "
    "of a config.pbtxt names, and beside a graph the dictionaries of characters that its answers are spelt with "
    "(*_dict.txt, *_keys.txt, tokens.txt), all in order of index.",
    why="the model answers with an index; every client and server that holds the old list reads another class",
    hint="append new labels and train the head accordingly, or ship the clients first",
    exemptions=(
        "line ends of another system where Triton does not read them, and whether the last line has one",
        "the order of lines that say their index themselves, and columns that count",
    ),
    references=("https://github.com/triton-inference-server/server/issues/36",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Label files of both models by name."""
    if ctx.old is None:
        return
    old, new = label_files(ctx.old), label_files(ctx.new)
    for name in sorted(old):
        if name not in ctx.new.tree.files:
            yield ctx.finding(RULE, "breaks", f"label file '{name}' is gone", path=name, side=ctx.old)
        elif name in new and ctx.same(name, name) != "same":
            yield from _compared(ctx, ctx.old, name)


def _compared(ctx: Context, old: Side, name: str) -> Iterator[Finding]:
    texts = [_text(side, name) for side in (old, ctx.new)]
    lists = [None if text is None else listed(name, text.removeprefix(_MARK)) for text in texts]
    before, after = lists
    if before is None or after is None:
        message = f"'{name}' changed, and is not a list of labels that can be compared"
        yield ctx.finding(RULE, "unproven", message, path=name)
        return
    changed = difference(before, after)
    if changed:
        yield ctx.finding(RULE, "breaks", changed, path=name)
    elif name in named(ctx.new) and len({"\r\n" in (text or "") for text in texts}) > 1:
        message = f"only one '{name}' ends its lines with carriage returns, which Triton takes for a part of each label"
        yield ctx.finding(RULE, "unproven", message, path=name)
    elif len({(text or "").startswith(_MARK) for text in texts}) > 1:
        message = f"only one '{name}' begins with a byte order mark, which readers may take for a part of a label"
        yield ctx.finding(RULE, "unproven", message, path=name)


_MARK = "\ufeff"


def _text(side: Side, name: str) -> str | None:
    """A file's text; None for one of an unusual name that is not UTF-8. Raises UnreadableModel for the others."""
    file = side.tree.files[name]
    if file.size > MAX:
        raise UnreadableModel(file.path, f"is {file.size:,} bytes long, too long for a list of labels")
    try:
        text = file.path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        if file.kind != "labels":
            return None
        raise UnreadableModel(file.path, "is not UTF-8", offset=error.start) from error
    if file.kind == "labels" and labels(text.removeprefix(_MARK)) is None:
        raise UnreadableModel(file.path, "is not a list of labels")
    return text
