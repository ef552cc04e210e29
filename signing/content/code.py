"""Code that a model brings along: Python files, and configurations that ask servers to run them."""

from __future__ import annotations

from typing import Any, cast

from ...models.errors import UnreadableModel
from ...models.source import Source
from ...models.strict_json import loads
from ...report.finding import Severity

_MAX_CONFIG = 16 << 20
CONFIGS = ("config.json", "tokenizer_config.json", "processor_config.json", "preprocessor_config.json")


def asks_for_code(source: Source) -> str:
    """The `auto_map` of a Hugging Face configuration in words, or empty: trust_remote_code runs what it names."""
    if source.size > _MAX_CONFIG:
        return ""
    try:
        document: Any = loads(source.read(0, source.size), source.name)
    except UnreadableModel:
        return ""  # validate reports configurations that cannot be read; they map nothing
    found: Any = cast("dict[str, Any]", document).get("auto_map") if isinstance(document, dict) else None
    if not found:
        return ""
    names = cast("dict[str, Any]", found).values() if isinstance(found, dict) else [found]
    return ", ".join(sorted(str(name) for name in names))[:200]


def severity(name: str) -> Severity | None:
    """How much a file that is code weighs by its name; None where it is none. Native code weighs most."""
    if name.endswith((".so", ".dll", ".dylib", ".exe")):
        return Severity.WARNING
    if name.endswith((".py", ".pyc", ".pth", ".sh", ".ps1", ".bat")) and not name.endswith(".pth"):
        return Severity.INFO
    return None
