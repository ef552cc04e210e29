"""Whether the serving software that interlock.yaml declares is new enough for a feature."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ....report.errors import BadInput
from ..rulebase import Context


def version(text: str) -> tuple[int, ...] | None:
    """The numbers of a version such as `0.20.1`, `>=1.2` or `v4.43`; None where there are none."""
    found = re.search(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")[:4]) if found else None


def too_old(ctx: Context, floors: Mapping[str, str]) -> str | None:
    """The declared runtime that is older than its floor, "" if one is declared and new enough, None if none is."""
    known: str | None = None
    for name, least in floors.items():
        declared = ctx.contract.runtimes.get(name)
        if not declared:
            continue
        have, need = version(declared), version(least)
        if have is None or need is None:
            raise BadInput(f"contract.runtimes.{name}", f"{declared!r} is not a version", hint=f"write '{least}'")
        if have < need:
            return f"{name} {declared}"
        known = ""
    return known


def needs(floors: Mapping[str, str]) -> str:
    """The floors in words."""
    return " or ".join(f"{name} >= {least}" for name, least in floors.items())
