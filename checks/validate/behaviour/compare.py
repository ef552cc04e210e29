"""Two values of one output: the same kind and shape, and how far they are apart."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from .measured import Drift, Measured


class Parts(NamedTuple):
    """An output as arrays: one of a tensor, one a tensor of a sequence, the values of a map in the order of its keys.

    A sequence of maps with the same keys is one array with a row a map, as a tensor of scores would be.
    """

    kind: str
    arrays: tuple[Any, ...]


def parts(value: Any) -> Parts:
    """An output as the runtime gives it, taken apart."""
    import numpy

    np: Any = numpy
    if isinstance(value, dict):
        one = cast("dict[Any, Any]", value)
        keys = sorted(one, key=str)
        return Parts(f"a map of {_named(keys)}", (np.asarray([one[key] for key in keys]),))
    if isinstance(value, list | tuple):
        many = list(cast("list[Any]", value))
        maps = [cast("dict[Any, Any]", each) for each in many if isinstance(each, dict)]
        if maps and len(maps) == len(many) and all(each.keys() == maps[0].keys() for each in maps):
            keys = sorted(maps[0], key=str)
            rows = np.asarray([[each[key] for key in keys] for each in maps])
            return Parts(f"maps of {_named(keys)}", (rows,))
        inner = [parts(each) for each in many]
        kinds = ", ".join(dict.fromkeys(each.kind for each in inner))
        return Parts(f"a sequence of {len(many)} {kinds}".rstrip(), tuple(a for each in inner for a in each.arrays))
    if value is None:
        return Parts("nothing", ())
    return Parts("", (np.asarray(value),))


def _named(keys: list[Any]) -> str:
    shown = ", ".join(repr(key)[:40] for key in keys[:8])
    return f"{len(keys)} keys ({shown}{', …' if len(keys) > 8 else ''})"


def compare(result: Measured, name: str, old: Any, new: Any, *, near: bool = False, measure: bool = True) -> None:
    """Note whether an output has the old shape and type, and with `measure` how far it is away.

    With `near` an integer is a rounded number: one off is close, not another label.
    """
    a, b = parts(old), parts(new)
    told = _unlike(a, b)
    if told:
        told = f"output '{name}' is {told}"
        if told not in result.shapes:
            result.shapes.append(told)
        result.seen.discard(name)
        return
    if not result.shapes:
        result.seen.add(name)
    if measure:
        for x, y in zip(a.arrays, b.arrays, strict=True):
            _tensor(result, name, x, y, near=near)


def _unlike(old: Parts, new: Parts) -> str:
    """What NEW is and what OLD was, where they are not of one kind, type and shape."""
    if old.kind != new.kind or len(old.arrays) != len(new.arrays):
        return f"{new.kind or _shown(new.arrays[0])}, was {old.kind or _shown(old.arrays[0])}"
    for x, y in zip(old.arrays, new.arrays, strict=True):
        # Strings have a type that is as wide as the longest one.
        if x.shape != y.shape or (x.dtype != y.dtype and not x.dtype.kind == y.dtype.kind == "U"):
            return f"{_shown(y)}, was {_shown(x)}"
    return ""


def _shown(array: Any) -> str:
    return f"{array.dtype}{list(array.shape)}"


def _tensor(result: Measured, name: str, old: Any, new: Any, *, near: bool) -> None:
    """Floats by distance; strings, truth values and integers by value, for near is not the same for a label."""
    import numpy

    np: Any = numpy
    numbers = bool(np.issubdtype(old.dtype, np.number))
    exact = not (np.issubdtype(old.dtype, np.floating) or (near and numbers))
    # A single number in a row has neither a direction nor a top entry.
    vector = numbers and old.ndim > 0 and old.shape[-1] != 1
    drift = result.drifts.setdefault(name, Drift(name, exact, vector))
    drift.values += old.size
    # The bytes of an array of strings are addresses.
    if bool((old == new).all()) if exact else old.tobytes() == new.tobytes():
        rows = old.size // old.shape[-1] if old.ndim and old.size else 1
        drift.agree += rows
        drift.rows += rows
        return
    if exact:
        drift.kind = "drift"
        drift.differ += int((old != new).sum())
    if numbers:
        _numbers(result, drift, old.astype(np.float64), new.astype(np.float64), step=float(near))


def _numbers(result: Measured, drift: Drift, a: Any, b: Any, *, step: float) -> None:
    """Distances over the values that are finite on both sides; a row where only one side is finite has cosine -1."""
    import numpy

    np: Any = numpy
    if np.isfinite(a).all() and not np.isfinite(b).all() and drift.name not in result.infinite:
        result.infinite.append(drift.name)
    finite = np.isfinite(a) & np.isfinite(b)
    unlike = ~finite & (a != b) & ~(np.isnan(a) & np.isnan(b))
    drift.unlike += int(unlike.sum())
    a, b = np.where(finite, a, 0.0), np.where(finite, b, 0.0)
    close = not unlike.any() and bool(np.allclose(a, b, rtol=1e-3, atol=max(1e-5, step)))
    drift.kind = "drift" if not close or drift.kind == "drift" else "allclose"
    drift.largest = max(drift.largest, float(np.max(np.abs(a - b), initial=0.0)))
    drift.opposed += int((a * b < 0).sum())
    if not drift.vector:
        return
    x, y, odd = (each.reshape(-1, each.shape[-1]) for each in (a, b, unlike))
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    cosines = np.divide((x * y).sum(axis=1), norms, out=np.ones_like(norms), where=norms > 0)
    cosines[odd.any(axis=1)] = -1.0
    drift.cosine = min(drift.cosine, float(np.nan_to_num(cosines, nan=-1.0).min(initial=1.0)))
    drift.agree += int(((x.argmax(axis=1) == y.argmax(axis=1)) & ~odd.any(axis=1)).sum())
    drift.rows += len(x)
