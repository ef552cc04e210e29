"""Which numbers a graph takes for missing, and puts another one in their place."""

from __future__ import annotations

from ....models.onnx_flow import Step
from ....models.onnx_values import setting
from .reading import Reading
from .taken import sources

NAN = "nan"
_TOLD = ("nodes_missing_value_tracks_true", "missing_value_tracks_true")
_ENOUGH = 4096


def fills(reading: Reading) -> dict[str, set[str]]:
    """By input, the markers of what is missing: `nan`, or a number such as -1.

    An Imputer names its marker; IsNaN asks for one, whatever is done then.
    """
    found: dict[str, set[str]] = {}
    for step, raw in sources(reading):
        if step.inputs and (marker := _marker(reading, step)):
            for name in raw.get(step.inputs[0], ()):
                found.setdefault(name, set()).add(marker)
    return found


def native(reading: Reading) -> bool:
    """Whether trees were told where to go without a value."""
    told = (step.attributes.get(name) for step in reading.flow.steps for name in _TOLD)
    return any(any(setting(reading.source, each, first=_ENOUGH) or ()) for each in told if each is not None)


def _marker(reading: Reading, step: Step) -> str:
    if step.op == "IsNaN":
        return NAN
    if step.op != "Imputer":
        return ""
    whole = "imputed_value_int64s" in step.attributes
    said = reading.scalar(step, "replaced_value_int64" if whole else "replaced_value_float", 0)
    return f"{said:g}" if not isinstance(said, str) else said
