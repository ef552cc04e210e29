"""Which file says where answers end: generation_config.json alone where there is one, and for some the tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from interlock.report.report import Report
from validate.tokenizer import kit

TOKENIZER = kit.byte_level(specials=("<|bos|>", "<|eos|>", "<|eot|>", "<|eom|>"))
ID: dict[str, int] = {each["content"]: each["id"] for each in TOKENIZER["added_tokens"]}
EOS, EOT, EOM = ID["<|eos|>"], ID["<|eot|>"], ID["<|eom|>"]
ALL = [EOS, EOT, EOM]


def model(generation: Any = None, config: Any = None, eos: str = "<|eot|>") -> dict[str, Any]:
    """`generation` and `config` are what the files list: None for no file, [] for a file that lists none."""
    files: dict[str, Any] = {"tokenizer.json": TOKENIZER, "tokenizer_config.json": {"eos_token": eos}}
    files["config.json"] = {"model_type": "llama"} | ({"eos_token_id": config} if config else {})
    if generation is not None:
        files["generation_config.json"] = {"eos_token_id": generation} if generation else {"do_sample": False}
    return files


def levels(report: Report) -> list[tuple[str, str]]:
    return sorted((str(f.level), f.message) for f in report.findings if f.rule == "GEN-EOS")


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        # config.json and the tokenizer still name what generation_config.json lost.
        (model([EOS], ALL), {"breaks", "unproven"}),
        (model([EOS, EOT], ALL), {"breaks"}),
        (model([EOS, EOM], ALL), {"unproven"}),
        (model([], ALL), {"breaks", "unproven"}),
        (model([EOS], [EOS]), {"breaks", "unproven"}),
        (model(None, [EOS, EOT]), {"breaks"}),
        (model([EOS, EOT], [EOS], "<|eos|>"), {"breaks"}),
    ],
)
def test_a_stop_that_left_the_file_that_counts(tmp_path: Path, new: dict[str, Any], expected: set[str]) -> None:
    found = levels(kit.judge(tmp_path, model(ALL, ALL), new))
    assert {level for level, _ in found} == expected, found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (model(ALL, ALL), model(sorted(ALL, reverse=True), ALL)),
        (model(ALL, ALL), model(ALL, [EOM, EOT, EOS, EOS])),
        (model(ALL, None), model(ALL, ALL)),
        (model(ALL, ALL), model(None, ALL)),
        (model(None, ALL), model(ALL, ALL)),
        (model(None, ALL), model(ALL, None)),
        (model([EOT], [EOS]), model([EOT, EOS], [EOS])),
        (model([], ALL), model([], ALL)),
        (model(None, None), model([EOT], None)),
    ],
)
def test_the_same_or_more_stops_from_another_file_are_hot(
    tmp_path: Path, old: dict[str, Any], new: dict[str, Any]
) -> None:
    found = levels(kit.judge(tmp_path, old, new))
    assert {level for level, _ in found} <= {"hot"}, found


def test_a_stop_that_generation_config_overruled_is_no_loss_for_most(tmp_path: Path) -> None:
    found = levels(kit.judge(tmp_path, model([EOT], ALL), model([EOT], [EOT])))
    assert [level for level, _ in found] == ["unproven"]
    assert "generation_config.json did not list it" in found[0][1]


def test_the_message_says_who_still_stops(tmp_path: Path) -> None:
    report = kit.judge(tmp_path, model(ALL, ALL), model([EOS], ALL))
    found = dict(levels(report))
    assert "only servers that add the tokenizer's eos stop there" in found["unproven"]
    assert "only servers that read config.json beside generation_config.json" in found["breaks"]


WITHOUT = {"tokenizer.json"}


def lone(config: Any, generation: Any = None) -> dict[str, Any]:
    """A model whose folder has no tokenizer file: config.json alone gives the token's text a number."""
    return {name: file for name, file in model(generation, config).items() if name not in WITHOUT}


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        # generation_config.json lists both all the while.
        (lone(EOT, [EOS, EOT]), lone([EOS, EOT], [EOS, EOT]), "hot"),
        (lone([EOS, EOT], [EOS, EOT]), lone(EOT, [EOS, EOT]), "hot"),
        # One more, of which nothing says whether it is text: GEN-EOS judges it.
        (lone(EOT), lone([EOS, EOT]), "unproven"),
        (lone([EOS, EOT]), lone(EOT), "breaks"),
        (lone(EOT), lone(EOS), "breaks"),
        (lone(EOT, [EOT]), lone([EOS, EOT], [EOS, EOT]), "unproven"),
    ],
)
def test_stops_of_a_folder_without_a_tokenizer(
    tmp_path: Path, old: dict[str, Any], new: dict[str, Any], verdict: str
) -> None:
    report = kit.judge(tmp_path, old, new)
    assert kit.verdict(report) == verdict, [(f.rule, f.message) for f in report.findings]


def test_a_stop_more_is_no_other_eos_token(tmp_path: Path) -> None:
    found = kit.levels(kit.judge(tmp_path / "more", lone(EOT), lone([EOS, EOT])))
    assert (found.get("TOK-EOS"), found["GEN-EOS"]) == (None, "unproven")
    assert kit.levels(kit.judge(tmp_path / "other", lone(EOT), lone(EOS)))["TOK-EOS"] == "breaks"
