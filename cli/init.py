"""`interlock init`."""

from __future__ import annotations

from typing import Annotated

import typer

from .emit import run
from .options import Color, Output, OutputFormat, Outputs


def init(
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", help="where the file goes")] = ".",
    *,
    name: Annotated[str, typer.Option("--name", help="model name; default: the directory's name")] = "",
    show: Annotated[bool, typer.Option("--print", help="print the file instead of writing it")] = False,
    output_format: OutputFormat = "human",
    output: Output = None,
    color: Color = "auto",
) -> int:
    """Write a first interlock.yaml, with the models, registry, keys and manifests found in the directory filled in.

    Nothing is ever overwritten.

    \b
    interlock init
    interlock init models/vad --name silero-vad
    interlock init --print
    """
    from pathlib import Path

    from ..config.load import FILE, find
    from ..report.blocks import Text
    from ..report.errors import BadInput
    from ..report.report import Report
    from ..report.style import whole
    from .starter import look, text

    def call() -> Report:
        root = Path(directory)
        if not root.is_dir():
            raise BadInput(directory, "no such directory", hint="make it first, or leave it out for this one")
        found = look(root)
        written = text(whole(name or root.resolve().name or "model"), found)
        report = Report(command="init", inputs=1, facts={"found": {k: getattr(found, k) for k in found.__slots__}})
        if show:
            report.payload = written
            return report
        path = root / FILE
        there = find(root.resolve())
        if there is not None and there.parent == root.resolve():
            raise BadInput(there, "there is one already, and it is never overwritten", hint="interlock init --print")
        with path.open("x", encoding="utf-8") as stream:
            stream.write(written)
        report.headline = f"{path} written"
        rows = [
            ("models", found.models),
            ("registry", found.registries),
            ("keys", found.keys),
            ("manifests", found.deploy),
        ]
        lines = [f"{what}: {', '.join(items)}" for what, items in rows if items] or ["nothing known was found here"]
        report.body.append(Text("\n".join(lines), "found"))
        report.body.append(Text("\n".join(_next(bool(found.models), bool(found.keys))), "next"))
        return report

    return run("init", Outputs(output_format, tuple(output or ()), color), call)


def _next(models: bool, keys: bool) -> list[str]:
    steps = [] if models else ["name your model under model: in the file"]
    steps += [] if keys else ["interlock sign MODEL --generate-key release, then name release.pub under trust:"]
    publish = ["interlock publish MODEL oci-layout:registry:1.0", "interlock gate --stage staging 1.0"]
    return [*steps, "interlock lint", "set registry: in interlock.yaml, for instance to oci-layout:registry", *publish]
