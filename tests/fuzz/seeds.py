"""Inputs to start from: small files that our test builders make, and small files that the real libraries write."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from validate import build, test_mutants
from validate.tokenizer import kit

MAX_SEED = 1 << 15
CORPUS = Path(__file__).parent.parent / "corpus" / "lint"


def dumped(*documents: Any) -> Callable[[Path], list[bytes]]:
    """Documents as JSON, one input each."""
    return lambda _: [json.dumps(each).encode() for each in documents]


def safetensors(folder: Path) -> list[bytes]:
    """Ours, and one that the library writes."""
    import numpy
    from safetensors.numpy import save

    real = save({"a": numpy.ones((2, 3), numpy.float16), "b": numpy.zeros(4)}, {"format": "pt"})
    many = {f"model.layers.{n}.weight": ("BF16", [2, 2]) for n in range(20)}
    return [real, *(build.safetensors(each) for each in (build.llama_tensors(), many, build.lora(), {}))]


def index(folder: Path) -> list[bytes]:
    """Indexes of two shards, which `readers.index` writes beside them."""
    names = list(build.llama_tensors())
    return dumped(
        {
            "metadata": {"total_size": 1168},
            "weight_map": {name: f"model-0000{1 + (n > 2)}-of-00002.safetensors" for n, name in enumerate(names)},
        },
        {"weight_map": dict.fromkeys(names[:3], "model-00001-of-00002.safetensors")},
    )(folder)


@cache
def _backend() -> list[bytes]:
    """The onnx package's own test models that are small, one of each shape of thing."""
    import onnx

    wanted = ("if", "loop", "scan", "sequence", "optional", "sparse", "lstm", "constant", "expanded", "string", "map")
    paths = sorted(Path(onnx.__file__).parent.joinpath("backend").rglob("*.onnx"))
    found: list[bytes] = []
    for word in wanted:
        small = [path for path in paths if word in str(path) and path.stat().st_size < 3000]
        found += [path.read_bytes() for path in small[:3]]
    return found


def onnx(folder: Path) -> list[bytes]:
    """Graphs with subgraphs, functions, external and sparse data, and every type."""
    from onnx import TensorProto, helper

    tensor = helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])
    outside = TensorProto(name="e", data_type=1, dims=[4], data_location=1)
    for key, value in (("location", "model.data"), ("offset", "0"), ("length", "16")):
        outside.external_data.add(key=key, value=value)
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("s", TensorProto.FLOAT, [1], [3.0]),
        helper.make_tensor("i", TensorProto.INT64, [1], [2]),
        [8],
    )
    body = helper.make_graph(
        [helper.make_node("Constant", [], ["k"], value=tensor)],
        "then",
        [],
        [helper.make_tensor_value_info("k", TensorProto.FLOAT, [2])],
    )
    graph = helper.make_graph(
        [
            helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body, name="choice"),
            helper.make_node("Double", ["y"], ["z"], domain="local"),
            helper.make_node("Constant", [], ["q"], value_strings=["a", "b"]),
        ],
        "main",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_sequence_value_info("s", TensorProto.INT64, None),
        ],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [2])],
        [
            tensor,
            outside,
            helper.make_tensor("t", TensorProto.STRING, [2], [b"a", b"b"]),
            helper.make_tensor("h", TensorProto.INT4, [3], [1, 2, 3]),
        ],
        sparse_initializer=[sparse],
    )
    double = helper.make_function(
        "local", "Double", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=[double], ir_version=9)
    helper.set_model_props(model, {"labels": "a\nb"})
    return [
        model.SerializeToString(),
        attention(),
        build.onnx_model(test_mutants.IO, test_mutants.OUT, defaults={"n": [1]}, metadata={"names": "['cat','dog']"}),
        *_backend(),
    ]


