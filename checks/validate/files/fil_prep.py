"""FIL-PREP: images, audio or video are prepared otherwise for the model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side

RULE = Rule(
    id="FIL-PREP",
    name="preprocessing-changed",
    family="FIL",
    severity=Severity.WARNING,
    summary="images, audio or video are scaled, cut or normalised in another way",
    what="preprocessor_config.json, video_preprocessor_config.json and processor_config.json, whichever of them a "
    "setting stands in, with the defaults that every processor shares filled in.",
    why="servers read these settings when they start: new weights behind the old ones see other pixels than in "
    "training, and answers get worse without an error",
    hint="restart the servers with both; tell clients that prepare inputs themselves",
    bad='{"image_mean": [0.5, 0.5, 0.5]}   (was [0.48145466, 0.4578275, 0.40821073])',
    good='{"image_mean": [0.48145466, 0.4578275, 0.40821073]}',
    example="json",
    exemptions=("settings moved from one file to another", "names and versions", "224 written as height and width"),
)

_FILE, _VIDEO, _WHOLE = "preprocessor_config.json", "video_preprocessor_config.json", "processor_config.json"
PREPARES = frozenset({_FILE, _VIDEO, _WHOLE})
_INSIDE = {"image_processor": _FILE, "feature_extractor": _FILE, "video_processor": _VIDEO}
_NOTES = frozenset(
    (
        *("processor_class", "_processor_class", "_valid_processor_keys", "transformers_version", "_name_or_path"),
        *("name_or_path", "auto_map", "tokenizer", "device", "disable_grouping", "return_tensors"),
        "chat_template",  # judged where it is rendered
    )
)
_CLASSES = frozenset({"image_processor_type", "feature_extractor_type", "video_processor_type"})
# What a missing key means to every processor.
_DEFAULTS: dict[str, Any] = {"do_rescale": True, "rescale_factor": 1 / 255, "data_format": "channels_first"}
_SEES = r"vision|image|audio|speech|video|whisper|wav2vec|vl\b|vlm|llava|\bclip|siglip"


def check(ctx: Context) -> Iterator[Finding]:
    """Compare setting by setting; a file that came or went has nothing to compare with."""
    if ctx.old is None or ctx.old.tree.single or ctx.new.tree.single:
        return
    old, new = _settings(ctx.old), _settings(ctx.new)
    for file in sorted(old.keys() | new.keys()):
        before, after = old.get(file), new.get(file)
        if before is None and after is not None:
            message = f"'{file}' is new: inputs may be prepared otherwise, and there is nothing to compare it with"
            yield ctx.finding(RULE, "unproven", message, path=_at(ctx.new, file))
        elif after is None:
            level: Level = "breaks" if _sees(ctx.old) and file != _WHOLE else "unproven"
            yield ctx.finding(RULE, level, f"'{file}' is gone", path=_at(ctx.old, file), side=ctx.old)
        elif before is not None:
            yield from _differences(ctx, file, before, after)


def _differences(ctx: Context, file: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Finding]:
    old, new = {**_DEFAULTS, **old}, {**_DEFAULTS, **new}
    keys = [key for key in sorted(old.keys() | new.keys()) if not _same(old.get(key), new.get(key))]
    if not keys:
        return
    # A key that one side leaves out has a default, which each class of processor has of its own.
    both = [key for key in keys if key in old and key in new and key != "class"]
    told = both or keys
    shown = ", ".join(f"{key} {old.get(key, 'none')} → {new.get(key, 'none')}" for key in told[:4])
    more = len(keys) - min(4, len(told))
    yield ctx.finding(
        RULE,
        "restart" if both else "unproven",
        f"inputs are prepared otherwise: {shown}" + (f" and {more} more" if more > 0 else ""),
        path=_at(ctx.new, file),
        pointer=f"/{told[0]}",
    )


def _settings(side: Side) -> dict[str, dict[str, Any]]:
    """The settings by the file that they belong to, wherever they stand. Raises UnreadableModel."""
    found: dict[str, dict[str, Any]] = {}
    for name in PREPARES & side.tree.files.keys():
        rest = dict(side.json(name) or {})
        for part, file in _INSIDE.items() if name == _WHOLE else ():
            inner = rest.pop(part, None)
            if isinstance(inner, dict):
                found[file] = {**_plain(cast("dict[str, Any]", inner)), **found.get(file, {})}
        plain = _plain(rest)
        if plain or name != _WHOLE:
            found[name] = {**found.get(name, {}), **plain}
    return found


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in settings.items() if value is not None and key not in _NOTES | _CLASSES}
    kind = next((str(settings[key]) for key in sorted(_CLASSES) if settings.get(key)), "")
    # An extractor of images and a processor of images are one thing under two names.
    named = kind.replace("FeatureExtractor", "").replace("ImageProcessor", "").replace("VideoProcessor", "")
    return {**plain, "class": named} if kind else plain


def _same(old: Any, new: Any) -> bool:
    """Whether two values mean the same: a length is a height and a width of it, or a shortest edge."""
    for one, other in ((old, new), (new, old)):
        if isinstance(one, int) and isinstance(other, dict):
            sizes = cast("dict[str, Any]", other)
            return sizes.keys() <= {"height", "width", "shortest_edge"} and set(sizes.values()) == {one}
    if isinstance(old, float) and isinstance(new, float):
        return abs(old - new) <= 1e-7 * max(abs(old), abs(new))
    return bool(old == new)


def _sees(side: Side) -> bool:
    """Whether the model takes more than text, by its configuration."""
    config = side.config or {}
    parts = [key for key in config if key.endswith("_config")]
    words = " ".join(map(str, (*parts, config.get("architectures"), config.get("model_type"))))
    return re.search(_SEES, words.lower()) is not None


def _at(side: Side, file: str) -> str:
    return file if file in side.tree.files else _WHOLE
