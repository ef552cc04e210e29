"""Whether pickles and the zip archives around them are whole. Nothing is unpickled: that would run what is in them.

Formats: APPNOTE.TXT of PKWARE for zip, the opcodes of Python's `pickletools`, the magic number that torch.save began
with before version 1.6.
"""

from __future__ import annotations

from .errors import UnreadableModel
from .source import TRUNCATED, FileSource, open_file
from .tree import TreeFile

_ZIP, _END, _ENTRY = b"PK\x03\x04", b"PK\x05\x06", b"PK\x01\x02"
_TAIL = 22 + 0xFFFF  # the end record and the longest comment behind it
_HEAD = 1 << 16
_OPCODES = 500
_TORCH = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."  # then come more pickles, and storages
# gzip, zlib, bzip2, xz, lzma and lz4: joblib compresses what it pickles.
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_PACKED = (b"\x1f\x8b", *_ZLIB, b"BZ", b"\xfd7z", b"\x5d\x00\x00", b"\x04\x22M\x18")
_SURE = (".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth")  # under other names anything may lie


def check_pickle(file: TreeFile) -> None:
    """Raises UnreadableModel where a file is no pickle or archive, or only a piece of one."""
    with open_file(file.path) as source:
        head = source.read(0, _HEAD)
        if not head and file.name.lower().endswith(_SURE):
            raise empty(file)
        if head.startswith(_ZIP):
            _archive(source)
        elif head[:1] == b"\x80" and len(head) > 1 and head[1] <= 5:
            if head.startswith(_TORCH):
                return
            _pickle(source, head)
            if file.name.lower().endswith(_SURE) and not _stops(source):
                raise UnreadableModel(file.path, "is a pickle without an end", offset=source.size, hint=TRUNCATED)
        elif file.name.lower().endswith(_SURE) and not _other(source, head):
            raise UnreadableModel(file.path, "is neither a pickle nor a zip archive", hint=TRUNCATED)


def empty(file: TreeFile) -> UnreadableModel:
    """The error of a file of no bytes where a model should be."""
    return UnreadableModel(file.path, "is empty: no byte of it is there", hint=TRUNCATED)


def is_pickle(file: TreeFile) -> bool:
    """Whether a file is a pickle or an archive of pickles by its first bytes, or by a name that means nothing else."""
    with open_file(file.path) as source:
        head = source.read(0, 4)
    return file.name.lower().endswith(_SURE) or head.startswith(_ZIP) or (head[:1] == b"\x80" and head[1:2] <= b"\x05")


def _archive(source: FileSource) -> None:
    """A zip archive ends in a record that says where its directory lies."""
    start = max(0, source.size - _TAIL)
    tail = source.read(start, _TAIL)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < 22:
        raise UnreadableModel(source.name, "is a zip archive without an end", offset=source.size, hint=TRUNCATED)
    size, begin = (int.from_bytes(tail[at + i : at + i + 4], "little") for i in (12, 16))
    if 0xFFFFFFFF in (size, begin):
        return  # zip64 says it elsewhere
    if begin + size > start + at or (size and source.read(begin, 4) != _ENTRY):
        raise UnreadableModel(source.name, "is a zip archive whose directory is not where it says", offset=begin)


def _pickle(source: FileSource, head: bytes) -> None:
    """A pickle is a list of opcodes that ends in a full stop; a large one is followed for a while only."""
    from pickletools import genops  # slow to import

    whole = len(head) == source.size
    try:
        for number, (_, _, at) in enumerate(genops(head)):
            if number > _OPCODES or (not whole and at is not None and at > _HEAD // 2):
                break
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        if whole and b"joblib" not in head:  # which puts arrays between the opcodes
            raise UnreadableModel(source.name, f"is a broken pickle: {str(error)[:100]}", hint=TRUNCATED) from error


def _other(source: FileSource, head: bytes) -> bool:
    """Whether the file is a pickle of protocol 0, a compressed one, or a tar archive of old torch."""
    return head.startswith(_PACKED) or head[257:262] == b"ustar" or (head[:1] in b"(c]}dlgIFSVN" and _stops(source))


def _stops(source: FileSource) -> bool:
    return source.read(max(0, source.size - 2), 2).rstrip(b"\n").endswith(b".")