def attention() -> bytes:
    """A graph that computes shapes: embedding, attention with a past, a head, labels."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper

    def node(op: str, inputs: str, output: str, **attributes: Any) -> Any:
        return helper.make_node(op, inputs.split(), [output], name=f"{op}_{output}", **attributes)

    def constant(name: str, *values: int) -> Any:
        return numpy_helper.from_array(numpy.array(values, numpy.int64), name)

    def weight(name: str, *shape: int) -> Any:
        return numpy_helper.from_array(numpy.ones(shape, numpy.float32), name)

    nodes = [
        node("Gather", "table ids", "x"),
        node("LayerNormalization", "x scale bias", "n", axis=-1, epsilon=1e-5),
        node("MatMul", "n wq", "q"),
        node("Shape", "q", "s"),
        node("Slice", "s zero two", "bs"),
        node("Concat", "bs heads", "target", axis=0),
        node("Reshape", "q target", "qh"),
        node("Transpose", "qh", "qt", perm=[0, 2, 1, 3]),
        node("Concat", "past qt", "present", axis=2),
        node("Transpose", "present", "kt", perm=[0, 1, 3, 2]),
        node("MatMul", "qt kt", "scores"),
        node("Softmax", "scores", "p", axis=-1),
        node("MatMul", "p present", "o"),
        node("Transpose", "o", "ot", perm=[0, 2, 1, 3]),
        node("Reshape", "ot flat", "merged"),
        node("Add", "merged x", "sum"),
        node("ReduceMean", "sum one", "pooled", keepdims=0),
        node("Gemm", "pooled whead bhead", "logits", transB=1),
        node("Cast", "logits", "out", to=TensorProto.FLOAT16),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [value("ids", TensorProto.INT64, ["b", "s"]), value("past", TensorProto.FLOAT, ["b", 2, "p", 4])],
        [value("out", TensorProto.FLOAT16, ["b", 3]), value("present", TensorProto.FLOAT, ["b", 2, "t", 4])],
        [
            *(weight("table", 9, 8), weight("scale", 8), weight("bias", 8), weight("wq", 8, 8), weight("whead", 3, 8)),
            *(weight("bhead", 3), constant("zero", 0), constant("one", 1), constant("two", 2), constant("heads", 2, 4)),
            constant("flat", 0, 0, -1),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return bytes(model.SerializeToString())


def gguf(folder: Path) -> list[bytes]:
    """Ours, and what the library writes in both byte orders."""
    import gguf as library
    import numpy

    found = [test_mutants.llama_gguf()["m.gguf"], build.gguf({})]
    for order in (library.GGUFEndian.LITTLE, library.GGUFEndian.BIG):
        path = folder / "real.gguf"
        writer = library.GGUFWriter(path, "llama", endianess=order)
        writer.add_context_length(8192)
        writer.add_float32("llama.rope.freq_base", 10000.0)
        writer.add_bool("tokenizer.ggml.add_bos_token", True)
        writer.add_tokenizer_model("llama")
        writer.add_token_list([b"<unk>", b"<s>", b"</s>", b"<0x00>", "é".encode(), b"a"])
        writer.add_token_scores([0.0, 0.0, 0.0, -1.0, -2.0, -3.0])
        writer.add_token_types([2, 3, 3, 6, 1, 1])
        writer.add_bos_token_id(1)
        writer.add_chat_template("{{ messages }}")
        writer.add_array("general.tags", ["a", "b"])
        writer.add_tensor("token_embd.weight", numpy.zeros((6, 32), numpy.float16))
        writer.add_tensor("output_norm.weight", numpy.ones(32, numpy.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        found.append(path.read_bytes())
        path.unlink()
    nested = struct.pack("<IQ", 9, 2) + struct.pack("<IQ", 5, 1) + bytes(4) + struct.pack("<IQ", 8, 1) + bytes(8)
    key = struct.pack("<Q", 1) + b"n" + struct.pack("<I", 9) + nested
    found.append(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + key + bytes(64))
    return found


def tokenizer_json(folder: Path) -> list[bytes]:
    """All four models, with every kind of component, and one that the library trained."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    real = Tokenizer(models.BPE(unk_token="[UNK]"))  # type: ignore[no-untyped-call, unused-ignore]
    real.pre_tokenizer = pre_tokenizers.Whitespace()
    real.train_from_iterator(["the cat sat on the mat"] * 9, trainers.BpeTrainer(vocab_size=60, show_progress=False))
    levels = {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1}, "unk_token": "<unk>"}
    small = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]], "dropout": None}
    parts: dict[str, Any] = {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
        "post_processor": kit.template(cls=(0, "a")),
        "truncation": {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "x",
            "pad_to_multiple_of": None,
        },
    }
    plain = {key: value for key, value in kit.byte_level().items() if key != "model"}
    documents = (
        *(
            {**plain, **parts, "model": small},
            {**plain, "model": levels},
            {**plain, "added_tokens": [], "model": small},
        ),
        *(kit.wordpiece(), kit.unigram(), kit.byte_level()),
    )
    return [real.to_str().encode(), *(json.dumps(each).encode() for each in documents)]


def sentencepiece(folder: Path) -> list[bytes]:
    """Models that the library trained."""
    return [kit.train(folder, kind).read_bytes() for kind in ("unigram", "bpe")]


