"""`interlock schema`."""

from __future__ import annotations

import json
import sys


def schema() -> int:
    """Print the JSON Schema of interlock.yaml."""
    from ..config.schema import schema as document

    sys.stdout.write(json.dumps(document(), indent=2) + "\n")
    return 0
