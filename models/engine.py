"""TensorRT-LLM: the configuration beside engines and checkpoints; the engine itself stays opaque.

An engine folder's config.json has `version`, `pretrained_config` and `build_config` (written by trtllm-build); a
checkpoint's config.json has the keys of pretrained_config at the top and `mapping` or `producer`. The runtime opens
`rankN.engine`, the builder `rankN.safetensors`, one for each process. A plan is binary from its first bytes on, but
nothing public says which ones they are, so that only what is no plan for certain is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, cast

from .errors import UnreadableModel
from .hf_config import read_json_config
from .tree import ModelTree, TreeFile

_POINTER = b"version https://git-lfs.github.com/spec/"
_HEAD = 512
_HUGE = 1 << 31  # processes
_TEXT = 64  # printable bytes at least, before what begins as neither a page nor JSON is called text
_PRINTABLE = frozenset({9, 10, 13, *range(32, 127)})


@dataclass(slots=True)
class Engine:
    """What an engine was built for. `build` is empty for a checkpoint, which is not built yet."""

    file: str
    version: str
    model: dict[str, Any] = field(default_factory=dict[str, Any])
    build: dict[str, Any] = field(default_factory=dict[str, Any])
    engines: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()

    def limit(self, name: str) -> int | None:
        """A limit of build_config as an integer."""
        value = self.build.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def mapping(self) -> dict[str, int]:
        """world_size, tp_size and pp_size."""
        table = {**self.model, **_object(self.model.get("mapping"))}
        return {
            key: table[key]
            for key in ("world_size", "tp_size", "pp_size", "cp_size")
            if isinstance(table.get(key), int) and abs(table[key]) < _HUGE
        }

    @property
    def built(self) -> bool:
        """Whether the configuration is an engine's, not a checkpoint's."""
        return bool(self.build)

    @property
    def files(self) -> tuple[str, ...]:
        """What the processes load: engines, or the shards of a checkpoint."""
        return self.engines if self.built else self.checkpoints

    @property
    def ranks(self) -> int | None:
        """How many processes there are, None where nothing says."""
        return self.mapping.get("world_size") or self.grid

    @property
    def grid(self) -> int | None:
        """Processes that the parallel sizes make, None where none is given."""
        sizes = [self.mapping[key] for key in ("tp_size", "pp_size", "cp_size") if key in self.mapping]
        return prod(sizes) if sizes else None

    @property
    def plugins(self) -> dict[str, Any]:
        """plugin_config of the build."""
        return _object(self.build.get("plugin_config"))


def is_engine_config(config: dict[str, Any]) -> bool:
    """Whether a config.json is TensorRT-LLM's rather than a Hugging Face one, which may hold any key in addition."""
    if isinstance(config.get("architectures"), list):
        return False
    if isinstance(config.get("architecture"), str) and ("mapping" in config or "producer" in config):
        return True
    return not isinstance(config.get("model_type"), str) and ("pretrained_config" in config or "build_config" in config)


def read_engines(tree: ModelTree) -> dict[str, Engine]:
    """Engines and checkpoints by the name of their config.json. Raises UnreadableModel where one is broken."""
    for file in tree.of("engine"):
        _check_plan(file)
    found: dict[str, Engine] = {}
    for file in tree.of("config"):
        config = read_json_config(file.path)
        if not is_engine_config(config):
            continue
        folder = file.name.rpartition("/")[0]
        beside, shards = (
            tuple(each.name for each in tree.of(kind) if each.name.rpartition("/")[0] == folder)
            for kind in ("engine", "safetensors")
        )
        built = "pretrained_config" in config
        model = _object(config.get("pretrained_config")) if built else config
        version = str(config.get("version") or model.get("version") or "")
        found[file.name] = Engine(file.name, version, model, _object(config.get("build_config")), beside, shards)
    return found


def _check_plan(file: TreeFile) -> None:
    """Raises UnreadableModel for a file that is no engine whatever the version: empty, a pointer, or text."""
    if file.partial:
        return
    if not file.size:
        raise UnreadableModel(file.path, "is empty", hint="was the build or the copy complete?")
    try:
        with file.path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise UnreadableModel(file.path, (error.strerror or str(error)).lower()) from error
    if head.startswith(_POINTER):
        raise UnreadableModel(file.path, "is a git-lfs pointer, not an engine", hint="run git lfs pull, then try again")
    if _PRINTABLE.issuperset(head) and (head.startswith((b"<", b"{")) or len(head) >= _TEXT):
        raise UnreadableModel(file.path, f"is text, not an engine: {head[:40].decode()!r}")


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
