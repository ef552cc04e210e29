"""Parsers and judgements under inputs nobody thought of: they answer or refuse, and never do anything else."""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.report.errors import BadInput, Refused
from interlock.signing import bundle, digests, names, pkcs11, statement, tree
from interlock.signing.hashing import Job, hash_tree
from interlock.signing.keymode import KeySigner
from interlock.signing.manifest import Manifest, Resource
from interlock.signing.patterns import weakness
from interlock.signing.run import sign, verify
from interlock.signing.statement import Statement
from interlock.signing.tree import Tree

HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
NAMES = st.lists(st.text("abcXYZ-_0. é", min_size=1, max_size=8), min_size=1, max_size=3).map("/".join)
RESOURCES = st.lists(st.builds(Resource, NAMES, st.just("sha256"), HEX, HEX, st.integers(0, 1 << 60)), min_size=1)
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(RESOURCES, NAMES, st.lists(NAMES))
def test_statements_survive_the_round_trip(resources: list[Resource], name: str, ignored: list[str]) -> None:
    given_ = Statement(Manifest(tuple(resources), tuple(ignored)), name, {"interlock/version": "1"})
    assert statement.decode(statement.encode(given_), "x") == given_


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for key, item in items for p in _paths(item, (*path, key)))]


@quick
@given(st.data(), JSON)
def test_one_value_of_a_bundle_or_statement_replaced(data: st.DataObject, value: Any) -> None:
    """Whatever stands in any one place: decoded, or refused with a typed reason."""
    key = ec.derive_private_key(7, ec.SECP256R1())
    honest = Statement(Manifest((Resource("a", "sha256", "0" * 64),)), "m")
    payload = statement.encode(honest)
    for document, decode in (
        (json.loads(payload), statement.decode),
        (json.loads(KeySigner(key, "k").bundle(payload)), bundle.decode),
    ):
        path = data.draw(st.sampled_from(_paths(document)[1:]))
        target = document
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value
        try:
            decode(json.dumps(document).encode(), "x")
        except Refused as error:
            assert error.code.startswith("VER-")


@quick
@given(st.binary(max_size=300))
def test_bytes_as_bundle_and_statement(data: bytes) -> None:
    for decode in (bundle.decode, statement.decode):
        with pytest.raises(Refused):
            decode(data, "x")


@settings(max_examples=500, deadline=None)
@given(st.text(max_size=30) | NAMES)
def test_accepted_names_have_one_spelling(name: str) -> None:
    if names.problem(name) is None:
        assert posixpath.normpath(name) == name
        assert ".." not in name.split("/") and not name.startswith("/")
        assert unicodedata.normalize("NFC", name) == name
        assert name.encode().decode() == name
        assert "\\" not in name and "\n" not in name and name.strip() == name


@quick
@given(st.lists(NAMES, unique=True, max_size=8))
def test_twins_are_names_that_fold_together(listed: list[str]) -> None:
    def fold(name: str) -> str:
        return unicodedata.normalize("NFKC", name).casefold()

    folded = [fold(name) for name in listed]
    clash = len(set(folded)) < len(folded)
    clash |= any(a != b and b.startswith(a + "/") for a in folded for b in folded)
    found = names.twins(listed)
    assert (found is not None) == clash


@settings(max_examples=400, deadline=None)
@given(st.text(r"ab@/:.\[]()|*+?{}^$,-1dws", max_size=20))
def test_any_pattern_is_judged(pattern: str) -> None:
    import re

    found = weakness(pattern)
    if found is not None and found[1]:
        assert re.fullmatch(pattern, found[1])


@quick
@given(st.text(max_size=60))
def test_any_uri_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(BadInput):
        pkcs11.parse("pkcs11:" + text)


SIZES = (0, 1, digests.CHUNK - 1, digests.CHUNK, digests.CHUNK + 1, digests.PIPELINE_FROM, digests.PIPELINE_FROM + 7)


def test_every_way_of_reading_gives_the_same_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone and read ahead, side by side, in batches, on one core or many: the standard library agrees."""
    expected: dict[str, tuple[str, ...]] = {}
    for i, size in enumerate(SIZES):
        data = os.urandom(size)
        (tmp_path / f"{i}").write_bytes(data)
        hashers = [digests.new(algorithm) for algorithm in digests.LENGTH]
        for hasher in hashers:
            hasher.update(data)
        expected[f"{i}"] = tuple(hasher.hexdigest() for hasher in hashers)
    opened = Tree(tmp_path)
    listing = opened.scan()
    for cores in (1, 2, 5):
        monkeypatch.setattr("interlock.signing.hashing.cores", lambda cores=cores: cores)
        found = hash_tree(opened, listing, [Job(name, tuple(digests.LENGTH)) for name in listing.files])
        assert {name: values[0] for name, values in found.items()} == expected
    half = SIZES[-1] // 2
    cut = hash_tree(opened, listing, [Job("6", ("sha256",), ((0, half), (half, SIZES[-1])))])["6"]
    data = (tmp_path / "6").read_bytes()
    import hashlib

    assert cut == ((hashlib.sha256(data[:half]).hexdigest(),), (hashlib.sha256(data[half:]).hexdigest(),))


def test_many_directories_take_few_descriptors(tmp_path: Path, pair: Any) -> None:
    model = tmp_path / "model"
    for i in range(1500):
        (model / f"{i:04d}" / "deep").mkdir(parents=True)
        (model / f"{i:04d}" / "deep" / "f").write_bytes(b"%d" % i)
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, before[1]))
    try:
        sign(model, key=pair.private)
        assert verify(model, key=pair.public).inputs == 1500
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_too_many_files_are_refused_early(tmp_path: Path, pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_FILES", 20)
    for i in range(30):
        (tmp_path / f"{i}").touch()
    with pytest.raises(BadInput, match="more than 20 files"):
        sign(tmp_path, key=pair.private)


@pytest.mark.parametrize("size", [100, 20 << 20])
def test_file_that_cannot_be_read_is_named(
    size: int, tmp_path: Path, pair: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "w.bin").write_bytes(bytes(size))

    def broken(*_: Any) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "preadv", broken)
    with pytest.raises(OSError, match=r"w\.bin"):
        sign(tmp_path / "m", key=pair.private)


@pytest.mark.parametrize("shown", [".", "./", "model", "./model/", "a//b", "/", "/srv/models/", "../up"])
def test_files_are_named_as_paths_are_joined(shown: str, tmp_path: Path) -> None:
    assert Tree(tmp_path, shown).locate("a/b.bin") == str(Path(shown, "a/b.bin"))
