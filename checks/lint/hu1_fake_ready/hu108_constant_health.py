"""HU108: a health route that says yes while the model is still to be created."""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
    summary="health route always says yes while the model is created later",
    what="Health and readiness routes (FastAPI, Flask, Starlette, aiohttp) that can answer nothing but 200, in a "
    "module "
    "that creates its model in a thread, in a background task, or on the first request. A body that says 'loading' "
    "does "
    "not help: probes and load balancers read the status alone.",
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
        "routes that raise, name an error status, or call anything that may",
        "/health beside a readiness route that tells the states apart",
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
    answers = [(path, _only_answer(file, function)) for function, path in routes]
    if any("ready" in path and answer is None for path, answer in answers):
        answers = [(path, answer) for path, answer in answers if "ready" in path]  # the others speak for the process
    for path, answer in answers:
        if answer is not None:
            yield ctx.finding(RULE, file.location(answer), f"{path} always answers 200, and {loading.how}")


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


def _only_answer(file: PythonFile, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Return | None:
    """The first return of a function that can give nothing but 200, whatever it says in the body: it raises nothing,
    calls nothing but builders of a response, and names no status of an error."""
    body = [node for statement in function.body for node in ast.walk(statement)]
    returns = [node for node in body if isinstance(node, ast.Return) and node.value is not None]
    if not returns or any(isinstance(node, ast.Raise | ast.Assert | ast.Await) for node in body):
        return None
    for node in body:
        if isinstance(node, ast.Call) and not (_is_log(file, node) or _BUILDERS.search(file.name(node.func))):
            return None
        if isinstance(node, ast.Constant) and type(node.value) is int and 400 <= node.value < 600:
            return None
        status = node.value if isinstance(node, ast.keyword) and node.arg in ("status_code", "status") else None
        if status is not None and not isinstance(status, ast.Constant):
            return None
        if isinstance(node, ast.Attribute) and node.attr.startswith(("HTTP_4", "HTTP_5", "status_code")):
            return None
    return returns[0]


def _is_log(file: PythonFile, call: ast.Call) -> bool:
    return file.name(call.func).rsplit(".", 1)[-1] in ("debug", "info", "warning", "print")
