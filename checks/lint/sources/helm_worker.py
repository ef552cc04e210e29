"""A process that renders charts: one JSON request a line in, one JSON reply a line out.

The renderer is a native library that cannot be interrupted and keeps its memory, so it runs apart from the linter,
which stops it when a chart takes too long.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`, mappings key by key as Helm does."""
    merged = dict(base)
    for key, value in over.items():
        known = merged.get(key)
        merged[key] = merge(known, value) if isinstance(known, dict) and isinstance(value, dict) else value  # pyright: ignore
    return merged


def render(request: dict[str, Any]) -> dict[str, str]:
    """Template name -> rendered text. Raises what the library raises."""
    import helm_python  # pyright: ignore[reportMissingImports]
    import yaml

    helm: Any = helm_python
    values: dict[str, Any] = {}
    for path in request["values"]:
        with open(path, encoding="utf-8") as stream:  # noqa: PTH123
            values = merge(values, yaml.safe_load(stream) or {})
    for expression in request["sets"]:
        values = merge(values, helm.parse_set_string(expression))
    with helm.Chart.load(request["folder"]) as chart:
        if chart.metadata.get("type") == "library":
            return {}
        return chart.render(values=values, name=request["release"], namespace="default")


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        try:
            reply: dict[str, Any] = {"rendered": render(json.loads(line))}
        except Exception as error:  # noqa: BLE001 - whatever a chart provokes is a reply, not the end of the worker
            reply = {"error": str(error) or type(error).__name__}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
