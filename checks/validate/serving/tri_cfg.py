"""TRI-CFG: config.pbtxt does not describe the model it serves, or promises clients something else than before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from ....report.finding import Severity
from ...lint.sources.pbtxt import Message
from ..rulebase import Context, Finding, Level, Rule
from ..side import Side
from .triton import FILENAMES, FREE, Declared, TritonModel, label_text, served, true
from .triton_graph import Mismatch, mismatches
from .triton_repository import Problem, lacking, problems
from .unserved import ASIDE, Aside
from .versions import bare, served_versions

RULE = Rule(
    id="TRI-CFG",
    name="triton-config-mismatch",
    family="TRI",
    severity=Severity.WARNING,
    summary="config.pbtxt and the model disagree, or its promises to clients changed",
    what="Names, data types, dims and max_batch_size of config.pbtxt against the model.onnx of each version, with what "
    "Triton fills in itself (controls and states of sequences, facts about a batch), and against the configuration "
    "that serves now; whether files, versions and models that it names are there, and every version that it serves; "
    "what Triton refuses whatever the model is, and ensembles whose tensors do not fit the models that they call.",
    why="one config.pbtxt serves all versions: Triton refuses the new version, or clients get another contract",
    hint="write config.pbtxt for the new model, or let the ONNX backend complete it (leave inputs and outputs out)",
    references=(
        "https://github.com/triton-inference-server/server/issues/7406",
        "https://github.com/triton-inference-server/core/blob/main/src/model_config_utils.cc",
    ),
    exemptions=(
        "a configuration that leaves inputs and outputs to auto-completion",
        "edits of instance groups, threads and memory",
        "what does not fit the graph of the live version either, which is a note",
        "files of versions that version_policy does not serve: one that cannot be read is only noted",
    ),
)


def check(ctx: Context) -> Iterator[Finding]:
    """NEW's configuration against NEW's models and OLD's configuration."""
    configs = ctx.new.triton
    before = ctx.old.triton if ctx.old is not None else {}
    yield from _aside(ctx)
    for folder in bare(ctx.new.tree):
        live = [] if ctx.old is None else _incomplete(ctx.old, folder)
        for problem in (each for each in _incomplete(ctx.new, folder) if each not in live):
            yield ctx.finding(RULE, problem.level, problem.message, path=folder)
    for name, config in configs.items():
        live = {each.message for _, each in _disagreements(ctx, ctx.old, before.get(name))}
        for file, each in _disagreements(ctx, ctx.new, config):
            level, more = ("hot", ", as in the live version") if each.message in live else ("restart", "")
            yield ctx.finding(RULE, level, f"{each.message} in {file}{more}", path=name, line=each.line)
        # What OLD has, too, is served for all that.
        known = list(problems(ctx.old, before, before[name])) if ctx.old is not None and name in before else []
        for problem in problems(ctx.new, configs, config):
            if problem not in known:
                yield ctx.finding(RULE, problem.level, problem.message, path=name, pointer=problem.field)
        if name in before:
            yield from _promises(ctx, before[name], config)
    for name in sorted(before.keys() - configs.keys()):
        assert ctx.old is not None  # noqa: S101
        folder = before[name].folder
        if folder and not any(each.startswith(f"{folder}/") for each in (*ctx.new.tree.files, *ctx.new.tree.empty)):
            message = f"the model '{folder.rpartition('/')[2]}' is gone, which clients call by its name"
            yield ctx.finding(RULE, ctx.client_level("wire"), message, path=name, side=ctx.old)
            continue
        yield ctx.finding(
            RULE, "unproven", "config.pbtxt is gone; Triton completes one if it can", path=name, side=ctx.old
        )


def _disagreements(ctx: Context, side: Side | None, config: TritonModel | None) -> Iterator[tuple[str, Mismatch]]:
    """What a configuration and the graphs of the versions that it serves do not agree on: (file, what)."""
    if side is None or config is None:
        return
    numbers = {str(version) for version in served_versions(side.tree, config)}
    for model in (each for each in served(side, config) if each.file.split("/")[-2] in numbers):
        for each in mismatches(ctx, side, config, model):
            yield model.file, each


