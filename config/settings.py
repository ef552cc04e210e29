"""The settings as dataclasses. Loader, JSON Schema and docs are generated from these fields and their `doc`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Limits:
    """What a setting's value must keep to; of a mapping, every value in it."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    pattern: str = ""
    """A regular expression for the start of a text, in the syntax that Python and JSON Schema share."""
    wanted: str = ""
    """What a text must be, in words."""

    def broken(self, value: object) -> str:
        """What is wrong with a value, empty where it keeps to them."""
        if isinstance(value, str):
            return f"not {self.wanted}" if self.pattern and re.match(self.pattern, value) is None else ""
        if not isinstance(value, int | float):
            return ""
        if self.least is not None and not value >= self.least:
            return f"below {self.least:g}"
        if self.above is not None and not value > self.above:
            return f"not above {self.above:g}"
        if self.most is not None and not value <= self.most:
            return f"above {self.most:g}"
        return ""


def setting(doc: str, *, default: Any = None, factory: Any = None, key: str = "", limits: Limits | None = None) -> Any:
    """A dataclass field with its documentation; `key` is the YAML key where it is not a Python name."""
    metadata = {"doc": doc, "key": key, "limits": limits}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(slots=True, kw_only=True)
class Identity:
    """A keyless signer. Either `subject` or `subject_pattern` is required; everything given must match."""

    issuer: str = setting("OIDC issuer, compared exactly", default="")
    subject: str = setting("certificate identity (SAN), compared exactly", default="")
    subject_pattern: str = setting("regular expression that the whole certificate identity must match", default="")
    repository: str = setting("source repository recorded in the certificate", default="")
    ref: str = setting("source ref recorded in the certificate, such as refs/heads/main", default="")
    workflow: str = setting("build workflow recorded in the certificate", default="")


@dataclass(slots=True, kw_only=True)
class Trust:
    """Who may sign, and how."""

    identities: list[Identity] = setting("any of these keyless signers", factory=list[Identity])
    keys: list[str] = setting("public key files; any of them", factory=list[str])
    certificates: list[str] = setting("CA bundle files for certificate-mode signatures", factory=list[str])
    mode: Literal["any", "key", "certificate", "keyless"] = setting("required signing mode", default="any")
    root: str = setting("trusted root or client trust config file; verification is offline with it", default="")
    root_max_age: str = setting("refuse a trust root file older than this, such as 90d", default="")
    require_timestamp: bool = setting("require a trusted RFC 3161 timestamp", default=False)
    max_age: str = setting("refuse signatures older than this, such as 365d", default="")
    digests: list[Literal["sha256", "blake2b", "blake3"]] = setting(
        "digest algorithms that count; the fastest that a file was signed with is computed",
        factory=lambda: ["sha256", "blake3"],
    )
    allow_ignored: list[str] = setting("paths that a signature may leave uncovered", factory=list[str])
    deny: str = setting("signed deny list file of digests, keys and identities", default="")
    deny_key: str = setting("public key file that the deny list must be signed with", default="")
    content: dict[str, Literal["error", "warning", "info", "off"]] = setting(
        "severity of content findings by reason code, such as VER-PICKLE: error", factory=dict[str, str]
    )
    minimum_version: str = setting("refuse a signed version lower than this", default="")


@dataclass(slots=True, kw_only=True)
class Bind:
    """How clients find tensors."""

    inputs: Literal["name", "index"] = setting("how clients bind inputs", default="name")
    outputs: Literal["name", "index"] = setting("how clients bind outputs", default="name")


@dataclass(slots=True, kw_only=True)
class Accepted:
    """A validate finding that is accepted for a reason, best for a time."""

    rule: str = setting("rule id", default="")
    reason: str = setting("why it is accepted", default="")
    until: str = setting("last day it is accepted, such as 2027-01-31; without one, for good", default="")
    path: str = setting("only for this file or tensor name", default="")


