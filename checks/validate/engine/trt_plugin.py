"""TRT-PLUGIN: the engine was built with other plugins."""

from __future__ import annotations

from collections.abc import Iterator

from ....report.finding import Severity
from ..rulebase import Context, Finding, Rule
from .matching import pairs

RULE = Rule(
    id="TRT-PLUGIN",
    name="engine-plugins-changed",
    family="TRT",
    severity=Severity.WARNING,
    summary="plugin_config of the build changed",
    what="Every key of build_config.plugin_config.",
    why="plugins decide the cache layout (paged, block size) and how inputs are packed; the server must agree",
    hint="restart the server with settings that fit the new engine",
)


def check(ctx: Context) -> Iterator[Finding]:
    """Keys that differ."""
    for pair in pairs(ctx):
        old, new = pair.old.plugins, pair.new.plugins
        changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        if changed:
            told = ", ".join(f"{key} {old.get(key)} → {new.get(key)}" for key in changed[:4])
            yield ctx.finding(
                RULE,
                "restart",
                f"{len(changed)} plugin settings changed ({told})",
                path=pair.new.file,
                pointer="/build_config/plugin_config",
            )
