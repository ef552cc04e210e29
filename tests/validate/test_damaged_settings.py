"""Settings with values of the wrong type anywhere never crash a rule, and never turn into a pass by crashing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.checks.validate.run import validate
from interlock.config.settings import Contract
from interlock.models.errors import UnreadableModel
from interlock.report.errors import InterlockError
from validate.build import adapter_config, folder, llama, llama_tensors, lora, safetensors
from validate.test_mutants import embedder, engine

KEYS = st.text(max_size=5) | st.sampled_from(["0", "-1", "\u00b2", "9" * 5000])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)
MODELS: dict[str, dict[str, Any]] = {
    "model": {"config.json": llama(rope_scaling={"type": "linear"}), "model.safetensors": safetensors(llama_tensors())},
    "adapter": {"adapter_config.json": adapter_config(), "adapter_model.safetensors": safetensors(lora())},
    "engine": engine(),
    "embedder": embedder(),
}
EXTRA = (
    "text_config",
    "quantization_config",
    "id2label",
    "auto_map",
    "rank_pattern",
    "eos_token_id",
    "rope_parameters",
)


def places(document: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The path of every key."""
    found: list[tuple[str, ...]] = []
    for key, value in document.items():
        found.append((*path, key))
        if isinstance(value, dict):
            found.extend(places(value, (*path, key)))
    return found


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_wrong_types_never_crash(name: str, tmp_path: Path, choice: st.DataObject) -> None:
    files = MODELS[name]
    file = choice.draw(st.sampled_from([key for key, value in files.items() if isinstance(value, dict)]))
    document = json.loads(json.dumps(files[file]))
    for _ in range(choice.draw(st.integers(1, 3))):
        options = [*places(document), *((key,) for key in EXTRA)]
        *path, last = choice.draw(st.sampled_from(options))
        target = document
        for key in path:
            target = target[key]
        target[last] = choice.draw(VALUES)
    old = folder(tmp_path / "old", files)
    new = folder(tmp_path / "new", {**files, file: document})
    for contract in (Contract(), Contract(gpu_memory="80GB", kv_tokens=16, level="wire")):
        try:
            validate(new, old, contract=contract)
            validate(new, contract=contract)
        except (InterlockError, UnreadableModel) as error:
            assert str(error)
