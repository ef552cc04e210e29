"""The HTTP/1.1 parser: any split of the bytes gives the same answer, and nothing but Malformed comes of nonsense."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.bench.http1 import MAX_HEAD, Malformed, Response, request
from interlock.bench.truth import ABSENT, reader
from interlock.report.errors import BadInput


def encode(body: bytes, how: str, sizes: list[int]) -> bytes:
    """An answer with `body`, framed by length, by chunks of the given sizes, or by the end of the connection."""
    if how == "length":
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    if how == "close":
        return b"HTTP/1.1 200 OK\r\n\r\n" + body
    parts, at = [], 0
    for size in sizes:
        piece = body[at : at + size]
        if piece:
            parts.append(b"%x;ext=1\r\n%b\r\n" % (len(piece), piece))
        at += size
    if body[at:]:
        parts.append(b"%X\r\n%b\r\n" % (len(body) - at, body[at:]))
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(parts) + b"0\r\nT: 1\r\n\r\n"


@given(
    st.binary(max_size=300),
    st.sampled_from(["length", "close", "chunked"]),
    st.lists(st.integers(1, 40), max_size=8),
    st.lists(st.integers(1, 50), max_size=30),
)
def test_any_split_gives_the_same_answer(body: bytes, how: str, chunks: list[int], cuts: list[int]) -> None:
    data = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + encode(body, how, chunks)
    response, done, at = Response(), False, 0
    for cut in [*cuts, len(data)]:
        assert not done or at >= len(data)
        if data[at : at + cut]:
            done = response.feed(data[at : at + cut])
        at += cut
    if how == "close":
        assert not done
        done = response.end()
    assert done
    assert (response.status, response.body) == (200, body)
    assert response.keep_alive == (how != "close")


@given(st.binary(max_size=400))
def test_nonsense_is_malformed_or_incomplete(data: bytes) -> None:
    for head in (b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
        with contextlib.suppress(Malformed):
            response = Response()
            response.feed(head + data)
            response.end()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"SSH-2.0-OpenSSH", "not HTTP"),
        (b"HTTP/2 200\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 20 OK\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", "switch of protocols"),
        (b"HTTP/1.1 200 OK\r\n bad\r\n\r\n", "header line"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "content-length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "content-length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "after the end"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "chunk without a size"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "longer than it said"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n" + b"x" * 10, ""),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * MAX_HEAD, "head of more than"),
    ],
)
def test_malformed_answers(data: bytes, words: str) -> None:
    if not words:
        assert Response().feed(data) is False  # a large chunk is waited for, not reserved
        return
    with pytest.raises(Malformed, match=words):
        Response().feed(data)


def test_answers_without_a_body() -> None:
    for head in (b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"):
        response = Response()
        assert response.feed(head)
        assert response.body == b""
    assert Response(head_only=True).feed(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n")


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, Close\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n", True),
    ],
)
def test_keep_alive(head: bytes, kept: bool) -> None:
    response = Response()
    assert response.feed(head)
    assert response.keep_alive is kept


def test_a_cut_answer_does_not_end_well() -> None:
    response = Response()
    assert not response.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
    assert not response.end()
    assert response.started


def test_request_bytes() -> None:
    assert request("GET", "h:1", "/x?y", {"A": "b"}, b"") == b"GET /x?y HTTP/1.1\r\nHost: h:1\r\nA: b\r\n\r\n"
    assert request("POST", "h", "/", {}, b"").endswith(b"Content-Length: 0\r\n\r\n")


def answer(body: bytes) -> Response:
    response = Response()
    response.feed(b"HTTP/1.1 200 OK\r\nX-Version: 7\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    return response


@pytest.mark.parametrize(
    ("how", "body", "value"),
    [
        ("/version", b'{"version": 3}', "3"),
        ("/version", b'{"version": "3"}', "3"),
        ("/a~1b/0/x~0y", b'{"a/b": [{"x~y": true}]}', "true"),
        ("/outputs/0/data", b'{"outputs": [{"data": [1.5, 2]}]}', "[1.5,2]"),
        ("/b", b'{"b": {"z": 1, "a": 2}}', '{"a":2,"z":1}'),
        ("/missing", b"{}", ABSENT),
        ("/0/x", b"[1]", ABSENT),
        ("/x", b"\xff not json", ABSENT),
        ("/x", b"[" * 100_000, ABSENT),
        ("header:X-VERSION", b"", "7"),
        ("header:nope", b"", ABSENT),
    ],
)
def test_fingerprints(how: str, body: bytes, value: str) -> None:
    assert reader("--fingerprint", how)(answer(body)) == value


def test_body_fingerprints_differ_by_one_byte() -> None:
    read = reader("--fingerprint", "body")
    assert read(answer(b"a")) == read(answer(b"a")) != read(answer(b"b"))
    with pytest.raises(BadInput):
        reader("--fingerprint", "header:")
