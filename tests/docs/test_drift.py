"""Documentation that comes from code is what the code says now, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import jsonschema
import pytest
from interlock.cli.rulebook import all_rules


@pytest.fixture(scope="module")
def generate(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", root / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wanted(generate: ModuleType) -> dict[Path, str]:
    return generate.files()


def test_generated_files_are_current(generate: ModuleType, wanted: dict[Path, str], root: Path) -> None:
    old = [p for p, text in wanted.items() if not p.is_file() or p.read_text(encoding="utf-8") != text]
    names = [str(path.relative_to(root)) for path in (*old, *generate.stale(wanted))]
    assert names == [], "run: .venv/bin/python docs/generate.py"


def test_every_rule_has_a_whole_page(generate: ModuleType) -> None:
    for rule in all_rules():
        text = generate.page(rule)
        for heading in ("## What it looks for", "## Why it bites", "## What to do"):
            assert heading in text, f"{rule.id} lacks '{heading}'"
        assert "\n\n\n" not in re.sub(r"```.*?```", "code", text, flags=re.DOTALL), rule.id


def test_rule_names_and_ids_are_unique() -> None:
    rules = all_rules()
    assert len({rule.id for rule in rules}) == len(rules)
    for rule in rules:
        assert re.fullmatch(r"[A-Z]+(-[A-Z]+)*\d{0,3}", rule.id) and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)


def test_links_lead_somewhere(wanted: dict[Path, str], root: Path) -> None:
    for path, text in wanted.items():
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            there = (path.parent / target).resolve()
            assert there in wanted or there.exists(), f"{path.relative_to(root)} -> {target}"


def test_schema_is_a_json_schema(root: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads((root / "docs" / "interlock.schema.json").read_text()))
