"""GGF-LOAD: a GGUF file that llama.cpp refuses for what its header says."""

from __future__ import annotations

from collections.abc import Iterator

from ....models.gguf import GgufArray, GgufModel
from ....report.finding import Severity
from ..rulebase import Context, Finding, Level, Rule
from .files import counterpart, whole
from .ggf_arch import width

RULE = Rule(
    id="GGF-LOAD",
    name="gguf-refused",
    family="GGF",
    severity=Severity.ERROR,
    summary="the header of the GGUF file lacks what loading needs, or its sizes are not those of the tensors",
    what="block_count, context_length, embedding_length, attention.head_count where blocks attend, and "
    "feed_forward_length where they have a gate; the tokens and the sizes below the architecture's prefix against the "
    "dims of token_embd, attn_q, attn_k, ffn_up and ffn_gate; the byte order.",
    why="llama.cpp stops with 'key not found' or 'tensor has wrong shape' when it loads the file, after the old model "
    "was let go; x86 and ARM read little-endian files alone",
    hint="convert the model again, and edit metadata only together with the tensors",
    exemptions=(
        "files without blocks, adapters and projectors",
        "what the live version has just the same, since it serves",
    ),
    references=("https://github.com/ggml-org/llama.cpp/blob/master/src/llama-model.cpp",),
)

# Files that hold something else than a language model; and architectures whose rows or heads are counted otherwise.
_OTHERS = frozenset({"adapter", "mmproj", "imatrix"})
_APART = frozenset({"clip", "deci", "wavtokenizer-dec", "eagle3"})
_NEEDED = ("block_count", "context_length", "embedding_length")
# Architectures whose queries and keys are heads times the size of a head, and nothing else.
_PLAIN = frozenset(
    ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "bert", "nomic-bert", "starcoder2", "granite")
)
_ATTENDS = ("attn_q.weight", "attn_qkv.weight")


def check(ctx: Context) -> Iterator[Finding]:
    """Every model of NEW in itself; what OLD has just the same is a note."""
    before = whole(ctx.old) if ctx.old is not None else {}
    after = whole(ctx.new)
    for name, model in after.items():
        old = counterpart(name, before, after)
        known = set(faults(old)) if old is not None else set[str]()
        if not model.little and (old is None or old.little):
            # Alone there is no telling which machine it is for.
            level: Level = "unproven" if old is None else "breaks"
            yield ctx.finding(RULE, level, "the file is big-endian: x86 and ARM refuse it", path=model.file)
        for message in faults(model):
            level, more = ("hot", ", as in the live version") if message in known else ("breaks", "")
            yield ctx.finding(RULE, level, message + more, path=model.file)


def faults(model: GgufModel) -> Iterator[str]:
    """What of a header nobody can load."""
    blocks = {name for name in model.tensors if name.startswith("blk.")}
    if not blocks or model.metadata.get("general.type") in _OTHERS or model.architecture in _APART:
        return
    attends = any(name.endswith(_ATTENDS) for name in blocks)
    # One without the other may hold both, and beside experts it may have a size of its own.
    gated = {"blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"} <= blocks and "blk.0.ffn_gate_exps.weight" not in blocks
    needed = (
        *_NEEDED,
        *(("attention.head_count",) if attends else ()),
        *(("feed_forward_length",) if gated else ()),
    )
    missing = [f"{model.architecture}.{key}" for key in needed if model.get(key) is None]
    if missing:
        yield f"there is no {', '.join(missing)}"
    yield from _rows(model)
    for part in ("ffn_gate", "ffn_up") if gated else ():
        yield from _size(model, f"blk.0.{part}.weight", 1, "feed_forward_length", model.get("feed_forward_length"))
    if model.architecture in _PLAIN:
        for part, key in (("attn_q", "attention.head_count"), ("attn_k", "attention.head_count_kv")):
            heads, size = width(model, key), width(model, "attention.key_length")
            if heads is not None and size is not None:
                yield from _size(model, f"blk.0.{part}.weight", 1, f"{key} times the size of a head", heads * size)


def _rows(model: GgufModel) -> Iterator[str]:
    tokens = model.metadata.get("tokenizer.ggml.tokens")
    if isinstance(tokens, GgufArray):
        yield from _size(model, "token_embd.weight", 1, "the number of tokens", tokens.length)
    yield from _size(model, "token_embd.weight", 0, "embedding_length", model.get("embedding_length"))


def _size(model: GgufModel, name: str, axis: int, key: str, value: object) -> Iterator[str]:
    tensor = model.tensors.get(name)
    given = isinstance(value, int) and not isinstance(value, bool)
    if tensor is not None and given and len(tensor.dims) == 2 and tensor.dims[axis] != value:
        what = "rows" if axis else "columns"
        yield f"{key} is {value:,}, and '{name}' has {tensor.dims[axis]:,} {what}"
