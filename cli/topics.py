"""`interlock help`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .table import BY_NAME, TOPICS


def help(  # noqa: A001
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="a topic or a command; all topics if left out")
    ] = None,
) -> int:
    """Explain a topic, or show the help of a command.

    \b
    interlock help exit-codes
    interlock help lint
    """
    if topic is None:
        lines = [f"  {name:<13} {summary}" for name, summary in TOPICS.items()]
        sys.stdout.write("\n".join(["usage: interlock help TOPIC|COMMAND", "", "Topics", *lines]) + "\n")
        return 0
    if topic in TOPICS:
        sys.stdout.write(text(topic) + "\n")
        return 0
    if topic in BY_NAME:
        from .command import run

        return run(BY_NAME[topic], ["--help"])
    from difflib import get_close_matches

    from ..report.errors import BadInput

    close = get_close_matches(topic, [*TOPICS, *BY_NAME], n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"topics: {', '.join(TOPICS)}"
    sys.stderr.write(f"error: no topic or command '{topic}'\nhint: {hint}\n")
    return BadInput.exit_code


def text(topic: str) -> str:
    """A topic's text, made from the tables that the code itself reads. Raises KeyError on an unknown topic."""
    from ..report import exits, formats
    from .options import SHARED

    return _TEXTS[topic].format(
        codes=_rows({str(code).rjust(3): meaning for code, meaning in exits.MEANING.items()}),
        bad_input=exits.BAD_INPUT,
        shared=_rows(SHARED),
        formats=", ".join(formats.NAMES),
    )


def _rows(table: dict[str, str]) -> str:
    width = max(map(len, table))
    return "\n".join(f"  {name:<{width}}  {meaning}" for name, meaning in table.items())


_TEXTS = {
    "exit-codes": """\
Exit codes

{codes}

An input that cannot be read never counts as a pass: it is reported as unread, and
with --strict the run ends with {bad_input}. Findings of severity error and warning make the
gate say no; --fail-on moves that line.""",
    "environment": """\
Environment variables

Every option can be set by INTERLOCK_<COMMAND>_<OPTION>, such as INTERLOCK_LINT_STRICT=1;
interlock COMMAND --help shows each name. The command line wins over the variable.
Options that commands share have one variable for all:

{shared}

Also read:

  NO_COLOR, FORCE_COLOR    no colour, or colour even without a terminal
  GITHUB_STEP_SUMMARY      the job summary, for --output 'markdown=$GITHUB_STEP_SUMMARY'
  INTERLOCK_DOCS_URL       where the documentation is published; SARIF links rules to it""",
    "references": """\
References: how models are named

  ./model                a directory that holds a model
  model.onnx             one file
  oci-layout:PATH:TAG    a version in an OCI image layout on disk, by tag
  oci-layout:PATH@DIGEST the same, by digest
  directory:PATH         versions published to a plain directory
  oci://HOST/REPO:TAG    a version in an OCI registry; also oci://HOST/REPO@DIGEST

A tag moves. A command that takes one prints the digest it resolved to; evidence and
signatures are bound to that digest.""",
    "outputs": """\
Outputs

  formats: {formats}

  --output-format json        what stdout gets
  --output report.txt         a file instead of stdout
  --output sarif=out.sarif    a file as well, in its own format; repeatable
  --output 'markdown=$GITHUB_STEP_SUMMARY'
                              the job summary: appended to in GitHub Actions, skipped
                              elsewhere

A file is replaced as a whole or not at all, and only where it is empty or an earlier
report: in json, sarif, gitlab, junit and markdown that is told by how it begins, in the
other formats by its name (.txt, .text, .log, .out or .report). Anything else that
exists, and what the command reads, is left alone: exit code {bad_input} before anything runs.

Results go to stdout, everything else to stderr.""",
    "suppressions": """\
Suppressions: how to silence a finding

  # interlock: ignore[HU103] reason
  # interlock: ignore[HU103,HU104] reason until=2027-01-31
      on the line of the finding or the line above it

  interlock.dev/ignore.HU103: reason
      annotation of a Kubernetes object

In interlock.yaml: lint.ignore, lint.per_path and lint.baseline. A suppression needs a
reason, and one that matches nothing is reported itself.""",
}
