"""HU607: serving code or weights fetched from a branch when the server starts or its image is built."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.scripts import ShellText
from ..sources.shell import Command
from ..sources.yamlnodes import walk
from .models import serve_config
from .references import is_commit

RULE = Rule(
    id="HU607",
    name="code-from-branch",
    family="HU6",
    severity=Severity.WARNING,
    summary="serving code or weights fetched from a Git branch at start or build",
    what="`working_dir` and `py_modules` archives of a branch in a RayService, and `git clone` without a pinned "
    "checkout or `pip install git+…` without a commit in the commands of a model server or its init containers or a "
    "Dockerfile that builds one.",
    why="What serves is what the branch held when the pod last started: two replicas differ, nothing was reviewed, and "
    "a node that comes back at night is a release.",
    hint="pin the commit: an archive by commit, git checkout <commit>, or git+…@<commit>",
    bad="""\
apiVersion: ray.io/v1
kind: RayService
metadata: {name: llm}
spec:
  serveConfigV2: |
    applications:
      - name: llm
        runtime_env: {working_dir: "https://github.com/acme/serve/archive/master.zip"}
""",
    good="""\
apiVersion: ray.io/v1
kind: RayService
metadata: {name: llm}
spec:
  serveConfigV2: |
    applications:
      - name: llm
        runtime_env: {working_dir: "https://github.com/acme/serve/archive/b393e77bbd6aba0881e3d94c05f968f05a387b96.zip"}
""",
    exemptions=("archives and checkouts of a commit or a release tag", "scripts that neither serve nor build a server"),
    reads=("kubernetes", "shell"),
)

_ARCHIVE = re.compile(
    r"/archive/(refs/heads/[^/]+|main|master|develop|dev)\.(zip|tar\.gz)$|/(zip|tar)ball/(main|master)$"
)
_MODEL_WORDS = re.compile(
    r"torch|vllm|triton|tensorflow|transformers|onnx|sglang|huggingface|model|serve|llm", re.IGNORECASE
)
_HUB = re.compile(r"huggingface\.co/|hf\.co/")


def check_kubernetes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the runtime environments of a RayService."""
    for inner in serve_config(resource):
        for holder, key in walk(inner.root):
            value = holder.get(key)
            if key == "working_dir" and isinstance(value, str) and _ARCHIVE.search(value):
                yield ctx.finding(RULE, inner.at(holder, key), f"serving code comes from a branch archive: {value}")


def check_shell(shell: ShellText, ctx: Context) -> Iterator[Finding]:
    """Judge the commands of pods with a model server, and of image builds that clone weights."""
    if "git" not in shell.text or not _builds_a_server(shell, ctx):
        return
    commands = shell.commands
    pinned = any(command.name == "git" and _checks_out(command) for command in commands)
    for command in commands:
        words = [word.text for word in command.words]
        if command.name == "git" and "clone" in words and not pinned and not _clones_release(words):
            url = next((word for word in command.words if "://" in word.text or word.text.startswith("git@")), None)
            if url is not None and (shell.container is not None or _HUB.search(url.text)):
                what = "weights are" if _HUB.search(url.text) else "code is"
                yield ctx.finding(RULE, shell.at(url), f"{what} cloned from the default branch of {url.text}")
        elif command.name in ("pip", "pip3", "uv") and "install" in words and shell.container is not None:
            for word in command.words:
                if "git+" in word.text and not is_commit(word.text.rpartition("@")[2].partition("#")[0]):
                    yield ctx.finding(RULE, shell.at(word), f"{word.text} is installed at start from a branch")


def _builds_a_server(shell: ShellText, ctx: Context) -> bool:
    if shell.container is not None:
        return bool(ctx.index.servers(shell.container.pod))
    return shell.how == "dockerfile" and bool(_MODEL_WORDS.search(shell.file.text))


def _checks_out(command: Command) -> bool:
    words = [word.text for word in command.words]
    return bool({"checkout", "reset", "switch"} & set(words)) and any(
        re.fullmatch(r"[0-9a-f]{7,40}|v?\d+\.\d+[\w.-]*|tags/.*|\$\{?\w+\}?", word) for word in words[2:]
    )


def _clones_release(words: list[str]) -> bool:
    """`-b v1.2` or `--branch=v1.2`: a release tag; also a variable, whose value is unknown."""
    for index, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in ("-b", "--branch"):
            value = value or (words[index + 1] if index + 1 < len(words) else "")
            return bool(re.match(r"v?\d+\.\d+|\$|release", value))
    return False
