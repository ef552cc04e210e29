"""Every rule: documentation, table entry, and fixtures that fire where they must and nowhere else."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from interlock.checks.lint import fixer
from interlock.checks.lint.registry import FOLDERS, Entry, entries
from interlock.checks.lint.rulebase import FAMILIES, KINDS
from interlock.checks.lint.run import lint
from interlock.report.finding import Finding

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "corpus" / "lint"
LINT = ROOT.parent / "checks" / "lint"
RULES = entries()


def _inputs(rule: str, kind: str) -> list[Path]:
    folder = CORPUS / rule / kind
    return sorted(p for p in folder.iterdir() if not p.name.startswith(".")) if folder.is_dir() else []


def _findings(path: Path, rule: str) -> list[Finding]:
    report = lint([str(path)], pedantic=True, settings=_policies(rule))
    return [finding for finding in report.findings if finding.rule == rule]


def _policies(rule: str):
    from interlock.config.load import Config
    from interlock.config.settings import Lint, Settings

    require = {"HU705": ["canary"], "HU601": ["verify"]}.get(rule, [])
    return Config(Settings(lint=Lint(require=require)), Path.cwd())


def _cases(kind: str) -> list[tuple[str, Path]]:
    return [(rule, path) for rule in RULES for path in _inputs(rule, kind)]


def _name(value: object) -> str:
    return value.name if isinstance(value, Path) else str(value)


@pytest.mark.parametrize("entry", RULES.values(), ids=list(RULES))
def test_rule_documents_itself(entry: Entry) -> None:
    rule = entry.load()
    assert rule.id == entry.id
    assert rule.reads == entry.reads
    assert set(rule.reads) <= set(KINDS)
    assert rule.family == rule.id[:3]
    assert rule.family in FAMILIES
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    for text in (rule.summary, rule.what, rule.why, rule.hint, rule.bad, rule.good):
        assert text.strip()
    assert not rule.summary.endswith(".")
    assert not rule.hint.endswith(".")
    assert rule.fix in ("", "safe", "unsafe")


def test_rule_names_are_unique() -> None:
    names = [entry.load().name for entry in RULES.values()]
    assert len(names) == len(set(names))


def test_every_rule_file_is_in_its_table() -> None:
    files = {path.stem for folder in FOLDERS.values() for path in (LINT / folder).glob("hu[0-9][0-9][0-9]_*.py")}
    assert files == {entry.module.rsplit(".", 1)[-1] for entry in RULES.values()}


@pytest.mark.parametrize("entry", RULES.values(), ids=list(RULES))
def test_rule_has_fixtures(entry: Entry) -> None:
    assert _inputs(entry.id, "bad"), f"tests/corpus/lint/{entry.id}/bad is empty"
    assert _inputs(entry.id, "good"), f"tests/corpus/lint/{entry.id}/good is empty"
    if entry.load().fix:
        assert _inputs(entry.id, "fixed"), f"tests/corpus/lint/{entry.id}/fixed is empty"


@pytest.mark.parametrize(("rule", "path"), _cases("bad"), ids=_name)
def test_bad_input_is_found(rule: str, path: Path) -> None:
    found = _findings(path, rule)
    assert found, f"{rule} says nothing about {path.name}"
    for finding in found:
        assert finding.where is not None
        assert finding.where.line is not None
        assert finding.message
        assert not finding.message.endswith(".")


@pytest.mark.parametrize(("rule", "path"), _cases("good"), ids=_name)
def test_good_input_is_clean(rule: str, path: Path) -> None:
    assert _findings(path, rule) == []


@pytest.mark.parametrize(("rule", "path"), _cases("fixed"), ids=_name)
def test_fix_gives_the_fixed_input(rule: str, path: Path, tmp_path: Path) -> None:
    bad = CORPUS / rule / "bad" / path.name
    copy = tmp_path / path.name
    if bad.is_dir():
        shutil.copytree(bad, copy)
    else:
        shutil.copy(bad, copy)
    drafts = fixer.Drafts()
    drafts.fix(_findings(copy, rule), unsafe=True)
    drafts.write()
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for file in files:
        assert (tmp_path / file.relative_to(path.parent)).read_text() == file.read_text()
    assert _findings(path, rule) == []
