"""The entry point: top-level help and version without imports, then one command's module and nothing else."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Sequence

from ..report import exits
from ..version import __version__
from .help import print_overview
from .table import BY_NAME


def main(argv: Sequence[str] | None = None) -> None:
    """Run `interlock ARGV...` and exit with a code of `report.exits`."""
    if argv is None:
        _spare_the_collector()
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("--help", "-h"):
        print_overview()
        sys.exit(exits.PASS if args else exits.BAD_INPUT)
    if args[0] in ("--version", "-V"):
        sys.stdout.write(f"interlock {__version__}\n")
        sys.exit(exits.PASS)
    if args[0] not in BY_NAME:
        _unknown(args[0])
    try:
        sys.exit(_run(args[0], args[1:]))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(exits.INTERRUPTED)
    except BrokenPipeError:
        # The reader went away (`| head`): not an error of ours; keep the interpreter from flushing into the pipe.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(exits.BAD_INPUT)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a crash must not look like exit 1, "no"
        _crashed(error)


def _spare_the_collector() -> None:
    """Collect cycles less often, and not at exit: a tenth of a short run went into walking objects that all live.

    Only for a process of our own; a caller of `main(argv)` keeps its settings.
    """
    gc.set_threshold(100_000, 20, 100)
    atexit.register(gc.freeze)


def _crashed(error: Exception) -> None:
    """Report a bug of ours with its traceback, as could-not-run: nothing was decided."""
    import traceback

    sys.stderr.write("".join(traceback.format_exception(error)))
    sys.stderr.write("error: interlock crashed, so nothing was decided\n")
    sys.stderr.write("hint: please report the lines above together with the command and `interlock doctor`\n")
    sys.exit(exits.BAD_INPUT)


def _unknown(name: str) -> None:
    import difflib

    close = difflib.get_close_matches(name, BY_NAME, n=1)
    kind = "option" if name.startswith("-") else "command"
    hint = f"did you mean '{close[0]}'?" if close else "see interlock --help"
    sys.stderr.write(f"error: unknown {kind} '{name}'\nhint: {hint}\n")
    sys.exit(exits.BAD_INPUT)


def _run(name: str, args: list[str]) -> int:
    from .command import run

    return run(BY_NAME[name], args)
