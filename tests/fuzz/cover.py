"""Which code of the package has run: tells whether an input reached something that no input before it reached.

From Python 3.12 on through `sys.monitoring`, where every line and every direction of a branch reports once and is then
switched off, so that fuzzing runs at full speed; before that through `sys.settrace`, lines only and slower.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import interlock

_TOOL = 3


class Coverage:
    """Use as a context. `news()` says whether anything ran for the first time since it was last asked."""

    def __init__(self, *folders: str) -> None:
        root = Path(interlock.__file__).parent
        self._roots = tuple(f"{root / folder}" for folder in folders)
        self._new = False
        self._branches: dict[tuple[CodeType, int], Any] = {}
        self._left: dict[CodeType, set[int]] = {}

    def news(self) -> bool:
        """Whether something new ran; forgets it."""
        new, self._new = self._new, False
        return new

    def _ours(self, code: CodeType) -> bool:
        return code.co_filename.startswith(self._roots)

    def __enter__(self) -> Coverage:
        if sys.version_info >= (3, 12):
            self._monitor()
        else:
            sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(_TOOL, 0)
            sys.monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(None)

    def _monitor(self) -> None:
        watch: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        watch.use_tool_id(_TOOL, "interlock-fuzz")
        names = [name for name in ("BRANCH_LEFT", "BRANCH_RIGHT") if hasattr(watch.events, name)]
        events = watch.events.LINE
        watch.register_callback(_TOOL, watch.events.LINE, self._line)
        for name in names or ["BRANCH"]:
            event = getattr(watch.events, name)
            events |= event
            watch.register_callback(_TOOL, event, self._one_way if names else self._branch)
        watch.set_events(_TOOL, events)

    def _line(self, code: CodeType, _: int) -> Any:
        if self._ours(code):
            self._new = True
        return sys.monitoring.DISABLE  # type: ignore[attr-defined, unused-ignore]

    _one_way = _line

    def _branch(self, code: CodeType, offset: int, target: int) -> Any:
        """3.12 and 3.13 switch off both directions at once, so not before both were seen."""
        off = sys.monitoring.DISABLE  # type: ignore[attr-defined, unused-ignore]
        if not self._ours(code):
            return off
        seen = self._branches.setdefault((code, offset), target)
        if seen == target:
            return None
        self._new = True
        return off

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if code not in self._left:
            self._left[code] = {line for *_, line in code.co_lines() if line} if self._ours(code) else set()
        return self._trace if self._left[code] else None

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        left = self._left[frame.f_code]
        if event == "line" and frame.f_lineno in left:
            left.discard(frame.f_lineno)
            self._new = True
        return self._trace