def _aside(ctx: Context) -> Iterator[Finding]:
    """Files that cannot be read, of versions that nobody is served."""
    for each in cast("list[Aside]", ctx.options.get(ASIDE, [])):
        message = f"cannot be read: {each.reason}; version_policy does not serve this version"
        yield ctx.finding(RULE, "hot", message, path=each.file, side=each.side)


def _incomplete(side: Side, folder: str) -> list[Problem]:
    """What is wrong with the versions of a model that has no configuration."""
    return [each for version in served_versions(side.tree, None, folder) for each in lacking(side, folder, version)]


def _promises(ctx: Context, old: TritonModel, new: TritonModel) -> Iterator[Finding]:
    """What clients of the old configuration rely on, and settings whose meaning is not known here."""
    was_said, said = _unjudged(old), _unjudged(new)
    for key in sorted(was_said.keys() | said.keys()):
        if key == "sequence_batching" and not old.sequences:
            continue  # told below
        if was_said.get(key) != said.get(key):
            yield ctx.finding(RULE, "unproven", f"'{key}' changed", path=new.file, pointer=key)
    if new.backend != old.backend:
        yield ctx.finding(RULE, "unproven", "'backend' changed", path=new.file, old=old.backend, new=new.backend)
    was_named, named = (config.root.scalar("name") for config in (old, new))
    if was_named and named and was_named != named and not new.folder:
        message = "clients call the model by its name, which changed"
        yield ctx.finding(RULE, ctx.client_level("wire"), message, old=was_named, new=named, path=new.file)
    if new.sequences and not old.sequences:
        message = "requests need a sequence id now: sequence_batching is new"
        yield ctx.finding(RULE, "breaks", message, path=new.file, pointer="sequence_batching")
    level: Level = ctx.client_level("tensor")
    was, is_ = old.largest_batch, new.largest_batch
    if is_ < was and (new.inputs or was != FREE):  # without inputs, Triton completes them from the model
        # Who sends more than the new limit is not known where there was none.
        how: Level = "unproven" if was == FREE else level
        before, after = ("any" if each == FREE else each for each in (was, is_))
        yield ctx.finding(RULE, how, "the largest batch shrank", old=before, new=after, path=new.file)
    for kind, before, after in (("input", old.inputs, new.inputs), ("output", old.outputs, new.outputs)):
        found = {each.name: each for each in after}
        for each in before:
            now = found.pop(each.name, None)
            if now is None and after:
                yield ctx.finding(RULE, level, f"{kind} '{each.name}' is gone", path=new.file)
            elif now is not None:
                yield from _tensor(ctx, kind, (old, each), (new, now), level)
        if before and kind == "input":
            for each in (each for each in found.values() if not each.optional):
                yield ctx.finding(RULE, level, f"input '{each.name}' is new", path=new.file, line=each.line)


def _tensor(
    ctx: Context, kind: str, old: tuple[TritonModel, Declared], new: tuple[TritonModel, Declared], level: Level
) -> Iterator[Finding]:
    """A type or shape that changed, the batch dimension of max_batch_size included."""
    (before, was), (after, now) = old, new
    yield from _told(ctx, kind, old, new, level)
    if was.optional and not now.optional:
        yield ctx.finding(RULE, level, f"input '{was.name}' is no longer optional", path=after.file, line=now.line)
    shapes = was.shape(before.max_batch_size), now.shape(after.max_batch_size)
    if was.type == now.type and shapes[0] == shapes[1]:
        return
    # The batch of an answer is the batch that was sent.
    batched = before.max_batch_size < 1 <= after.max_batch_size and was.dims[1:] == now.dims
    wider = _wider(*shapes)
    if kind == "output":  # the rules on graphs say whether the same requests still get the same sizes
        graphs = ctx.old is not None and bool(served(ctx.old, before)) and bool(served(ctx.new, after))
        wider = batched or (wider and graphs)
    yield ctx.finding(
        RULE,
        "hot" if was.type == now.type and wider else level,
        f"{kind} '{was.name}' changed",
        old=f"{was.type}{list(shapes[0])}",
        new=f"{now.type}{list(shapes[1])}",
        path=after.file,
        line=now.line,
    )


