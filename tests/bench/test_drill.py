"""Drills against a real server whose swaps misbehave in known ways: each loss is found, and nothing else is."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from interlock.bench import rules
from interlock.bench.arguments import body, fields
from interlock.bench.run import drill
from interlock.report import formats
from interlock.report.errors import BadInput, NeedsAccess
from interlock.report.report import Report

SERVER = Path(__file__).with_name("swap_server.py")
QUICK = {"rate": 120.0, "before": 1.2, "after": 0.8, "connections": 8}


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[int]:
    """The port of a fresh server."""
    command = [sys.executable, str(SERVER), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdin
        yield int(process.stdout.readline())
        process.stdin.close()
        process.wait(5)


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a fresh server."""
    with serving() as port:
        yield f"http://127.0.0.1:{port}"


def certificate(folder: Path) -> Path:
    """A self-signed certificate for localhost with its key, in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    path = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def command(server: str, mode: str) -> str:
    return f"'{sys.executable}' '{SERVER}' {server}/swap/{mode}"


def run(server: str, mode: str, path: str = "/predict", **options: object) -> Report:
    given = {"body": b'{"x": 1}', "fingerprint": "/weights", **QUICK, **options}
    # A freeze has to last longer than the noise of a busy machine; those planted last 1.4 s.
    return drill(server + path, command(server, mode), stall_ms=900, **given)


def ids(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings}


@pytest.mark.parametrize("path", ["/predict", "/chunked", "/close"])
def test_a_clean_swap_passes(server: str, path: str) -> None:
    found = run(server, "clean", path)
    assert ids(found) == set()
    assert found.exit_code == 0
    assert found.facts["swap"]["old"] == "1"
    assert found.facts["swap"]["new"] == "2"
    assert found.facts["lost"] == 0
    assert 100 < found.facts["load"]["requests"] < 600
    assert 0 < found.facts["swap"]["first_new_after_start_ms"] < 2000
    for name in formats.NAMES:
        formats.render(name, found)
    assert "swap command" in formats.render("human", found)


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("gap", "status 503"), ("reset", "reset"), ("short", "short"), ("hang", "timeout")],
)
def test_lost_requests_are_counted_by_kind(server: str, mode: str, kind: str) -> None:
    found = run(server, mode, timeout=1.0)
    assert rules.LOST.id in ids(found)
    assert ids(found) <= {rules.LOST.id, rules.FROZEN.id}
    assert found.exit_code == 1
    # A reset that meets a request before it is read can also show as a closed connection.
    assert sum(n for k, n in found.facts["errors"].items() if k in {kind, "closed"}) == found.facts["lost"] > 0
    assert kind in found.facts["errors"]


def test_a_freeze_of_some_connections_is_found_where_it_is(server: str) -> None:
    found = run(server, "freeze-one")
    assert ids(found) == {rules.FROZEN.id}
    # Connection 0 of the server was the reachability check and 1 the canary: every fourth one froze.
    assert 1 <= len(found.facts["frozen_connections"]) <= 2
    assert 0.9 < found.facts["stalled_seconds"] < 3
    assert "stood still" in found.findings[0].message


def test_a_freeze_of_all_is_charged_to_every_request_that_was_due(server: str) -> None:
    found = run(server, "freeze-all", connections=2)
    assert ids(found) == {rules.FROZEN.id}
    # 120/s were due for 1.4 s; those of the first 0.5 s waited longer than the limit, far more than 2 connections.
    assert found.facts["frozen"] > 10


def test_a_freeze_of_the_client_is_not_charged_to_the_server(server: str) -> None:
    def progress(text: str) -> None:
        if text.startswith("load after"):
            time.sleep(1.4)  # in the event loop: nothing is sent or read meanwhile

    found = run(server, "clean", progress=progress)
    assert ids(found) == {rules.CLIENT.id}
    assert found.exit_code == 1
    assert found.facts["frozen"] == 0
    assert found.facts["client"]["frozen_by_client"] > 5


def test_stale_answers(server: str) -> None:
    found = run(server, "stale")
    assert rules.STALE.id in ids(found)
    assert found.facts["stale"] > 5
    assert run(server, "stale", max_stale=10000).exit_code == 0


def test_a_lying_label(server: str) -> None:
    found = run(server, "lying", label="/label")
    assert ids(found) == {rules.LYING.id}
    assert found.facts["lying_labels"] > 10


def test_a_swap_that_changes_nothing_is_no_pass(server: str) -> None:
    found = run(server, "noop")
    assert ids(found) == {rules.UNSEEN.id}
    assert found.exit_code == 1


def test_the_expected_version(server: str) -> None:
    assert run(server, "clean", expect="2").exit_code == 0
    found = run(server, "clean", expect="2")
    assert ids(found) == {rules.UNSEEN.id}
    assert "is 3, not 2" in found.findings[0].message


def test_header_and_body_fingerprints(server: str) -> None:
    assert run(server, "clean", fingerprint="header:x-version").facts["swap"]["new"] == "2"
    assert run(server, "clean", fingerprint="body").facts["swap"]["new"].startswith("sha256:")


def test_a_failing_or_endless_swap_command(server: str) -> None:
    found = drill(server + "/predict", "echo no disk; exit 7", fingerprint="/weights", **QUICK)
    assert ids(found) == {rules.SWAP.id}
    assert "ended with 7: no disk" in found.findings[0].message
    assert "no disk" in formats.render("human", found)
    found = drill(server + "/predict", "sleep 60", swap_timeout=0.3, fingerprint="/weights", **QUICK)
    assert "was killed after 0.3 s" in found.findings[0].message


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [("/absent", BadInput, "answers 404: no such model"), ("/secret", NeedsAccess, "answers 401")],
)
def test_a_server_that_fails_before_the_swap(server: str, path: str, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        run(server, "clean", path)


@pytest.mark.parametrize(
    ("options", "what", "there"),
    [
        ({"fingerprint": "/nosuch"}, "--fingerprint /nosuch", "there is /weights"),
        ({"fingerprint": "header:x-nosuch"}, "--fingerprint header:x-nosuch", "header:x-version"),
        ({"label": "/weights/0"}, "--label /weights/0", "/label"),
    ],
)
def test_a_place_that_answers_lack_is_said_before_anything_is_swapped(
    server: str, options: dict, what: str, there: str, tmp_path: Path
) -> None:
    mark = tmp_path / "swapped"
    given = {"body": b'{"x": 1}', "fingerprint": "/weights", **QUICK, **options}
    said: list[str] = []
    with pytest.raises(BadInput, match="nothing was swapped yet") as caught:
        drill(f"{server}/predict", f"touch {mark}", progress=said.append, **given)
    assert caught.value.what == what
    assert there in caught.value.hint
    assert not said, "no load either"
    assert not mark.exists()


def test_headers_are_sent(server: str) -> None:
    assert run(server, "clean", "/secret", headers={"Authorization": "Bearer x"}).exit_code == 0


def test_tls(tmp_path: Path) -> None:
    pem = str(certificate(tmp_path))
    with serving("--tls", pem) as port:
        url = f"https://localhost:{port}/predict"
        with pytest.raises(BadInput, match="no secure connection") as caught:
            drill(url, "true")
        assert "--ca" in caught.value.hint
        with pytest.raises(BadInput, match="not a file of CA certificates"):
            drill(url, "true", ca=str(tmp_path / "absent"))
        found = drill(url, "true", ca=pem, fingerprint="/weights", **QUICK)
    assert ids(found) == {rules.UNSEEN.id}
    assert found.facts["lost"] == found.facts["lost_before"] == 0


def test_nobody_listens() -> None:
    with pytest.raises(NeedsAccess, match="cannot connect"):
        drill("http://127.0.0.1:9", "true")


@pytest.mark.parametrize(
    ("url", "options", "what"),
    [
        ("ftp://127.0.0.1/", {}, "not an http"),
        ("127.0.0.1:80", {}, "not an http"),
        ("http://127.0.0.1:99999/", {}, "not a URL"),
        ("http://u:p@127.0.0.1/", {}, "credentials"),
        ("http://127.0.0.1/a b", {}, "percent-encoded"),
        ("http://127.0.0.1/", {"rate": 0.0}, "--rate"),
        ("http://127.0.0.1/", {"arrivals": "bursty"}, "--arrivals"),
        ("http://127.0.0.1/", {"headers": {"a": "b\r\nc: d"}}, "--header"),
        ("http://127.0.0.1/", {"method": "GET /x"}, "--method"),
        ("http://127.0.0.1/", {"fingerprint": "version"}, "--fingerprint"),
        ("http://127.0.0.1/", {"swap": " "}, "--swap"),
    ],
)
def test_bad_input(url: str, options: dict, what: str) -> None:
    with pytest.raises(BadInput, match=what) as caught:
        drill(url, **{"swap": "true", **options})
    assert caught.value.hint


def test_options_that_cannot_be_read_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file") as caught:
        body(f"@{tmp_path}/nosuch")
    assert caught.value.what == f"--data @{tmp_path}/nosuch"
    assert "after the @" in caught.value.hint
    with pytest.raises(BadInput, match="NAME: VALUE") as caught:
        fields(["bad"])
    assert "Authorization" in caught.value.hint


def test_interrupting_ends_the_swap_command_too(server: str, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    # A shell starts what runs in its background deaf to interrupts, and children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock", "drill", f"{server}/predict", "--before", "1",
         "--swap", f"echo $$ > {mark}; sleep 300; true"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 60
    while not mark.exists() or not mark.read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    # The killed children of the shell are gone once init has reaped them.
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(int(mark.read_text()), 0)
            time.sleep(0.05)


def test_command_line(server: str, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text('{"x": 1}')
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "drill", f"{server}/predict", "--data", f"@{request}",
         "--swap", command(server, "clean"), "--fingerprint", "/weights", "--before", "1", "--after", "0.5",
         "--stall-ms", "900", "--output-format", "json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert json.loads(done.stdout)["facts"]["swap"]["new"] == "2"
    done = subprocess.run(
        [sys.executable, "-m", "interlock", "drill", server, "--data", f"@{tmp_path}/no", "--swap", "true"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no such file" in done.stderr