@dataclass(slots=True, kw_only=True)
class Contract:
    """What the clients and the server rely on."""

    bind: Bind = setting("how clients bind tensors", factory=Bind)
    level: Literal["wire", "ids", "tensor", "index", "strict"] = setting(
        "what clients exchange with the server", default="tensor"
    )
    runtimes: dict[str, str] = setting(
        "runtime versions that serve, such as onnxruntime: '1.18'",
        factory=dict[str, str],
        limits=Limits(pattern="^([<>=~!^]+ *)?v?[0-9]", wanted="a version such as '1.18'"),
    )
    server: str = setting(
        "command line of the server that serves, such as tritonserver --model-control-mode=explicit", default=""
    )
    gpu_memory: str = setting("memory of one GPU, such as 80GiB", default="")
    gpus: int = setting("GPUs that one replica spreads over (tensor parallel)", default=1, limits=Limits(least=1))
    gpu_utilisation: float = setting(
        "share of GPU memory the server may use", default=0.9, limits=Limits(above=0, most=1)
    )
    kv_tokens: int = setting(
        "tokens of KV cache promised to clients of a language model", default=0, limits=Limits(least=0)
    )
    max_lora_rank: int = setting(
        "largest adapter rank the server was started for (vLLM: --max-lora-rank)", default=0, limits=Limits(least=0)
    )
    domains: dict[str, list[float]] = setting(
        "values an input may take, for generated inputs", factory=dict[str, list[float]]
    )
    run_seconds: int = setting(
        "longest that validate --run may take for one graph and the one it replaces, in seconds",
        default=300,
        limits=Limits(least=1),
    )
    cosine: float = setting(
        "lowest cosine similarity at which an embedding space counts as kept",
        default=0.0,
        limits=Limits(least=-1, most=1),
    )
    levels: dict[str, Literal["equal", "hot", "restart", "breaks"]] = setting(
        "verdict level of a rule, where a project judges otherwise", factory=dict[str, str]
    )
    accept: list[Accepted] = setting("findings accepted for a reason", factory=list[Accepted])


@dataclass(slots=True, kw_only=True)
class Lint:
    """What lint reads and how strict it is."""

    paths: list[str] = setting("files and folders to lint", factory=list[str])
    exclude: list[str] = setting("glob patterns to leave out", factory=list[str])
    select: list[str] = setting("only these rules or families", factory=list[str])
    ignore: list[str] = setting("not these rules or families", factory=list[str])
    severity: dict[str, Literal["error", "warning", "info"]] = setting("severity per rule", factory=dict[str, str])
    per_path: dict[str, list[str]] = setting("rules to ignore under a glob pattern", factory=dict[str, list[str]])
    require: list[Literal["canary", "verify"]] = setting("policies that turn optional rules on", factory=list[str])
    baseline: str = setting("baseline file of accepted findings", default="")
    pedantic: bool = setting("run the rules that are off by default", default=False)


@dataclass(slots=True, kw_only=True)
class Bench:
    """Limits of the bench gate."""

    max_regression: dict[str, str] = setting("largest allowed regression per percentile", factory=dict[str, str])
    providers: list[str] = setting("execution providers in order of preference", factory=list[str])
    rounds: int = setting("rounds of fresh sessions in a comparison", default=15)
    seconds: float = setting("time for measuring, in seconds", default=60.0)
    inputs: dict[str, list[int]] = setting("shape of each input, for dynamic dimensions", factory=dict[str, list[int]])


@dataclass(slots=True, kw_only=True)
class Stage:
    """An environment that versions are promoted to."""

    from_: str = setting("stage a version must be in before", default="", key="from")
    gates: list[Literal["lint", "verify", "validate", "bench"]] = setting("gates that must pass", factory=list[str])
    serving: dict[str, str] = setting(
        "where this stage serves from, such as directory: /srv/models", factory=dict[str, str]
    )
    max_age: str = setting("evidence older than this does not count, such as 12h", default="7d")
    signed_evidence: bool = setting("only evidence signed by one of trust.keys counts", default=False)


@dataclass(slots=True, kw_only=True)
class Settings:
    """The whole of interlock.yaml. Relative paths are relative to the file's folder."""

    name: str = setting("model name", default="")
    model: str = setting("the new version: a path or reference", default="")
    live: str = setting("the version that serves now: a path or reference", default="")
    registry: str = setting("where versions are published: oci-layout:PATH or directory:PATH", default="")
    trust: Trust = setting("who may sign", factory=Trust)
    contract: Contract = setting("what clients rely on", factory=Contract)
    lint: Lint = setting("lint settings", factory=Lint)
    bench: Bench = setting("bench settings", factory=Bench)
    ledger: str = setting("directory of the promotion ledger; by default it is kept in the registry", default="")
    stages: dict[str, Stage] = setting("environments in order of promotion", factory=dict[str, Stage])
