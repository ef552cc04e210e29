"""GGF-MISSING: a GGUF file lacks blocks, or tensors of a block, that its own metadata promises."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.gguf import GgufModel
from ....report.finding import Severity
from ..files.companions import containers
from ..rulebase import Context, Finding, Rule
from ..side import Side
from ..weights.layers import Gap, Stack, absent, lost, numbers, odd, stacks
from ..weights.tables import names as listed
from .block_tensors import lacking, missing
from .files import counterpart, whole

RULE = Rule(
    id="GGF-MISSING",
    name="gguf-tensors-missing",
    family="GGF",
    severity=Severity.ERROR,
    summary="blocks or tensors that the model needs are not in the file",
    what="block_count against the blk.N tensors over all parts of a split file; a block that lacks tensors which "
    "llama.cpp calls for in every block of the architecture; for other architectures, an inner block that lacks "
    "tensors of its neighbours; a block that lacks what the live version has there; no token_embd, no norm behind the "
    "last block; a number of blocks and no tensors at all.",
    why="llama.cpp stops with 'missing tensor' when it loads the file, after the old model was let go",
    hint="convert or quantise the model again; fetch the parts that are missing",
    exemptions=(
        "a vocabulary beside a model, or without a number of blocks",
        "adapters, projectors and calibration data",
    ),
)

# Files that hold something else than a language model, and families that leave blocks empty on purpose.
_OTHERS = frozenset({"adapter", "mmproj", "imatrix"})
_UNEVEN = frozenset({"clip", "deci"})


def check(ctx: Context) -> Iterator[Finding]:
    """Every model of NEW in itself, then against OLD. What OLD lacks just the same is a note, since it serves."""
    before = whole(ctx.old) if ctx.old is not None else {}
    after = whole(ctx.new)
    for name, model in after.items():
        old = counterpart(name, before, after)
        found = [*_faults(model), *_hollow(ctx.new, after, model)]
        known = {*_faults(old), *_hollow(ctx.old, before, old)} if found and ctx.old and old else set[str]()
        for message in found:
            level, more = ("hot", ", as in the live version") if message in known else ("breaks", "")
            yield ctx.finding(RULE, level, message + more, path=model.file)
        if old is not None and known >= set(found):
            for message in _lost(old, model):
                yield ctx.finding(RULE, "breaks", message, path=model.file)


def _hollow(side: Side, models: dict[str, GgufModel], model: GgufModel) -> Iterator[str]:
    """What says how many blocks it has and holds none, where nothing else is there to serve: llama.cpp's test files
    are made so, of a vocabulary alone."""
    count = model.get("block_count")
    own = isinstance(count, int) and count > 0 and model.metadata.get("general.type") not in _OTHERS
    if own and not any(each.tensors for each in models.values()) and containers(side.tree) == {"gguf"}:
        yield "there is a block_count and no tensor: the file holds a vocabulary alone, which nobody can serve"


def _judged(model: GgufModel) -> dict[str, Stack]:
    """The stacks of blocks of a language model; none of anything else."""
    if model.metadata.get("general.type") in _OTHERS or model.architecture in _UNEVEN:
        return {}
    return {name: each for name, each in stacks(model.tensors).items() if name in ("blk", "enc.blk", "dec.blk")}


def _count(model: GgufModel, stack: str) -> int | None:
    """How many blocks the metadata promises, without those that predict further tokens."""
    count = model.get("decoder_block_count") if stack == "dec.blk" else None
    count = model.get("block_count") if count is None else count
    further = model.get("nextn_predict_layers")
    return count - (further if isinstance(further, int) else 0) if isinstance(count, int) else None


def _faults(model: GgufModel) -> list[str]:
    found: list[str] = []
    own = _judged(model)
    for name, stack in own.items():
        count = _count(model, name)
        gone = absent(stack, count) if count is not None else []
        if gone:
            found.append(f"block_count is {count}, '{name}' lacks {numbers(gone)}")
        gap = _gap(model, stack, count) or odd(stack)
        if gap is not None:
            found.append(f"block {gap.layer} of '{name}' lacks {listed(gap.names)}")
    rest = [name for name in model.tensors if ".blk." not in name and not name.startswith("blk.")]
    if any(0 in stack.layers for stack in own.values()):
        if "token_embd.weight" not in rest:
            found.append("there is no token_embd.weight")
        first = next(iter(own.values())).layers.get(0, set[str]())
        if "attn_norm.weight" in first and not any("norm" in name for name in rest):
            found.append("there is no norm behind the last block")
    return found


def _gap(model: GgufModel, stack: Stack, count: int | None) -> Gap | None:
    """The first block that lacks what its architecture calls for. Blocks beyond `count` are made otherwise."""
    for number, own in sorted(stack.layers.items() if stack.name == "blk" else ()):
        names = missing(model.architecture, _experts(model), own) if count is None or number < count else None
        if names:
            return Gap(number, names)
    return None


def _experts(model: GgufModel) -> int:
    count = model.get("expert_count")
    return count if isinstance(count, int) else 0


def _lost(old: GgufModel, new: GgufModel) -> Iterator[str]:
    if old.tensors.keys() <= new.tensors.keys():
        return
    before, after = _judged(old), _judged(new)
    if old.architecture != new.architecture or old.get("block_count") != new.get("block_count"):
        return
    for name in before.keys() & after.keys():
        gap = lost(before[name], after[name], _count(new, name))
        if gap is not None:
            what = f"{listed(gap.names)}, which other blocks still have" if gap.names else "all its tensors"
            yield f"block {gap.layer} of '{name}' lost {what}"
            continue
        for number, own in sorted(after[name].layers.items() if name == "blk" else ()):
            had = before[name].layers.get(number, set[str]())
            gone = lacking(new.architecture, _experts(new), own) - lacking(old.architecture, _experts(old), had)
            if gone:
                yield f"block {number} of '{name}' lost {listed(gone)}"
                break
    if before and after:
        norms = [name for name in old.tensors if name.endswith("output_norm.weight") and name not in new.tensors]
        if norms and not any(name.endswith("norm.weight") and "blk." not in name for name in new.tensors):
            yield f"'{norms[0]}' is gone"
