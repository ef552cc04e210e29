"""HU108: a health route that says yes while the model is still to be created."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from ....report.finding import Finding, Severity
from ....report.rule import Rule
from ..lazy import lazy
from ..rulebase import Context
from ..sources.loading import Loading
from ..sources.python import PythonFile

RULE = Rule(
    id="HU108",
    name="constant-health-route",
    family="HU1",
    severity=Severity.WARNING,
    summary="health route returns a constant while the model is created later",
    what="Health and readiness routes (FastAPI, Flask, Starlette, aiohttp) that return a constant, in a module that "
    "creates its "
    "model in a thread, in a background task, or on the first request.",
    why="The platform sends traffic as soon as the route answers. Until the load ends every request waits or fails, "
    "and "
    "when the load fails nobody notices: the shape of pytorch/serve#2099 in one's own server.",
    hint="return 503 until the model is there, or create the model at import or in the lifespan before yield",
    bad="""\
model = None

def load():
    global model
    model = AutoModel.from_pretrained("/models/v3")

threading.Thread(target=load).start()

@app.get("/health")
def health():
    return {"status": "ok"}
""",
    good="""\
@app.get("/health")
def health():
    if model is None:
        raise HTTPException(503)
    return {"status": "ok"}
""",
    example="python",
    exemptions=(
        "models created at import, in a lifespan before yield, or in a blocking start-up hook",
        "routes that look at any name but the response they build",
        "liveness routes (/livez, /live): they are meant to speak for the process",
    ),
    references=("https://github.com/pytorch/serve/issues/2099",),
    reads=("python",),
)

_PATH = lazy(r"/(ready|readyz|readiness|health|healthz|health[_-]?check|health/ready|ping|status)/?$")
_METHODS = frozenset({"get", "route", "api_route", "head", "add_url_rule"})
_BUILDERS = lazy(
    r"(^|\.)(Response|JSONResponse|PlainTextResponse|ORJSONResponse|HTMLResponse|json_response|jsonify|make_response|dict|str"
    r"|\w*Health\w*|\w*Status\w*|time|now|utcnow|isoformat)$"
)


def check(file: PythonFile, ctx: Context) -> Iterator[Finding]:
    """Judge the health routes of one module."""
    routes = [(function, path) for function, path in _routes(file) if _PATH.search(path)]
    if not routes or not (loading := Loading(file)).is_late:
        return
    for function, path in routes:
        answer = _constant_answer(file, function)
        if answer is not None:
            message = f"{path} answers a constant while {loading.how}"
            yield ctx.finding(RULE, file.location(answer), message)


def _routes(file: PythonFile) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """(function, path) of every route declared by decorator."""
    for node in file.nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in node.decorator_list:
            if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
                continue
            if decorator.func.attr in _METHODS and decorator.args:
                path = file.text(decorator.args[0])
                if path is not None:
                    yield node, path


def _constant_answer(file: PythonFile, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Return | None:
    """The only return of a function that decides nothing: no branch, no raise, nothing read but builders."""
    body = [node for statement in function.body for node in ast.walk(statement)]
    if any(isinstance(n, ast.If | ast.IfExp | ast.Raise | ast.Try | ast.Assert | ast.Await | ast.Match) for n in body):
        return None
    returns = [node for node in body if isinstance(node, ast.Return) and node.value is not None]
    if len(returns) != 1:
        return None
    callees = {id(part) for n in body if isinstance(n, ast.Call) for part in ast.walk(n.func)}
    built = all(_BUILDERS.search(file.name(n.func)) for n in body if isinstance(n, ast.Call) and not _is_log(file, n))
    arguments = {a.arg for a in chain(function.args.args, function.args.kwonlyargs)}
    reads = [
        n for n in body if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in callees
        and n.id not in arguments and n.id not in file.imports and file.text(n) is None
    ]  # fmt: skip
    return returns[0] if built and not reads else None


def _is_log(file: PythonFile, call: ast.Call) -> bool:
    return file.name(call.func).rsplit(".", 1)[-1] in ("debug", "info", "warning", "print")
