"""Every operator whose shapes are worked out."""

from __future__ import annotations

from . import bodies, classic, elementwise, layout, pieces, products, windows
from .engine import Step

STEPS: dict[tuple[str, str], Step] = {
    **elementwise.STEPS,
    **layout.STEPS,
    **pieces.STEPS,
    **products.STEPS,
    **windows.STEPS,
    **classic.STEPS,
    **bodies.STEPS,
}