def _told(
    ctx: Context, kind: str, old: tuple[TritonModel, Declared], new: tuple[TritonModel, Declared], level: Level
) -> Iterator[Finding]:
    """What clients are told beside type and shape: the layout of images, and the labels of classes."""
    (before, was), (after, now) = old, new
    if was.format != now.format and was.format:
        how: Level = level if now.format else "unproven"
        message = f"the format of {kind} '{was.name}' changed"
        new_format = now.format or None
        yield ctx.finding(RULE, how, message, old=was.format, new=new_format, path=after.file, line=now.line)
    if was.labels and was.labels != now.labels:
        texts = [label_text(ctx.old, before, was.labels), label_text(ctx.new, after, now.labels)]
        if not texts[0] or texts[0] != texts[1]:
            message = f"the labels of {kind} '{was.name}' changed"
            new_file = now.labels or None
            yield ctx.finding(RULE, level, message, old=was.labels, new=new_file, path=after.file, line=now.line)


_JUDGED = frozenset({"input", "output", "max_batch_size", "name", "backend", "platform", "version_policy"})
_TUNING = frozenset(
    {"instance_group", "dynamic_batching", "optimization", "model_warmup", "response_cache", "metric_tags"}
)
# How long requests wait for each other, and how many sequences run at once.
_WAITING = frozenset(
    ("max_queue_delay_microseconds", "preferred_batch_size", "minimum_slot_utilization", "max_candidate_sequences")
)
# What makes Triton refuse requests that wait too long.
_QUEUES = frozenset({"default_queue_policy", "priority_queue_policy"})
# Parameters of backends that change how fast a model runs and how much memory it takes, never what it answers.
_PARAMETERS = re.compile(
    r"(intra|inter)_op_thread_count|execution_mode|level|(enable|disable)_\w*(mem|arena|cache|pattern)\w*|arena\w*"
    r"|memory\.\w+|session\.\w*(thread|spinning|allocator|arena)\w*|(gpu_)?mem_limit|cudnn_conv_\w+|optimization\.\w+"
    r"|(ENABLE|DISABLE|INFERENCE)_\w*(CACHE|CLEANING|MODE|EXECUTION)\w*|NUM_THREADS|num_threads",
    re.IGNORECASE,
)


def _unjudged(config: TritonModel) -> dict[str, list[object]]:
    """Every other field, in a form that compares by value; without defaults that are only written out."""
    found: dict[str, list[object]] = {}
    for field in config.root.fields:
        value, key = field.value, field.name
        if key == "dynamic_batching" and isinstance(value, Message):
            for policy in (each for each in value.fields if each.name in _QUEUES):
                found.setdefault(policy.name, []).append(_plain(policy.value))
        if key in _JUDGED | _TUNING or value == "":
            continue
        if key == "default_model_filename" and value == FILENAMES.get(config.backend):
            continue
        if isinstance(value, Message):
            if key == "model_transaction_policy" and not true(value.scalar("decoupled")):
                continue
            if key == "parameters":
                name = str(value.scalar("key") or "")
                if _PARAMETERS.fullmatch(name):
                    continue
                key = f"parameters of {name}"
        found.setdefault(key, []).append(_plain(value))
    return found


def _plain(value: object) -> object:
    """Fields in the order of their names; the values of one keep theirs, unless they are messages."""
    if not isinstance(value, Message):
        return value
    kept = [field for field in value.fields if field.name not in _WAITING]
    texts = [(each.name, str(_plain(each.value)), isinstance(each.value, Message)) for each in kept]
    return [(name, text) for name, text, _ in sorted(texts, key=lambda each: (each[0], each[1] if each[2] else ""))]


def _wider(old: tuple[int, ...], new: tuple[int, ...]) -> bool:
    return len(old) == len(new) and all(b in (a, -1) for a, b in zip(old, new, strict=True))
