"""Pods and containers of any workload, with what the rules ask of them: probes, ports, command lines, environment."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import runtimes
from ..lazy import lazy
from .argv import Flag, Word, command_lines, flags, is_placeholder, same_flag
from .gotemplate import is_open
from .yamlnodes import EMPTY, Map, Seq, dig, text

if TYPE_CHECKING:
    from .kubernetes import Resource

ACCELERATORS = lazy(r"^((nvidia|amd|intel|habana)\.(com|ai)/|google\.com/tpu|aws\.amazon\.com/neuron|rebellions\.ai/)")


# Image names that a Kustomize transformer or a script puts the real one in for.
_TO_REPLACE = lazy(
    r"^(image|controller|placeholder|dummy)$|placeholder|(?<![a-z])(replaced?|overrid(e|den)|substituted?)(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Image:
    """An image reference in its parts; `tag` and `digest` are empty when absent."""

    text: str
    repository: str
    tag: str
    digest: str

    @property
    def known(self) -> bool:
        """Whether the reference is written out, not a placeholder to be substituted."""
        return bool(self.text) and not is_placeholder(self.text) and not _TO_REPLACE.search(self.text)


def parse_image(reference: str) -> Image:
    """Split `registry/repo:tag@digest`."""
    rest, _, digest = reference.partition("@")
    head, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:
        head, tag = rest, ""
    return Image(reference, head, tag, digest)


@dataclass(eq=False)
class Container:
    """One container. `map` is its YAML mapping; `init` containers run before the others."""

    map: Map
    pod: Pod
    init: bool = False

    @cached_property
    def name(self) -> str:
        return self.map.get_str("name")

    @cached_property
    def image(self) -> Image:
        return parse_image(self.map.get_str("image"))

    @property
    def is_sidecar(self) -> bool:
        """A native sidecar: an init container that keeps running."""
        return self.init and self.map.get("restartPolicy") == "Always"

    @cached_property
    def words(self) -> tuple[list[Word], list[Word]]:
        """The words of `command` and of `args`."""
        return _words(self.map, "command"), _words(self.map, "args")

    @cached_property
    def lines(self) -> list[list[Word]]:
        """The command lines it starts; empty when the image's entrypoint runs without arguments."""
        return command_lines(*self.words)

    @cached_property
    def flags(self) -> list[Flag]:
        """Every option of its command lines."""
        return list(flags(self.lines))

    def flag(self, *names: str) -> Flag | None:
        """The last of the options named; dashes and underscores are interchangeable."""
        return next((flag for flag in reversed(self.flags) if any(same_flag(flag.name, name) for name in names)), None)

    @cached_property
    def env(self) -> dict[str, Map]:
        """Environment entries by name."""
        return {entry.get_str("name"): entry for entry in self.map.get_maps("env")}

    def env_value(self, name: str) -> str | None:
        """A variable's literal value; None when unset or taken from elsewhere."""
        entry = self.env.get(name)
        return text(entry["value"]) if entry is not None and "value" in entry else None

    def expand(self, value: str) -> str:
        """`$(NAME)`, `${NAME}` and `$NAME` replaced where the container's environment says so literally."""

        def replace(match: re.Match[str]) -> str:
            known = self.env_value(match.group(1) or match.group(2) or match.group(3))
            return match.group() if known is None else known

        if "$" not in value:
            return value
        return re.sub(r"\$\((\w+)\)|\$\{(\w+)\}|\$([A-Za-z_]\w*)", replace, value)

    @property
    def is_open(self) -> bool:
        """Whether a template pours in keys that are not written down: then nothing can be said to be missing."""
        return is_open(self.pod.resource.document.file, self.map)

    def probe(self, kind: str) -> Map | None:
        """`readiness`, `liveness` or `startup` probe."""
        value = self.map.get(kind + "Probe")
        return value if isinstance(value, Map) else None

    @cached_property
    def ports(self) -> list[tuple[str, int]]:
        """(name, number) of its declared ports."""
        found = [(port.get_str("name"), port.get("containerPort")) for port in self.map.get_maps("ports")]
        return [(name, number) for name, number in found if isinstance(number, int)]

    @cached_property
    def accelerators(self) -> list[str]:
        """Accelerator resources it asks for, such as nvidia.com/gpu."""
        resources = self.map.get_map("resources")
        names = [*resources.get_map("limits"), *resources.get_map("requests")]
        return sorted({name for name in names if ACCELERATORS.match(name)})

    @property
    def accelerated(self) -> bool:
        """Whether it asks for an accelerator."""
        return bool(self.accelerators)

    @cached_property
    def mounts(self) -> list[tuple[Map, Map]]:
        """(volumeMount, volume) pairs; the volume is empty when it is not declared in the pod."""
        return [(mount, self.pod.volume(mount.get_str("name"))) for mount in self.map.get_maps("volumeMounts")]

    def mount_of(self, path: str) -> tuple[Map, Map] | None:
        """The mount that holds an absolute path: the longest mountPath above it."""
        best: tuple[Map, Map] | None = None
        for mount, volume in self.mounts:
            base = mount.get_str("mountPath").rstrip("/")
            if (path == base or path.startswith(base + "/")) and (
                best is None or len(base) > len(best[0].get_str("mountPath").rstrip("/"))
            ):
                best = (mount, volume)
        return best

    @cached_property
    def runtime(self) -> runtimes.Runtime | None:
        """The serving runtime it runs, by its command or its image; None for clients, batch work and the unknown."""
        lines = self.lines
        for line in lines:
            found = runtimes.by_command([self.expand(word.text) for word in line])
            if found is not None:
                return found
        found = runtimes.by_image(self.image.repository, self.image.tag) if self.image.text else None
        if found is None and len(self.ports) > 1:
            probes = [self.probe(kind) for kind in ("readiness", "liveness", "startup")]
            paths = [text(dig(probe, "httpGet", "path")) for probe in probes if probe]
            found = runtimes.by_signature({number for _, number in self.ports}, paths)
        return None if found and self._starts_something_else() else found

    def _starts_something_else(self) -> bool:
        """Whether an explicit command replaces the image's server with a program known not to serve."""
        command, _ = self.words
        if not command:
            return False
        return bool(self.lines) and all(map(_idle, self.lines))

    @property
    def serving(self) -> bool:
        """Whether it is a model server that takes requests: recognised, not an init container, not batch work."""
        return self.runtime is not None and not self.init and self.pod.managed != "job"


