"""Run verbs and stop each by a signal right before its N-th change to the file system.

    python crash.py N FOLDER VERB ARGUMENTS-AS-JSON SIGNAL      one verb in this process
    python crash.py                                            many: one JSON request a line, one JSON answer a line

A request is [N, FOLDER, VERB, ARGUMENTS] and runs in a fork that dies by SIGKILL; the answer is [STATUS, CHANGES], with
the status negative for a signal. N is 0 to count only. Only changes below FOLDER count.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

import interlock.release.assess
import interlock.release.ocilayout
import interlock.release.promotion
import interlock.release.run as room
import interlock.release.transfer  # noqa: F401 - so that forks need not import

CHANGES = {"os.rename", "os.link", "os.mkdir", "os.rmdir", "os.remove", "os.truncate", "os.chmod", "os.symlink"}


def run(limit: int, folder: str, verb: str, arguments: dict[str, Any], stop: signal.Signals) -> tuple[int, int]:
    """The verb's exit code and the number of its changes."""
    count = 0

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal count
        if event == "open":
            writes = isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        else:
            writes = event in CHANGES
        if not writes or isinstance(args[0], int) or not os.fsdecode(args[0]).startswith(folder):
            return
        count += 1
        if count == limit:
            os.kill(os.getpid(), stop)

    sys.addaudithook(hook)
    report = getattr(room, verb)(*arguments.pop("args", []), **arguments)
    return report.exit_code, count


def forked(request: list[Any]) -> list[int]:
    """One request in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code, count = 99, 0
        try:
            code, count = run(*request, signal.SIGKILL)
        finally:
            os.write(writer, str(count).encode())
            os._exit(code)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as stream:
        count = int(stream.read() or 0)
    return [os.waitstatus_to_exitcode(status), count]


def main() -> None:
    if len(sys.argv) > 1:
        limit, folder, verb, arguments, stop = sys.argv[1:]
        sys.exit(run(int(limit), folder, verb, json.loads(arguments), signal.Signals[stop])[0])
    for line in sys.stdin:
        sys.stdout.write(json.dumps(forked(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
