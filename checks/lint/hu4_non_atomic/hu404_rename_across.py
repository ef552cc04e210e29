"""HU404: a rename that is no rename: across file systems, or on one where it is not atomic for readers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..paths import has_version, is_test
from ..rulebase import Context
from ..served import CONVENTIONAL, inside, served_paths
from ..sources.pods import Container
from ..sources.python import PythonFile, argument
from ..sources.scripts import ShellText
from ..volumes import model_path_on, stores
from .pypaths import describe

RULE = Rule(
    id="HU404",
    name="rename-across-filesystems",
    family="HU4",
    severity=Severity.WARNING,
    summary="model moved into place from another file system, or on a network one",
    what="mv, os.rename, os.replace and shutil.move that bring a model from /tmp (or a temporary directory there) to "
    "a serving path, that move between two volumes of a pod, or that rename onto an NFS, CIFS or bucket mount.",
    why="A rename is atomic only inside one local file system. Across two, os.rename fails with EXDEV and mv and "
    "shutil.move fall back to a copy that readers see growing. On NFS other clients keep stale handles of the replaced "
    "file, and a bucket mount renames a folder object by object.",
    hint="write the temporary copy next to its target, on the same file system, and rename it there",
    bad="""\
mv /tmp/ranker /mnt/models/ranker
""",
    good="""\
cp -r /tmp/ranker /mnt/models/.ranker-7
mv -T /mnt/models/.ranker-7 /mnt/models/ranker-7
""",
    example="bash",
    exemptions=(
        "image builds and test suites",
        "targets with a version in their path, which no reader has open",
        "moves inside /tmp, and moves to paths that no server reads",
    ),
    references=(
        "https://github.com/huggingface/hf-mount/issues/185",
        "https://github.com/sahlberg/libnfs/issues/614",
    ),
    reads=("python", "shell"),
)

_TEMPORARY = lazy(
    r"^/(var/)?tmp(/|$)|^/dev/shm(/|$)|^\{(mkdtemp|mkstemp|gettempdir|TemporaryDirectory|TMPDIR)\}|^\$\{?TMPDIR\b"
)
_NETWORK = lazy(r"^/(mnt|media|srv|vol(ume)?s?)/(efs|nfs|fsx|cifs|smb|gcs|s3|lustre|filestore)\b|^/(efs|nfs|fsx|gcs)/")
_MOVES = frozenset({"os.rename", "os.replace", "shutil.move", "os.renames"})


def check_shell(text: ShellText, ctx: Context) -> Iterator[Finding]:
    """Judge the mv commands of a shell text."""
    if text.how == "dockerfile" or is_test(text.path) or not re.search(r"\bmv\b", text.text):
        return
    for command in text.commands:
        operands = [word for word in command.arguments[1:] if not word.text.startswith("-")]
        if command.name != "mv" or len(operands) < 2:
            continue
        target = operands[-1]
        for source in operands[:-1]:
            if text.container is not None:
                reason = _between_volumes(ctx, text.container, source.text, target.text)
            else:
                reason = _reason(source.text, target.text, served_paths(ctx.index, text.path))
            if reason:
                yield ctx.finding(RULE, text.at(target), f"mv to {target.text} {reason}")
                break


def check_python(source: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the renames of a Python file."""
    if is_test(source.path):
        return
    for name, call in source.calls:
        old, new = _ends(name, call)
        if new is None:
            continue
        before, after = describe(source, old), describe(source, new)
        reason = _reason(before, after, served_paths(ctx.index, source.path))
        if reason:
            yield ctx.finding(RULE, source.location(call), f"{name or ast.unparse(call.func)} to {after} {reason}")


def _ends(name: str, call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """(from, to) of a call that renames."""
    if name in _MOVES:
        return argument(call, 0, "src"), argument(call, 1, "dst")
    return None, None


def _reason(source: str, target: str, served: list[str]) -> str:
    """What is wrong with a move, as a phrase; empty where nothing is known to be."""
    if _TEMPORARY.search(target) or has_version(target):
        return ""
    serves = bool(CONVENTIONAL.search(target)) or any(inside(target, path) for path in served)
    if serves and _TEMPORARY.search(source):
        return "from a temporary directory is a copy that readers see growing, not a rename"
    if _NETWORK.search(target) and (serves or re.search("model|weights|checkpoint", target, re.IGNORECASE)):
        return "renames on network storage, where readers keep the old file or see a mixture"
    return ""


def _between_volumes(ctx: Context, container: Container, source: str, target: str) -> str:
    """The same for paths of a container, whose mounts say where each lies."""
    if not target.startswith("/") or not source.startswith("/") or has_version(target):
        return ""
    to = container.mount_of(target)
    if to is None:
        return ""
    origin = container.mount_of(source)
    store = next((each for each in stores(ctx.index, container) if each.mount is to[0]), None)
    if store is None or not (model_path_on(container, store) or CONVENTIONAL.search(target) or "model" in target):
        return ""
    if origin is None or origin[0] is not to[0]:
        return f"comes from another file system: a copy on the {store.what} that readers see growing"
    return f"renames on a {store.what}, where readers keep the old file" if store.network else ""
