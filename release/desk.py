"""All that a stage's commands work with: its settings, the registry, the serving side and the ledger."""

from __future__ import annotations

import difflib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..config.load import Config
from ..config.settings import Stage
from ..report.errors import BadInput, InterlockError
from .descriptor import is_digest, is_tag
from .ledger import Ledger
from .position import Position, position_of
from .reference import Model, Reference, digest_in, open_model, open_store, parse
from .rules import GATES
from .serving import Serving, serving_of
from .store import Store, load, resolve


@dataclass(frozen=True, slots=True)
class Desk:
    """One stage, opened."""

    name: str
    stage: Stage
    config: Config
    registry: Reference
    store: Store
    serving: Serving | None
    ledger: Ledger

    def position(self) -> Position:
        """Where the stage stands by its ledger, whose chain is verified."""
        return position_of(self.ledger.events())

    def needs_gates(self, error: type[InterlockError]) -> None:
        """Raise `error` where the stage names no gates: what nobody asks for cannot have passed."""
        if not self.stage.gates:
            raise error(f"stage {self.name}", GATES.summary, hint=GATES.hint, code=GATES.id)

    def digest_of(self, text: str) -> str:
        """The digest that a reference, tag or digest names in this registry; plain files must be published there."""
        if is_digest(text) or (is_tag(text) and not Path(text).exists()):
            return resolve(self.store, text)
        reference = parse(text)
        if reference.scheme == "path":
            path = Path(reference.place)
            if not path.exists():
                raise BadInput(path, "no such file or directory", hint=f"write a tag or digest of {self.store.name}")
            digest = Model(text, path).digest
        else:
            digest = digest_in(open_store(reference), reference)
        if not self.store.has(digest):
            hint = f"publish it first: interlock publish {text} {self.registry.at('TAG')}"
            raise BadInput(text, f"{digest} is not in the registry {self.store.name}", hint=hint)
        return digest

    def live(self, position: Position) -> str:
        """The digest that a new version of this stage is compared with: what the stage has, else `live` of the
        settings, else nothing."""
        if position.current is not None:
            return position.current.registry
        if not self.config.settings.live:
            return ""
        reference = parse(self.config.settings.live, self.config.root)
        if reference.scheme == "path":
            return Model(self.config.settings.live, Path(reference.place)).digest
        if reference.same_place(self.registry) and reference.version in self.config.settings.stages:
            # The tag of a stage, and that stage has nothing yet: this is the first release.
            return self.store.tag(reference.version)
        return digest_in(open_store(reference), reference)

    @contextmanager
    def open_live(self, digest: str) -> Generator[Model]:
        """The verified version that `live` named: from the registry, or from where the settings say."""
        if self.store.has(digest):
            with self.store.view(load(self.store, digest)) as path:
                yield Model(str(self.registry.at(digest)), path, digest)
        else:
            with open_model(self.config.settings.live, root=self.config.root) as model:
                yield model


def open_desk(name: str, config: Config) -> Desk:
    """Open a stage of the settings. Raises BadInput when it is not declared, or there is no registry or ledger."""
    where = config.path or "interlock.yaml"
    stages = config.settings.stages
    if name not in stages:
        close = difflib.get_close_matches(name, stages, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"stages there: {', '.join(stages) or 'none'}"
        raise BadInput(where, f"no stage {name[:140]!r}", hint=hint)
    registry = registry_of(config)
    store = open_store(registry)
    serving = serving_of(name, stages[name], config)
    return Desk(name, stages[name], config, registry, store, serving, Ledger(state_of(config, store), name))


def registry_of(config: Config) -> Reference:
    """The place that the settings publish to, without a version."""
    where = config.path or "interlock.yaml"
    if not config.settings.registry:
        raise BadInput(where, "no registry is set", hint="write registry: oci-layout:registry")
    return parse(config.settings.registry, config.root).at("")


def state_of(config: Config, store: Store) -> Path:
    """The folder of the ledgers: the `ledger` setting, else inside the registry."""
    if config.settings.ledger:
        return config.resolve(config.settings.ledger)
    state = store.state()
    if state is None:
        reason = "a registry cannot hold a ledger: two promotions could not be told apart there"
        raise BadInput(store.name, reason, hint="set ledger: PATH to a directory that all promoters share")
    return state
