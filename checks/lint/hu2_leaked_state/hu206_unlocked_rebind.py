"""HU206: a serving process that swaps its model by rebinding globals, with requests running."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..rulebase import Context
from ..sources.python import PythonFile
from .reach import Function, while_serving

RULE = Rule(
    id="HU206",
    name="unlocked-model-rebind",
    family="HU2",
    severity=Severity.WARNING,
    summary="global model rebound while requests run, without lock or single swap",
    what="Functions behind a route, thread, scheduler or file watcher that rebind a global, or an attribute of "
    "app.state or of a module, holding a model, session, tokenizer or engine without a lock: several of them one "
    "after the other, or one that is emptied or changed in place before the new model is whole. A single assignment "
    "of one finished object is information only.",
    why="A request that runs between two assignments uses the new tokenizer with the old weights, or finds None. A "
    "model reloaded under its old name also keeps what is cached for that name: prefix-cache blocks of the old "
    "adapter were served after such a reload (vllm-project/vllm#42125, #31326).",
    hint="build one object that holds model, tokenizer and version, then assign it once; or guard both sides by a lock",
    bad="""\
@app.post("/reload")
def reload():
    global model, tokenizer
    model = AutoModel.from_pretrained(path)
    tokenizer = AutoTokenizer.from_pretrained(path)
""",
    good="""\
@app.post("/reload")
def reload():
    global serving
    serving = Serving(version, AutoModel.from_pretrained(path), AutoTokenizer.from_pretrained(path))
""",
    example="python",
    exemptions=(
        "functions that run once at start: __init__, initialize, lifespan, startup hooks, module level",
        "lazy creation under `if model is None`",
        "assignments inside `with lock`, and globals that hold no model",
    ),
    references=(
        "https://github.com/vllm-project/vllm/issues/42125",
        "https://github.com/vllm-project/vllm/issues/31326",
    ),
    reads=("python",),
)

_HOLDS_MODEL = lazy(
    r"(^|_)(models?|sess(ion)?s?|engine|pipe(line)?|predictor|classifier|regressor|tokeni[sz]er|encoder|decoder|detector|llm"
    r"|vectori[sz]er|scaler|embedder|processor|interpreter|bundle|weights|lora|adapter)s?($|_|\d)",
    re.IGNORECASE,
)
_NOT_MODEL = lazy(
    r"(name|path|dir|url|id|type|file|config|lock|cache|count|time|version|loaded|ready|status|info|training|enabled|state)s?$",
    re.IGNORECASE,
)
_LOADERS = lazy(
    r"(^|\.)(from_pretrained|InferenceSession|load_model|load_checkpoint|load_from_checkpoint|pipeline|SentenceTransformer"
    r"|AsyncLLMEngine|LLM|Llama|WhisperModel|YOLO|Interpreter)$|^(torch|joblib|pickle|keras|mlflow|tensorflow)\.(.*\.)?load\w*$"
)
_LOCK = lazy(r"lock|mutex|semaphore|condition|guard", re.IGNORECASE)


def check(source: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the functions of a file that run while it serves."""
    if not any(isinstance(node, ast.Global) or _is_stored_attribute(node) for node in source.nodes):
        return
    for function, how in while_serving(source).items():
        rebinds = [item for item in _rebinds(source, function) if not _guarded(source, item[1], item[0])]
        if not rebinds:
            continue
        names = list(dict.fromkeys(name for name, _ in rebinds))
        name, statement = rebinds[0]
        if len(names) > 1:
            message = f"{' and '.join(names[:3])} are rebound one after the other in {how}"
        elif _unfinished(function, name, [item for _, item in rebinds]):
            message = f"{name} is not whole between the statements of {how}"
        else:
            message = f"{name} is rebound in {how}, and requests in flight may use both models"
            yield ctx.finding(RULE, source.location(statement), message, severity=Severity.INFO)
            continue
        yield ctx.finding(RULE, source.location(statement), message)


def _rebinds(source: PythonFile, function: Function) -> list[tuple[str, ast.stmt]]:
    """(name, statement) of the assignments to globals and app.state attributes that hold a model."""
    declared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    found: list[tuple[str, ast.stmt]] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or source.function(node) is not function:
            continue
        for target in node.targets:
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                name = _global_name(source, each, declared)
                if name and _is_model(source, name, node.value):
                    found.append((name, node))
    return sorted(found, key=lambda item: item[1].lineno)


def _is_stored_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _global_name(source: PythonFile, target: ast.expr, declared: set[str]) -> str:
    """The name of a global, of an attribute of app.state or of an imported module; empty for anything else."""
    if isinstance(target, ast.Name):
        return target.id if target.id in declared else ""
    if not isinstance(target, ast.Attribute):
        return ""
    if isinstance(target.value, ast.Attribute) and target.value.attr == "state":
        return f"state.{target.attr}"
    module = target.value.id if isinstance(target.value, ast.Name) and target.value.id in source.imports else ""
    return f"{module}.{target.attr}" if module and module.islower() else ""


def _is_model(source: PythonFile, name: str, value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and _LOADERS.search(source.name(value.func)):
        return True
    return bool(_HOLDS_MODEL.search(name.rsplit(".", 1)[-1])) and not _NOT_MODEL.search(name)


def _guarded(source: PythonFile, statement: ast.stmt, name: str) -> bool:
    """Whether a lock is held, or the assignment only fills what is still empty."""
    for parent in source.parents(statement):
        if isinstance(parent, ast.With | ast.AsyncWith) and any(
            _LOCK.search(ast.unparse(i.context_expr)) for i in parent.items
        ):
            return True
        if isinstance(parent, ast.If) and _fills_empty(parent.test, name):
            return True
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            return _takes_lock(parent) or _returns_early(parent, name)
    return False


def _fills_empty(test: ast.expr, name: str) -> bool:
    """`name is None`, `not name`, also as a part of an `or` or `and`."""
    text = ast.unparse(test)
    last = re.escape(name.rsplit(".", 1)[-1])
    return bool(re.search(rf"\b{last} is None|not [\w.]*\b{last}\b|hasattr\(|{last} == None", text))


def _takes_lock(function: Function) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "acquire"
        for node in ast.walk(function)
    )


def _returns_early(function: Function, name: str) -> bool:
    """`if model is not None: return model` at the top."""
    last = name.rsplit(".", 1)[-1]
    for statement in function.body:
        if isinstance(statement, ast.If) and any(isinstance(item, ast.Return) for item in statement.body):
            text = ast.unparse(statement.test)
            if re.search(rf"\b{re.escape(last)}( is not None)?$", text):
                return True
    return False


def _unfinished(function: Function, name: str, statements: list[ast.stmt]) -> bool:
    """Whether the one global passes through a state that is no model: None, or weights loaded in place afterwards."""
    if len(statements) > 1:
        return True
    last = name.rsplit(".", 1)[-1]
    for node in ast.walk(function):
        if isinstance(node, ast.Delete) and any(ast.unparse(target).endswith(last) for target in node.targets):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            if owner.endswith(last) and node.func.attr in ("load_state_dict", "load_weights", "load_adapter"):
                return True
    return False
