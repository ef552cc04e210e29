"""Every leaf of a tokenizer.json changed, one at a time: what is called hot loads and encodes alike in the library."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from interlock.report import exits
from tokenizers import Tokenizer as Real
from validate.tokenizer import kit

Path_ = tuple[str | int, ...]
TEXTS = (
    *(
        "",
        "a",
        "ab",
        "wanted runs unaffable",
        "aa bc",
        "ABC d",
        "  x ",
        "\u00e9",
        "<|bos|>",
        "[CLS] a",
        "abc abc",
        "\u4e2d",
    ),
    *("".join(random.Random(seed).choices("abcd x\u2581", k=9)) for seed in range(20)),
)


def full() -> kit.Json:
    document = kit.byte_level([("a", "b"), ("c", "d")])
    document["truncation"] = {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0}
    document["padding"] = {
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "<|pad|>",
    }
    document["post_processor"] = kit.template(cls=(258, "<|bos|>"))
    document["normalizer"] = {"type": "NFC"}
    return document


def places(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, str]]:
    """Where a document can be changed, and how."""
    if isinstance(value, dict):
        yield path, "add"
        for key, inner in value.items():
            if path[:2] == ("model", "vocab") and key not in ("a", "ab", "##ed", "run"):
                continue
            yield (*path, key), "remove"
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        yield path, "append"
        if value:
            yield path, "pop"
        for index, inner in enumerate(value[:4]):
            yield from places(inner, (*path, index))
    else:
        yield path, "change"


def mutant(document: kit.Json, path: Path_, how: str) -> kit.Json:
    result = copy.deepcopy(document)
    place: Any = result
    inside = path if how in ("add", "append", "pop") else path[:-1]
    for key in inside:
        place = place[key]
    if how == "add":
        place["zz"] = 1
    elif how == "append":
        place.append(copy.deepcopy(place[-1]) if place else 7)
    elif how == "pop":
        place.pop()
    elif how == "remove":
        del place[path[-1]]
    else:
        place[path[-1]] = other(place[path[-1]])
    return result


def other(value: Any) -> Any:
    """A value of the same type, and another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else "zq"


def encoded(real: Any, text: str) -> Any:
    """Everything a client sees of a text, alone and in a pair; the library's failure counts as a result."""
    try:
        found = [real.encode(text), real.encode(text, "ab")]
        return [(e.ids, e.type_ids, e.attention_mask, real.decode(e.ids, skip_special_tokens=False)) for e in found]
    except BaseException as error:  # noqa: BLE001 - the library panics, which is no Exception
        return type(error).__name__


@pytest.mark.parametrize("document", [full(), kit.wordpiece(), kit.unigram()], ids=["bpe", "wordpiece", "unigram"])
def test_hot_means_hot(tmp_path: Path, document: kit.Json) -> None:
    real = Real.from_str(json.dumps(document))
    before = [encoded(real, text) for text in TEXTS]
    hot = 0
    for number, (path, how) in enumerate(places(document)):
        changed = mutant(document, path, how)
        report = kit.judge(tmp_path / str(number), {"tokenizer.json": document}, {"tokenizer.json": changed})
        if report.exit_code == exits.BAD_INPUT or kit.verdict(report) not in ("equal", "hot"):
            continue
        hot += 1
        after = Real.from_str(json.dumps(changed))
        assert [encoded(after, text) for text in TEXTS] == before, (how, path)
    assert hot > 5
