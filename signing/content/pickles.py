"""Pickles in a model: alone, in a row (old PyTorch), in a zip (PyTorch), as NumPy objects; and what they import."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from ...models.source import FileSource, MemorySource, Source
from ...report.finding import Severity

# Files with these suffixes may as well be something else entirely.
_MAYBE = (".bin", ".ckpt")
_ZIP, _NUMPY = b"PK\x03\x04", b"\x93NUMPY"
_MAX_MEMBER = 64 << 20
_MAX_MEMBERS = 10_000

# Modules are given with the names that only rebuild data.
_PLAIN = {
    "builtins": "set frozenset slice range complex bytearray dict list tuple int float str bool bytes object",
    "__builtin__": "set frozenset slice long unicode bytearray object",
    "collections": "OrderedDict defaultdict deque Counter",
    "datetime": "datetime date time timedelta timezone",
    "_codecs": "encode",
    "copyreg": "_reconstructor",
    "copy_reg": "_reconstructor",
    "numpy": "ndarray dtype float64 float32 int64 int32 bool_",
    "numpy.core.multiarray": "_reconstruct scalar",
    "numpy._core.multiarray": "_reconstruct scalar",
    "numpy.core.numeric": "_frombuffer",
    "numpy._core.numeric": "_frombuffer",
    "torch": "Size device dtype Tensor DoubleStorage FloatStorage HalfStorage BFloat16Storage LongStorage IntStorage "
    "ShortStorage CharStorage ByteStorage BoolStorage float64 float32 float16 bfloat16 int64 int32 int8 uint8 bool",
    "torch.storage": "UntypedStorage TypedStorage",
    "torch.serialization": "_get_layout",
    "torch.nn.parameter": "Parameter",
    "torch._tensor": "_rebuild_from_type_v2",
    "torch._utils": "_rebuild_tensor _rebuild_tensor_v2 _rebuild_parameter _rebuild_parameter_with_state "
    "_rebuild_qtensor _rebuild_sparse_tensor _rebuild_meta_tensor_no_storage",
}
_SAFE = frozenset(f"{module}.{name}" for module, listed in _PLAIN.items() for name in listed.split())
# Modules that reach the system, run code or load more of it, with all that is below them.
_REACHING = """
    os posix nt sys subprocess pty runpy shutil socket ssl http urllib requests httpx aiohttp ctypes cffi importlib imp
    pkgutil code codeop marshal types pickle _pickle dill cloudpickle joblib builtins __builtin__ commands webbrowser
    asyncio multiprocessing threading signal tempfile pathlib io operator functools timeit pdb bdb cProfile profile pip
    setuptools distutils venv ensurepip torch.hub numpy.testing smtplib ftplib telnetlib poplib copyreg copy_reg _codecs
"""
_DANGEROUS = frozenset(_REACHING.split())


class Pickled(NamedTuple):
    """What a file's pickles mean: how bad, and in words. INFO where nothing but plain data is imported."""

    severity: Severity
    message: str


def judge(source: FileSource, fd: int, suffix: str) -> Pickled | None:
    """What the pickles in an open file would import; None where there is none. `suffix` tells what the file claims."""
    imports: set[str] = set()
    whole = True
    count = 0
    for member in _members(source, fd, suffix):
        if member is None:
            whole = False
            continue
        found, complete = _sequence(member)
        imports |= found
        whole &= complete
        count += 1
    if not count and whole:
        return None
    dangerous = sorted(name for name in imports if _is_dangerous(name))
    if dangerous:
        return Pickled(Severity.ERROR, f"runs {', '.join(dangerous[:5])} when loaded")
    # TorchScript's own classes are compiled from the archive, not imported by Python.
    unknown = sorted(name for name in imports - _SAFE if not name.startswith("__torch__."))
    if unknown:
        return Pickled(Severity.WARNING, f"imports {', '.join(unknown[:5])} when loaded")
    if not whole:
        return Pickled(Severity.WARNING, "holds a pickle that cannot be followed to its end")
    return Pickled(Severity.INFO, "is a pickle of plain data")


def may_hold(head: bytes, suffix: str) -> bool:
    """Whether a file that starts so can hold a pickle: those called .bin are mostly raw weights."""
    return suffix not in _MAYBE or head[:1] == b"\x80" or head[:4] == _ZIP or head[:6] == _NUMPY


def _is_dangerous(name: str) -> bool:
    module = name.rpartition(".")[0]
    parts = module.split(".")
    prefixes = {".".join(parts[:i]) for i in range(1, len(parts) + 1)}
    return name == "?" or (name not in _SAFE and bool(prefixes & _DANGEROUS))


def _members(source: FileSource, fd: int, suffix: str) -> Iterator[Source | None]:
    """The pickle streams of a file; None for one that is there and cannot be read."""
    head = source.read(0, 4096)
    if head[:4] == _ZIP:
        yield from _zipped(fd, source.name)
    elif head[:6] == _NUMPY:
        if b"|O" in head[:256] or b"'O" in head[:256]:
            length = int.from_bytes(head[8:10], "little") + 10
            yield MemorySource(source.read(length, _MAX_MEMBER), source.name)
    elif (head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")) or suffix not in _MAYBE:
        yield source


def _zipped(fd: int, name: str) -> Iterator[Source | None]:
    import zipfile
    import zlib

    with os.fdopen(os.dup(fd), "rb") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                for info in archive.infolist()[:_MAX_MEMBERS]:
                    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                        yield None  # no framework packs like this, and each method fails with errors of its own
                    elif info.filename.endswith((".pkl", ".pickle")):
                        with archive.open(info) as member:
                            data = member.read(_MAX_MEMBER + 1)
                        yield MemorySource(data, name) if len(data) <= _MAX_MEMBER else None
                    elif info.filename.endswith(".npy"):
                        with archive.open(info) as member:
                            if b"|O" in member.read(256):
                                yield None
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, EOFError, ValueError):
            yield None


def _sequence(source: Source) -> tuple[set[str], bool]:
    """Imports of the pickles that follow each other from the start, and whether each came to its end.

    Old PyTorch writes five in a row and then raw data: what follows the first counts only while it looks like a pickle.
    """
    from .opcodes import walk  # loads the standard library's table of opcodes

    imports: set[str] = set()
    offset = 0
    for number in range(16):
        if number and source.read(offset, 1) != b"\x80":
            return imports, True
        found = walk(source, offset)
        imports |= found.imports
        if found.end < 0:
            return imports, False
        offset = found.end
    return imports, True
