"""Regular expressions that are compiled when first used.

A run of one file loads some fifty modules and uses few of their patterns; compiling all of them would take longer than
the run itself.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "finditer", "findall", "groupindex")


class _Lazy:
    """Stands in for a pattern until a method of it is asked for, then hands out the pattern's own methods."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` would return, compiled on first use.

    Call its methods; functions of `re` do not take it.
    """
    return cast("re.Pattern[str]", _Lazy(pattern, int(flags)))
