"""PromQL: what is left of the labels, template holes, and bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.checks.lint.sources import promql
from interlock.checks.lint.sources.promql import PromqlError, read


@pytest.mark.parametrize(
    ("query", "kept", "lost"),
    [
        ("rate(a[5m]) / rate(b[5m])", ["pod", "version"], []),
        ("sum(rate(a[5m]))", [], ["pod", "version"]),
        ("sum by (version) (a)", ["version"], ["pod"]),
        ("sum(a) by (version)", ["version"], ["pod"]),
        ("sum without (pod) (a)", ["version"], ["pod"]),
        ("avg without (pod) (sum without (version) (a))", ["model"], ["pod", "version"]),
        ("max by (version, pod) (sum by (pod) (a))", ["pod"], ["version"]),
        ("topk(3, a)", ["version"], []),
        ("histogram_quantile(0.9, sum by (le, version) (rate(a[5m])))", ["version"], ["le", "pod"]),
        ("histogram_quantile(0.9, rate(a[5m]))", ["version"], ["le"]),
        ('label_replace(sum by (pod) (a), "version", "$1", "pod", "(.*)")', ["version", "pod"], ["model"]),
        ("a / ignoring(x) group_left(y) sum(b)", ["version", "y"], []),
        ("a / on(model) b", ["model"], ["version"]),
        ("a / ignoring(version) b", ["model"], ["version"]),
        ("sum(a) / on() group_right b", ["version"], []),
        ("sum(a) > 5", [], ["version"]),
        ("a > bool 5", ["version"], []),
        ("sum(a) or vector(0)", [], ["version"]),
        ("a unless on(x) b", ["version"], []),
        ("scalar(sum(a)) * b", ["version"], []),
        ("absent(a)", [], ["version"]),
        ('count_values("version", a)', ["version"], ["pod"]),
        ("max_over_time(sum(a)[5m:1m])", [], ["version"]),
        ("-(sum by (version) (a))", ["version"], ["pod"]),
        ("time()", [], ["version"]),
    ],
)
def test_labels_left(query: str, kept: list[str], lost: list[str]) -> None:
    labels = read(query).labels
    assert [name for name in kept if not labels.keeps(name)] == []
    assert [name for name in lost if labels.keeps(name)] == []


def test_selectors() -> None:
    query = read('sum by (le) (rate(vllm:x_bucket{model="a",pod!~"b.*"}[5m])) / max({__name__="y"})')
    first, second = query.selectors
    assert (first.metric, first.aggregations) == ("vllm:x_bucket", ["sum by (le)"])
    assert [(m.name, m.op, m.value, m.pins) for m in first.matchers] == [
        ("model", "=", "a", True), ("pod", "!~", "b.*", False),
    ]  # fmt: skip
    assert second.metric == "y"
    assert second.aggregations == ["max"]


@pytest.mark.parametrize(
    "query",
    [
        'sum(rate(a{service="{{args.service}}"}[{{ args.window }}])) > {{args.limit}}',
        "rate(a[$__rate_interval])",
        "rate(a[${interval}:])",
        'sum(rate(a{namespace="{{ namespace }}",pod=~"{{ target }}-.*"}[{{ interval }}]))',
        "a > $threshold",
    ],
)
def test_template_holes(query: str) -> None:
    assert read(query).selectors[0].metric == "a"


def test_holes_inside_strings_stay() -> None:
    assert read('a{x="{{y}}"} > {{z}}').selectors[0].matchers[0].value == "{{y}}"


@pytest.mark.parametrize("query", ["", "sum(", "a b c", "foo{", "fields @timestamp | limit 5"])
def test_what_is_no_promql_is_refused(query: str) -> None:
    with pytest.raises(PromqlError):
        read(query)


@pytest.mark.parametrize(
    "query", ["(" * 60_000, "sum(" * 5_000, "+".join("a" * 30_000), "-" * 50_000 + "a", "a" * 70_000]
)
def test_hostile_size_is_refused(query: str) -> None:
    with pytest.raises(PromqlError, match="too long"):
        read(query)


def test_large_queries_are_read_and_larger_ones_refused() -> None:
    assert len(read("+".join("a" * 200)).selectors) == 200
    for query in ("(" * 900 + "a" + ")" * 90, "+".join("a" * promql.MAX_OPERATORS)):
        with pytest.raises(PromqlError):
            read(query)


_pieces = st.sampled_from(
    ["sum", "by", "without", "(", ")", "{", "}", "[5m]", "a", "le", ",", "=", "=~", '"x"', "/", "on", "group_left",
     " ", "1", "{{x}}", "$y", "and", "offset"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=80), st.lists(_pieces, max_size=30).map(" ".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        query = read(text)
    except PromqlError as error:
        assert error.reason
    else:
        assert all(isinstance(selector.metric, str) for selector in query.selectors)
