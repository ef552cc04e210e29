"""Keys, models and the reference implementation for the signing tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple, NoReturn

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from services.reference_signing import Reference, install
from services.sigstore_services import Sigstore
from services.sigstore_services import install as install_sigstore

CURVES = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1()}


class Pair(NamedTuple):
    """Paths of a private and a public key."""

    private: Path
    public: Path


def make_pair(folder: Path, name: str, curve: ec.EllipticCurve, password: bytes | None = None) -> Pair:
    """Write a key pair."""
    key = ec.generate_private_key(curve)
    pair = Pair(folder / f"{name}.key", folder / f"{name}.pub")
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    pair.private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    pair.public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return pair


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    """One key pair for each accepted curve, and a stranger's."""
    folder = tmp_path_factory.mktemp("keys")
    made = {name: make_pair(folder, name, curve) for name, curve in CURVES.items()}
    return made | {"stranger": make_pair(folder, "stranger", ec.SECP256R1())}


@pytest.fixture(scope="session")
def pair(pairs: dict[str, Pair]) -> Pair:
    """A P-256 key pair."""
    return pairs["P-256"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A small model directory whose path order differs between component-wise and code-point sorting.

    The same bytes each time: chosen anew, a file in some hundreds begins as a pickle does.
    """
    root, draw = tmp_path / "model", Random(1)
    (root / "a").mkdir(parents=True)
    (root / "a" / "b.bin").write_bytes(draw.randbytes(70_000))
    (root / "a-b.bin").write_bytes(b"dash")
    (root / "config.json").write_text("{}")
    (root / "empty.txt").touch()
    (root / "weights.safetensors").write_bytes(draw.randbytes(200_000))
    return root


@pytest.fixture(scope="session")
def reference(root: Path, require: Callable[[str, str], NoReturn]) -> Iterator[Reference]:
    """The reference implementation, running."""
    running = Reference(install(root, require))
    yield running
    running.close()


@pytest.fixture(scope="session")
def sigstore(
    root: Path, require: Callable[[str, str], NoReturn], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sigstore]:
    """A Sigstore on loopback, running."""
    running = Sigstore(install_sigstore(root, require), tmp_path_factory.mktemp("sigstore"))
    yield running
    running.close()
