"""Resource quantities as Kubernetes writes them, and which of them a pod can have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from .values import Values

_QUANTITY = re.compile(r"(\d{1,18}(?:\.\d{1,3})?)([kMGTPE]|[KMGTPE]i|m)?")
_POWERS = {letter: power for power, letter in enumerate("kMGTPE", 1)}
_MEBI = 1 << 20
# What one node can have at most, with room to spare: a number over it is a slip of the unit.
_CORES, _BYTES = 4096, 1 << 46


def number(quantity: str) -> Decimal | None:
    """The number that a quantity such as 500m, 4 or 16Gi stands for, or None where it is none."""
    match = _QUANTITY.fullmatch(quantity)
    if match is None or not quantity.isascii():
        return None
    unit = match[2] or ""
    if unit == "m":
        return Decimal(match[1]) / 1000
    base = 1024 if unit.endswith("i") else 1000
    power = 1 if unit == "Ki" else _POWERS[unit[0]] if unit else 0
    return Decimal(match[1]) * base**power


def problems(values: Values) -> Iterator[tuple[str, str, str]]:
    """(pointer, reason, hint) of what no pod can be given: nothing at all, or a shm that takes the whole memory."""
    need = values.resources
    asked = [
        ("/resources/cpu", need.cpu, Decimal("0.001"), _CORES, "1m and 4096 cores", "such as 500m or 4"),
        ("/resources/memory", need.memory, _MEBI, _BYTES, "1Mi and 64Ti", "such as 16Gi"),
        ("/resources/shm", need.shm, _MEBI, _BYTES, "1Mi and 64Ti", "such as 1Gi"),
        ("/model/size", values.model.size, _MEBI, _BYTES, "1Mi and 64Ti", "such as 40Gi, with room for the model"),
    ]
    known: dict[str, Decimal] = {}
    for pointer, quantity, low, high, between, hint in asked:
        if pointer == "/model/size" and not quantity:
            continue
        amount = number(quantity)
        if amount is None:
            yield pointer, f"'{quantity}' is not a quantity", hint
        elif not low <= amount <= high:
            yield pointer, f"{quantity} is not between {between}", hint
        else:
            known[pointer] = amount
    memory, shm = known.get("/resources/memory"), known.get("/resources/shm")
    if memory is not None and shm is not None and shm >= memory:
        reason = f"{need.shm} counts against memory, which is {need.memory}: nothing would be left for the server"
        yield "/resources/shm", reason, "lower it, or raise resources.memory"
