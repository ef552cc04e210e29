"""Where a report goes: streams, files, several at once, the job summary; and what an error leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from interlock.cli.emit import run
from interlock.cli.main import main
from interlock.cli.options import Outputs
from interlock.models.errors import UnreadableModel
from interlock.report import formats
from interlock.report.errors import BadInput, NeedsAccess, Refused
from interlock.report.finding import Finding, Location, Severity
from interlock.report.report import Report
from interlock.templates.drift import MARK


def _report() -> Report:
    finding = Finding(rule="R1", name="r", severity=Severity.ERROR, message="bad", where=Location("a.yaml", 1))
    return Report(command="lint", inputs=1, findings=[finding])


def _raise(error: Exception):
    def verb() -> Report:
        raise error

    return verb


def test_several_outputs_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = (f"sarif={tmp_path}/o.sarif", f"json={tmp_path}/o.json", f"junit={tmp_path}/o.xml")
    assert run("lint", Outputs("concise", files), _report) == 1
    assert capsys.readouterr().out.startswith("a.yaml:1: error R1 bad\n")
    assert json.loads((tmp_path / "o.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((tmp_path / "o.json").read_text())["verdict"] == "fail"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.json", "o.sarif", "o.xml"]


def test_a_bare_file_takes_stdout_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lint", Outputs("json", (f"{tmp_path}/o",)), _report) == 1
    assert capsys.readouterr().out == ""
    assert json.loads((tmp_path / "o").read_text())["command"] == "lint"


def test_job_summary_is_appended_to_and_skipped_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    asked = Outputs(files=("markdown=$GITHUB_STEP_SUMMARY",))
    assert run("lint", asked, _report) == 1
    assert summary.read_text() == "before\n"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    run("lint", asked, _report)
    run("lint", Outputs(files=(f"markdown={summary}",)), _report)
    text = summary.read_text()
    assert text.startswith("before\n### ") and text.count("### ") == 2
    capsys.readouterr()


def test_payload_alone_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("render", Outputs(), lambda: Report(command="render", inputs=1, payload="a: 1\n")) == 0
    assert capsys.readouterr() == ("a: 1\n", "")
    assert run("render", Outputs(), lambda: Report(command="render", inputs=1, payload="a: 1\n", refused="drift")) == 1
    out, err = capsys.readouterr()
    assert out == "a: 1\n" and "refused: drift" in err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadInput("x", "is bad", hint="do y"), 2),
        (Refused("x", "no"), 1),
        (NeedsAccess("x", "log in"), 4),
        (UnreadableModel("x", "truncated", offset=7), 2),
        (PermissionError(13, "Permission denied", "x"), 2),
    ],
)
def test_an_error_is_told_on_stderr_with_its_code(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("lint", Outputs(), _raise(error)) == code
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: x: ") and "Traceback" not in err
    assert run("lint", Outputs("json"), _raise(error)) == code
    assert json.loads(capsys.readouterr().out)["error"]["what"] == "x"


def test_an_error_leaves_the_old_result_in_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(f"{MARK}\nold\n")
    assert run("render", Outputs(files=(str(file),)), _raise(BadInput("x", "is bad"))) == 2
    assert file.read_text() == f"{MARK}\nold\n"
    assert capsys.readouterr().err == "error: x: is bad\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (("nope=x",), "unknown format 'nope'"),
        (("json=",), "no file given"),
        (("json=x", "sarif=x"), "two formats would write this file"),
    ],
)
def test_a_wrong_output_option_is_bad_input(
    files: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("lint", Outputs(files=files), _report) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_fails_the_run_but_not_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = (f"json={tmp_path}/none/o.json", f"sarif={tmp_path}/o.sarif")
    assert run("lint", Outputs(files=files), lambda: Report(command="lint", inputs=1)) == 2
    out, err = capsys.readouterr()
    assert out == "lint: nothing found in 1 input\n" and "cannot write: no such file or directory" in err
    assert (tmp_path / "o.sarif").is_file()


def test_a_symbolic_link_stays_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    run("lint", Outputs("json", (f"{tmp_path}/link",)), _report)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text()


FILES = {"json": "o.json", "sarif": "o.sarif", "gitlab": "o.json", "junit": "o.xml", "markdown": "o.md"}


@pytest.mark.parametrize("form", formats.NAMES)
def test_a_run_replaces_the_report_of_the_last_one(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / FILES.get(form, "o.txt")
    for verb in (_report, lambda: Report(command="lint", inputs=1), _raise(BadInput("x", "is bad")), _report):
        run("lint", Outputs(files=(f"{form}={file}",)), verb)
        assert "left alone" not in capsys.readouterr().err
    assert "bad" in file.read_text()


@pytest.mark.parametrize("form", formats.NAMES)
@pytest.mark.parametrize("name", ["config.json", "model.onnx", "deploy.yaml", "tokenizer"])
def test_what_is_no_report_is_left_alone_and_nothing_runs(
    form: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    content = {"config.json": b'{"model_type": "x"}', "model.onnx": b"\x08\x07\0"}.get(name, b"a: 1\n")
    file.write_bytes(content)
    ran: list[int] = []

    def verb() -> Report:
        ran.append(1)
        return _report()

    assert run("lint", Outputs(files=(f"{form}={file}",)), verb) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"error: --output {file}: ") and "left alone\nhint: " in err
    assert not ran and file.read_bytes() == content
    assert run("lint", Outputs("json", (str(file),)), verb) == 2
    assert json.loads(capsys.readouterr().out)["verdict"] == "error" and file.read_bytes() == content


def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, unprivileged: list[str]) -> None:
    file, manifest = tmp_path / "o.txt", tmp_path / "service.yaml"
    file.write_text("x")
    file.chmod(0)
    manifest.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
    command = [*unprivileged, sys.executable, "-m", "interlock", "lint", str(manifest), "--output", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot be read" in done.stderr
    file.chmod(0o600)
    assert file.read_text() == "x"


def test_another_formats_report_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "o.json"
    assert run("lint", Outputs(files=(f"json={file}",)), _report) == 1
    assert run("lint", Outputs(files=(f"gitlab={file}",)), _report) == 2
    assert "not a gitlab report" in capsys.readouterr().err


def test_what_a_command_reads_is_never_its_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for name, text in (("config.json", "{}"), ("vocab.txt", "a\nb\n"), ("weights.bin", "\0")):
        (model / name).write_text(text)
    kept = {path.name: path.read_bytes() for path in model.iterdir()}
    for args in (
        ["digest", str(model), "-o", f"json={model}/weights.bin"],
        ["digest", str(model), "-o", f"{model}/vocab.txt"],
        ["digest", str(model / "vocab.txt"), "-o", f"{model}/vocab.txt"],
        ["verify", str(model), "--key", "no.pub", "-o", f"{model}/config.json"],
        ["lint", f"{model}/vocab.txt", "-o", f"{model}/vocab.txt"],
    ):
        with pytest.raises(SystemExit) as caught:
            main(args)
        out, err = capsys.readouterr()
        assert caught.value.code == 2 and out == "" and "left alone" in err
    assert {path.name: path.read_bytes() for path in model.iterdir()} == kept


def test_text_that_the_terminal_cannot_encode_is_escaped(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys\nfrom interlock.cli.emit import run\nfrom interlock.cli.options import Outputs\n"
        "from interlock.report.report import Report\n"
        "sys.exit(run('lint', Outputs(sys.argv[1]), lambda: Report(command='lint', inputs=1, headline='名 \\udcff')))"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for form, wanted in (("human", b"\\u540d \\udcff\n"), ("json", None)):
        done = subprocess.run([sys.executable, "-c", script, form], capture_output=True, env=environment, check=True)
        if wanted is None:
            json.loads(done.stdout)
        else:
            assert done.stdout == wanted
