"""TensorRT-LLM: the configuration beside engines and checkpoints; the engine itself stays opaque.

An engine folder's config.json has `version`, `pretrained_config` and `build_config` (written by trtllm-build); a
checkpoint's config.json has the keys of pretrained_config at the top and `producer`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from .hf_config import read_json_config
from .tree import ModelTree


@dataclass(slots=True)
class Engine:
    """What an engine was built for. `build` is empty for a checkpoint, which is not built yet."""

    file: str
    version: str
    model: dict[str, Any] = field(default_factory=dict[str, Any])
    build: dict[str, Any] = field(default_factory=dict[str, Any])
    engines: tuple[str, ...] = ()

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
            if isinstance(table.get(key), int)
        }

    @property
    def plugins(self) -> dict[str, Any]:
        """plugin_config of the build."""
        return _object(self.build.get("plugin_config"))


def is_engine_config(config: dict[str, Any]) -> bool:
    """Whether a config.json is TensorRT-LLM's rather than a Hugging Face one."""
    return (
        "pretrained_config" in config
        or "build_config" in config
        or ("architecture" in config and ("mapping" in config or "producer" in config))
    )


def read_engines(tree: ModelTree) -> dict[str, Engine]:
    """Engines and checkpoints by the name of their config.json. Raises UnreadableModel where one is broken."""
    found: dict[str, Engine] = {}
    for file in tree.of("config"):
        config = read_json_config(file.path)
        if not is_engine_config(config):
            continue
        folder = file.name.rpartition("/")[0]
        beside = tuple(each.name for each in tree.of("engine") if each.name.rpartition("/")[0] == folder)
        built = "pretrained_config" in config
        model = _object(config.get("pretrained_config")) if built else config
        version = str(config.get("version") or model.get("version") or "")
        found[file.name] = Engine(file.name, version, model, _object(config.get("build_config")), beside)
    return found


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
