"""Precision and recall of lint, per family, on a labelled corpus: `python tests/lint/score.py [CORPUS]`.

A corpus is a folder with `files/OWNER+REPO/path` and `labels.tsv` (repo, commit, path, family, line, verdict, reason).
A `true` label is found by a finding of its rule (the reason begins with `[HUnnn]`) or family within three lines. A
`false-positive` label is hit by an error or warning of its family on exactly its line, unless that rule is labelled
true there. `arguable` labels do not count. Labels of files that the corpus does not hold are listed and left out.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from interlock.checks.lint.run import lint
from interlock.config.load import Config
from interlock.config.settings import Settings
from interlock.report.finding import Finding, Severity

NEAR = 3


@dataclass
class Label:
    path: str
    family: str
    line: int
    verdict: str
    reason: str

    @property
    def rule(self) -> str:
        found = re.match(r"\[(HU\d+)\]", self.reason)
        return found.group(1) if found else self.family


@dataclass
class Score:
    """Labels by what became of them."""

    found: list[Label] = field(default_factory=list)
    missed: list[Label] = field(default_factory=list)
    avoided: list[Label] = field(default_factory=list)
    hit: list[tuple[Label, Finding]] = field(default_factory=list)
    absent: list[Label] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return len(self.found) / (len(self.found) + len(self.missed) or 1)


def labels(corpus: Path) -> list[Label]:
    with (corpus / "labels.tsv").open(newline="") as stream:
        return [
            Label(
                f"{row['repo'].replace('/', '+')}/{row['path']}",
                row["family"],
                int(row["line"] or 0),
                row["verdict"],
                row["reason"],
            )
            for row in csv.DictReader(stream, delimiter="\t")
        ]


def findings(corpus: Path) -> dict[str, list[Finding]]:
    """Every finding of the corpus by path, with the pedantic rules."""
    files = corpus / "files"
    report = lint([str(files)], pedantic=True, settings=Config(Settings(), files))
    found: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        if finding.where is not None:
            found[str(Path(finding.where.path).relative_to(files))].append(finding)
    return found


def score(corpus: Path) -> Score:
    result, rows, found = Score(), labels(corpus), findings(corpus)
    true_at = {(row.path, row.line, row.rule) for row in rows if row.verdict == "true"}
    for row in rows:
        here = found.get(row.path, [])
        if row.verdict != "arguable" and not (corpus / "files" / row.path).is_file():
            result.absent.append(row)
        elif row.verdict == "true":
            close = [f for f in here if f.rule.startswith(row.rule) and _near(f, row.line)]
            (result.found if close else result.missed).append(row)
        elif row.verdict == "false-positive":
            hits = [f for f in here if f.rule.startswith(row.family) and _judges(f, row.line)]
            hits = [f for f in hits if (row.path, row.line, f.rule) not in true_at]
            if hits:
                result.hit.append((row, hits[0]))
            else:
                result.avoided.append(row)
    return result


def _near(finding: Finding, line: int) -> bool:
    where = finding.where
    return where is not None and where.line is not None and abs(where.line - line) <= NEAR


def _judges(finding: Finding, line: int) -> bool:
    return finding.severity is not Severity.INFO and finding.where is not None and finding.where.line == line


def main() -> int:
    default = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "lint"
    result = score(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    print(f"{'family':8}{'true':>6}{'found':>7}{'recall':>8}{'traps':>7}{'hit':>5}")
    families = sorted({row.family for row in [*result.found, *result.missed, *result.avoided]})
    for family in [*families, ""]:
        true, kept = ([r for r in rows if r.family.startswith(family)] for rows in (result.found, result.missed))
        hit = [row for row, _ in result.hit if row.family.startswith(family)]
        traps = [row for row in result.avoided if row.family.startswith(family)]
        total = len(true) + len(kept)
        share = f"{len(true) / total:8.0%}" if total else f"{'-':>8}"
        print(f"{family or 'all':8}{total:6}{len(true):7}{share}{len(hit) + len(traps):7}{len(hit):5}")
    for row in result.missed:
        print(f"missed {row.path}:{row.line} {row.reason}")
    for row, finding in result.hit:
        print(f"trap hit {row.path}:{row.line} by {finding.rule} {finding.message}: {row.reason}")
    for row in result.absent:
        print(f"not in the corpus: {row.path}:{row.line} {row.verdict} {row.reason[:60]}")
    return 0 if not result.hit and result.recall >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
