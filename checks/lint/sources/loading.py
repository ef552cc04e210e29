"""When a Python module creates its model: at import, before it serves, in the background, or on a first request."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from ..lazy import lazy
from .python import PythonFile

_LOADERS = lazy(
    r"(^|\.)(from_pretrained|load_model|load_checkpoint|load_state_dict|from_engine_args|from_single_file|load_from_checkpoint|"
    r"InferenceSession|SentenceTransformer|CrossEncoder|WhisperModel|AsyncLLMEngine|AsyncLLM|YOLO|Llama|TextGenerationPipeline)$"
    r"|^(torch\.load|torch\.jit\.load|joblib\.load|pickle\.load|cloudpickle\.load|transformers\.pipeline|vllm\.LLM|spacy\.load|"
    r"whisper\.load_model|tensorflow\.saved_model\.load|tf\.saved_model\.load|mlflow\.\w+\.load_model|safetensors\.torch\.load_file)$"
)
_BACKGROUND = lazy(
    r"(^|\.)(Thread|Timer|Process|create_task|ensure_future|add_task|submit|run_in_executor|start_soon|to_thread_later)$"
)
_HOOKS = lazy(r"(startup|lifespan|on_start|before_serving|before_first_request)", re.IGNORECASE)
_ROUTE = frozenset({"get", "post", "put", "patch", "route", "api_route", "websocket", "head"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Loading:
    """What a module does to get its model. Only functions of the module itself are followed, by name."""

    def __init__(self, file: PythonFile) -> None:
        self.file = file

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Functions and methods by name."""
        return {n.name: n for n in self.file.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}

    @cached_property
    def _direct(self) -> list[tuple[str, ast.Call]]:
        """The calls made where they stand; those handed to a background call (`create_task(load())`) are left out."""
        background = [call for name, call in self.file.calls if _BACKGROUND.search(name)]
        handed = {id(argument) for call in background for argument in _arguments(call)}
        return [(name, call) for name, call in self.file.calls if id(call) not in handed]

    @cached_property
    def loaders(self) -> frozenset[str]:
        """Functions that create a model, directly or through another function of the module."""
        found = {f.name for name, call in self.file.calls if _LOADERS.search(name) and (f := self.file.function(call))}
        grown = True
        while grown:
            callers = {f.name for name, call in self._direct if name in found and (f := self.file.function(call))}
            grown = not callers <= found
            found |= callers
        return frozenset(found)

    @cached_property
    def background(self) -> str:
        """The function that creates the model behind the server's back; empty when none does."""
        for name, call in self.file.calls:
            if _BACKGROUND.search(name):
                for argument in _callables(call):
                    if argument in self.loaders:
                        return argument
        return ""

    @cached_property
    def on_request(self) -> str:
        """The route that creates the model when first asked; empty when none does."""
        for name, function in self.functions.items():
            if name in self.loaders and any(_is_route(decorator) for decorator in function.decorator_list):
                return name
        return ""

    @cached_property
    def early(self) -> bool:
        """Whether the model is there before the first request: created at import or by a hook that waits for it."""
        for name, call in self._direct:
            if not (_LOADERS.search(name) or name in self.loaders):
                continue
            function = self.file.function(call)
            if function is None:
                return True
            if function.name not in (self.background, self.on_request) and self._is_hook(function):
                return True
        return False

    @property
    def is_late(self) -> bool:
        """Whether the server takes requests before its model exists."""
        return bool(self.background or self.on_request) and not self.early

    @property
    def how(self) -> str:
        """In words, how the model comes about."""
        if self.background:
            return f"{self.background} creates the model in the background"
        return f"{self.on_request} creates the model on the first request"

    def _is_hook(self, function: Function) -> bool:
        names = [function.name]
        for decorator in function.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            names.append(self.file.name(call.func if call else decorator))
            names += [self.file.text(argument) or "" for argument in call.args] if call else []
        passed = (
            self.file.name(k.value)
            for _, call in self.file.calls
            for k in call.keywords
            if k.arg and _HOOKS.search(k.arg)
        )
        return any(_HOOKS.search(name) for name in names) or function.name in passed


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _callables(call: ast.Call) -> Iterator[str]:
    """Names of the functions handed to a background call, as themselves or called (`create_task(load())`)."""
    for argument in _arguments(call):
        inner = argument.func if isinstance(argument, ast.Call) else argument
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr


def _is_route(decorator: ast.expr) -> bool:
    return (
        isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute) and decorator.func.attr in _ROUTE
    )
