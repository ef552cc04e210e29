"""How many ids the weights have rows for."""

from __future__ import annotations

from typing import NamedTuple

from ..side import Side
from ..weights.wts_tie import EMBEDDINGS, HEADS

_MORE = (
    "embeddings.word_embeddings.weight",
    "bert.embeddings.word_embeddings.weight",
    "roberta.embeddings.word_embeddings.weight",
    "distilbert.embeddings.word_embeddings.weight",
    "transformer.word_embeddings.weight",
    "shared.weight",
    "token_embd.weight",
)


class Rows(NamedTuple):
    """The number of embedding rows, the file and the tensor (or the configuration key) that say so."""

    rows: int
    file: str
    tensor: str


def embedding_rows(side: Side) -> Rows | None:
    """The input embedding's rows from the headers, None where no known tensor is there."""
    table = side.weights
    for name in (*EMBEDDINGS, *_MORE) if table is not None else ():
        tensor = table.tensors.get(name) if table is not None else None
        if tensor is not None and len(tensor.shape) == 2:
            return Rows(tensor.shape[0], tensor.file, name)
    return None


def head_rows(side: Side) -> Rows | None:
    """The output head's rows: what the model can answer with; the embedding's where they are tied."""
    table = side.weights
    for name in HEADS if table is not None else ():
        tensor = table.tensors.get(name) if table is not None else None
        if tensor is not None and len(tensor.shape) == 2:
            return Rows(tensor.shape[0], tensor.file, name)
    return embedding_rows(side)


def declared_rows(side: Side) -> Rows | None:
    """vocab_size of the configuration."""
    from ....models.hf_config import text_config

    count = text_config(side.config or {}).get("vocab_size")
    if isinstance(count, int) and not isinstance(count, bool) and count > 0:
        return Rows(count, "config.json", "vocab_size")
    return None
