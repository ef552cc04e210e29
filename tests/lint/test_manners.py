"""Selection, severities, suppressions, baseline, revisions, fixes and diffs: what people rely on in CI."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from textwrap import dedent

import pytest
from interlock.checks.lint import suppress
from interlock.checks.lint.run import lint
from interlock.config.load import Config
from interlock.config.settings import Lint, Settings
from interlock.report.errors import BadInput
from interlock.report.finding import Severity
from interlock.report.report import Report

BAD = dedent(
    """\
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: ranker
    spec:
      selector:
        matchLabels: {app: ranker}
      template:
        metadata:
          labels: {app: ranker}
        spec:
          containers:
            - name: server
              image: nvcr.io/nvidia/tritonserver:25.01-py3
              readinessProbe:
                httpGet:
                  path: /v2/health/live  # quick
                  port: 8000
    """
)
FIXTURES = Path(__file__).resolve().parent.parent / "corpus" / "lint"
PROBE = "path: /v2/health/live  # quick"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one manifest that HU102 speaks about, and the working directory in it."""
    (tmp_path / "deploy.yaml").write_text(BAD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rules(report: Report, *, suppressed: bool = False) -> list[str]:
    return [f.rule for f in report.findings if (f.suppressed is not None) is suppressed]


def config(tree: Path, **settings: object) -> Config:
    return Config(Settings(lint=Lint(**settings)), tree)  # type: ignore[arg-type]


def test_finds_and_fails(tree: Path) -> None:
    report = lint(["deploy.yaml"])
    assert rules(report) == ["HU102"]
    assert report.exit_code == 1
    (finding,) = report.findings
    assert finding.where is not None
    assert (finding.where.line, finding.where.column) == (17, 21)
    assert finding.where.object == "Deployment/ranker"
    assert finding.where.pointer == "/spec/template/spec/containers/0/readinessProbe/httpGet/path"


def test_default_paths_and_settings_paths(tree: Path) -> None:
    assert rules(lint()) == ["HU102"]
    (tree / "other").mkdir()
    assert lint(settings=config(tree, paths=["other"])).exit_code == 3


def test_nothing_recognised_is_not_a_pass(tree: Path) -> None:
    (tree / "deploy.yaml").write_text("just: data\n")
    report = lint(["deploy.yaml"])
    assert report.exit_code == 3
    assert "nothing to check" in report.headline


def test_missing_path_is_an_error(tree: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        lint(["absent.yaml"])


@pytest.mark.parametrize("select", ["HU102", "hu1", "HU", "HU7,HU1"])
def test_select(tree: Path, select: str) -> None:
    assert rules(lint(["."], select=[select])) == ["HU102"]


@pytest.mark.parametrize("ignore", ["HU102", "HU1", "HU"])
def test_ignore(tree: Path, ignore: str) -> None:
    assert rules(lint(["."], ignore=[ignore])) == []


def test_unknown_rule_is_named_with_the_closest(tree: Path) -> None:
    with pytest.raises(BadInput) as caught:
        lint(["."], select=["HU1O2"])
    assert "HU102" in caught.value.hint


def test_severity_per_rule_and_family(tree: Path) -> None:
    report = lint(["."], settings=config(tree, severity={"HU1": "warning", "HU102": "info"}))
    assert [f.severity for f in report.findings] == [Severity.INFO]
    assert report.exit_code == 0
    assert lint(["."], fail_on=None).exit_code == 0
    assert lint(["."], settings=config(tree, severity={"HU102": "warning"}), fail_on=Severity.ERROR).exit_code == 0


def test_per_path_and_exclude(tree: Path) -> None:
    assert rules(lint(["."], settings=config(tree, per_path={"*.yaml": ["HU1"]}))) == []
    assert rules(lint(["."], settings=config(tree, per_path={"prod/*": ["HU1"]}))) == ["HU102"]
    assert lint(["."], settings=config(tree, exclude=["deploy.yaml"])).exit_code == 3


def test_pedantic_rules_run_when_asked_for_or_named(tree: Path) -> None:
    text = BAD.replace(
        "          readinessProbe", "          resources: {limits: {nvidia.com/gpu: 1}}\n          readinessProbe"
    )
    (tree / "deploy.yaml").write_text(text)
    assert "HU703" not in rules(lint(["."]))
    assert "HU703" in rules(lint(["."], pedantic=True))
    assert rules(lint(["."], select=["HU703"])) == ["HU703"]


@pytest.mark.parametrize("name", ["process-level-readiness", "Process-Level-Readiness", "hu102"])
def test_rules_are_known_by_name(tree: Path, name: str) -> None:
    assert rules(lint(["."], select=[name])) == ["HU102"]
    assert rules(lint(["."], ignore=[name])) == []
    assert rules(lint(["."], settings=config(tree, select=[name]))) == ["HU102"]
    assert rules(lint(["."], settings=config(tree, per_path={"*.yaml": [name]}))) == []
    assert lint(["."], settings=config(tree, severity={name: "info"})).findings[0].severity is Severity.INFO


def test_pedantic_rule_runs_when_it_is_named(tree: Path) -> None:
    limits = "          resources: {limits: {nvidia.com/gpu: 1}}\n          readinessProbe"
    (tree / "deploy.yaml").write_text(BAD.replace("          readinessProbe", limits))
    (name,) = {f.name for f in lint(["."], select=["HU703"]).findings}
    assert rules(lint(["."], select=[name])) == ["HU703"]


def test_unknown_rule_suggests_a_name(tree: Path) -> None:
    with pytest.raises(BadInput, match="no rule or family process-level-readines") as caught:
        lint(["."], ignore=["process-level-readines"])
    assert caught.value.hint == "did you mean process-level-readiness?"
    with pytest.raises(BadInput, match="no rule or family HU1O2"):
        lint(["."], settings=config(tree, per_path={"*.yaml": ["HU1O2"]}))


# suppressions


@pytest.mark.parametrize(
    "comment",
    [
        "path: /v2/health/live  # interlock: ignore[HU102] the sidecar vouches",
        "path: /v2/health/live  # quick  # interlock: ignore[HU1] until=2999-01-01 the sidecar vouches",
        "path: /v2/health/live  # interlock: ignore[process-level-readiness] the sidecar vouches",
        "# interlock: ignore[HU102,HU703] the sidecar vouches\n              path: /v2/health/live",
        "# interlock: ignore[HU102]: the sidecar vouches\n              # more\n              path: /v2/health/live",
    ],
)
def test_comment_suppresses(tree: Path, comment: str) -> None:
    (tree / "deploy.yaml").write_text(BAD.replace(PROBE, comment))
    report = lint(["deploy.yaml"])
    assert rules(report) == []
    assert rules(report, suppressed=True) == ["HU102"]
    assert report.exit_code == 0
    assert report.suppressed == 1


@pytest.mark.parametrize(
    ("comment", "says"),
    [
        ("# interlock: ignore[HU102]", "no reason"),
        ("# interlock: ignore[HU102] until=2999-01-01", "no reason"),
        ("# interlock: ignore[HU102] until=2001-01-31 was needed once", "ended on 2001-01-31"),
        ("# interlock: ignore[HU102] until=soon it moves", "not a date"),
        ("# interlock: ignore[HU999] wrong number", "unknown rule HU999"),
        ("# interlock: ignore everything", "names no rule"),
    ],
)
def test_broken_suppression_is_reported_and_suppresses_nothing(tree: Path, comment: str, says: str) -> None:
    (tree / "deploy.yaml").write_text(BAD.replace("# quick", comment))
    report = lint(["deploy.yaml"])
    assert rules(report) == ["HU102", "HU000"]
    assert says in report.findings[1].message
    assert report.exit_code == 1


def test_unused_suppression_is_reported(tree: Path) -> None:
    (tree / "deploy.yaml").write_text("# interlock: ignore[HU101] never needed\n" + BAD)
    report = lint(["deploy.yaml"])
    assert rules(report) == ["HU000", "HU102"]
    assert "silences nothing" in report.findings[0].message
    # When the rule does not run, nothing can be said.
    assert rules(lint(["deploy.yaml"], select=["HU7", "HU0"])) == []


@pytest.mark.parametrize("rule", ["HU102", "process-level-readiness"])
@pytest.mark.parametrize("place", ["object", "template"])
def test_annotation_suppresses(tree: Path, place: str, rule: str) -> None:
    note = f"annotations: {{interlock.dev/ignore.{rule}: the sidecar vouches until=2999-01-01}}"
    before = {"object": "  name: ranker\n", "template": "      labels: {app: ranker}\n"}[place]
    indent = before[: len(before) - len(before.lstrip())]
    (tree / "deploy.yaml").write_text(BAD.replace(before, before + indent + note + "\n", 1))
    report = lint(["deploy.yaml"])
    assert rules(report) == []
    assert report.findings[0].suppressed == "the sidecar vouches"


def test_annotation_speaks_for_its_own_object_only(tree: Path) -> None:
    note = "  name: ranker\n  annotations: {interlock.dev/ignore.HU102: the sidecar vouches}\n"
    first = BAD.replace("  name: ranker\n", note, 1)
    (tree / "deploy.yaml").write_text(first + "---\n" + BAD.replace("ranker", "other"))
    report = lint(["deploy.yaml"])
    assert [f.where.object for f in report.findings if f.where and f.suppressed is None] == ["Deployment/other"]


def test_suppression_ends_with_its_day(tree: Path) -> None:
    (tree / "deploy.yaml").write_text(BAD.replace("# quick", "# interlock: ignore[HU102] until=2027-01-31 moving"))
    from interlock.checks.lint.collect import collect

    inputs = collect(["deploy.yaml"])
    findings = lint(["deploy.yaml"], select=["HU102"]).findings
    findings = [f for f in findings if f.rule == "HU102"]
    for today, silent in ((date(2027, 1, 31), True), (date(2027, 2, 1), False)):
        bare = [type(f)(**{n: getattr(f, n) for n in f.__slots__} | {"suppressed": None}) for f in findings]
        kept, _ = suppress.apply(bare, inputs, {}, ["HU102"], today)
        assert (kept[0].suppressed is not None) is silent


# baseline


def test_baseline_accepts_what_was_there(tree: Path) -> None:
    report = lint(["."], baseline="base.json", update_baseline=True)
    assert report.exit_code == 0
    document = json.loads((tree / "base.json").read_text())
    assert document["findings"] == {"HU102 deploy.yaml Deployment/ranker": 1}
    # Moving things does not bring it back; a second one of its kind does.
    (tree / "deploy.yaml").write_text("# moved\n\n" + BAD)
    assert lint(["."], baseline="base.json").exit_code == 0
    (tree / "deploy.yaml").write_text(BAD + "---\n" + BAD.replace("ranker", "other"))
    assert rules(lint(["."], baseline="base.json")) == ["HU102"]
    (tree / "deploy.yaml").write_text(BAD.replace("/v2/health/live", "/v2/health/ready"))
    assert lint(["."], baseline="base.json").facts["baseline_unused"] == 1


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"schema": "interlock.baseline/1", "findings": []}', '{"schema": "x"}', "\xff"]
)
def test_broken_baseline_is_an_error(tree: Path, content: str) -> None:
    (tree / "base.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(BadInput) as caught:
        lint(["."], baseline="base.json")
    assert "update-baseline" in caught.value.hint


def test_missing_baseline_is_an_error(tree: Path) -> None:
    with pytest.raises(BadInput, match="no such baseline"):
        lint(["."], baseline="base.json")


# since


def git(*arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


def test_since_shows_only_what_is_new(tree: Path) -> None:
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    assert lint(["."], since="HEAD").exit_code == 0
    (tree / "new.yaml").write_text(BAD.replace("ranker", "other"))
    report = lint(["."], since="HEAD")
    assert [f.where.path for f in report.findings if f.where] == ["new.yaml"]
    assert rules(lint(["new.yaml"], since="HEAD")) == ["HU102"]
    # What another file's change brings about counts as well: a Service makes HU101 an error elsewhere.
    with pytest.raises(BadInput, match="--since nowhere"):
        lint(["."], since="nowhere")


@pytest.mark.parametrize("recorded", ["committed", "staged", "untracked"])
def test_since_follows_renames(tree: Path, recorded: str) -> None:
    (tree / "deploy").mkdir()
    (tree / "old.yaml").write_text(BAD.replace("ranker", "other"))
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    (tree / "deploy.yaml").rename(tree / "deploy" / "ranker.yaml")
    (tree / "old.yaml").rename(tree / "new.yaml")
    if recorded != "untracked":
        git("add", "-A")
    if recorded == "committed":
        git("commit", "-qm", "moved")
    revision = "HEAD~" if recorded == "committed" else "HEAD"
    before = status()
    assert rules(lint(["."], since=revision)) == []
    # The file came into the folder from outside of it.
    assert rules(lint(["deploy"], since=revision)) == []
    assert rules(lint(["new.yaml"], since=revision)) == []
    assert status() == before
    (tree / "deploy" / "ranker.yaml").write_text("# moved\n" + BAD)
    (tree / "deploy" / "second.yaml").write_text(BAD.replace("ranker", "second"))
    report = lint(["."], since=revision)
    assert [f.where.object for f in report.findings if f.where] == ["Deployment/second"]


def test_since_does_not_take_a_copy_for_a_move(tree: Path) -> None:
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    (tree / "copy.yaml").write_text(BAD)
    report = lint(["."], since="HEAD")
    assert [f.where.path for f in report.findings if f.where] == ["copy.yaml"]


def test_since_and_baseline_see_through_folder_links(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(tree, target_is_directory=True)
    assert rules(lint([str(link)], since="HEAD")) == []
    lint(["."], baseline="base.json", update_baseline=True)
    assert rules(lint([str(link)], baseline="base.json")) == []


def status() -> bytes:
    return subprocess.run(["git", "status", "--porcelain"], check=True, capture_output=True).stdout


def test_since_outside_a_repository(tree: Path) -> None:
    with pytest.raises(BadInput, match="is not in a git repository") as caught:
        lint(["."], since="HEAD")
    assert "--update-baseline" in caught.value.hint
    assert str(tree) in str(caught.value)


# fixes


def test_fix_keeps_everything_else(tree: Path) -> None:
    report = lint(["."], fix=True)
    assert report.exit_code == 0
    assert report.facts["fixed"] == 1
    assert (tree / "deploy.yaml").read_text() == BAD.replace("/v2/health/live", "/v2/health/ready")


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
@pytest.mark.parametrize("bom", ["\ufeff", ""])
def test_fix_keeps_line_ends_bom_and_mode(tree: Path, ending: str, bom: str) -> None:
    path = tree / "deploy.yaml"
    path.write_bytes((bom + BAD.replace("\n", ending)).encode())
    path.chmod(0o640)
    lint(["."], fix=True)
    assert path.read_bytes() == (bom + BAD.replace("live ", "ready ").replace("\n", ending)).encode()
    assert path.stat().st_mode & 0o777 == 0o640


def test_diff_writes_nothing(tree: Path) -> None:
    report = lint(["."], diff=True)
    assert (tree / "deploy.yaml").read_text() == BAD
    assert report.payload.splitlines()[:2] == ["--- deploy.yaml", "+++ deploy.yaml"]
    assert report.exit_code == 1
    subprocess.run(["patch", "-p0"], input=report.payload.encode(), check=True, capture_output=True)
    assert rules(lint(["."])) == []


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("rule", sorted(path.parent.name for path in FIXTURES.glob("*/fixed")))
def test_diff_shows_all_that_fix_writes(tree: Path, rule: str, unsafe: bool) -> None:
    """Fixes that other fixes make room for come in later passes, and `--diff` makes those passes too."""
    for copy in ("shown", "written"):
        shutil.copytree(FIXTURES / rule / "bad", tree / copy)
    shown = lint(["shown"], diff=True, unsafe_fixes=unsafe, pedantic=True)
    written = lint(["written"], fix=True, unsafe_fixes=unsafe, pedantic=True)
    assert shown.facts["fixed"] == written.facts["fixed"]
    assert contents(tree / "shown") == contents(FIXTURES / rule / "bad")
    subprocess.run(["patch", "-p0", "--binary"], input=shown.payload.encode(), check=True, capture_output=True)
    assert contents(tree / "shown") == contents(tree / "written")


def test_fix_that_fails_writes_nothing(tree: Path) -> None:
    (tree / "later.yaml").write_bytes(BAD.encode("utf-16"))
    with pytest.raises(BadInput, match="not UTF-8"):
        lint(["."], fix=True)
    assert (tree / "deploy.yaml").read_text() == BAD


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_unsafe_fix_needs_its_option(tree: Path) -> None:
    (tree / "deploy.yaml").write_text(BAD.split("          readinessProbe")[0])
    assert lint(["."], fix=True).facts["fixed"] == 0
    assert rules(lint(["."], fix=True, unsafe_fixes=True)) == []
    assert "path: /v2/health/ready" in (tree / "deploy.yaml").read_text()


def test_suppressed_findings_are_not_fixed(tree: Path) -> None:
    text = BAD.replace("# quick", "# interlock: ignore[HU102] the sidecar vouches")
    (tree / "deploy.yaml").write_text(text)
    lint(["."], fix=True)
    assert (tree / "deploy.yaml").read_text() == text


def test_statistics_and_files(tree: Path) -> None:
    (tree / "broken.yaml").write_text("kind: [\n")
    report = lint(["."], statistics=True, show_files=True)
    counts, files = report.body
    assert ("1", "HU102", "process-level-readiness", "error") in counts.rows  # type: ignore[union-attr]
    assert ("broken.yaml", "0", "unread") in files.rows  # type: ignore[union-attr]
    assert ("deploy.yaml", "1", "") in files.rows  # type: ignore[union-attr]


def test_strict_fails_on_the_unread(tree: Path) -> None:
    (tree / "deploy.yaml").write_text(BAD.replace("/v2/health/live", "/v2/health/ready"))
    (tree / "broken.yaml").write_text("kind: [\n")
    assert lint(["."]).exit_code == 0
    assert lint(["."], strict=True).exit_code == 2
    assert lint(["broken.yaml"]).exit_code == 2


# standard input


@pytest.fixture
def piped(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives standard input a text."""

    def give(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return give


def test_standard_input_has_one_name(piped: Callable[[str], None]) -> None:
    piped(BAD + "---\nkind: [\n")
    report = lint(["-"], show_files=True)
    assert {f.where.path for f in report.findings if f.where} == {"<stdin>"}
    piped("\0")
    report = lint(["-"], show_files=True)
    assert [f.where.path for f in report.findings if f.where] == ["<stdin>"]
    assert report.body[0].rows == [("<stdin>", "0", "unread")]  # type: ignore[union-attr]


def test_standard_input_can_be_shown_fixed(piped: Callable[[str], None]) -> None:
    piped(BAD)
    report = lint(["-"], diff=True)
    assert "+              path: /v2/health/ready  # quick" in " ".join(report.payload.splitlines())
    piped(BAD)
    with pytest.raises(BadInput, match="standard input cannot be fixed"):
        lint(["-"], fix=True)


def test_standard_input_counts_after_other_files_are_fixed(piped: Callable[[str], None]) -> None:
    piped("kind: [\n")
    report = lint(["-", "deploy.yaml"], fix=True)
    assert report.facts["fixed"] == 1
    assert report.unread == 1


def test_baseline_of_standard_input_holds_in_any_folder(piped: Callable[[str], None], tree: Path) -> None:
    piped(BAD)
    (tree / "notes").mkdir()
    lint(["-"], baseline="notes/base.json", update_baseline=True)
    document = json.loads((tree / "notes" / "base.json").read_text())
    assert document["findings"] == {"HU102 <stdin> Deployment/ranker": 1}
    piped(BAD)
    assert lint(["-"], baseline="notes/base.json").exit_code == 0
