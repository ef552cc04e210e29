"""Feeds made from a contract run on the model, and what does not fit the contract is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.bench import arguments, inputs
from interlock.bench.inputs import Tensor, make, recurrent
from interlock.bench.providers import open_session
from interlock.report.errors import BadInput


def test_silero_gets_state_of_its_own_and_a_size_that_runs(silero: Callable[[str], Path]) -> None:
    path = str(silero("6.0.0"))
    plan = make(open_session(path).raw, path, domains={"sr": [8000, 16000]})
    assert plan.state == {"state": 1}
    assert plan.shapes["state"] == (2, 1, 128)
    assert plan.values["sr"] == "one of 8000, 16000"
    assert plan.guessed == ["input"]
    assert {int(feed["sr"]) for feed in plan.feeds} == {8000, 16000}
    assert str(plan.feeds[0]["input"].dtype) == "float32"


def test_given_shapes_win_and_nothing_is_guessed(silero: Callable[[str], Path]) -> None:
    path = str(silero("6.0.0"))
    plan = make(open_session(path).raw, path, domains={"sr": [16000]}, shapes={"input": [1, 512]})
    assert plan.shapes["input"] == (1, 512)
    assert plan.guessed == []


def test_same_seed_same_values(chain: Callable[[int], Path]) -> None:
    path = str(chain(1))
    raw = open_session(path).raw
    first, second, other = (make(raw, path, seed=seed).feeds[0]["x"] for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != other).any()


@pytest.mark.parametrize(
    ("given_", "reason"),
    [
        ({"shapes": {"inptu": [1, 512]}}, "has no such input"),
        ({"domains": {"rate": [16000]}}, "has no such input"),
        ({"shapes": {"input": [512]}}, "declares 2 dimensions"),
        ({"shapes": {"state": [3, 1, 128]}}, "declares [2, ?, 128]"),
        ({"shapes": {"input": [1, -5]}}, "declares [?, ?]"),
        ({"shapes": {"input": [1, 1]}, "domains": {"sr": [16000]}}, "none of the inputs"),
    ],
)
def test_what_does_not_fit_is_refused(silero: Callable[[str], Path], given_: dict, reason: str) -> None:
    path = str(silero("6.0.0"))
    with pytest.raises(BadInput, match=reason.replace("[", r"\[").replace("?", r"\?")) as caught:
        make(open_session(path).raw, path, **given_)
    assert caught.value.hint or "declares" in caught.value.reason


def tensor(name: str, kind: str = "tensor(float)", *shape: int | str | None) -> Tensor:
    return Tensor(name, kind, shape)


def test_recurrent_pairs_by_name_type_and_rank() -> None:
    h, c, x = tensor("h", "tensor(float)", 2, "b", 64), tensor("c", "tensor(float)", 2, "b", 64), tensor("x")
    hn, cn, y = tensor("hn", "tensor(float)", 2, "b", 64), tensor("cn", "tensor(float)", 2, "b", 64), tensor("output")
    assert recurrent([x, h, c], [y, hn, cn]) == {"h": 1, "c": 2}
    past, present = tensor("past_key.0", "tensor(float)", 1, 2), tensor("present_key.0", "tensor(float)", 1, 2)
    assert recurrent([past], [present]) == {"past_key.0": 0}
    # The data itself is not a state, neither is another type or rank.
    assert recurrent([tensor("input")], [tensor("output")]) == {}
    assert recurrent([tensor("state", "tensor(int64)", 1)], [tensor("stateN", "tensor(float)", 1)]) == {}
    assert recurrent([tensor("state", "tensor(float)", 1)], [tensor("stateN", "tensor(float)", 1, 2)]) == {}


def test_token_models_get_ids_masks_and_positions() -> None:
    names = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    tensors = [tensor(name, "tensor(int64)", "batch", "sequence") for name in names]
    plan = inputs._plan(tensors, {}, {}, {}, 16)
    feed = inputs._feeds(tensors, plan, {}, 0, 1)[0]
    assert {name: plan.shapes[name] for name in names} == dict.fromkeys(names, (1, 16))
    assert feed["attention_mask"].all()
    assert not feed["token_type_ids"].any()
    assert list(feed["position_ids"][0]) == list(range(16))
    assert 0 <= feed["input_ids"].min() <= feed["input_ids"].max() < 100


def test_a_symbol_has_one_size_everywhere() -> None:
    tensors = [tensor("a", "tensor(float)", "n", "length"), tensor("b", "tensor(float)", "n", 8, "length")]
    plan = inputs._plan(tensors, {}, {"a": [3, 40]}, {}, 512)
    assert plan.shapes == {"a": (3, 40), "b": (3, 8, 40)}


@given(st.text(max_size=30))
def test_options_are_read_or_refused(text: str) -> None:
    try:
        found = arguments.lists("--shape", [text], int)
    except BadInput:
        return
    ((name, values),) = found.items()
    assert name
    assert text.startswith(name + "=")
    assert values == [int(part) for part in text[len(name) + 1 :].split(",")]


@pytest.mark.parametrize("item", ["x", "x=", "=1", "x=1,,2", "x=a", "x=inf", "x=nan"])
def test_options_that_are_refused(item: str) -> None:
    with pytest.raises(BadInput):
        arguments.lists("--domain", [item], float)
    with pytest.raises(BadInput, match="given twice"):
        arguments.named("--shape", ["x=1", "x=2"])
