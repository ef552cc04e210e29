"""HU406: a model that counts as complete because its file or folder exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..paths import is_test
from ..rulebase import Context
from ..sources.python import PythonFile
from ..sources.scripts import ShellText
from ..sources.shell import Command, Word
from .mentions import COPIES
from .pypaths import describe

RULE = Rule(
    id="HU406",
    name="exists-means-complete",
    family="HU4",
    severity=Severity.WARNING,
    summary="model taken for complete because it exists",
    what="Tests that a file or folder exists, or is not empty (test -d, ls -A, os.path.exists, os.listdir), which "
    "decide that a download is skipped or that waiting for a model is over.",
    why="A download that was interrupted leaves the folder behind. After the restart the test passes, the download "
    "is skipped and the server loads what is there: a truncated archive counts as healthy (pytorch/serve#2099), a "
    "SavedModel without its variables fails later (tensorflow/serving#631).",
    hint="download to a temporary name and rename when done, or test for a marker or verified manifest written last",
    bad="""\
[ -d /models/ranker ] || hf download org/ranker --local-dir /models/ranker
""",
    good="""\
if [ ! -e /models/ranker/.complete ]; then
  hf download org/ranker --local-dir /models/ranker && touch /models/ranker/.complete
fi
""",
    example="bash",
    exemptions=(
        "tests for a marker, manifest or checksum file",
        "scripts that check a hash or signature, or that download to another name and move it",
        "test suites and image builds",
    ),
    references=(
        "https://github.com/pytorch/serve/issues/2099",
        "https://github.com/tensorflow/serving/issues/631",
    ),
    reads=("python", "shell"),
)

_MARKER = lazy(
    r"\.?(complete[d]?|done|ready|success|finished|marker|lock|ok)\b|_SUCCESS|manifest|sha\d*|md5|checksum|digest|\.sig\b|\.etag",
    re.IGNORECASE,
)
_VERIFIES = lazy(
    r"sha\d+sum|md5sum|shasum|cosign|model_signing|interlock\s+(verify|pull)|gpg\s+--verify|hashlib|verify_signature"
)
_MODEL = lazy(
    r"model|llm|weights|checkpoint|ckpt|\.(pt|pth|bin|onnx|gguf|safetensors|mar|tar|plan|engine)\b", re.IGNORECASE
)
_FETCHERS = lazy(
    r"(^|[._])(download\w*|snapshot_download|hf_hub_download|urlretrieve|fetch\w*|copy_from_s3|download_file|wget|load_from_hub)$",
    re.IGNORECASE,
)
_BY_REPOSITORY = frozenset({"snapshot_download", "hf_hub_download"})
_EXISTS = frozenset({"os.path.exists", "os.path.isdir", "os.path.isfile", "os.listdir", "os.scandir", "glob.glob"})


def check_shell(text: ShellText, ctx: Context) -> Iterator[Finding]:
    """Judge the tests of a shell text that guard a download."""
    if text.how == "dockerfile" or is_test(text.path) or _VERIFIES.search(text.text):
        return
    if not re.search(r"\[|\btest\b", text.text):
        return
    if not COPIES.search(text.text):
        return
    from .copies import copies

    commands = text.commands
    downloads = [copy for copy in copies(commands) if copy.download]
    for index, command in enumerate(commands):
        path = _tested(command, commands[max(0, index - 3) : index])
        if path is None or _MARKER.search(path.text) or not _MODEL.search(path.text):
            continue
        for copy in downloads:
            place = commands.index(copy.command)
            if index < place <= index + 6 and _same_place(path.text, copy.target.text):
                message = (
                    f"{path.text} counts as complete when it exists, and an interrupted {copy.tool} leaves it behind"
                )
                yield ctx.finding(RULE, text.at(path), message)
                break


def _tested(command: Command, before: list[Command]) -> Word | None:
    """The path whose existence a `[`, `[[` or `test` command asks for."""
    if command.name not in ("[", "[[", "test"):
        return None
    words = command.arguments[1:]
    for flag, operand in pairwise(words):
        if flag.text in ("-d", "-e", "-f", "-s"):
            return operand
        if flag.text in ("-z", "-n") and "ls " in operand.text:
            listing = next((each for each in reversed(before) if each.name == "ls"), None)
            operands = [word for word in listing.arguments[1:] if not word.text.startswith("-")] if listing else []
            return operands[0] if operands else None
    return None


def _same_place(tested: str, target: str) -> bool:
    """Whether the download fills what was tested."""
    tested, target = tested.rstrip("/*"), target.rstrip("/")
    return tested == target or tested.startswith(target + "/") or target.startswith(tested + "/")


def check_python(source: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the tests of a Python file that guard a download or end a wait."""
    if is_test(source.path) or _VERIFIES.search(source.file.text):
        return
    for node in source.nodes:
        if not isinstance(node, ast.If | ast.While):
            continue
        tested = _existence(source, node.test)
        if tested is None:
            continue
        path = describe(source, tested)
        if _MARKER.search(path) or not _MODEL.search(path):
            continue
        shown = path if len(path) <= 60 else f"{path[:57]}..."
        if isinstance(node, ast.While) and _negated(node.test) and _sleeps(node):
            yield ctx.finding(
                RULE, source.location(node.test), f"waiting ends when {shown} exists, not when it is complete"
            )
        elif isinstance(node, ast.If) and _negated(node.test) and _fetches(source, node, tested):
            message = f"{shown} counts as complete when it exists, and an interrupted download leaves it behind"
            yield ctx.finding(RULE, source.location(node.test), message)


def _existence(source: PythonFile, test: ast.expr) -> ast.expr | None:
    """The path whose existence an expression asks for."""
    for node in ast.walk(test):
        if not isinstance(node, ast.Call):
            continue
        if source.name(node.func) in _EXISTS and node.args:
            return node.args[0]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("exists", "is_dir", "is_file", "iterdir"):
            return node.func.value
    return None


def _negated(test: ast.expr) -> bool:
    return any(isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) for node in ast.walk(test))


def _sleeps(node: ast.While) -> bool:
    return any(isinstance(each, ast.Call) and ast.unparse(each.func).endswith("sleep") for each in ast.walk(node))


def _fetches(source: PythonFile, node: ast.If, tested: ast.expr) -> bool:
    """Whether the body downloads to the tested path itself and renames nothing."""
    calls = [each for statement in node.body for each in ast.walk(statement) if isinstance(each, ast.Call)]
    names = [source.name(call.func) or ast.unparse(call.func) for call in calls]
    if any(re.search(r"(^|\.)(rename|replace|move)$", name) for name in names):
        return False
    wanted = ast.unparse(tested)
    for call, name in zip(calls, names, strict=True):
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if name.rsplit(".", 1)[-1] in _BY_REPOSITORY:  # the first argument is the repository, and the cache is its own
            given = [keyword.value for keyword in call.keywords if keyword.arg in ("local_dir", "cache_dir")]
        # `path = download(path)`: what was tested is the name of a model, not where it goes.
        if any(isinstance(parent, ast.Return | ast.Assign) for parent in source.parents(call) if parent in node.body):
            continue
        if _FETCHERS.search(name) and any(wanted in ast.unparse(value) for value in given):
            return True
    return False
