"""FIL-FORMAT: the weights come in another container."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from ..side import Side
from .companions import containers

RULE = Rule(
    id="FIL-FORMAT",
    name="container-changed",
    family="FIL",
    severity=Severity.WARNING,
    summary="the weights come in another container format, or there are none any more",
    what="Which of ONNX, safetensors, GGUF, TensorRT engine, pickle and other frameworks' files hold the weights on "
    "each side.",
    why="another container needs another loader, often another server",
    hint="publish the format that the servers were started for",
    exemptions=(
        "a format added beside the one that is loaded",
        "models of a Triton repository, which has a backend for each: what another one answers is unproven",
    ),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Containers on one side only."""
    if ctx.old is None:
        return
    old, new = _holding(ctx.old), _holding(ctx.new)
    was, is_ = (", ".join(sorted(each)) or "no weights" for each in (old, new))
    if old - new and _triton(ctx):
        # Triton has a backend for each; what the new one answers is not known.
        yield ctx.finding(RULE, "unproven", "another backend of Triton runs the model", old=was, new=is_)
    elif old and not new:
        yield ctx.finding(RULE, "breaks", "the model holds no weights any more", old=was, new=is_)
    elif old - new:
        yield ctx.finding(RULE, "restart", "the weights come in another container", old=was, new=is_)
    elif new and not old:
        yield ctx.finding(RULE, "unproven", "the live version holds no weights to compare with", old=was, new=is_)
    elif "safetensors" in new - old and "pickle" in old:
        # An added format changes nothing for a server that loads the old one, but this one is loaded first.
        yield ctx.finding(
            RULE, "unproven", "safetensors are new beside a pickle, and are loaded instead of it", old=was, new=is_
        )


def _triton(ctx: Context) -> bool:
    """Whether both are Triton repositories, and every model of the old one has a version in the new one that serves."""
    if ctx.old is None or not (ctx.old.triton and ctx.new.triton):
        return False
    from ..serving.versions import served_versions

    for name, config in ctx.old.triton.items():
        if not any(ctx.old.tree.folders(config.folder).get(str(v)) for v in served_versions(ctx.old.tree, config)):
            continue  # an ensemble, or nothing that serves
        new = ctx.new.triton.get(name)
        if new is None or not any(
            ctx.new.tree.folders(new.folder).get(str(version)) for version in served_versions(ctx.new.tree, new)
        ):
            return False
    return True


def _holding(side: Side) -> set[str]:
    """The containers; a GGUF file of a vocabulary alone is none."""
    found = set(containers(side.tree))
    if found == {"gguf"} and not any(model.tensors for model in side.gguf.values()):
        return set()
    return found
