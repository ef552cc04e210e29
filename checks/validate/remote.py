"""Models at https:// and hf://: small files are fetched, of weights only the headers, by range requests.

https://HOST/PATH/model.onnx                       one file
https://HOST/PATH/model.safetensors.index.json     an index and the shards beside it
hf://OWNER/NAME[@REVISION]                         a repository of a hub, HF_ENDPOINT or https://huggingface.co
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urljoin, urlsplit

from ...models.errors import UnreadableModel
from ...models.ranges import RangeSource
from ...models.strict_json import loads
from ...models.tree import ModelTree, TreeFile, kind_of
from ...report.errors import BadInput, NeedsAccess

if TYPE_CHECKING:
    from requests import Response, Session

HUB = "https://huggingface.co"
MAX_WHOLE = 64 << 20
MAX_FILES = 10_000
_LARGEST = 1 << 50  # bytes of a file, a petabyte
_TIMEOUT = (10, 30)
_HEADERS = frozenset({"safetensors", "gguf", "onnx"})
_WHOLE = frozenset(
    {"index", "config", "generation-config", "tokenizer", "tokenizer-config", "chat-template", "adapter", "pooling"}
) | {"triton", "labels"}
_ODD_PORT = re.compile(r"[^/@\[\]]*:[^/@]*[^/@\d][^@]*@")
_HF = re.compile(r"hf://([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")


@dataclass(frozen=True, slots=True)
class _Remote:
    """A file of the model: its name in it, URL, kind, and what is known of its size and digest."""

    name: str
    url: str
    kind: str
    size: int | None = None
    digest: str = ""


def is_remote(reference: str) -> bool:
    """Whether a reference is read over the network by this module."""
    return reference.startswith(("https://", "http://", "hf://"))


def shown(reference: str) -> str:
    """A reference as messages and reports may name it: without user, password, query and fragment.

    Signatures and tokens of presigned URLs are in the query, and reports are read by more people than may fetch.
    """
    scheme, mark, rest = reference.partition("://")
    if not mark or scheme not in ("https", "http", "hf"):
        return reference
    if _ODD_PORT.match(rest):  # a password that nobody encoded
        rest = rest.rpartition("@")[2]
    if scheme == "hf":  # what follows an @ is the revision
        return f"hf://{re.split('[?#]', rest, maxsplit=1)[0]}"
    host, slash, path = rest.partition("/")
    return f"{scheme}://{re.split('[?#]', host.rpartition('@')[2] + slash + path, maxsplit=1)[0]}"


def model_name(reference: str) -> str:
    """How messages call a model: an index stands for the folder it is in."""
    name = shown(reference)
    remote = name.startswith(("https://", "http://"))
    return name.rpartition("/")[0] if remote and kind_of(name) == "index" else name


def _scrubbed(text: str) -> str:
    """Text of another library without what the URLs in it may hold; a path with a query counts, too."""
    return re.sub(r"\?[^\s'\")]+", "", re.sub(r"://[^/\s]*@", "://", text))


@contextmanager
def open_remote(reference: str) -> Generator[ModelTree]:
    """The model's files, in a temporary directory, with holes where weights would be.

    Raises BadInput for a reference that names nothing, NeedsAccess where network or credentials are missing.
    """
    import requests

    with requests.Session() as session, tempfile.TemporaryDirectory(prefix="interlock-") as folder:
        client = _Client(session, reference)
        try:
            yield client.tree(Path(folder))
        except requests.RequestException as error:
            reason = f"cannot be reached: {_cause(error, reference)}"
            raise NeedsAccess(shown(reference), reason, hint="check the network, or validate a local copy") from error


def _cause(error: Exception, reference: str) -> str:
    """The innermost reason, in one line."""
    while error.__cause__ or error.__context__:
        error = cast("Exception", error.__cause__ or error.__context__)
    line = str(error).replace(reference, shown(reference)).split("\n", 1)[0]
    return _scrubbed(line).lower()[:200] or type(error).__name__


class _Client:
    """Requests for one reference."""

    def __init__(self, session: Session, reference: str) -> None:
        self.session = session
        self.reference = reference
        hub = _HF.fullmatch(reference)
        self.repository, self.revision = (hub[1], hub[2] or "main") if hub else ("", "")
        self.endpoint = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
        if hub and (token := os.environ.get("HF_TOKEN")):
            session.headers["Authorization"] = f"Bearer {token}"  # requests drops it on a redirect to another host
        if reference.startswith("hf://") and not hub:
            raise BadInput(
                shown(reference), "names no repository", hint="write hf://OWNER/NAME or hf://OWNER/NAME@REVISION"
            )
        url = self.endpoint if hub else reference
        try:
            parts = urlsplit(url)
        except ValueError:
            raise BadInput(shown(url), "is not a URL") from None
        if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise BadInput(shown(url), "is not https", hint="headers fetched in the clear can be changed on the way")

    def tree(self, folder: Path) -> ModelTree:
        """Fetch what is needed."""
        single = False
        if self.repository:
            remotes = self.listing()
        else:
            name = PurePosixPath(urlsplit(self.reference).path).name
            if not name:
                raise BadInput(
                    shown(self.reference), "names no file", hint="give the URL of a model file or of a shard index"
                )
            first = _Remote(name, self.reference, kind_of(name))
            single = first.kind != "index"
            remotes = [first, *(self.shards(first) if first.kind == "index" else ())]
        files: dict[str, TreeFile] = {}
        for remote in sorted(remotes, key=lambda each: each.name):
            files[remote.name] = self.fetch(remote, folder / remote.name)
        return ModelTree(folder, files, single=single)

    def get(self, url: str, **headers: str) -> Response:
        """A response that succeeded."""
        response = self.session.get(url, headers=headers, timeout=_TIMEOUT, stream=True)
        if response.status_code in (401, 403):
            raise NeedsAccess(shown(url), f"answers {response.status_code}", hint="set HF_TOKEN, or ask for access")
        if response.status_code == 404:
            raise BadInput(shown(url), "not found")
        response.raise_for_status()
        return response

    def listing(self) -> list[_Remote]:
        """Files of a hub repository."""
        root = f"{self.endpoint}/api/models/{self.repository}/tree/{quote(self.revision, safe='')}?recursive=true"
        entries: list[Any] = []
        url: str | None = root
        while url and len(entries) <= MAX_FILES:
            with self.get(url) as response:
                page = loads(self.bounded(response, url), shown(url))
                if not isinstance(page, list):
                    raise UnreadableModel(shown(url), "is not a list of files")
                entries.extend(cast("list[Any]", page))
                url = response.links.get("next", {}).get("url")
        found: list[_Remote] = []
        for entry in entries:
            match entry:
                case {"type": "file", "path": str(path), "size": int(size)}:
                    if ".." in PurePosixPath(path).parts or path.startswith("/") or "\0" in path:
                        raise UnreadableModel(
                            shown(self.reference), f"lists the file {path[:200]!r}, outside of itself"
                        )
                    if not 0 <= size <= _LARGEST:
                        raise UnreadableModel(shown(self.reference), f"lists {path[:200]!r} of impossible size")
                    lfs: Any = cast("dict[str, Any]", entry).get("lfs")
                    large = cast("dict[str, Any]", lfs) if isinstance(lfs, dict) else {}
                    digest = str(large.get("oid") or cast("dict[str, Any]", entry).get("oid") or "")
                    where = f"{self.endpoint}/{self.repository}/resolve/{quote(self.revision, safe='')}/{quote(path)}"
                    found.append(_Remote(path, where, kind_of(path), size, digest))
                case _:
                    pass
        if not found:
            raise BadInput(shown(self.reference), "holds no files")
        return found

    def shards(self, index: _Remote) -> list[_Remote]:
        """The shards that an index names, beside it."""
        with self.get(index.url) as response:
            document = loads(self.bounded(response, index.url), shown(index.url))
        mapping: Any = document.get("weight_map") if isinstance(document, dict) else None  # pyright: ignore
        names = (
            {str(each) for each in cast("dict[str, Any]", mapping).values()}
            if isinstance(mapping, dict)
            else set[str]()
        )
        if any({"/", "\\", "\0"} & set(name) or name in ("", ".", "..") for name in names):
            raise UnreadableModel(shown(index.url), "names shards outside of its folder")
        return [_Remote(name, urljoin(index.url, quote(name)), "safetensors") for name in sorted(names)]

    def bounded(self, response: Response, url: str) -> bytes:
        """A whole body of at most MAX_WHOLE bytes."""
        data = b""
        for chunk in response.iter_content(1 << 16):
            data += chunk
            if len(data) > MAX_WHOLE:
                raise UnreadableModel(shown(url), f"is larger than the {MAX_WHOLE >> 20} MiB that such a file may have")
        return data

    def fetch(self, remote: _Remote, path: Path) -> TreeFile:
        """One file: whole, or its header and a hole."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if remote.kind in _WHOLE:
            with self.get(remote.url) as response:
                path.write_bytes(self.bounded(response, remote.url))
            return TreeFile(remote.name, path, path.stat().st_size, remote.kind, remote.digest)
        if remote.kind not in _HEADERS:
            with path.open("wb") as stream:
                stream.truncate(remote.size or 0)
            return TreeFile(remote.name, path, remote.size or 0, remote.kind, remote.digest, partial=True)
        size, digest = self.head(remote)
        source = RangeSource(
            shown(remote.url), size, lambda offset, length: self.range(remote.url, offset, length), path
        )
        _read(source, remote)
        return TreeFile(remote.name, path, size, remote.kind, remote.digest or digest, partial=True)

    def head(self, remote: _Remote) -> tuple[int, str]:
        """Size and strong entity tag, by a request for one byte: servers answer HEAD less reliably."""
        with self.get(remote.url, Range="bytes=0-0") as response:
            match = re.fullmatch(r"bytes 0-0/(\d+)", response.headers.get("Content-Range", ""))
            tag = response.headers.get("X-Linked-Etag") or response.headers.get("ETag") or ""
        if match is not None and len(match[1]) > len(str(_LARGEST)):
            raise UnreadableModel(shown(remote.url), "is of impossible size, as its server says")
        if match is None:
            hint = "fetch the model and validate the local copy"
            raise BadInput(shown(remote.url), "the server does not answer range requests", hint=hint)
        return int(match[1]), "" if tag.startswith("W/") else tag

    def range(self, url: str, offset: int, length: int) -> bytes:
        """Exactly these bytes."""
        with self.get(url, Range=f"bytes={offset}-{offset + length - 1}") as response:
            if response.status_code != 206:
                raise BadInput(shown(url), "the server does not answer range requests")
            data = self.bounded(response, url)
        if len(data) != length:
            raise UnreadableModel(shown(url), f"gave {len(data):,} of {length:,} bytes", offset=offset)
        return data


def _read(source: RangeSource, remote: _Remote) -> None:
    """Run the reader once, so that the header is there. What it cannot read, it will say again on the local file."""
    from ...models.gguf import parse_gguf
    from ...models.onnx import parse_onnx
    from ...models.onnx_values import read_small
    from ...models.safetensors import parse_header

    try:
        if remote.kind == "safetensors":
            parse_header(source, remote.name)
        elif remote.kind == "onnx":
            read_small(source, parse_onnx(source, remote.name))
        else:
            # Vocabulary scores are skipped by the reader, but tokenizer rules want them.
            source.read(0, parse_gguf(source, remote.name).data_begin)
    except UnreadableModel:
        return
