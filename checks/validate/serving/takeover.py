"""Which version folder of a Triton repository takes the place of which: its normal update adds the next number.

Requests that name no version go to the highest one that version_policy serves, so this is what the highest one of
NEW must be compared with. Versions with one number that both serve are compared as well; what nobody serves is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ....models.tree import ModelTree
from ..rulebase import Context
from ..side import Side
from .triton import TritonModel
from .versions import VERSION, policy, served_versions

_CACHED = "takeover"


@dataclass(slots=True)
class Takeover:
    """`pairs` are ONNX files of OLD and NEW that serve the same requests; `old` and `new` are all files that this
    decides on. `raised` are (folder, version before, version now), `lost` versions that NEW no longer serves although
    OLD's policy names them, or all."""

    pairs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    old: set[str] = field(default_factory=set[str])
    new: set[str] = field(default_factory=set[str])
    raised: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    lost: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


def takeover(ctx: Context) -> Takeover:
    """The version folders of both models; empty where they are no Triton repositories. Raises UnreadableModel."""
    if ctx.old is None or ctx.old.tree.single or ctx.new.tree.single:
        return Takeover()
    found = ctx.options.get(_CACHED)
    if found is None:
        found = ctx.options[_CACHED] = _takeover(ctx.old, ctx.new)
    return found


def _takeover(old: Side, new: Side) -> Takeover:
    result = Takeover()
    before, after = _folders(old.tree), _folders(new.tree)
    shared = sorted(before.keys() & after.keys())
    if not shared:
        return result
    configs = [{each.folder: each for each in side.triton.values()} for side in (old, new)]
    for folder in shared:
        was, now = configs[0].get(folder), configs[1].get(folder)
        if was is not None or now is not None or "model.onnx" in before[folder].values():
            _folder(result, folder, (old.tree, was, before[folder]), (new.tree, now, after[folder]))
    return result


Versions = tuple[ModelTree, TritonModel | None, dict[str, str]]


def _folder(result: Takeover, folder: str, old: Versions, new: Versions) -> None:
    """Settle the versions of one model."""
    was, now = (
        [v for v in served_versions(tree, config, folder) if any(_number(name, folder) == v for name in files)]
        for tree, config, files in (old, new)
    )
    if not was or not now:
        return
    kept = [version for version in was if version in now]
    for before, after in dict.fromkeys([*((version, version) for version in kept), (was[-1], now[-1])]):
        at = {rest: name for name, rest in new[2].items() if _number(name, folder) == after}
        for name, rest in old[2].items():
            if _number(name, folder) == before and rest in at:
                result.pairs.append((name, at[rest]))
                result.old.add(name)
                result.new.add(at[rest])
    result.old |= {name for name in old[2] if _number(name, folder) not in {was[-1], *kept}}
    result.new |= {name for name in new[2] if _number(name, folder) not in now}
    if was[-1] != now[-1]:
        result.raised.append((folder, was[-1], now[-1]))
    latest = policy(old[1]).latest  # clients of these know that versions come and go
    result.lost += [(folder, version) for version in was if not latest and version not in now]


def _folders(tree: ModelTree) -> dict[str, dict[str, str]]:
    """folder of a model → ONNX file in one of its version folders → its path inside that."""
    found: dict[str, dict[str, str]] = {}
    for file in tree.of("onnx"):
        parts = PurePosixPath(file.name).parts
        for depth in range(len(parts) - 1):
            if VERSION.fullmatch(parts[depth]):
                found.setdefault("/".join(parts[:depth]), {})[file.name] = "/".join(parts[depth + 1 :])
                break
    return found


def _number(name: str, folder: str) -> int:
    return int(name.removeprefix(f"{folder}/" if folder else "").partition("/")[0])
