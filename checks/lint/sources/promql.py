"""PromQL: which series a query reads, and which of their labels are left in its result.

Parsing is promql-parser's; what aggregations, functions and vector matching do to labels follows
https://prometheus.io/docs/prometheus/latest/querying/operators/. Template holes (`{{args.x}}`, `[$interval]`) are
filled with neutral text before parsing, since they are only known when the query runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..lazy import lazy

MAX_CHARS = 64 << 10
MAX_OPERATORS = 1000
"""The native parser recurses once per operator and would exhaust the stack at about ten thousand."""


class PromqlError(ValueError):
    """Text that is not a PromQL expression; `reason` says why in one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels a result keeps of a series: those in `only` (None: any) that are not in `dropped`."""

    only: frozenset[str] | None = None
    dropped: frozenset[str] = frozenset()

    def keeps(self, name: str) -> bool:
        """Whether that label survives."""
        return name not in self.dropped and (self.only is None or name in self.only)

    def by(self, names: frozenset[str]) -> Labels:
        """What is left of these labels when only `names` are kept."""
        only = names if self.only is None else names & self.only
        return Labels(only - self.dropped, frozenset())

    def drop(self, names: frozenset[str]) -> Labels:
        """What is left of these labels without `names`."""
        if self.only is not None:
            return Labels(self.only - names, self.dropped)
        return Labels(None, self.dropped | names)

    def add(self, name: str) -> Labels:
        """These labels and one more, as `label_replace` makes it."""
        return Labels(None if self.only is None else self.only | {name}, self.dropped - {name})


ALL = Labels()
NONE = Labels(frozenset())


@dataclass(frozen=True, slots=True)
class Matcher:
    """`name op value`, with `op` one of `=`, `!=`, `=~`, `!~`."""

    name: str
    op: str
    value: str

    @property
    def pins(self) -> bool:
        """Whether it selects one value only."""
        return self.op == "=" or (self.op == "=~" and not re.search(r"[|*+?.\[(]", self.value))


@dataclass(slots=True)
class Selector:
    """One series selector. `labels` are those left at the end of the query, `aggregations` the aggregations around it
    from the inside out, as written (`sum by (le)`)."""

    metric: str
    matchers: tuple[Matcher, ...]
    labels: Labels = ALL
    aggregations: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Query:
    """The selectors of an expression and the labels of its result."""

    selectors: tuple[Selector, ...]
    labels: Labels


_HOLE_RANGE = lazy(r"\[\s*(?:\$\{?\w+\}?|\{\{[^{}]*\}\}|\[\[\w+\]\])\s*(?=[\]:])")
_HOLE_TEXT = lazy(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|\{\{[^{}]*\}\}|\[\[\w+\]\]|\$\{\w+(?::\w+)?\}|\$\w+"""
)
_HOLE_IN_STRING = lazy(r"\{\{[^{}]*\}\}|\$\{\w+\}")
_OPERATOR = lazy(r"[()+*/%^<>=!~-]|\b(?:and|or|unless|atan2)\b")
_KEEPS_ALL = frozenset({"topk", "bottomk", "limitk", "limit_ratio"})
_NO_LABELS = frozenset({"scalar", "vector", "time", "absent", "absent_over_time", "pi"})
_OPS = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}


@lru_cache(maxsize=4096)
def read(text: str) -> Query:
    """The selectors and result labels of a PromQL expression. Raises `PromqlError`."""
    selectors: list[Selector] = []
    try:
        labels = _visit(parse(text), selectors)
    except RecursionError as error:
        raise PromqlError("nested too deeply") from error
    return Query(tuple(selectors), labels)


def parse(text: str) -> Any:
    """The library's expression tree. Raises `PromqlError` for malformed or oversized text."""
    import promql_parser

    if len(text) > MAX_CHARS or len(_OPERATOR.findall(text)) > MAX_OPERATORS:
        raise PromqlError("too long to be read")
    reason = ""
    for candidate in dict.fromkeys((text, *_filled(text))):
        try:
            return promql_parser.parse(candidate)
        except ValueError as error:
            reason = reason or str(error).split("\n", 1)[0]
    raise PromqlError(f"not PromQL: {reason}")


def _filled(text: str) -> Iterator[str]:
    """The expression with more and more template holes filled: ranges, then what is outside strings, then all."""
    ranges = _HOLE_RANGE.sub("[5m", text)
    yield ranges
    outside = _HOLE_TEXT.sub(lambda found: found[1] or "1", ranges)
    yield outside
    # A hole in a regular expression is not one that the parser would accept.
    yield _HOLE_IN_STRING.sub("hole", outside)


