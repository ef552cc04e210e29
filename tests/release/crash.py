"""Run one verb in this process and stop it by a signal right before its N-th change to the file system.

    python crash.py N FOLDER VERB ARGUMENTS-AS-JSON [SIGNAL]

SIGNAL is SIGKILL unless given. Prints the number of changes when N is 0 or larger than that number. Only changes below
FOLDER count.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

CHANGES = {"os.rename", "os.link", "os.mkdir", "os.rmdir", "os.remove", "os.truncate", "os.chmod", "os.symlink"}


def main() -> None:
    limit, folder, verb, arguments = int(sys.argv[1]), sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
    stop = signal.Signals[sys.argv[5] if len(sys.argv) > 5 else "SIGKILL"]
    import interlock.release.run as room

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
    print(count)
    sys.exit(report.exit_code)


if __name__ == "__main__":
    main()
