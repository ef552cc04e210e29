"""CFG-CODE: code that comes with the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ....models.strict_json import items_of
from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side

RULE = Rule(
    id="CFG-CODE",
    name="remote-code",
    family="CFG",
    severity=Severity.ERROR,
    summary="the model runs code of its own, and that code changed",
    what="auto_map of config.json, tokenizer_config.json, preprocessor_config.json and processor_config.json, and the "
    "Python files beside the weights, byte by byte; custom_generate/generate.py.",
    why="with trust_remote_code the server executes whatever the new version brings, with the server's rights",
    hint="review the code as you review your own, and pin it; or use the class that the library ships",
    bad='{"auto_map": {"AutoModelForCausalLM": "modeling_x.XForCausalLM"}}   (was absent)',
    good="{}",
    example="json",
    exemptions=("Python files that no auto_map leads to",),
    reads=("config", "tokenizer-config", "code"),
)

_LOOP = "custom_generate/generate.py"


def check(ctx: Context) -> Iterator[Finding]:
    """Whether there is code, whether its files are there, and whether it changed."""
    yield from _generation(ctx)
    new = _maps(ctx.new)
    if not new:
        return
    for file, key, module in new:
        if "--" not in module and f"{module}.py" not in ctx.new.tree.files:
            yield ctx.finding(
                RULE, "breaks", f"auto_map names {module}.py, which is not part of the model", path=file, pointer=key
            )
            return
    path, pointer = new[0][:2]
    if ctx.old is None:
        yield ctx.finding(RULE, "hot", f"runs its own code: {_names(ctx.new)}", path=path, pointer=pointer)
        return
    old = _maps(ctx.old)
    if [each[2] for each in old] != [each[2] for each in new]:
        message = "auto_map leads to other code" if old else "runs its own code now"
        yield ctx.finding(RULE, "breaks", f"{message}: {_names(ctx.new)}", path=path, pointer=pointer)
        return
    for name in sorted({*_code(ctx.old), *_code(ctx.new)}):
        before, after = ctx.old.tree.files.get(name), ctx.new.tree.files.get(name)
        if before is None or after is None:
            yield ctx.finding(RULE, "breaks", f"{name} {'went' if after is None else 'is new'}", path=name)
        elif ctx.same(name, name) != "same":
            yield ctx.finding(RULE, "breaks", f"{name} changed", path=name)


def _generation(ctx: Context) -> Iterator[Finding]:
    """The loop that `transformers` runs in place of its own where it is there."""
    if _LOOP not in ctx.new.tree.files or (ctx.old is not None and ctx.same(_LOOP, _LOOP) == "same"):
        return
    if ctx.old is None:
        yield ctx.finding(RULE, "hot", "generates with code of its own", path=_LOOP)
        return
    known = _LOOP in ctx.old.tree.files
    message = f"{_LOOP} changed" if known else "generates with code of its own now"
    yield ctx.finding(RULE, "breaks", message, path=_LOOP)


def _maps(side: Side) -> list[tuple[str, str, str]]:
    """(file, pointer, module) of every entry of auto_map."""
    found: list[tuple[str, str, str]] = []
    for file in ("config.json", "tokenizer_config.json", "preprocessor_config.json", "processor_config.json"):
        declared = (side.json(file) or {}).get("auto_map")
        entries = cast("dict[str, Any]", declared) if isinstance(declared, dict) else {}
        for key, value in sorted(entries.items()):
            names = [each for each in items_of(value) if isinstance(each, str)]
            found += [(file, f"/auto_map/{key}", each.rpartition(".")[0]) for each in names]
    return found


def _code(side: Side) -> list[str]:
    return [file.name for file in side.tree.of("code")]


def _names(side: Side) -> str:
    return ", ".join(sorted({module for _, _, module in _maps(side)}))
