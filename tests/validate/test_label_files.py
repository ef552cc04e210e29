"""Lists that outputs are read by: labels under all their names, and dictionaries of characters beside a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from validate.build import folder, onnx_model

GRAPH = onnx_model({"x": ("float", [1])}, {"y": ("float", [2])})
MAP = "item {\n  id: 1\n  name: 'n01'\n  display_name: 'cat'\n}\nitem {\n  id: 2\n  name: 'n02'\n}\n"
TAGS = "tag_id,name,category,count\n1,cat,0,50\n2,dog,0,40\n"
TOKENS = "<blk> 0\na 1\nb 2\n"
HEAD = 'name: "m" backend: "onnxruntime" input [{name: "x" data_type: TYPE_FP32 dims: [1]}] '
TRITON = HEAD + 'output [{name: "y" data_type: TYPE_FP32 dims: [2] label_filename: "birds.lst"}]'


def judged(path: Path, name: str, old: str | bytes | None, new: str | bytes | None) -> Any:
    made: list[Path] = []
    for side, text in (("old", old), ("new", new)):
        made.append(folder(path / side, {"model.onnx": GRAPH, **({} if text is None else {name: text})}))
    return validate(made[1], made[0], contract=Contract())


def rules(report: Any) -> dict[str, str]:
    return {each.rule: each.level for each in report.findings if each.level != "hot"}


NAMES = [
    *("ppocrv5_dict.txt", "ppocr_keys_v1.txt", "dict.txt", "keys.txt", "en_dict.txt", "tokens.txt", "alphabet.txt"),
    *("class_labels.txt", "categories.txt", "synset.txt", "coco.names", "labelmap.txt", "label_list.txt"),
    *("class_names.txt", "names.txt", "densenet_labels.txt", "assets/classes.txt"),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("new", ["b\na\nc\n", "a\nb\n", "a\nb\nc\nd\n", "a\nB\nc\n"])
def test_lists_of_another_order_or_length_break(tmp_path: Path, name: str, new: str) -> None:
    assert rules(judged(tmp_path, name, "a\nb\nc\n", new)) == {"FIL-LABEL": "breaks"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("new", ["a\r\nb\r\nc\r\n", "a\nb\nc"])
def test_line_ends_are_no_change(tmp_path: Path, name: str, new: str) -> None:
    assert judged(tmp_path, name, "a\nb\nc\n", new).facts["verdict"] == "hot"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("class_labels.json", '["a", "b"]', '["b", "a"]'),
        ("class_names.json", '{"0": "a", "1": "b"}', '{"0": "a", "1": "c"}'),
        ("label_map.pbtxt", MAP, MAP.replace("id: 2", "id: 3")),
        ("label_map.pbtxt", MAP, MAP.replace("cat", "dog")),
        ("labelmap.pbtxt", MAP, MAP + "item { id: 3 name: 'n03' }"),
        ("selected_tags.csv", TAGS, TAGS.replace("cat", "cow")),
        ("tags.csv", TAGS, "tag_id,name,category,count\n2,dog,0,40\n1,cat,0,50\n"),
        ("tokens.txt", TOKENS, TOKENS.replace("a 1\nb 2", "a 2\nb 1")),
        ("ppocr_keys_v1.txt", "a\nb\n", "a\nb\n\n"),  # another entry, after which a blank follows
        ("ppocr_keys_v1.txt", "a\n\u2028\nb\n", "a\n\n\nb\n"),
        ("en_dict.txt", "a\n b\n", "a\nb\n"),
    ],
)
def test_forms_of_lists(tmp_path: Path, name: str, old: str, new: str) -> None:
    assert rules(judged(tmp_path, name, old, new)) == {"FIL-LABEL": "breaks"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("class_labels.json", '["a", "b"]', '[\n  "a",\n  "b"\n]\n'),
        ("class_names.json", '{"0": "a", "1": "b"}', '["a", "b"]'),
        ("label_map.pbtxt", MAP, "item { name: \"n02\", id: 2 } item { display_name: 'cat' name: 'n01' id: 1 }"),
        ("selected_tags.csv", TAGS, TAGS.replace("50", "51")),
        ("tokens.txt", TOKENS, "b 2\n<blk> 0\na 1\n"),
        ("coco.names", "a\nb\n", "a\nb\n\n"),
    ],
)
def test_the_same_list_in_another_form(tmp_path: Path, name: str, old: str, new: str) -> None:
    assert judged(tmp_path, name, old, new).facts["verdict"] == "hot"


@pytest.mark.parametrize("name", ["ppocr_keys_v1.txt", "coco.names", "labels.txt"])
def test_what_cannot_be_compared_is_not_hot(tmp_path: Path, name: str) -> None:
    marked = judged(tmp_path / "1", name, "a\nb\n", "\ufeffa\nb\n")
    assert rules(marked) == {"FIL-LABEL": "unproven"}
    if name != "labels.txt":
        other = judged(tmp_path / "2", name, "啊\n".encode("gbk"), "阿\n".encode("gbk"))
        assert rules(other) == {"FIL-LABEL": "unproven"}
    assert rules(judged(tmp_path / "3", name, "a\n", None)) == {"FIL-LABEL": "breaks"}
    assert judged(tmp_path / "4", name, None, "a\n").facts["verdict"] == "hot"


@pytest.mark.parametrize("name", ["vocab.txt.old", "lexicon.txt", "dictionary.dat"])
def test_other_lists_stay_unproven(tmp_path: Path, name: str) -> None:
    assert rules(judged(tmp_path, name, "a\nb\n", "b\na\n")) == {"FIL-OPAQUE": "unproven"}


def test_a_dictionary_without_a_graph_is_not_known(tmp_path: Path) -> None:
    sides = [folder(tmp_path / text, {"config.json": {"model_type": "x"}, "dict.txt": text}) for text in ("ab", "ba")]
    assert rules(validate(sides[1], sides[0], contract=Contract())) == {"FIL-OPAQUE": "unproven"}


@pytest.mark.parametrize(("new", "verdict"), [("b\na\n", "breaks"), ("a\nb", "hot"), ("a\r\nb\r\n", "unproven")])
def test_labels_that_a_triton_configuration_names(tmp_path: Path, new: str, verdict: str) -> None:
    sides = [
        folder(tmp_path / side, {"m/config.pbtxt": TRITON, "m/1/model.onnx": GRAPH, "m/birds.lst": text})
        for side, text in (("old", "a\nb\n"), ("new", new))
    ]
    assert validate(sides[1], sides[0], contract=Contract()).facts["verdict"] == verdict
