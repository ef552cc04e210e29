"""ONX-META: metadata that clients decode answers with changed."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..files.labels import difference, labels
from ..rulebase import Context, Finding, Level, Rule
from .contract import pairs

RULE = Rule(
    id="ONX-META",
    name="label-metadata-changed",
    family="ONX",
    severity=Severity.ERROR,
    summary="metadata_props that hold labels or preprocessing changed",
    what="Label lists (character, names, classes, labels, id2label, vocab) in order, and settings of preprocessing.",
    why="clients turn class indices into text with this list; a moved entry gives wrong text without an error",
    hint="append to the list instead of reordering it, or ship the clients first",
    exemptions=("descriptions, dates, authors and versions",),
)

_LABELS = frozenset(
    {"character", "characters", "charset", "names", "classes", "class_names", "labels", "id2label", "vocab"}
)
_SETTINGS = frozenset(
    {"imgsz", "stride", "task", "mean", "std", "channels", "sample_rate", "samplerate", "kpt_shape", "anchors"}
)


def check(ctx: Context) -> Iterator[Finding]:
    """Compare what clients may read from the file."""
    for pair in pairs(ctx):
        old, new = pair.old.metadata, pair.new.metadata
        for key in old:
            kind = key.lower()
            if kind not in _LABELS | _SETTINGS or old[key] == new.get(key):
                continue
            level: Level = "breaks" if kind in _LABELS else "unproven"
            message = f"metadata '{key}' changed"
            if key not in new:
                message = f"metadata '{key}' is gone"
            elif kind in _LABELS:
                before, after = labels(old[key]), labels(new[key])
                if before is not None and after is not None:
                    if before == after:
                        continue
                    message = f"metadata '{key}': {difference(before, after)}"
            yield ctx.finding(RULE, level, message, path=pair.new.file, pointer=f"metadata_props[{key}]")
