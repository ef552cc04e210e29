"""HU605: serving code loads a format that runs code while it is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.kubernetes import Resource
from ..sources.python import PythonFile, argument, has_unpacked
from .models import of_resource, serves

RULE = Rule(
    id="HU605",
    name="pickle-model",
    family="HU6",
    severity=Severity.WARNING,
    summary="serving code loads a model format that executes code",
    what="`pickle`, `cloudpickle`, `dill` and `joblib` loads, and `torch.load(weights_only=False)`, in Python files "
    "that answer requests, and model locations that end in .pkl, .pickle, "
    ".joblib, .dill or .cloudpickle. "
    "A torch.load without the argument counts where the file does not say it needs torch 2.6, "
    "from which on True is the default.",
    why="Reading a pickle runs whatever it says, with the server's credentials: a replaced file is a takeover, and a "
    "hot swap reads new files while traffic flows.",
    hint="keep weights in safetensors or ONNX, pass weights_only=True, or verify the file's signature before loading",
    example="python",
    bad="""\
import torch
from fastapi import FastAPI

app = FastAPI()
model = torch.load("/models/current.pt", weights_only=False)
""",
    good="""\
import torch
from fastapi import FastAPI

app = FastAPI()
state = torch.load("/models/current.pt", weights_only=True)
""",
    exemptions=(
        "Python files that do not answer requests",
        "pickle.loads of bytes that do not come from a file or a store",
        "weights_only=True, or weights_only passed by **kwargs",
    ),
    references=(
        "https://docs.python.org/3/library/pickle.html",
        "https://pytorch.org/docs/stable/generated/torch.load.html",
    ),
    reads=("python", "kubernetes"),
)

_LOADS = re.compile(
    r"^(pickle|cPickle|_pickle|cloudpickle|dill)\.(load|loads|Unpickler)$|^(sklearn\.externals\.)?joblib\.load$"
)
_PICKLES = re.compile(r"\.(pkl|pickle|joblib|dill|cloudpickle)$", re.IGNORECASE)
_STORED = re.compile(r"^(read|read_bytes|get_object|get_blob|download_\w+|content)$")
_TORCH_26 = re.compile(r"torch\s*[>~=]=\s*2\.([6-9]|\d\d)")


def check_kubernetes(resource: Resource, ctx: Context) -> Iterator[Finding]:
    """Judge the model files that serving objects name."""
    for uri, where in of_resource(resource):
        if found := _PICKLES.search(uri.partition("?")[0].partition("#")[0]):
            yield ctx.finding(RULE, where, f"the model is a {found.group(1)} file, which runs code when it is loaded")


def check_python(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the loads of one file."""
    if not serves(file):
        return
    for name, call in file.calls:
        if _LOADS.match(name) and (not name.endswith("loads") or _from_storage(file, call)):
            yield ctx.finding(RULE, file.location(call), f"{name} runs code from the file it reads")
        elif name == "torch.load" and _unsafe(file, call):
            yield ctx.finding(RULE, file.location(call), "torch.load without weights_only=True runs code from the file")


def _from_storage(file: PythonFile, call: ast.Call) -> bool:
    """Whether bytes come from a file, an object store or a download; a message from another process is no model."""
    sources = list(call.args[:1])
    scope = file.function(call) or file.tree
    names = {node.id for each in sources for node in ast.walk(each) if isinstance(node, ast.Name)}
    assigned = (node for node in ast.walk(scope) if isinstance(node, ast.Assign))
    sources += [a.value for a in assigned if any(isinstance(t, ast.Name) and t.id in names for t in a.targets)]
    found = (node.attr for each in sources for node in ast.walk(each) if isinstance(node, ast.Attribute))
    return any(_STORED.match(name) for name in found)


def _unsafe(file: PythonFile, call: ast.Call) -> bool:
    value = argument(call, None, "weights_only")
    if value is None:
        return not has_unpacked(call) and not _TORCH_26.search(file.file.text)
    return isinstance(value, ast.Constant) and value.value is False
