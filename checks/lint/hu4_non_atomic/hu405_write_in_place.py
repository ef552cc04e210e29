"""HU405: Python that writes a model straight into the directory that a server reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..paths import has_version, is_test
from ..rulebase import Context
from ..served import CONVENTIONAL, STAGING, inside, served_paths
from ..sources.python import PythonFile, argument
from .pypaths import describe

RULE = Rule(
    id="HU405",
    name="model-written-in-place",
    family="HU4",
    severity=Severity.WARNING,
    summary="model written straight into the directory that a server reads",
    what="torch.save, save_file, save_pretrained, joblib.dump, open(..., 'wb'), copytree and similar calls whose "
    "target is a serving path: one that a server of the same tree reads from, or a model repository, model store or "
    "live directory by name. Not reported where the function renames a temporary path into place.",
    why="A reader that opens the file in between gets half a model: a load error, a crash on a memory-mapped file that "
    "is truncated under it (NVIDIA/TensorRT-LLM#17368), or new weights with an old configuration. A crash of the "
    "writer leaves it that way.",
    hint="write to a temporary path on the same file system, fsync it, then os.replace it into a new version directory",
    bad="""\
torch.save(model.state_dict(), "/models/model_repository/ranker/model.pt")
""",
    good="""\
with tempfile.NamedTemporaryFile(dir="/models/model_repository/ranker", delete=False) as part:
    torch.save(model.state_dict(), part)
    part.flush()
    os.fsync(part.fileno())
os.replace(part.name, "/models/model_repository/ranker/model.pt")
""",
    example="python",
    exemptions=(
        "paths with a version, digest or date segment, known or by the name of a variable",
        "temporary and staging paths, and functions that rename or replace",
        "test suites",
    ),
    references=("https://github.com/NVIDIA/TensorRT-LLM/issues/17368",),
    reads=("python",),
)

# dotted name after imports are resolved -> place and names of the argument that is the path
_FUNCTIONS = {
    "torch.save": (1, "f"),
    "torch.jit.save": (1, "f"),
    "torch.onnx.export": (2, "f"),
    "safetensors.torch.save_file": (1, "filename"),
    "safetensors.numpy.save_file": (1, "filename"),
    "safetensors.flax.save_file": (1, "filename"),
    "safetensors.tensorflow.save_file": (1, "filename"),
    "joblib.dump": (1, "filename"),
    "onnx.save": (1, "f"),
    "onnx.save_model": (1, "f"),
    "tensorflow.saved_model.save": (1, "export_dir"),
    "numpy.save": (0, "file"),
    "numpy.savez": (0, "file"),
    "shutil.copytree": (1, "dst"),
    "shutil.copy": (1, "dst"),
    "shutil.copy2": (1, "dst"),
    "shutil.copyfile": (1, "dst"),
    "open": (0, "file"),
}
_METHODS = {"save_pretrained": 0, "save_model": 0, "save_weights": 0, "export_model": 0}
_RENAMES = frozenset({"os.replace", "os.rename", "shutil.move", "os.symlink", "os.link", "os.renames"})


def check(source: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the writes of a file."""
    if is_test(source.path):
        return
    served = served_paths(ctx.index, source.path)
    for name, call in source.calls:
        target = _target(source, name, call)
        if target is None:
            continue
        path = describe(source, target)
        if not _serves(path, served) or STAGING.search(path) or has_version(path) or _renames(source, call):
            continue
        shown = path if len(path) <= 80 else f"{path[:77]}..."
        verb = name or ast.unparse(call.func)
        yield ctx.finding(RULE, source.location(call), f"{verb} writes into the serving path {shown} in place")


def _target(source: PythonFile, name: str, call: ast.Call) -> ast.expr | None:
    """The path that a call writes to, None where it writes no model file."""
    if name == "open" and not _writes(source, call):
        return None
    if name in _FUNCTIONS:
        place, keyword = _FUNCTIONS[name]
        target = argument(call, place, keyword)
    elif isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
        target = argument(call, 0, "save_directory", "path", "filepath", "fname")
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "write_bytes":
        target = call.func.value
    else:
        return None
    # A file object is judged where it is opened.
    return None if isinstance(target, ast.Call) and source.name(target.func) == "open" else target


def _writes(source: PythonFile, call: ast.Call) -> bool:
    mode = source.text(argument(call, 1, "mode"))
    return mode is not None and "b" in mode and any(letter in mode for letter in "wx+")


def _serves(path: str, served: list[str]) -> bool:
    return bool(CONVENTIONAL.search(path)) or (path.startswith("/") and any(inside(path, folder) for folder in served))


def _renames(source: PythonFile, call: ast.Call) -> bool:
    """Whether the function around a call, or the module for module-level code, moves something into place."""
    scope = source.function(call) or source.tree
    for node in ast.walk(scope):
        if isinstance(node, ast.Call):
            if source.name(node.func) in _RENAMES:
                return True
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("rename", "replace") and len(node.args) == 1:
                return True
    return False
