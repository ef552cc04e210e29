"""Renders chat templates; run as a process of its own by `sandbox`, so of this package it loads `meaning` alone.

Standard input is JSON: {"templates": [{"source", "cases": [variables…]}…], "limit": characters of output, "clock":
text, "seconds", "memory"}. Standard output is JSON, for each template {"variables": […], "required": […], "steps" and
"bare": [[line, text]…], "results": [{"text"} or {"error"}…]}, or {"error"} where it does not compile. Environment,
filters and globals are those of `transformers`.
"""

import json
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any


def main() -> None:
    """Render everything that was asked for."""
    request = json.load(sys.stdin)
    _limit(request["seconds"], request["memory"])
    from jinja2 import StrictUndefined, Undefined

    class Needed(StrictUndefined):
        """Raises where it is printed or looped over: there, nothing stands where something should.

        It can be tested and compared as usual: the template chooses what it renders without the variable, and that
        is compared with the old rendering.
        """

        __slots__ = ()
        __bool__ = Undefined.__bool__
        __len__ = Undefined.__len__
        __eq__ = Undefined.__eq__
        __ne__ = Undefined.__ne__
        __hash__ = Undefined.__hash__

        def __contains__(self, _item: Any) -> bool:
            return False

    environments = [_environment(kind, request["clock"]) for kind in (Undefined, Needed)]
    json.dump([_template(each, environments, request["limit"]) for each in request["templates"]], sys.stdout)


def _limit(seconds: int, memory: int) -> None:
    """Processor time, address space and recursion; and no file is written."""
    sys.setrecursionlimit(400)
    try:
        import resource
    except ImportError:
        return  # not a POSIX system: the parent's timeout remains
    limits = ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0))
    for kind, amount in limits:
        resource.setrlimit(kind, (amount, amount))


def _environment(undefined: Any, clock: str) -> Any:
    from jinja2 import nodes
    from jinja2.exceptions import TemplateError
    from jinja2.ext import Extension
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """`{% generation %}` marks the assistant's part for training; for rendering it is its body."""

        tags = {"generation"}  # noqa: RUF012 - Jinja's way

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def strftime_now(_format: str) -> str:
        return clock

    def tojson(value: Any, indent: Any = None, ensure_ascii: bool = False, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **options)

    environment: Any = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=undefined,
        extensions=[Generation, "jinja2.ext.loopcontrols"],
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    return environment


def _template(asked: dict[str, Any], environments: list[Any], limit: int) -> dict[str, Any]:
    from jinja2 import meta

    source, cases = asked["source"], asked["cases"]
    loose, strict = environments
    try:
        tree = loose.parse(source)
        variables = sorted(meta.find_undeclared_variables(tree) - _own(tree))
        templates = [environment.from_string(source) for environment in (loose, strict)]
    except Exception as error:  # noqa: BLE001 - whatever a hostile template raises is its result
        return {"error": _said(error)}
    results = [_render(templates[0], case, limit) for case in cases]
    required = {name for case in cases if (name := _missing(templates[1], case, limit))}
    steps, bare = _steps(loose, tree, source, cases)
    return {
        "variables": variables, "required": sorted(required), "results": results, "steps": steps, "bare": bare,
    }  # fmt: skip


def _own(tree: Any) -> set[str]:
    """The variables that a template sets, in one branch or another, and does not ask for first."""
    from jinja2 import nodes

    stored = {each.name for each in tree.find_all(nodes.Name) if each.ctx in ("store", "param")}
    asked = [each.node for each in tree.find_all(nodes.Test) if each.name in ("defined", "undefined", "none")]
    asked += [each.node for each in tree.find_all(nodes.Filter) if each.name in ("default", "d")]
    return stored - {each.name for each in asked if isinstance(each, nodes.Name)}


def _steps(environment: Any, tree: Any, source: str, cases: list[dict[str, Any]]) -> Any:
    """What the template says, to all and to most; its text where that is nested too deeply to be told."""
    given = {name: value for case in cases for name, value in case.items()}
    try:
        return _meaning().steps(environment, tree, given)
    except RecursionError:
        return [(1, source)], [(1, source)]


@cache
def _meaning() -> Any:
    path = Path(__file__).with_name("meaning.py")
    spec: Any = spec_from_file_location("meaning", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _render(template: Any, case: dict[str, Any], limit: int) -> dict[str, str]:
    try:
        text = ""
        for part in template.generate(**case):
            text += part
            if len(text) > limit:
                return {"error": f"renders more than {limit} characters"}
    except Exception as error:  # noqa: BLE001 - as above
        return {"error": _said(error)}
    return {"text": text}


def _missing(template: Any, case: dict[str, Any], limit: int) -> str:
    """The variable whose absence stops a strict rendering, or nothing."""
    from jinja2.exceptions import UndefinedError

    try:
        for count, _ in enumerate(template.generate(**case)):
            if count > limit:
                break
    except UndefinedError as error:
        words = str(error).split("'")
        return words[1] if len(words) == 3 and words[2] == " is undefined" else ""
    except Exception:  # noqa: BLE001 - reported by the loose rendering
        return ""
    return ""


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


if __name__ == "__main__":
    main()
