"""Commands and help topics by name. `--help` reads this alone; the module of a command loads when it runs."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command's module below `cli`, its function there (the name with underscores) and how --help shows it."""

    name: str
    module: str
    summary: str
    group: str


CHECK = "Check"
SIGN = "Sign"
MEASURE = "Measure"
RELEASE = "Release"
HELP = "Help a person on"

# The topics of `interlock help`, and what each answers.
TOPICS = {
    "exit-codes": "what the exit code says",
    "environment": "variables that interlock reads",
    "references": "how models are named: paths and references",
    "outputs": "formats, several files at once, job summaries",
    "suppressions": "how to silence a finding, with a reason",
}

COMMANDS = (
    Command("lint", "lint", "find hot-update anti-patterns in manifests and serving code", CHECK),
    Command("validate", "validate", "may NEW replace OLD under traffic: verdict, proof, swap plan", CHECK),
    Command("sign", "sign", "sign a model directory (OpenSSF Model Signing)", SIGN),
    Command("verify", "verify", "verify a signed model directory", SIGN),
    Command("digest", "digest", "root digest of a model, and the digests of its files", SIGN),
    Command("inspect", "inspect", "what a signature claims, unverified", SIGN),
    Command("bench", "bench", "latency and throughput on ONNX Runtime, with a regression gate", MEASURE),
    Command("drill", "drill", "load a live server while it swaps and count what users lost", MEASURE),
    Command("publish", "publish", "push a model version once, atomically and deduplicated", RELEASE),
    Command("pull", "pull", "fetch a version; nothing is visible before it is verified", RELEASE),
    Command("gate", "gate", "run the gates a stage asks for and keep the evidence", RELEASE),
    Command("promote", "promote", "move a version to a stage: registry and serving together", RELEASE),
    Command("rollback", "rollback", "put the previous version of a stage back", RELEASE),
    Command("status", "status", "what each stage serves, and whether its two anchors agree", RELEASE),
    Command("history", "history", "the ledger of a stage", RELEASE),
    Command("render", "render", "Kubernetes manifests from templates", RELEASE),
    Command("explain", "explain", "what a rule looks for, why, and how to fix it", HELP),
    Command("rules", "rules", "list all rules", HELP),
    Command("doctor", "doctor", "what this machine can run and how to get what is missing", HELP),
    Command("init", "init", "write a first interlock.yaml", HELP),
    Command("schema", "schema", "JSON Schema of interlock.yaml", HELP),
    Command("help", "topics", f"help topics: {', '.join(TOPICS)}", HELP),
)

BY_NAME = {command.name: command for command in COMMANDS}
