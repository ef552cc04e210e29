"""Findings about weights that do not agree with their own configuration, alone and against a version that serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..rulebase import Context, Finding, Level, Rule
from ..side import Side


def judge(ctx: Context, rule: Rule, faults: Callable[[Side], list[tuple[str, list[str]]]]) -> Iterator[Finding]:
    """NEW's faults, each (what does not agree, the tensors it is said of).

    What OLD has just the same is a note, since it serves. Against an OLD that fits, the size or the shape is another
    one, and the rules that say so ask for a restart: a server that starts anew fails before it takes traffic.
    """
    found = faults(ctx.new)
    known = {message for message, _ in faults(ctx.old)} if found and ctx.old is not None else set[str]()
    table = ctx.new.weights
    for message, tensors in found:
        level: Level = "hot" if message in known else "breaks" if ctx.old is None else "restart"
        files = {name: table.tensors[name].file for name in tensors} if table is not None else {}
        same = ", as in the live version" if message in known else ""
        yield ctx.finding(rule, level, message + same, path=files.get(min(tensors), ""), tensors=tensors, files=files)
