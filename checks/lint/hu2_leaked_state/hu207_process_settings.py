"""HU207: a model file that changes settings of the whole process it is loaded into."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..rulebase import Context
from ..sources.python import PythonFile

RULE = Rule(
    id="HU207",
    name="process-wide-settings",
    family="HU2",
    severity=Severity.INFO,
    summary="model file that sets process-wide environment or flags",
    what="`os.environ` writes and global framework flags (`torch.backends`, `torch.set_…`, `np.random.seed`, "
    "`tf.config`) at import or in the load path of a model file: a Triton model.py in a version directory, a "
    "TorchServe handler, an MLServer or KServe runtime.",
    why="The next version, and every other model in the process, inherits the setting; whether it applies depends on "
    "which model was loaded first. Unloading a model does not undo it.",
    hint="set it in the container's environment, or pass it to the call that needs it",
    example="python",
    bad="""\
import os
import triton_python_backend_utils as pb_utils

os.environ["TRANSFORMERS_CACHE"] = "/models/falcon/hub"
""",
    good="""\
import triton_python_backend_utils as pb_utils
from transformers import AutoTokenizer

class TritonPythonModel:
    def initialize(self, args):
        self.tokenizer = AutoTokenizer.from_pretrained("/models/falcon", cache_dir=args["model_repository"])
""",
    exemptions=("servers and scripts of their own process", "reads of the environment"),
    reads=("python",),
    pedantic=True,
)

_MODEL_FILE = re.compile(r"(^|/)\d+/model\.py$|handler\w*\.py$")
_BACKENDS = frozenset({"triton_python_backend_utils", "ts", "mlserver", "kserve", "seldon_core"})
_FLAG = re.compile(r"^torch\.backends\.|^torch\._dynamo\.config\.|^tensorflow\.config\.")
_SETTERS = re.compile(
    r"^(torch\.(set_default_dtype|set_default_device|set_num_threads|set_float32_matmul_precision|use_deterministic_"
    r"algorithms|manual_seed)|numpy\.random\.seed|tensorflow\.config\..*set_\w+|os\.(putenv|chdir)|os\.environ\.(setdefault|update))$"
)
_LOAD_PATH = frozenset({"", "initialize", "__init__", "load", "load_model", "setup", "init"})


def check(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge one model file."""
    if not (file.modules & _BACKENDS) or not (
        _MODEL_FILE.search(file.path) or "triton_python_backend_utils" in file.modules
    ):
        return
    for node in file.nodes:
        what = _setting(file, node)
        if what:
            function = file.function(node)
            if (function.name if function else "") in _LOAD_PATH:
                message = f"{what} changes the whole process, for every model in it"
                yield ctx.finding(RULE, file.location(node), message)


def _setting(file: PythonFile, node: ast.AST) -> str:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and file.name(target.value) == "os.environ":
                return f"os.environ[{ast.unparse(target.slice)}]"
            if _FLAG.match(file.name(target)):
                return file.name(target)
    if isinstance(node, ast.Call) and _SETTERS.match(file.name(node.func)):
        return file.name(node.func)
    return ""