def _visit(node: Any, out: list[Selector]) -> Labels:
    """Labels of the node's result; selectors below it are appended with the labels they have here."""
    kind = type(node).__name__
    if kind in ("ParenExpr", "UnaryExpr", "SubqueryExpr"):
        return _visit(node.expr, out)
    if kind == "MatrixSelector":
        return _selector(node.vector_selector, out)
    if kind == "VectorSelector":
        return _selector(node, out)
    if kind == "AggregateExpr":
        return _aggregate(node, out)
    if kind == "Call":
        return _call(node, out)
    if kind == "BinaryExpr":
        return _binary(node, out)
    return NONE


def _selector(node: Any, out: list[Selector]) -> Labels:
    groups: list[Any] = [node.matchers.matchers, *node.matchers.or_matchers]
    matchers = tuple(
        Matcher(str(item.name), _OPS[str(item.op).rsplit(".", 1)[-1]], str(item.value))
        for group in groups
        for item in group
    )
    named = next((item.value for item in matchers if item.name == "__name__"), "")
    out.append(Selector(str(node.name or named), matchers))
    return ALL


def _aggregate(node: Any, out: list[Selector]) -> Labels:
    first = len(out)
    inner = _visit(node.expr, out)
    operator = str(node.op)
    if operator in _KEEPS_ALL:
        return inner
    names = frozenset(str(name) for name in node.modifier.labels) if node.modifier else frozenset[str]()
    without = node.modifier is not None and str(node.modifier.type).endswith("Without")
    written = f"{operator} {'without' if without else 'by'} ({', '.join(sorted(names))})" if node.modifier else operator
    for item in out[first:]:
        item.labels = item.labels.drop(names) if without else item.labels.by(names)
        item.aggregations.append(written)
    labels = inner.drop(names) if without else inner.by(names)
    if operator == "count_values" and node.param is not None:
        return labels.add(str(node.param).strip('"'))
    return labels


def _call(node: Any, out: list[Selector]) -> Labels:
    first, name = len(out), str(node.func.name)
    results = [_visit(argument, out) for argument in node.args]
    labels = next((item for item, argument in zip(results, node.args, strict=True) if _is_vector(argument)), NONE)
    if name in _NO_LABELS:
        labels = NONE
        for item in out[first:]:
            item.labels = NONE
    elif name == "histogram_quantile":
        labels = labels.drop(frozenset({"le"}))
    elif name in ("label_replace", "label_join") and len(node.args) > 1:
        made = str(getattr(node.args[1], "val", "")) or str(node.args[1]).strip('"')
        labels = labels.add(made)
        for item in out[first:]:
            item.labels = item.labels.add(made)
    return labels


def _is_vector(node: Any) -> bool:
    return type(node).__name__ not in ("NumberLiteral", "StringLiteral")


def _is_scalar(node: Any) -> bool:
    """Whether a node is a number without labels, which takes no part in vector matching."""
    kind = type(node).__name__
    if kind in ("ParenExpr", "UnaryExpr"):
        return _is_scalar(node.expr)
    if kind == "BinaryExpr":
        return _is_scalar(node.lhs) and _is_scalar(node.rhs)
    return kind == "NumberLiteral" or (kind == "Call" and str(node.func.name) in ("scalar", "time", "pi"))


def _binary(node: Any, out: list[Selector]) -> Labels:
    left = _visit(node.lhs, out)
    right = _visit(node.rhs, out)
    if _is_scalar(node.lhs):
        return right
    if _is_scalar(node.rhs):
        return left
    modifier = node.modifier
    card = str(modifier.card) if modifier else "OneToOne"
    if card.endswith("ManyToMany"):
        return left  # and, or, unless keep whole elements
    added: list[str] = list(modifier.group_labels or []) if modifier else []
    if card.endswith(("ManyToOne", "OneToMany")):
        labels = left if card.endswith("ManyToOne") else right
        for name in added:
            labels = labels.add(name)
        return labels
    # One to one: elements pair up on the labels of the side that has fewer, so the result has no more than that.
    if modifier is None or modifier.matching is None:
        return left if left.only is not None or right.only is None else right
    names = frozenset(str(name) for name in modifier.matching.labels)
    return left.by(names) if str(modifier.matching.type).endswith("Include") else left.drop(names)
