"""HU409: a live pointer that is switched by removing and making a link."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from posixpath import basename

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..paths import is_test
from ..rulebase import Context
from ..served import CONVENTIONAL, inside, served_paths
from ..sources.python import PythonFile
from ..sources.scripts import ShellText
from ..sources.shell import Command, Word
from .pypaths import describe

RULE = Rule(
    id="HU409",
    name="live-link-gap",
    family="HU4",
    severity=Severity.WARNING,
    summary="live model link removed and made anew",
    what="rm followed by ln -s, ln -s or ln -sf without -n onto an existing live pointer (current, live, latest, "
    "serving, prod, or a path that a server reads), and os.remove followed by os.symlink.",
    why="Between the two calls there is no model: a server that opens the path fails, and one that polls unloads the "
    "model. Without -n, ln follows the old link and puts the new one inside the version that it points to, which then "
    "stays live.",
    hint="ln -sfn VERSION current.tmp && mv -T current.tmp current: the rename replaces the link in one step",
    bad="""\
rm -f /srv/models/current
ln -s /srv/models/7 /srv/models/current
""",
    good="""\
ln -sfn /srv/models/7 /srv/models/current.tmp
mv -T /srv/models/current.tmp /srv/models/current
""",
    example="bash",
    exemptions=(
        "a link made under another name and moved into place",
        "ln -sfn, which GNU coreutils 8.30 and later replace by rename",
        "image builds and test suites",
    ),
    references=("https://www.gnu.org/software/coreutils/manual/html_node/ln-invocation.html",),
    reads=("python", "shell"),
)

_POINTER = lazy(
    r"^(current|live|latest|active|serving|served|prod(uction)?|stable|default)([_-]?model)?$", re.IGNORECASE
)
_MODEL = lazy(r"model|weights|checkpoint|serving|release", re.IGNORECASE)


def check_shell(text: ShellText, ctx: Context) -> Iterator[Finding]:
    """Judge the links that a shell text makes."""
    if text.how == "dockerfile" or is_test(text.path) or not re.search(r"\bln\b", text.text):
        return
    served = served_paths(ctx.index, text.path)
    commands = text.commands
    for index, command in enumerate(commands):
        target = _link(command)
        if target is None or not _live(target.text, served):
            continue
        removed = any(_removes(each, target.text) for each in commands[max(0, index - 4) : index])
        moved = any(each.name == "mv" and target.text in each.argv[1:-1] for each in commands[index + 1 :])
        if moved:
            continue
        flags = "".join(word.text for word in command.arguments[1:] if word.text.startswith("-"))
        if removed:
            yield ctx.finding(RULE, text.at(target), f"{target.text} does not exist between rm and ln")
        elif not re.search(r"n|T|no-dereference|no-target-directory", flags.replace("symbolic", "")):
            yield ctx.finding(
                RULE, text.at(target), f"ln without -n puts the link inside the version {target.text} points to"
            )


def _link(command: Command) -> Word | None:
    """The name that an `ln -s` makes."""
    words = command.arguments[1:]
    operands = [word for word in words if not word.text.startswith("-")]
    symbolic = any(re.fullmatch(r"-[a-zA-Z]*s[a-zA-Z]*|--symbolic", word.text) for word in words)
    return operands[-1] if command.name == "ln" and symbolic and len(operands) > 1 else None


def _removes(command: Command, path: str) -> bool:
    return command.name in ("rm", "unlink") and any(word.rstrip("/") == path.rstrip("/") for word in command.argv[1:])


def _live(path: str, served: list[str]) -> bool:
    """Whether a path is what servers open: a pointer's name in a model folder, or a path that one reads."""
    if any(path.rstrip("/") == each for each in served):
        return True
    named = bool(_POINTER.match(basename(path.rstrip("/")) or ""))
    return named and (
        bool(_MODEL.search(path)) or bool(CONVENTIONAL.search(path)) or any(inside(path, e) for e in served)
    )


def check_python(source: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge os.symlink after the removal of the same name."""
    if is_test(source.path) or "symlink" not in source.file.text:
        return
    served = served_paths(ctx.index, source.path)
    for call, target in _symlinks(source):
        path = describe(source, target)
        scope = source.function(call) or source.tree
        if _live(path, served) and _removed_before(source, scope, target, call):
            yield ctx.finding(
                RULE, source.location(call), f"{path} does not exist between its removal and the new link"
            )


def _symlinks(source: PythonFile) -> Iterator[tuple[ast.Call, ast.expr]]:
    """(call, name made) of os.symlink and Path.symlink_to."""
    for name, call in source.calls:
        if name == "os.symlink" and len(call.args) > 1:
            yield call, call.args[1]
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "symlink_to":
            yield call, call.func.value


def _removed_before(source: PythonFile, scope: ast.AST, target: ast.expr, link: ast.Call) -> bool:
    wanted = ast.unparse(target)
    for node in ast.walk(scope):
        if not isinstance(node, ast.Call) or node.lineno > link.lineno or node is link:
            continue
        if source.name(node.func) in ("os.remove", "os.unlink", "shutil.rmtree") and node.args:
            if ast.unparse(node.args[0]) == wanted:
                return True
        elif (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "unlink"
            and ast.unparse(node.func.value) == wanted
        ):
            return True
    return False
