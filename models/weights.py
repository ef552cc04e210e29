"""Sets of weights over shards: which safetensors files form one model, merged into one table of tensors.

Files that an index (`*.safetensors.index.json`: `weight_map` from tensor to file) names form a set; so do files
numbered `stem-00001-of-00030`; any other file is a set of its own. The same model saved twice, as in a folder with
both shards and a consolidated file, is thus two sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, cast

from .errors import UnreadableModel
from .safetensors import Header, Tensor, read_header, shard_of
from .strict_json import loads
from .tree import ModelTree, TreeFile

MAX_INDEX = 100_000_000


@dataclass(frozen=True, slots=True)
class WeightTable:
    """One set's tensors by name. `faults` says where index and shards disagree, each naming the tensor or file.

    `beside` is the one file of the same stem and the same tensors that lies beside an index.
    """

    name: str
    files: tuple[str, ...]
    tensors: dict[str, Tensor]
    metadata: dict[str, str] = field(default_factory=dict[str, str])
    index: str = ""
    faults: tuple[str, ...] = ()
    beside: WeightTable | None = None

    @property
    def places(self) -> dict[str, str]:
        """The file of each tensor."""
        return {name: tensor.file for name, tensor in self.tensors.items()}

    @property
    def size(self) -> int:
        """Bytes of tensor data."""
        return sum(tensor.end - tensor.begin for tensor in self.tensors.values())


def read_weights(tree: ModelTree) -> dict[str, WeightTable]:
    """Every set of weights by name: `folder/stem`, or the folder's name alone for what an index names.

    Raises UnreadableModel for a broken or missing shard and for an index that points out of the model.
    """
    left = {file.name: file for file in tree.of("safetensors")}
    headers: dict[str, Header] = {}
    tables: dict[str, WeightTable] = {}
    for index in tree.of("index"):
        mapping, total = _index(index, tree)
        files = sorted(set(mapping.values()))
        for name in files:
            headers[name] = read_header(tree.files[name])
            left.pop(name, None)
        stem = index.name.removesuffix(".safetensors.index.json")
        tables[stem] = _indexed(stem, index, mapping, total, {name: headers[name] for name in files})
    for stem, files in _numbered(left, tree).items():
        table = _merged(stem, {file.name: read_header(file) for file in files})
        if stem not in tables:
            tables[stem] = table
        elif table.tensors.keys() == tables[stem].tensors.keys():
            tables[stem] = replace(tables[stem], beside=table)
        else:
            # `transformers` looks for the one file before the index; what it does not hold stays random.
            fault = (
                f"{table.files[0]} beside the index holds {len(table.tensors)} tensors, not the "
                f"{len(tables[stem].tensors)} of the shards, and is loaded in their place"
            )
            tables[stem] = replace(tables[stem], faults=(*tables[stem].faults, fault))
    return tables


def main_table(tables: dict[str, WeightTable]) -> WeightTable | None:
    """The set that a server loads: `model` in the top folder, or the only one there that is not an adapter."""
    if "model" in tables:
        return tables["model"]
    top = [table for name, table in tables.items() if "/" not in name and not name.startswith("adapter_model")]
    if len(top) > 1:
        indexed = [table for table in top if table.index]
        top = indexed or top
    return top[0] if len(top) == 1 else None


def _index(index: TreeFile, tree: ModelTree) -> tuple[dict[str, str], int | None]:
    """tensor → file name in the tree, and the total size it declares."""
    if index.size > MAX_INDEX:
        raise UnreadableModel(index.path, f"is {index.size:,} bytes long, too long for an index")
    document = loads(index.path.read_bytes(), str(index.path))
    mapping = document.get("weight_map") if isinstance(document, dict) else None  # pyright: ignore
    if not isinstance(mapping, dict) or not all(isinstance(v, str) for v in mapping.values()):  # pyright: ignore
        raise UnreadableModel(index.path, "has no weight_map from tensor to file")
    folder = PurePosixPath(index.name).parent
    names: dict[str, str] = {}
    for file in dict.fromkeys(cast("dict[str, str]", mapping).values()):
        if file.startswith("/") or "\\" in file or "\0" in file or ".." in PurePosixPath(file).parts:
            raise UnreadableModel(index.path, f"names the shard {file!r}, which leads out of the model")
        names[file] = (folder / file).as_posix()
        if names[file] not in tree.files:
            hint = "was the download complete?"
            raise UnreadableModel(index.path, f"names the shard {file!r}, which is missing", hint=hint)
        if tree.files[names[file]].kind != "safetensors":
            raise UnreadableModel(index.path, f"names the shard {file!r}, which is not safetensors")
    metadata = cast("dict[str, Any]", document).get("metadata")
    total = cast("dict[str, Any]", metadata).get("total_size") if isinstance(metadata, dict) else None
    tensors = {tensor: names[file] for tensor, file in cast("dict[str, str]", mapping).items()}
    return tensors, total if isinstance(total, int) else None


def _indexed(
    stem: str, index: TreeFile, mapping: dict[str, str], total: int | None, headers: dict[str, Header]
) -> WeightTable:
    faults: list[str] = []
    tensors: dict[str, Tensor] = {}
    for name, file in mapping.items():
        tensor = headers[file].tensors.get(name)
        if tensor is None:
            faults.append(f"tensor {name!r} is not in {file}, where the index puts it")
        else:
            tensors[name] = tensor
    for file, header in headers.items():
        faults.extend(
            f"tensor {name!r} is in {file}, but the index "
            + (f"puts it into {mapping[name]}" if name in mapping else "does not name it")
            for name in header.tensors
            if mapping.get(name) != file
        )
    table = WeightTable(stem, tuple(headers), tensors, _metadata(headers), index.name)
    if total is not None and not faults and total != table.size:
        faults.append(f"the index declares {total:,} bytes, the shards hold {table.size:,}")
    return WeightTable(stem, table.files, tensors, table.metadata, index.name, tuple(faults))


def _numbered(files: dict[str, TreeFile], tree: ModelTree) -> dict[str, list[TreeFile]]:
    """Files without an index as stem → shards in order. Raises UnreadableModel where a number is missing."""
    stems: dict[str, list[TreeFile]] = {}
    counts: dict[str, set[int]] = {}
    for file in files.values():
        shard = shard_of(file.name)
        if shard is None or tree.single:
            stems.setdefault(file.name.removesuffix(".safetensors"), []).append(file)
            continue
        stems.setdefault(shard[0], []).append(file)
        counts.setdefault(shard[0], set()).add(shard[2])
    for stem, sizes in counts.items():
        if len(sizes) > 1 or len(stems[stem]) != next(iter(sizes)):
            expected = " and ".join(map(str, sorted(sizes)))
            reason = f"has {len(stems[stem])} of {expected} shards of {stem!r} and no index"
            raise UnreadableModel(tree.root, reason, hint="was the download complete?")
    return stems


def _merged(stem: str, headers: dict[str, Header]) -> WeightTable:
    faults: list[str] = []
    tensors: dict[str, Tensor] = {}
    for file, header in headers.items():
        faults.extend(
            f"tensor {name!r} is in {tensors[name].file} and in {file}" for name in header.tensors if name in tensors
        )
        tensors.update(header.tensors)
    return WeightTable(stem, tuple(headers), tensors, _metadata(headers), "", tuple(faults))


def _metadata(headers: dict[str, Header]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for header in headers.values():
        merged.update(header.metadata)
    return merged
