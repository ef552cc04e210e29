"""EMB-SPACE: an embedding model changed, so stored vectors and heads trained on them no longer fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....report.finding import Severity
from ..files.pooled import addition, files, renamed, settings
from ..rulebase import Context, Finding, Level, Rule, Step
from .embedders import adapted, causes, embeds, moved

RULE = Rule(
    id="EMB-SPACE",
    name="embedding-space-changed",
    family="EMB",
    severity=Severity.ERROR,
    summary="an embedding model has other weights: old and new vectors do not share a space",
    what="Models that give vectors, where a tensor of theirs changed, or an adapter on them: modules.json, classes "
    "such as CLIPModel and DPRContextEncoder, GGUF files of an encoder or with a pooling_type, graphs whose file or "
    "output says embedding or that end in a normalised vector. Of the same models rope, activation, sizes, "
    "quantisation and tokenizer, where their own rules find them changed; and the pooling, prompts, length and "
    "similarity that sentence-transformers reads.",
    why="a vector index or a classifier trained on the old vectors silently mixes two spaces of the same dimension",
    hint="embed the stored vectors again and switch index and model together; or show with --run that the cosine "
    "similarity is at least contract.cosine",
    exemptions=(
        "a graph that computes the same from the same weights, by content: another export",
        "a default that is only written out",
        "prompts under new names, which nobody asks for yet",
        "another name for the folder of a module without weights",
    ),
)

if TYPE_CHECKING:
    from ....models.onnx import OnnxModel, Value
    from ..graph.reading import Reading

# Settings whose meaning is known: the vectors, or what they are compared by, change with them.
_KNOWN = frozenset(
    (
        *("modules", "word_embedding_dimension", "include_prompt", "max_seq_length", "do_lower_case"),
        *("similarity_fn_name", "truncate_dim", "default prompt", "in_features", "out_features", "bias"),
        *("activation_function", "weights", "dimension", "dropout"),
    )
)
_NAME = r"(?i)embed(?!_tokens|_in\b)|sentence_vec|pooler_output|image_features|text_features"


def check(ctx: Context) -> Iterator[Finding]:
    """Embedding models whose numbers changed, unless the behavioural stage measured that they did not."""
    if ctx.old is None:
        return
    if not (ctx.old.tree.single or ctx.new.tree.single):
        yield from _settings(ctx)
    measured = ctx.options.get("cosine")
    sign = embeds(ctx.new) and embeds(ctx.old)
    for cause, level in causes(ctx) if sign else ():
        path, pointer = (cause.where.path, cause.where.pointer) if cause.where is not None else ("", "")
        root = ctx.new.show("x")[:-1]
        name = path.removeprefix(root) if path.startswith(root) and not ctx.new.tree.single else ""
        message = f"the vectors of an embedding model ({sign}) move, {cause.rule}: {cause.message}"
        yield ctx.finding(RULE, level, message, path=name, pointer=pointer, plan=("reembed-index",))
    if measured is not None and ctx.contract.cosine and measured >= ctx.contract.cosine:
        return
    if "onnx" in ctx.new.tree.kinds:
        yield from _graphs(ctx, measured)
    for path, sign, level in (*moved(ctx), *adapted(ctx)):
        what = "changed" if level == "breaks" else "agrees in every sample, but was not compared whole"
        yield _finding(ctx, path, f"the embedding model {what} ({sign})", measured, level=level)


def _settings(ctx: Context) -> Iterator[Finding]:
    """What sentence-transformers does around the model: pooling, prompts, length, similarity."""
    assert ctx.old is not None  # noqa: S101
    moves = renamed(ctx.old, ctx.new)
    before = {
        f"{moves.get(folder, folder)}{slash}{rest}": name
        for name in files(ctx.old)
        for folder, slash, rest in (name.rpartition("/"),)
    }
    for name in sorted(before.keys() | files(ctx.new)):
        old, new = settings(ctx.old, before.get(name, name)), settings(ctx.new, name)
        if name == "modules.json":
            old = {key: [(moves.get(folder, folder), kind) for folder, kind in each] for key, each in old.items()}
        for key in sorted(old.keys() | new.keys()):
            a, b = old.get(key), new.get(key)
            if a == b or (key not in old and addition(key)):
                continue
            side = ctx.new if name in ctx.new.tree.files else ctx.old
            known = key in _KNOWN or key.startswith(("pooling_mode_", "prompt "))
            what = "pooling" if name == "modules.json" or "/" in name else "what is put around a text"
            steps: tuple[Step, ...] = () if key == "similarity_fn_name" else ("reembed-index",)
            level: Level = "breaks" if known else "unproven"
            message = f"{what} changed in '{name}', {key}"
            path = name if side is ctx.new else before[name]
            yield ctx.finding(RULE, level, message, path=path, side=side, pointer=f"/{key}", old=a, new=b, plan=steps)


def _graphs(ctx: Context, measured: float | None) -> Iterator[Finding]:
    """Graphs that embed and whose vectors may have changed: the same flow on the same weights is a re-export."""
    from ..graph.contract import promised
    from ..graph.reading import readings
    from .recomputed import Weights, same_vectors, same_weights

    assert ctx.old is not None  # noqa: S101
    for pair, before, after in readings(ctx):
        outputs = [promised(model, "outputs") for model in (pair.new, pair.old)]
        sign = _sign(pair.new, outputs[0], after) or _sign(pair.old, outputs[1], before)
        if not sign:
            continue
        weights = Weights(ctx.old, pair.old), Weights(ctx.new, pair.new)
        same = same_weights(*weights)
        if same == "different":
            yield _finding(ctx, pair.new.file, f"the embedding model changed ({sign})", measured)
        elif not same_vectors(before, after, weights):
            what = "holds the same weights" if same == "same" else "holds weights that agree in every sample"
            message = f"the embedding model ({sign}) {what}, but its graph or data is written in another way"
            yield _finding(ctx, pair.new.file, message, measured, level="unproven")


def _finding(ctx: Context, path: str, message: str, measured: float | None, *, level: Level = "breaks") -> Finding:
    seen = "" if measured is None else f"; lowest cosine similarity measured is {measured:.4f}"
    return ctx.finding(RULE, level, message + seen, path=path, plan=("reembed-index",))


def _sign(model: OnnxModel, outputs: list[Value], reading: Reading) -> str:
    """Why a graph with these outputs counts as an embedding model; empty where it does not."""
    from .normalised import normalised

    if re.search(_NAME, model.file.rsplit("/", 1)[-1]):
        return f"the file is named {model.file}"
    for value in outputs:
        if re.search(_NAME, value.name):
            return f"output '{value.name}'"
    if [value.name for value in outputs] == ["last_hidden_state"]:
        return "its only output is last_hidden_state"
    if any(normalised(reading, value) is not None for value in reading.flow.outputs.values()):
        return "it ends in a normalised vector"
    return ""
