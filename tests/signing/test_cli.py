"""The two commands as a person types them: exit codes, streams, formats, settings, variables."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from interlock.cli.main import main
from interlock.signing import meter


@pytest.fixture
def interlock(capsys: pytest.CaptureFixture[str]) -> Any:
    """`interlock(args…)` gives (exit code, stdout, stderr)."""

    def call(*args: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return call


def test_from_nothing_to_verified(interlock: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert interlock("sign", "--generate-key", "release")[0] == 0
    code, out, err = interlock("sign", "model", "--key", "release.key")
    assert (code, err) == (0, "")
    assert "signed: 5 files" in out
    code, out, err = interlock("verify", "model", "--key", "release.pub")
    assert (code, err) == (0, "")
    assert "verified: 5 files" in out
    (model / "config.json").write_text("[]")
    code, out, _ = interlock("verify", "model", "--key", "release.pub", "-f", "concise")
    assert code == 1
    assert out.splitlines()[0] == "model/config.json: error VER-CHANGED a file is not the one that was signed"


def test_who_may_sign_comes_from_settings(
    interlock: Any, model: Path, tmp_path: Path, pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    interlock("sign", model, "--key", pairs["P-384"].private)
    folder = tmp_path / "project" / "deep"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert interlock("verify", model)[0] == 2
    (tmp_path / "project" / "signer.pub").write_bytes(pairs["P-384"].public.read_bytes())
    (tmp_path / "project" / "interlock.yaml").write_text("trust: {keys: [signer.pub]}")
    assert interlock("verify", model)[0] == 0
    (tmp_path / "project" / "signer.pub").write_bytes(pairs["stranger"].public.read_bytes())
    code, out, _ = interlock("verify", model, "-f", "json")
    assert code == 1
    assert json.loads(out)["findings"][0]["rule"] == "VER-KEY"
    # A key given by hand replaces the settings' keys.
    assert interlock("verify", model, "--key", pairs["P-384"].public)[0] == 0


def test_password_from_the_environment(
    interlock: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTERLOCK_SIGN_PASSWORD", "s3cret")
    assert interlock("sign", model, "--generate-key", "k")[0] == 0
    monkeypatch.delenv("INTERLOCK_SIGN_PASSWORD")
    code, out, err = interlock("sign", model, "--key", "k.key")
    assert (code, out) == (2, "")
    assert "encrypted" in err
    assert "INTERLOCK_SIGN_PASSWORD" in err


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["sign"], "no model"),
        (["sign", "missing", "--key", "k"], "no such file"),
        (["verify", "missing", "--key", "k"], "cannot be read"),
        (["verify", "missing"], "nobody is trusted"),
        (["verify"], "missing argument"),
        (["sign", "x", "--kye", "k"], "kye"),
    ],
)
def test_bad_input_is_two_lines(
    args: list[str], word: str, interlock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = interlock(*args)
    assert (code, out) == (2, "")
    assert word in err.lower()
    assert err.startswith("error: ")
    assert "hint: " in err


def test_empty_model_is_nothing_to_check(interlock: Any, tmp_path: Path, pair: Any) -> None:
    assert interlock("sign", tmp_path, "--key", pair.private)[0] == 3


def test_sarif_knows_every_reason(interlock: Any, model: Path, pair: Any) -> None:
    code, out, _ = interlock("verify", model, "--key", pair.public, "-f", "sarif")
    assert code == 1
    run = json.loads(out)["runs"][0]
    assert run["results"][0]["ruleId"] == "VER-UNSIGNED"
    assert "VER-EXPIRED" in {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_digest_and_inspect(interlock: Any, model: Path, pair: Any) -> None:
    interlock("sign", model, "--key", pair.private)
    code, out, _ = interlock("digest", model, "-f", "json")
    assert code == 0
    root = json.loads(out)["facts"]["root_digest"]
    code, out, _ = interlock("inspect", model / "model.sig")
    assert code == 0
    assert root in out
    assert "not verified" in out
    code, out, err = interlock("inspect", model / "config.json")
    assert (code, out) == (2, "")
    assert "VER-MEDIA-TYPE" in err


def test_hand_over_and_receipt(interlock: Any, model: Path, pair: Any, tmp_path: Path) -> None:
    interlock("sign", model, "--key", pair.private)
    code, out, _ = interlock("verify", model, "--key", pair.public, "--into", tmp_path / "live", "-f", "json")
    assert code == 0
    assert json.loads(out)["facts"]["into"] == str(tmp_path / "live")
    receipt = ("--receipt", tmp_path / "receipt", "--receipt-key", pair.private)
    assert interlock("verify", model, "--key", pair.public, *receipt)[0] == 0
    code, out, _ = interlock("verify", model, "--key", pair.public, *receipt)
    assert code == 0
    assert "by receipt" in out


def test_weak_identity_on_the_command_line(interlock: Any, model: Path, pair: Any) -> None:
    interlock("sign", model, "--key", pair.private)
    who = ("--issuer", "https://accounts.google.com", "--identity-pattern", ".*@acme.ai")
    code, _, err = interlock("verify", model, *who)
    assert code == 2
    assert "VER-WEAK-PATTERN" in err
    assert "would slip in" in err
    assert interlock("verify", model, "--identity", "a@acme.ai")[0] == 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert meter.meter() is None
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    clock = iter([0.0, 0.5, 1.5, 1.55, 3.0])
    monkeypatch.setattr(meter.time, "monotonic", lambda: next(clock))
    progress = meter.meter()
    assert progress is not None
    for _ in range(4):
        progress(1_000_000_000, 4_000_000_000)
    drawn = screen.getvalue().split("\r")
    assert drawn[1].split() == ["###############...............", "50%", "of", "4.00", "GB,", "1.33", "GB/s"]
    assert drawn[2].strip() == ""
    assert screen.getvalue().endswith("\r")
