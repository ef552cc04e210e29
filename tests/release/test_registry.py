"""Against a real registry (Debian's docker-registry 2.8): what it lacks is made up for, what it breaks is noticed."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from interlock.release.descriptor import digest_of
from interlock.release.reference import open_model
from interlock.release.registry import Registry
from interlock.release.run import gate, promote, publish, pull, rollback, status
from interlock.release.store import load
from interlock.report.errors import BadInput, InterlockError, NeedsAccess

# user "someone", password "secret", as htpasswd -B writes it
HTPASSWD = "someone:$2b$05$E5GX6M6CmIum.kcjycvFZuLkBNwFypalrWOz6OnEkSWMUftX3FcoG\n"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def served(folder: Path, require: Callable[[str, str], Any], extra: str = "") -> Generator[str]:
    """host:port of a registry that keeps its data in `folder`."""
    if shutil.which("docker-registry") is None:
        require("docker-registry", "apt-get install docker-registry")
    port = free_port()
    config = folder / "config.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n"
        f"storage: {{filesystem: {{rootdirectory: {folder / 'data'}}}, delete: {{enabled: true}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\n{extra}"
    )
    process = subprocess.Popen(["docker-registry", "serve", str(config)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def data(tmp_path_factory: Any) -> Path:
    return tmp_path_factory.mktemp("registry")


@pytest.fixture(scope="module")
def host(data: Path, require: Callable[[str, str], Any]) -> Generator[str]:
    with served(data, require) as address:
        yield address


@pytest.fixture
def place(host: str, request: Any) -> str:
    """A repository of its own for each test."""
    return f"oci://{host}/acme/{request.node.name.lower().replace('[', '-').replace(']', '').replace('_', '-')}"


def test_round_trip_and_nothing_is_sent_twice(project: Any, place: str, helpers: Any) -> None:
    report = helpers.passed(publish(str(project.root / "model"), f"{place}:1.0"))
    assert report.facts["sent"] == report.facts["bytes"]
    assert report.facts["digest"] == publish(str(project.root / "model"), f"{project.place}:1.0").facts["digest"]
    again = helpers.passed(publish(str(project.root / "model"), f"{place}:1.1"))
    assert again.facts["sent"] == 0
    second = helpers.passed(publish(str(project.root / "next"), f"{place}:2.0"))
    assert second.facts["reused"] == len("the same in both versions\n")
    for reference in (f"{place}:1.0", f"{place}@{report.facts['digest']}"):
        helpers.passed(pull(reference, str(project.root / "out")))
        assert helpers.tree(project.root / "out") == helpers.tree(project.root / "model")
        shutil.rmtree(project.root / "out")
    with open_model(f"{place}:2.0") as model:
        assert helpers.tree(model.path) == helpers.tree(project.root / "next")
    assert Registry(place.removeprefix("oci://")).tags() == ["1.0", "1.1", "2.0"]


def test_unknown_tag_repository_and_host(project: Any, place: str) -> None:
    publish(str(project.root / "model"), f"{place}:1.0")
    with pytest.raises(BadInput, match="no such tag") as caught:
        pull(f"{place}:1.O", str(project.root / "out"))
    assert "did you mean '1.0'" in caught.value.hint
    with pytest.raises(BadInput, match="no such tag"):
        pull(f"{place}-other:1.0", str(project.root / "out"))
    with pytest.raises(BadInput, match="no such version"):
        pull(f"{place}@sha256:{'0' * 64}", str(project.root / "out"))
    with pytest.raises(NeedsAccess, match="cannot be reached") as caught_access:
        pull(f"oci://127.0.0.1:{free_port()}/acme/m:1", str(project.root / "out"))
    assert caught_access.value.exit_code == 4
    assert not (project.root / "out").exists()


@pytest.mark.parametrize("damage", ["flip", "truncate"])
def test_a_damaged_store_is_noticed(project: Any, place: str, data: Path, helpers: Any, damage: str) -> None:
    publish(str(project.root / "model"), f"{place}:1.0")
    digest = digest_of((project.root / "model" / "weights.bin").read_bytes())
    blob = next(data.rglob(f"{digest[7:]}/data"))
    good = blob.read_bytes()
    blob.write_bytes(bytes([good[0] ^ 1]) + good[1:] if damage == "flip" else good[:-10])
    try:
        with pytest.raises(InterlockError):
            pull(f"{place}:1.0", str(project.root / "out"))
        assert not (project.root / "out").exists() and not helpers.drafts(project.root)
    finally:
        blob.write_bytes(good)


def test_promotion_with_a_ledger_beside_the_registry(project: Any, place: str, helpers: Any) -> None:
    project.write(registry=place)
    one = publish(str(project.root / "model"), f"{place}:1.0").facts["digest"]
    two = publish(str(project.root / "next"), f"{place}:2.0").facts["digest"]
    with pytest.raises(BadInput, match="cannot hold a ledger") as caught:
        promote("1.0", "staging", config=project.config)
    assert "ledger: PATH" in caught.value.hint
    project.write(registry=place, extra="ledger: ledger")
    project.judge("1.0", "2.0")
    for version, stage in (("1.0", "staging"), ("1.0", "prod"), ("2.0", "staging"), ("2.0", "prod")):
        helpers.passed(promote(version, stage, config=project.config))
    registry = Registry(place.removeprefix("oci://"))
    assert registry.tag("prod") == project.pointer()["digest"] == two
    helpers.passed(rollback("prod", config=project.config))
    assert registry.tag("prod") == project.pointer()["digest"] == one
    helpers.passed(status(config=project.config, verify=True))
    registry.point("prod", two)
    report = status("prod", config=project.config)
    assert report.exit_code == 1 and "the tag moved behind the ledger" in helpers.said(report)
    with pytest.raises(BadInput, match="belongs to a stage"):
        publish(str(project.root / "model"), f"{place}:prod", config=project.config)


def test_gate_evidence_in_a_registry(project: Any, place: str, helpers: Any) -> None:
    from interlock.signing.keys import generate
    from interlock.signing.run import sign

    generate(str(project.root / "release"))
    sign(project.root / "model", key=project.root / "release.key")
    publish(str(project.root / "model"), f"{place}:1.0")
    stages = "\n  staging: {gates: [verify]}\n"
    project.write(stages, "ledger: ledger\ntrust: {keys: [release.pub]}", place)
    helpers.passed(gate("staging", "1.0", key=str(project.root / "release.key"), config=project.config))
    helpers.passed(promote("1.0", "staging", config=project.config))
    # The fallback index is a tag as any other client of such a registry reads it.
    digest = Registry(place.removeprefix("oci://")).tag("1.0")
    assert digest.replace(":", "-") in Registry(place.removeprefix("oci://")).tags()


def test_evidence_of_eight_at_once_is_not_lost(project: Any, place: str) -> None:
    publish(str(project.root / "model"), f"{place}:1.0")
    name = place.removeprefix("oci://")
    manifest = load(Registry(name), Registry(name).tag("1.0"))
    kind = "application/vnd.example.note"

    def attach(worker: int) -> None:
        registry = Registry(name)
        for number in range(3):
            registry.attach(manifest.descriptor, kind, "text/plain", f"{worker}/{number}".encode(), "note")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(attach, range(8)))
    found = {item.payload.decode() for item in Registry(name).attached(manifest.digest, kind)}
    assert found == {f"{worker}/{number}" for worker in range(8) for number in range(3)}


def login(folder: Path, host: str, user: str, password: str) -> str:
    folder.mkdir(exist_ok=True)
    auth = base64.b64encode(f"{user}:{password}".encode()).decode()
    (folder / "config.json").write_text(json.dumps({"auths": {host: {"auth": auth}}}))
    return str(folder)


def test_basic_login(project: Any, tmp_path: Path, monkeypatch: Any, require: Any, helpers: Any) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "htpasswd").write_text(HTPASSWD)
    extra = f"auth: {{htpasswd: {{realm: test, path: {tmp_path / 'store' / 'htpasswd'}}}}}\n"
    with served(tmp_path / "store", require, extra) as host:
        place = f"oci://{host}/acme/m"
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "nobody"))
        with pytest.raises(NeedsAccess, match="wants a user and a password") as caught:
            publish(str(project.root / "model"), f"{place}:1.0")
        assert "log in first" in caught.value.hint and caught.value.exit_code == 4
        monkeypatch.setenv("DOCKER_CONFIG", login(tmp_path / "wrong", host, "someone", "guess"))
        with pytest.raises(NeedsAccess, match="does not allow"):
            publish(str(project.root / "model"), f"{place}:1.0")
        monkeypatch.setenv("DOCKER_CONFIG", login(tmp_path / "right", host, "someone", "secret"))
        helpers.passed(publish(str(project.root / "model"), f"{place}:1.0"))
        helpers.passed(pull(f"{place}:1.0", str(project.root / "out")))


class Between(BaseHTTPRequestHandler):
    """A proxy before the registry: asks for tokens, drops bodies in the middle, or answers 500, as `mood` says."""

    protocol_version = "HTTP/1.1"
    upstream = ""
    mood: dict[str, Any]

    def log_message(self, *_: Any) -> None:
        """Nothing on stderr."""

    def _relay(self) -> None:
        import requests

        mood = type(self).mood
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        if self.path.startswith("/token"):
            good = self.headers.get("Authorization") == "Basic " + base64.b64encode(b"someone:secret").decode()
            return self._answer(200 if good else 401, json.dumps({"token": "t0ken"}).encode())
        if mood.get("token") and self.headers.get("Authorization") != "Bearer t0ken":
            challenge = f'Bearer realm="http://{self.headers["Host"]}/token",service="test",scope="repository:acme/m:*"'
            mood.setdefault("challenged", []).append((self.command, length))
            return self._answer(401, b"{}", {"WWW-Authenticate": challenge})
        if self.command == "GET" and mood.get("errors", 0) > 0:
            mood["errors"] -= 1
            return self._answer(500, b'{"errors": [{"code": "UNKNOWN", "message": "invalid checksum digest format"}]}')
        if "referrers" in mood and "/referrers/" in self.path:
            subject = self.path.rpartition("/")[2].partition("?")[0]
            listed = [entry for about, entry in mood["referrers"] if about == subject]
            return self._answer(200, json.dumps({"schemaVersion": 2, "manifests": listed}).encode())
        headers = {k: v for k, v in self.headers.items() if k not in ("Host", "Authorization")}
        url = f"http://{self.upstream}{self.path}"
        answer = requests.request(self.command, url, headers=headers, data=body, timeout=30, allow_redirects=False)
        keep = ("Content-Type", "Location", "Docker-Content-Digest", "Content-Range", "ETag")
        sent = {k: v for k, v in answer.headers.items() if k in keep}
        if "referrers" in mood and self.command == "PUT" and b'"subject"' in body:
            tree = json.loads(body)
            entry = {"mediaType": tree["mediaType"], "digest": digest_of(body), "size": len(body)}
            mood["referrers"].append((tree["subject"]["digest"], {**entry, "artifactType": tree["artifactType"]}))
            sent["OCI-Subject"] = tree["subject"]["digest"]
        if "Location" in sent:
            sent["Location"] = sent["Location"].replace(self.upstream, self.headers["Host"])
        if self.command == "HEAD":
            sent["Content-Length"] = answer.headers.get("Content-Length", "0")
        drop = self.command == "GET" and "/blobs/" in self.path and len(answer.content) > 1000 and mood.get("drops", 0)
        if drop:
            mood["drops"] -= 1
            mood.setdefault("ranges", []).append(self.headers.get("Range"))
        return self._answer(answer.status_code, answer.content, sent, cut=len(answer.content) // 2 if drop else None)

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None, cut: int | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        if not headers or "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _relay  # noqa: N815 - names of http.server


@pytest.fixture
def between(host: str) -> Generator[tuple[str, dict[str, Any]]]:
    """(host:port, mood) of a proxy before the registry."""
    mood: dict[str, Any] = {}
    handler = type("Handler", (Between,), {"upstream": host, "mood": mood})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.server_address[1]}", mood
    server.shutdown()
    server.server_close()


def test_token_login_asks_before_it_sends(
    project: Any, between: tuple[str, dict[str, Any]], tmp_path: Path, monkeypatch: Any, helpers: Any
) -> None:
    host, mood = between
    mood["token"] = True
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "nobody"))
    with pytest.raises(NeedsAccess, match="token service answers 401"):
        publish(str(project.root / "model"), f"oci://{host}/acme/token:1.0")
    mood["challenged"].clear()
    monkeypatch.setenv("DOCKER_CONFIG", login(tmp_path / "right", host, "someone", "secret"))
    helpers.passed(publish(str(project.root / "model"), f"oci://{host}/acme/token:1.0"))
    helpers.passed(pull(f"oci://{host}/acme/token:1.0", str(project.root / "out")))
    assert all(length == 0 for _, length in mood["challenged"])


def test_a_dropped_connection_goes_on_where_it_stopped(
    project: Any, between: tuple[str, dict[str, Any]], helpers: Any
) -> None:
    host, mood = between
    helpers.make_model(project.root / "big", 3, size=1 << 22)
    publish(str(project.root / "big"), f"oci://{host}/acme/drop:1.0")
    mood["drops"] = 3
    helpers.passed(pull(f"oci://{host}/acme/drop:1.0", str(project.root / "out")))
    assert helpers.tree(project.root / "out") == helpers.tree(project.root / "big")
    assert mood["ranges"][0] is None and all(each.startswith("bytes=") for each in mood["ranges"][1:])
    mood["drops"] = 100
    with pytest.raises(BadInput, match="the connection ended after"):
        pull(f"oci://{host}/acme/drop:1.0", str(project.root / "out2"))
    assert not (project.root / "out2").exists() and not helpers.drafts(project.root)


def test_a_torn_tag_read_is_tried_again(project: Any, between: tuple[str, dict[str, Any]], helpers: Any) -> None:
    host, mood = between
    publish(str(project.root / "model"), f"oci://{host}/acme/torn:1.0")
    mood["errors"] = 2
    helpers.passed(pull(f"oci://{host}/acme/torn:1.0", str(project.root / "out")))
    mood["errors"] = 1000
    with pytest.raises(InterlockError, match="was answered 500: UNKNOWN invalid checksum") as caught:
        pull(f"oci://{host}/acme/torn:1.0", str(project.root / "out2"))
    assert caught.value.exit_code == 2 and caught.value.hint


def test_the_referrers_api_needs_no_fallback_tag(project: Any, between: tuple[str, dict[str, Any]]) -> None:
    host, mood = between
    mood["referrers"] = []
    publish(str(project.root / "model"), f"oci://{host}/acme/api:1.0")
    registry = Registry(f"{host}/acme/api")
    manifest = load(registry, registry.tag("1.0"))
    for text in (b"one", b"two"):
        registry.attach(manifest.descriptor, "application/vnd.example.note", "text/plain", text, "note")
    registry.attach(manifest.descriptor, "application/vnd.example.other", "text/plain", b"three", "other")
    found = registry.attached(manifest.digest, "application/vnd.example.note")
    assert [item.payload for item in found] == [b"one", b"two"]
    assert registry.tags() == ["1.0"]


def test_another_client_pulls_what_we_publish(project: Any, place: str, root: Path, require: Any, helpers: Any) -> None:
    """The independent client of the ModelPack project, in an environment of its own."""
    venv = root / ".cache" / "modelpack-client"
    client = venv / "bin" / "python"
    if not (venv / ".ready").exists():
        made = subprocess.run([sys.executable, "-m", "venv", str(venv)], check=False, capture_output=True)
        install = [str(client), "-m", "pip", "install", "--quiet", "modelpack-client==0.1.0"]
        if made.returncode or subprocess.run(install, check=False, capture_output=True).returncode:
            require("modelpack-client 0.1.0", "pip must reach a package registry")
        (venv / ".ready").touch()
    publish(str(project.root / "model"), f"{place}:1.0")
    out = project.root / "pulled"
    code = (
        "import sys; from modelpack_client import ModelPackClient\n"
        "ModelPackClient(insecure=True).pull(sys.argv[1], sys.argv[2])"
    )
    done = subprocess.run(
        [str(client), "-c", code, f"{place.removeprefix('oci://')}:1.0", str(out)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert helpers.tree(out) == helpers.tree(project.root / "model")