# Programs that serve nothing, though the image could: a container that overrides the entrypoint with only these.
_IDLE = lazy(
    r"^(sleep|tail|cat|echo|ls|cp|mv|mkdir|chmod|true|sh|bash|ray|curl|wget|git|pip3?|huggingface-cli|hf|gsutil|gcloud|"
    r"aws|set|cd|export|source|trap|wait|while|for|done|fi|printf|date|nvidia-smi|test|\[|\.|torchrun|genai-perf|"
    r"perf_analyzer|torch-model-archiver|rm|tar|unzip|rsync|touch|chown|ln|grep|sed|awk|until|\[\[|apt|apt-get|vllm-router|trtllm-build|mpirun|jupyter|nginx)$"
)
_BATCH_SCRIPT = lazy(r"(train|bench|convert|download|client|test|eval|tune|router|proxy)[^/]*\.py$")


def _idle(line: list[Word]) -> bool:
    program = line[0].text.rsplit("/", 1)[-1]
    if program.startswith("python"):
        return any(_BATCH_SCRIPT.search(word.text) for word in line[1:])
    return bool(_IDLE.match(program))


def _words(holder: Map, key: str) -> list[Word]:
    value = holder.get(key)
    if isinstance(value, Seq):
        return [Word(text(item), value, index) for index, item in enumerate(value) if not isinstance(item, Map | Seq)]
    return [Word(value, holder, key)] if isinstance(value, str) else []


@dataclass(eq=False)
class Pod:
    """A pod as some workload makes it.

    `spec` is its PodSpec and `meta` the metadata of its template. `role` names it within the workload (predictor,
    worker, a replica type). `managed` says which controller fills in what the manifest leaves out: kserve, llmisvc,
    knative, nim, seldon, ray, job, lws-leader, lws-worker, template (never started by itself), or empty for plain
    Kubernetes. `replicas` is None when not written down.
    """

    resource: Resource
    spec: Map
    meta: Map
    role: str = ""
    managed: str = ""
    replicas: int | None = None
    extra: list[Map] = field(default_factory=list[Map])

    @cached_property
    def labels(self) -> dict[str, str]:
        """Labels of the pod template."""
        return {key: text(value) for key, value in self.meta.get_map("labels").items()}

    @cached_property
    def annotations(self) -> dict[str, str]:
        """Annotations of the pod template."""
        return {key: text(value) for key, value in self.meta.get_map("annotations").items()}

    @cached_property
    def containers(self) -> list[Container]:
        """The containers that run, in order, native sidecars left out."""
        return [Container(item, self) for item in [*self.extra, *self.spec.get_maps("containers")]]

    @cached_property
    def init_containers(self) -> list[Container]:
        """The init containers, native sidecars among them."""
        return [Container(item, self, init=True) for item in self.spec.get_maps("initContainers")]

    @cached_property
    def serving(self) -> list[Container]:
        """Its model servers; none in a patch, whose other half is elsewhere."""
        return [] if self.resource.is_patch else [c for c in self.containers if c.serving]

    def volume(self, name: str) -> Map:
        """A declared volume; StatefulSet claim templates look like a volume with a claim of their own."""
        for volume in self.spec.get_maps("volumes"):
            if volume.get("name") == name:
                return volume
        return next((v for v in self._claims if dig(v, "metadata", "name") == name), EMPTY)

    @cached_property
    def _claims(self) -> list[Map]:
        return self.resource.spec.get_maps("volumeClaimTemplates")

    @property
    def grace_seconds(self) -> int:
        """terminationGracePeriodSeconds, 30 when absent as in the API."""
        value: Any = self.spec.get("terminationGracePeriodSeconds")
        return value if isinstance(value, int) else 30
