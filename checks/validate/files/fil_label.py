"""FIL-LABEL: the file that gives class indices their names changed."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.errors import UnreadableModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .labels import difference, labels

RULE = Rule(
    id="FIL-LABEL",
    name="label-file-changed",
    family="FIL",
    severity=Severity.ERROR,
    summary="a label file names class indices otherwise, or has another number of them",
    what="labels.txt, classes.txt, label_map.json and the like, in order of index.",
    why="the model answers with an index; every client and server that holds the old list reads another class",
    hint="append new labels and train the head accordingly, or ship the clients first",
    references=("https://github.com/triton-inference-server/server/issues/36",),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Label files of both models by name."""
    if ctx.old is None:
        return
    for file in ctx.old.tree.of("labels"):
        if file.name not in ctx.new.tree.files:
            yield ctx.finding(RULE, "breaks", f"label file '{file.name}' is gone", path=file.name, side=ctx.old)
            continue
        changed = difference(_read(ctx.old, file.name), _read(ctx.new, file.name))
        if changed:
            yield ctx.finding(RULE, "breaks", changed, path=file.name)


def _read(side: Side, name: str) -> list[str]:
    file = side.tree.files[name]
    if file.size > 16 << 20:
        raise UnreadableModel(file.path, f"is {file.size:,} bytes long, too long for a list of labels")
    try:
        found = labels(file.path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableModel(file.path, "is not UTF-8", offset=error.start) from error
    if found is None:
        raise UnreadableModel(file.path, "is not a list of labels")
    return found
