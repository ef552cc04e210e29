"""`interlock doctor`."""

from __future__ import annotations

from .emit import run
from .options import Color, Output, OutputFormat, Outputs


def doctor(output_format: OutputFormat = "human", output: Output = None, color: Color = "auto") -> int:
    """What this machine can run, which provider really works, and how to get what is missing.

    Opens a session on each execution provider instead of asking which ones a wheel was built with. Exit code 1 when
    something installed does not work; what is merely absent is listed with the way to get it.

    interlock doctor

    interlock doctor --output-format json
    """
    from ..bench.doctor import doctor as verb

    return run("doctor", Outputs(output_format, tuple(output or ()), color), verb)
