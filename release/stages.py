"""The order of stages: `from` of each names another one, and following it ends."""

from __future__ import annotations

import difflib

from ..config.load import Config
from ..report.errors import BadInput


def check_order(config: Config) -> None:
    """Raise BadInput where a stage comes after one that is not declared, or after itself: no version could enter it."""
    stages = config.settings.stages
    where = config.path or "interlock.yaml"
    for name, stage in stages.items():
        if stage.from_ and stage.from_ not in stages:
            close = difflib.get_close_matches(stage.from_, stages, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"declare it, or drop from; stages: {', '.join(stages)}"
            raise BadInput(where, f"stages.{name}.from: no stage {stage.from_[:140]!r}", hint=hint)
    for name in stages:
        path = [name]
        while (before := stages[path[-1]].from_) and before not in path:
            path.append(before)
        if before:
            cycle = [*path[path.index(before) :], before]
            reason = f"stages.{before}.from: the stages wait for each other: {' <- '.join(cycle)}"
            raise BadInput(where, reason, hint="drop from of the stage that versions enter first")
