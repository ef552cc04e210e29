"""Post-processors: what they put around one text and around a pair. Their output is finite, so comparing is exact."""

from __future__ import annotations

from typing import Any

from .....models.strict_json import items_of

# A step is a special id with its type id, or the ids of text "A" or "B" with theirs.
Step = tuple[int | str, int]
Frame = tuple[Step, ...]
_ONE: Frame = (("A", 0),)
_TWO: Frame = (("A", 0), ("B", 1))


def frames(processor: Any) -> tuple[Frame, Frame] | None:
    """(around one text, around a pair), None for a post-processor that is not known."""
    one: Frame | None = _ONE
    two: Frame | None = _TWO
    if processor is not None and two == _TWO:
        parts: list[Any] = processor.get("processors", []) if processor.get("type") == "Sequence" else [processor]
        for part in parts:
            one, two = _applied(part, "single", one), _applied(part, "pair", two)
            if one is None or two is None:
                return None
    return one, two


def _applied(part: dict[str, Any], kind: str, frame: Frame | None) -> Frame | None:
    """What a post-processor makes of a frame; only the first of a sequence sees bare texts."""
    if frame is None:
        return None
    match part:
        case {"type": "TemplateProcessing"}:
            template = _template(part, kind)
        case {"type": "BertProcessing", "sep": [_, int(sep)], "cls": [_, int(cls)]}:
            template = ((cls, 0), ("A", 0), (sep, 0)) + ((("B", 1), (sep, 1)) if kind == "pair" else ())
        case {"type": "RobertaProcessing", "sep": [_, int(sep)], "cls": [_, int(cls)]}:
            template = ((cls, 0), ("A", 0), (sep, 0)) + (((sep, 0), ("B", 0), (sep, 0)) if kind == "pair" else ())
        case {"type": "ByteLevel"}:
            return frame
        case _:
            return None
    if template is None:
        return None
    if frame not in (_ONE, _TWO):
        return None  # templates around templates: not in public use
    return template


def _template(part: dict[str, Any], kind: str) -> Frame | None:
    tokens: dict[str, Any] = part.get("special_tokens") or {}
    steps: list[Step] = []
    for item in items_of(part.get(kind)):
        match item:
            case {"Sequence": {"id": ("A" | "B") as name, "type_id": int(type_id)}}:
                steps.append((name, type_id))
            case {"SpecialToken": {"id": str(name), "type_id": int(type_id)}}:
                match tokens.get(name):
                    case {"ids": [*ids]} if ids:
                        steps.extend((int(number), type_id) for number in ids)
                    case _:
                        return None
            case _:
                return None
    return tuple(steps)


def written(frame: Frame, *, types: bool = False) -> str:
    """A frame in a line: `128000 A`, with type ids as `A:1` on request."""
    return " ".join(f"{step}:{type_id}" if types else str(step) for step, type_id in frame)
