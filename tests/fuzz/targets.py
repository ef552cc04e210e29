"""The targets of the fuzzer: each reader with its seeds, what changes them, and the errors that it documents."""

from __future__ import annotations

from interlock.models.errors import UnreadableModel
from interlock.report.errors import InterlockError

from . import readers, seeds, wire
from .engine import Target
from .mutate import COMMON, lines, words
from .trees import json_tree, within

_MODEL = (UnreadableModel,)
_ROOM = (UnreadableModel, InterlockError)

_JSON = json_tree("a", "type", "name", "content", "id", "vocab", "model", "merges")
_PIPELINE = json_tree(
    *("type", "Sequence", "normalizers", "pretokenizers", "processors", "decoders", "ByteLevel", "Split", "pattern"),
    *("Regex", "String", "TemplateProcessing", "special_tokens", "single", "pair", "Metaspace", "WordPiece", "Unigram"),
    *("BPE", "WordLevel", "vocab", "merges", "unk_id", "unk_token", "added_tokens", "content", "id", "Precompiled"),
)
_OCI = json_tree("digest", "size", "mediaType", "annotations", "artifactType", "layers", "subject", "manifests")
_STATEMENT = json_tree("resources", "digest", "name", "algorithm", "annotations", "shard_size", "method", "subject")
_SHARDS = words(
    b'"shards"', b'"shard_size": 1e3,', b"e", b"sha256-sharded-1000", b'"blake3"', b"1e400", b"..", b"\\u0000"
)
_YAML = words(
    *(b"&a ", b"*a", b"<<: ", b"!!int ", b"!!float ", b"!!binary ", b"!!timestamp ", b"!!set ", b"!!null ", b"!!bool "),
    *(
        b"- ",
        b": ",
        b"? ",
        b"|\n",
        b">-\n",
        b"---\n",
        b"...\n",
        b"%YAML 1.1\n",
        b"[",
        b"]",
        b"{",
        b"}",
        b"'",
        b'"',
        b"#",
    ),
    *(
        b"2001-13-45",
        b"1:60:99",
        b"0x",
        b"0b1_",
        b".inf",
        b".nan",
        b"=",
        b"~",
        b"\t",
        b"\r",
        b"\xe2\x80\xa8",
        b"!!python/x ",
    ),
)
_TEXT = words(
    b"(", b")", b"'", b'"', b"\\", b"{", b"}", b"$", b"`", b";", b"|", b"&&", b"<<EOF\n", b"\\\n", b"\r", b"#", b"="
)

_PAIRS = (
    Target("safetensors", readers.safetensors, _MODEL, seeds.safetensors, (*COMMON, within(wire.sized_header, _JSON))),
    Target("index", readers.index, _MODEL, seeds.index, (*COMMON, _JSON)),
    Target("onnx", readers.onnx, _MODEL, seeds.onnx, (COMMON[0], wire.protobuf, wire.protobuf)),
    Target("gguf", readers.gguf, _MODEL, seeds.gguf, (COMMON[0], wire.gguf, wire.gguf)),
    Target(
        "tokenizer.json",
        readers.tokenizer("tokenizer.json"),
        _MODEL,
        seeds.tokenizer_json,
        (*COMMON, _PIPELINE, _PIPELINE),
    ),
    Target(
        "sentencepiece", readers.tokenizer("tokenizer.model"), _MODEL, seeds.sentencepiece, (COMMON[0], wire.protobuf)
    ),
    Target("tekken", readers.tokenizer("tekken.json"), _MODEL, seeds.tekken, (*COMMON, _JSON)),
    Target("tiktoken", readers.tokenizer("m.tiktoken"), _MODEL, seeds.tiktoken, (*COMMON, lines)),
    Target("vocabulary", readers.vocabulary, _MODEL, seeds.vocabulary, (*COMMON, lines)),
    Target("config", readers.config, _MODEL, seeds.CONFIG, (*COMMON, _JSON, json_tree("pretrained_config", "mapping"))),
    Target("tokenizer-config", readers.tokenizer_config, _MODEL, seeds.TOKENIZER_CONFIG, (*COMMON, _JSON, _JSON)),
    Target("adapter", readers.adapter, _MODEL, seeds.ADAPTER, (*COMMON, _JSON)),
    Target(
        "pbtxt",
        readers.pbtxt,
        _MODEL,
        seeds.pbtxt,
        (*COMMON, lines, _TEXT),
        ("models", "checks/validate/serving", "checks/lint"),
    ),
    Target(
        "labels", readers.labels, (), lambda _: list(seeds.LABELS), (*COMMON, lines, _JSON), ("checks/validate/files",)
    ),
    Target(
        "signature",
        readers.signature,
        _ROOM,
        seeds.bundles,
        (COMMON[0], _STATEMENT, *[within(wire.payload, each) for each in (_STATEMENT, _STATEMENT, _SHARDS, *COMMON)]),
        ("models", "signing"),
    ),
    Target("content", readers.content, _ROOM, seeds.contents, COMMON[:1], ("signing/content",)),
    Target("manifest", readers.manifest, _ROOM, seeds.manifests, (*COMMON, _OCI, _OCI), ("release",)),
    Target("layout", readers.layout, _ROOM, seeds.indexes, (*COMMON, _OCI, _OCI), ("release",)),
    Target("attachment", readers.attachment, _ROOM, seeds.attachments, (*COMMON, _OCI, _OCI), ("release",)),
    Target(
        "evidence",
        readers.evidence,
        _ROOM,
        seeds.evidence,
        (*COMMON, *[within(wire.payload, m) for m in (*COMMON, _OCI, _OCI)]),
        ("release",),
    ),
    Target("event", readers.event, _ROOM, seeds.events, (*COMMON, _OCI, _OCI), ("release",)),
    Target("interlock.yaml", readers.settings, _ROOM, seeds.settings, (*COMMON, lines, _YAML, _YAML), ("config",)),
    *(
        Target(f"lint-{kind}", readers.lint(name), (), seeds.of(*patterns), changes, ("checks/lint",), 5.0)
        for kind, name, patterns, changes in (
            ("yaml", "m.yaml", ("*.yaml", "*.yml"), (COMMON[0], lines, _YAML)),
            ("python", "m.py", ("*.py",), (COMMON[0], lines, _TEXT)),
            ("docker", "Dockerfile", ("Dockerfile*",), (COMMON[0], lines, _TEXT)),
            ("shell", "m.sh", ("*.sh",), (COMMON[0], lines, _TEXT)),
            ("workflow", ".github/workflows/m.yml", ("*.yml", "*workflow*"), (COMMON[0], lines, _YAML, _TEXT)),
            ("pbtxt", "m/config.pbtxt", ("config.pbtxt",), (*COMMON, lines, _TEXT)),
        )
    ),
)
TARGETS: dict[str, Target] = {target.name: target for target in _PAIRS}
