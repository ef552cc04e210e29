"""TRI-MODE: how Triton watches its model repository does not fit a swap under traffic."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..contents import identical
from ..rulebase import Context, Finding, Rule, Step
from .triton_server import Watching, declared, in_manifests

RULE = Rule(
    id="TRI-MODE",
    name="triton-polls",
    family="TRI",
    severity=Severity.WARNING,
    summary="Triton polls its model repository, or is told how often to poll while it does not poll at all",
    what="--model-control-mode and --repository-poll-secs of the server that serves: the command line in "
    "contract.server of interlock.yaml, or else the Triton servers of the manifests under lint.paths.",
    why="a server that polls loads a version while its files are still being copied, and cuts running sequences when "
    "it reloads; one that does not poll, which is the default, never sees the new files before it restarts",
    hint="start Triton with --model-control-mode=explicit and load the version through the repository API when it is "
    "complete",
    bad="""\
contract:
  server: tritonserver --model-repository=/models --model-control-mode=poll
""",
    good="""\
contract:
  server: tritonserver --model-repository=/models --model-control-mode=explicit --load-model=ranker
""",
    references=(
        "https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_management.md",
        "https://github.com/triton-inference-server/server/issues/5711",
    ),
    exemptions=("versions that are the same, byte for byte", "manifests whose servers watch in different ways"),
)


def check(ctx: Context) -> Iterator[Finding]:
    """Judge the server that is declared; where none is, the ones that manifests start, if they agree."""
    if ctx.old is None:
        return
    watching = _watching(ctx)
    if watching is None or identical(ctx.old.tree, ctx.new.tree):
        return
    path = next(iter(ctx.new.triton), "")
    if watching.mode == "poll":
        sequences = any(config.sequences for side in (ctx.new, ctx.old) for config in side.triton.values())
        cut = ", and cuts the sequences that run when it reloads" if sequences else ""
        steps: tuple[Step, ...] = ("drain-sessions",) if sequences else ()
        message = f"Triton polls the repository ({watching.where}): it may load the version half copied{cut}"
        yield ctx.finding(RULE, "unproven", message, path=path, plan=steps)
    elif watching.mode == "none" and watching.interval:
        message = f"--repository-poll-secs is ignored without --model-control-mode=poll ({watching.where})"
        more = "the new files are not seen before a restart"
        yield ctx.finding(RULE, "restart", f"{message}: {more}", path=path)
    elif watching.mode == "none" and watching.where == "contract.server":
        message = "Triton reads the repository when it starts, and only then (--model-control-mode is none by default)"
        yield ctx.finding(RULE, "restart", message, path=path)


def _watching(ctx: Context) -> Watching | None:
    if ctx.contract.server:
        return declared(ctx.contract.server)
    paths = ctx.options.get("manifests", ())
    found = in_manifests(paths, ctx.options.get("manifests_exclude", ())) if paths else []
    return found[0] if found and len({(each.mode, each.interval) for each in found}) == 1 else None