def tiktoken(folder: Path) -> list[bytes]:
    """All bytes and one merge; three lines."""
    lines = [base64.b64encode(bytes([n])) + b" %d" % n for n in range(256)]
    return [b"\n".join([*lines, b"YWI= 256", b""]), b"\n".join(lines[:3])]


def tekken(folder: Path) -> list[bytes]:
    """With and without named special tokens."""
    plain = kit.tekken(280, 3)
    return dumped(plain, {**plain, "special_tokens": [{"rank": 0, "token_str": "<unk>", "is_control": True}]})(folder)


def vocabulary(folder: Path) -> list[bytes]:
    """vocab.json; vocab.txt; merges.txt after a NUL, which `readers.vocabulary` cuts off."""
    pieces = "\n".join(kit.wordpiece()["model"]["vocab"])
    return [b'{"a": 0, "b": 1, "ab": 2}\0#version: 0.2\na b\n', b'{"a": 0}', pieces.encode(), b"[PAD]\r\n[UNK]\r\n"]


CONFIG = dumped(
    build.llama(rope_scaling={"type": "linear", "factor": 2.0}, eos_token_id=[1, 2], quantization_config={"bits": 4}),
    {"text_config": build.llama(), "id2label": {"0": "cat", "1": "dog"}, "auto_map": {"AutoModel": "x.M"}},
    test_mutants.engine(ranks=2)["config.json"],
)
TOKENIZER_CONFIG = dumped(
    {
        "tokenizer_class": "LlamaTokenizerFast",
        "add_bos_token": True,
        "bos_token": {"content": "<s>", "lstrip": False, "special": True},
        "eos_token": "</s>",
        "model_max_length": 4096,
        "added_tokens_decoder": {"3": {"content": "<x>", "special": True, "lstrip": False}},
        "chat_template": [{"name": "default", "template": "{{ messages }}"}, {"name": "tool_use", "template": ""}],
    },
    {"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}", "extra_special_tokens": ["<a>"]},
)
ADAPTER = dumped(build.adapter_config(rank_pattern={"q_proj": 8}), build.adapter_config(modules_to_save=["lm_head"]))


def pbtxt(folder: Path) -> list[bytes]:
    """Ours, and the configurations of the lint corpus."""
    own = test_mutants.triton(more="sequence_batching { oldest { max_candidate_sequences: 4 } }")["config.pbtxt"]
    odd = b"a: 'x\\n\\x41' \"y\" # c\nb: [1, 2.5e3f, -inf, 0x1F, 017]\n[type.example/T] < c: TRUE; d {} >\ne: FOO,"
    return [own.encode(), odd, *files("config.pbtxt")]


LABELS = (b"cat\ndog\n", b'["cat", "dog"]', b"{'0': 'cat', 1: 'dog'}", b'{"cat": 0, "dog": 1}')


def bundles(folder: Path) -> list[bytes]:
    """A bundle in key mode, one with a certificate chain and timestamps, one of tensors."""
    from interlock.signing import bundle, statement
    from interlock.signing.manifest import Manifest, Resource

    notes = {statement.TENSORS: {"w": "blake3:00"}, statement.VERSION: "1"}
    plain = statement.Statement(Manifest((Resource("a/b", "sha256", "0" * 64, "1" * 64, 7),), ("x",)), "m", {})
    tensors = statement.Statement(
        Manifest((Resource("w.safetensors", "sha256", "0" * 64, annotations=notes),)), "m", {"interlock/version": "1"}
    )
    key = {"publicKey": {"hint": "0" * 64}}
    chain = {"x509CertificateChain": {"certificates": [{"rawBytes": "AA=="}]}}
    return [
        bundle.encode(key, statement.encode(plain), b"sig"),
        bundle.encode(key, statement.encode(tensors), b"sig"),
        bundle.encode(chain, statement.encode(plain), b"sig", [b"stamp"]),
    ]


def contents(folder: Path) -> list[bytes]:
    """Pickles by themselves and in archives, arrays, a Keras archive, and a graph with external data."""
    import io
    import pickle
    import zipfile

    import numpy

    pickles = [pickle.dumps({"a": [1, 2.0, b"x", Path]}, protocol) for protocol in (0, 2, 4)]
    found = [*pickles, onnx(folder)[0]]
    for name, part in (("m/data.pkl", pickles[1]), ("config.json", b'{"class_name": "Lambda", "__lambda__": 1}')):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w", method) as writer:
                writer.writestr(name, part)
            found.append(archive.getvalue())
    array = io.BytesIO()
    numpy.save(array, numpy.array([None, 1], object))
    return [*found, array.getvalue()]


