"""HU605: serving code loads a format that runs code while it is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.python import PythonFile, argument, has_unpacked
from .models import serves

RULE = Rule(
    id="HU605",
    name="pickle-model",
    family="HU6",
    severity=Severity.WARNING,
    summary="serving code loads a model format that executes code",
    what="`pickle`, `cloudpickle`, `dill` and `joblib` loads, and `torch.load(weights_only=False)`, in Python files "
    "that answer requests. A torch.load without the argument counts where the file does not say it needs torch 2.6, "
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
    exemptions=("Python files that do not answer requests", "weights_only=True, or weights_only passed by **kwargs"),
    references=(
        "https://docs.python.org/3/library/pickle.html",
        "https://pytorch.org/docs/stable/generated/torch.load.html",
    ),
    reads=("python",),
)

_LOADS = re.compile(
    r"^(pickle|cPickle|_pickle|cloudpickle|dill)\.(load|loads|Unpickler)$|^joblib\.load$|^(sklearn\.externals\.)?joblib\.load$"
)
_TORCH_26 = re.compile(r"torch\s*[>~=]=\s*2\.([6-9]|\d\d)")


def check(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the loads of one file."""
    if not serves(file):
        return
    for name, call in file.calls:
        if _LOADS.match(name):
            yield ctx.finding(RULE, file.location(call), f"{name} runs code from the file it reads")
        elif name == "torch.load" and _unsafe(file, call):
            yield ctx.finding(RULE, file.location(call), "torch.load without weights_only=True runs code from the file")


def _unsafe(file: PythonFile, call: ast.Call) -> bool:
    value = argument(call, None, "weights_only")
    if value is None:
        return not has_unpacked(call) and not _TORCH_26.search(file.file.text)
    return isinstance(value, ast.Constant) and value.value is False
