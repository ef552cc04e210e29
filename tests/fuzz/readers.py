"""Every reader of files that strangers write: reads one input, asks for all that is read late, and checks the facts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from interlock.models.errors import UnreadableModel
from interlock.models.source import MemorySource
from interlock.models.tree import read_tree
from validate import build


def safetensors(data: bytes, folder: Path) -> None:
    from interlock.models.safetensors import parse_header

    for tensor in parse_header(MemorySource(data, "m"), "m").tensors.values():
        assert 8 <= tensor.begin <= tensor.end <= len(data)


def index(data: bytes, folder: Path) -> None:
    from interlock.models.weights import main_table, read_weights

    names = list(build.llama_tensors().items())
    for number, part in ((1, names[:3]), (2, names[3:])):
        path = folder / f"model-0000{number}-of-00002.safetensors"
        if not path.exists():
            path.write_bytes(build.safetensors(dict(part)))
    (folder / "model.safetensors.index.json").write_bytes(data)
    table = main_table(read_weights(read_tree(folder)))
    assert table is None or table.size >= 0


def onnx(data: bytes, folder: Path) -> None:
    from interlock.models.onnx import parse_onnx

    model = parse_onnx(MemorySource(data, "m"), "m")
    assert model.weight_bytes >= 0
    assert sum(model.histogram().values()) >= 0
    assert all(isinstance(name, str) for name in model.external_files())
    assert len(model.required_inputs) <= len(model.graph.inputs)


def gguf(data: bytes, folder: Path) -> None:
    from interlock.models.gguf import ARRAY, GgufArray, read_array, read_gguf
    from interlock.models.tokenizer import read_tokenizers

    (folder / "m.gguf").write_bytes(data)
    tree = read_tree(folder / "m.gguf")
    file = tree.files["m.gguf"]
    model = read_gguf(file)
    assert all(tensor.end <= len(data) for tensor in model.tensors.values())
    for value in model.metadata.values():
        if isinstance(value, GgufArray) and value.type != ARRAY:
            assert len(read_array(file, model, value)) == value.length
    for tokenizer in read_tokenizers(tree):
        _whole(tokenizer)


def _whole(tokenizer: object) -> None:
    """Ask a tokenizer for all that it reads late."""
    from interlock.models.tokenizer import Tokenizer
    from interlock.models.tokenizers import consistency

    assert isinstance(tokenizer, Tokenizer)
    assert tokenizer.bound >= -1
    consistency.check(tokenizer)
    assert tokenizer.largest <= tokenizer.bound or tokenizer.format == "tokenizer.json"
    assert tokenizer.fingerprint()
    assert len(tokenizer.scores.value) >= 0


def tokenizer(name: str) -> Callable[[bytes, Path], None]:
    """A reader of a tokenizer in a file of this name."""

    def read(data: bytes, folder: Path) -> None:
        from interlock.models.tokenizer import read_tokenizers

        (folder / name).write_bytes(data)
        for each in read_tokenizers(read_tree(folder)):
            _whole(each)

    return read


def vocabulary(data: bytes, folder: Path) -> None:
    from interlock.models.tokenizer import read_tokenizers

    vocab, _, merges = data.partition(b"\0")
    name, other = ("vocab.json", "vocab.txt") if vocab[:1] == b"{" else ("vocab.txt", "vocab.json")
    (folder / name).write_bytes(vocab)
    (folder / other).unlink(missing_ok=True)
    (folder / "merges.txt").write_bytes(merges)
    for each in read_tokenizers(read_tree(folder)):
        _whole(each)


def config(data: bytes, folder: Path) -> None:
    from interlock.models import engine, hf_config

    (folder / "config.json").write_bytes(data)
    tree = read_tree(folder)
    document = hf_config.read_json_config(tree.files["config.json"].path)
    hf_config.stop_ids(hf_config.text_config(document).get("eos_token_id"))
    for each in engine.read_engines(tree).values():
        assert isinstance(each.mapping, dict)
        assert isinstance(each.plugins, dict)
        assert each.limit("max_batch_size") is None or isinstance(each.limit("max_batch_size"), int)


def tokenizer_config(data: bytes, folder: Path) -> None:
    from interlock.models.hf_config import read_chat_templates, token_content
    from interlock.models.tokenizer import read_tokenizers

    (folder / "vocab.txt").write_text("[UNK]\na\n")
    (folder / "tokenizer_config.json").write_bytes(data)
    tree = read_tree(folder)
    for each in read_tokenizers(tree):
        _whole(each)
    assert all(isinstance(text, str) for _, text in read_chat_templates(tree).values())
    token_content(json.loads(data).get("bos_token"))


def adapter(data: bytes, folder: Path) -> None:
    from interlock.models.adapter import read_adapters

    (folder / "adapter_config.json").write_bytes(data)
    (folder / "adapter_model.safetensors").write_bytes(build.safetensors(build.lora()))
    for each in read_adapters(read_tree(folder)).values():
        assert each.rank >= 0
        assert isinstance(each.base, str)
        assert all(isinstance(name, str) for name in each.saved_modules)


def pbtxt(data: bytes, folder: Path) -> None:
    from interlock.checks.validate.side import Side

    (folder / "config.pbtxt").write_bytes(data)
    for model in Side(read_tree(folder), "m").triton.values():
        assert all(path for path, _ in model.root.walk())


def labels(data: bytes, folder: Path) -> None:
    from interlock.checks.validate.files.labels import labels as parse

    found = parse(data.decode("utf-8", "replace"))
    assert found is None or all(isinstance(each, str) for each in found)


def signature(data: bytes, folder: Path) -> None:
    from interlock.models.signed import read_tensor_digests
    from interlock.signing import bundle, statement

    (folder / "model.sig").write_bytes(data)
    (folder / "config.json").write_bytes(b"{}")
    try:
        digests = read_tensor_digests(read_tree(folder))
        assert all(isinstance(value, str) for table in digests.values() for value in table.values())
    except UnreadableModel:
        pass  # the other reader must refuse it as well, or read it
    found = bundle.read(folder / "model.sig")
    assert statement.decode(found.payload, "m").manifest.resources


def content(data: bytes, folder: Path) -> None:
    """What `verify` looks for inside of pickles, archives and graphs."""
    from interlock.models.source import open_file
    from interlock.signing.content import graphs, pickles

    path = folder / "m"
    path.write_bytes(data)
    with path.open("rb") as stream, open_file(path) as source:
        for suffix in (".pt", ".npz"):
            pickles.judge(source, stream.fileno(), suffix)
        graphs.keras(source, stream.fileno(), "m.keras")
        graphs.onnx(source, "m", "m", ())


def manifest(data: bytes, folder: Path) -> None:
    from interlock.release import modelpack

    assert modelpack.parse(data, "m").entries


def layout(data: bytes, folder: Path) -> None:
    from interlock.release.index import Index

    (folder / "index.json").write_bytes(data)
    Index(folder, folder, "oci-layout:m").tags()


def attachment(data: bytes, folder: Path) -> None:
    from interlock.release.ocilayout import OciLayout

    digest = hashlib.sha256(data).hexdigest()
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True, exist_ok=True)
    for name, content in ((digest, data), ("0" * 64, b"{}")):
        (blobs / name).write_bytes(content)
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    entry = {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": f"sha256:{digest}", "size": len(data)}
    (folder / "index.json").write_text(json.dumps({"manifests": [{**entry, "artifactType": "x"}]}))
    try:
        OciLayout(folder).attached("sha256:" + "0" * 64, "x")
    finally:
        (blobs / digest).unlink()


class _Place:
    """A place for versions that holds one attachment."""

    name = "m"

    def __init__(self, payload: bytes) -> None:
        self.payload = payload

    def attached(self, subject: str, artifact: str) -> list[Any]:
        from interlock.release.store import Attachment

        return [Attachment("sha256:" + "1" * 64, self.payload)]


def evidence(data: bytes, folder: Path) -> None:
    from interlock.release.evidence import evidence_of

    for each in evidence_of(cast("Any", _Place(data)), "sha256:" + "0" * 64, []):
        assert isinstance(each.age, float)


def event(data: bytes, folder: Path) -> None:
    from interlock.release.ledger import Ledger
    from interlock.release.position import position_of

    ledger = Ledger(folder, "prod")
    ledger.folder.mkdir(parents=True, exist_ok=True)
    (ledger.folder / "00000001.json").write_bytes(data)
    assert position_of(ledger.events()) is not None


def settings(data: bytes, folder: Path) -> None:
    from interlock.config.load import load

    (folder / "interlock.yaml").write_bytes(data)
    assert load(folder / "interlock.yaml").settings


def lint(name: str) -> Callable[[bytes, Path], None]:
    """The verb `lint` on one file of this name: whatever is in it, there is a report."""

    def read(data: bytes, folder: Path) -> None:
        from interlock.checks.lint.run import lint as verb
        from interlock.config.load import Config
        from interlock.config.settings import Settings

        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        report = verb([str(path)], pedantic=True, settings=Config(Settings(), folder), diff=True)
        assert report.exit_code in range(4)
        assert all(finding.message for finding in report.findings)

    return read
