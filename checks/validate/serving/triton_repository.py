"""Whether what a config.pbtxt names is there: its folder, versions, files, and the models that an ensemble calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...lint.sources.pbtxt import Message
from ..rulebase import Level
from ..side import Side
from .triton import TritonModel
from .triton_ensemble import circle, dangling, steps, unfit
from .triton_refused import refused
from .versions import VERSION, policy, present, served_versions, taken_for

_MODELS = frozenset({"onnx", "engine", "pickle", "safetensors", "gguf"})

# The fields of ModelConfig in model_config.proto of triton-inference-server/common; Triton refuses any other.
_FIELDS = frozenset(
    (
        *("name", "platform", "backend", "runtime", "version_policy", "max_batch_size", "input", "output"),
        *("batch_input", "batch_output", "optimization", "dynamic_batching", "sequence_batching", "parameters"),
        *("ensemble_scheduling", "instance_group", "default_model_filename", "cc_model_filenames", "metric_tags"),
        *("model_warmup", "model_operations", "model_transaction_policy", "model_repository_agents"),
        *("response_cache", "model_metrics"),
    )
)


class Problem(NamedTuple):
    """What keeps Triton from loading a model, or a client from what is promised, and the field that says so."""

    level: Level
    message: str
    field: str


def problems(side: Side, configs: dict[str, TritonModel], config: TritonModel) -> Iterator[Problem]:
    """What is wrong with one configuration of a repository, from its own files."""
    name = str(config.root.scalar("name") or "")
    folder = config.folder.rpartition("/")[2]
    if name and folder and name != folder:
        yield Problem("breaks", f"the name is '{name}' in a folder '{folder}': Triton refuses the model", "name")
    for field in dict.fromkeys(each.name for each in config.root.fields):
        if field not in _FIELDS:
            yield Problem("unproven", f"Triton knows no field '{field}' and refuses the file", field)
    for message, field in (*refused(config), *((each, "ensemble_scheduling") for each in dangling(config))):
        yield Problem("breaks", f"{message}: Triton refuses the model", field)
    prefix = f"{config.folder}/" if config.folder else ""
    for each in config.outputs:
        if each.labels and f"{prefix}{each.labels}" not in side.tree.files:
            message = f"the labels of output '{each.name}' are not there: '{each.labels}'"
            yield Problem("breaks", f"{message}, Triton refuses the model", "output/label_filename")
    yield from _versions(side, config, prefix)
    if len(configs) > 1:  # alone, an ensemble says nothing about the models it calls
        for step in steps(config):
            name = str(step.scalar("model_name") or "")
            yield from _step(side, configs, name, step.scalar("model_version"))
            yield from _maps(configs, name, step)
        called = {each.folder.rpartition("/")[2]: each for each in configs.values()}
        around = ["the ensemble calls itself"] if circle(config, called) else []
        for message in (*around, *unfit(config, called)):
            yield Problem("breaks", f"{message}: Triton refuses the ensemble", "ensemble_scheduling")


def _versions(side: Side, config: TritonModel, prefix: str) -> Iterator[Problem]:
    there = present(side.tree, config.folder)
    if not there:
        yield from _ignored(side, config)
        return
    serves = served_versions(side.tree, config)
    wanted = [version for version in policy(config).specific if version not in there]
    if wanted:
        said = f"version {', '.join(map(str, wanted))} is not there, which version_policy names"
        yield Problem("unproven" if serves else "breaks", said, "version_policy")
    filename = config.filename if not config.root.get("cc_model_filenames") else ""
    for version in serves:
        if filename:
            path = f"{prefix}{version}/{filename}"
            if not any(name == path or name.startswith(f"{path}/") for name in side.tree.files):
                message = f"the {config.backend or 'backend'} model is not there: '{path}'"
                yield Problem("breaks", message + _instead(side, config.folder, version), "default_model_filename")
        else:
            yield from lacking(side, config.folder, version)


def lacking(side: Side, folder: str, version: int) -> Iterator[Problem]:
    """What is wrong with a version that Triton serves and that holds no files while others do."""
    inside = side.tree.folders(folder)
    if not inside.get(str(version)) and any(VERSION.fullmatch(name) and files for name, files in inside.items()):
        message = f"version {version} is served and holds no files{_instead(side, folder, version)}"
        yield Problem("breaks", f"{message}: Triton cannot load it", "version_policy")


def _instead(side: Side, folder: str, version: int) -> str:
    """The folder that makes Triton look for a version that is not there."""
    inside = side.tree.folders(folder)
    name = next((name for name in inside if taken_for(name) == version), "") if str(version) not in inside else ""
    return f" (Triton takes the folder '{name}' for version {version})" if name else ""


def _ignored(side: Side, config: TritonModel) -> Iterator[Problem]:
    """A model whose files all lie in folders that are no versions; a configuration without the model is no problem."""
    prefix = f"{config.folder}/" if config.folder else ""
    for name, files in sorted(side.tree.folders(config.folder).items()):
        holds = any(
            side.tree.files[f"{prefix}{name}/{each}"].kind in _MODELS or each == config.filename for each in files
        )
        # At the top, any folder may lie beside a configuration.
        if holds and (config.folder or re.search(r"\d", name)):
            message = (
                f"no version is there: Triton ignores the folder '{name}', whose name is no number, and serves nothing"
            )
            yield Problem("breaks", message, "version_policy")
            return


def _step(side: Side, configs: dict[str, TritonModel], called: str, version: object) -> Iterator[Problem]:
    found = _named(configs, called)
    folders = {name.split("/")[-3] for name in side.tree.files if name.count("/") > 1}
    if found is None:
        if called not in folders:
            yield Problem("breaks", f"the ensemble calls a model '{called}' that is not there", "ensemble_scheduling")
        return
    serves = served_versions(side.tree, found)
    if isinstance(version, int) and version > 0 and serves and version not in serves:
        message = f"the ensemble calls version {version} of '{called}', which is not served"
        yield Problem("breaks", message, "ensemble_scheduling")


def _maps(configs: dict[str, TritonModel], called: str, step: Message) -> Iterator[Problem]:
    found = _named(configs, called)
    if found is None:
        return
    for kind, tensors in (("input", found.inputs), ("output", found.outputs)):
        names = {each.name for each in tensors}
        for key in (str(each.scalar("key")) for each in step.messages(f"{kind}_map")):
            if names and key not in names:
                message = f"the ensemble maps the {kind} '{key}', which '{called}' does not have"
                yield Problem("breaks", message, "ensemble_scheduling")


def _named(configs: dict[str, TritonModel], name: str) -> TritonModel | None:
    return next((each for each in configs.values() if each.folder.rpartition("/")[2] == name), None)