def manifests(folder: Path) -> list[bytes]:
    """A manifest of a model."""
    from interlock.release import modelpack

    digest = "sha256:" + "0" * 64
    files_ = [("config.json", digest, 2), ("a/model.safetensors", digest, 9), ("m.onnx", digest, 0)]
    return [modelpack.build(files_)[0].raw, modelpack.build(files_[:1])[0].raw]


def indexes(folder: Path) -> list[bytes]:
    """An index with a tag and an attachment."""
    entry = {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:" + "0" * 64, "size": 2}
    tagged = {**entry, "annotations": {"org.opencontainers.image.ref.name": "1.0"}, "artifactType": "x"}
    about = {**entry, "artifactType": "application/x", "annotations": {"dev.interlock.subject": entry["digest"]}}
    return dumped({"schemaVersion": 2, "manifests": [tagged, about]}, {"manifests": []})(folder)


def attachments(folder: Path) -> list[bytes]:
    """The manifest of an artifact that is attached to a version."""
    entry = {"mediaType": "text/plain", "digest": "sha256:" + "0" * 64, "size": 2}
    return dumped({"schemaVersion": 2, "config": entry, "layers": [entry], "subject": entry})(folder)


def evidence(folder: Path) -> list[bytes]:
    """What a gate's result is kept as, signed by nobody and by somebody."""
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "m", "digest": {"sha256": "0" * 64}}],
        "predicateType": "https://slsa.dev/verification_summary/v1",
        "predicate": {
            "timeVerified": "2030-01-01T00:00:00+00:00",
            "policy": {"uri": "x", "digest": {"sha256": "0" * 64}},
            "verificationResult": "PASSED",
            "interlock": {"gate": "lint", "stage": "s", "actor": "a", "against": "", "reason": "", "summary": {"n": 1}},
        },
    }
    payload = base64.b64encode(json.dumps(statement).encode()).decode()
    return dumped(
        {"payloadType": "application/vnd.in-toto+json", "payload": payload, "signatures": []},
        {"payload": payload, "signatures": [{"keyid": "x", "sig": "AA=="}]},
    )(folder)


def events(folder: Path) -> list[bytes]:
    """The first event of a stage's ledger."""
    from interlock.release.ledger import GENESIS, SCHEMA

    pair = {"registry": "sha256:" + "0" * 64, "serving": ""}
    text = dict.fromkeys(("time", "actor", "request", "place", "reason"), "x")
    first = {"schema": SCHEMA, "seq": 1, "prev": GENESIS, **text, "stage": "prod", "op": "begin", "kind": "promote"}
    return dumped({**first, "from": None, "to": pair, "evidence": [pair["registry"]], "details": {}})(folder)


def settings(folder: Path) -> list[bytes]:
    """interlock.yaml with every section, anchors and odd scalars."""
    whole = """name: silero-vad
model: model/
live: oci-layout:registry:prod
trust: {keys: [release.pub], identities: [{issuer: https://a, subject: https://b}]}
contract:
  bind: &b {inputs: name, outputs: index}
  level: tensor
  runtimes: {onnxruntime: "1.18"}
  gpu_memory: 80GiB
  accept: [{rule: ONX-IR, reason: x, until: "2030-01-01"}]
lint: {paths: [deploy/], severity: {HU705: error}, require: [canary]}
bench: {max_regression: {p50: 5%}, providers: [cpu]}
stages:
  staging: {gates: [lint, verify]}
  prod: {from: staging, gates: [lint], serving: {kubernetes: deploy/}}
"""
    return [
        whole.encode(),
        b"name: 1\nmodel: ~\nlint:\n  pedantic: yes\n",
        b"a: 2001-01-01\nb: !!binary aGk=\n<<: *x\n",
    ]


def of(*patterns: str) -> Callable[[Path], list[bytes]]:
    """Seeds that are files of the lint corpus."""
    return lambda _: list(files(*patterns))


@cache
def files(*patterns: str, most: int = 40) -> Sequence[bytes]:
    """Small files of the lint corpus by name, evenly from everywhere."""
    paths = sorted({path for pattern in patterns for path in CORPUS.rglob(pattern) if path.is_file()})
    contents = [path.read_bytes() for path in paths[:: max(1, len(paths) // most)]]
    return [each for each in contents if len(each) < MAX_SEED]
