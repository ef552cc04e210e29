"""The model on disk against its signed manifest: changed, missing, extra, links, and everything nobody signed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from ..report.finding import Finding
from .allow import Allowed
from .beside import is_signature_of
from .hashing import Job, Progress, differences, hash_tree
from .manifest import Manifest, Resource
from .reasons import finding, refusal
from .tree import Listing, Tree


@dataclass(slots=True)
class Comparison:
    """What was found, how many files were read with which algorithm, and what the signature does not cover."""

    findings: list[Finding] = field(default_factory=list[Finding])
    listing: Listing = field(default_factory=Listing)
    bytes: int = 0
    hashed: dict[str, int] = field(default_factory=dict[str, int])
    uncovered: list[str] = field(default_factory=list[str])
    by_receipt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparer:
    """Compares one model.

    `files` are the manifest's resources by name, `signature` is the bundle's name inside the tree or empty. `accepted`
    are the digest algorithms that count; of those a file was signed with, the fastest is computed. `look` judges the
    content of a model whose files are all as signed, while it is still watched for changes. `hashed_before` tells that
    a receipt spares hashing.
    """

    tree: Tree
    manifest: Manifest
    files: dict[str, list[Resource]]
    signature: str
    accepted: Collection[str]
    allowed: Allowed
    look: Callable[[Tree, Listing], list[Finding]]
    hashed_before: Callable[[Listing], bool]
    result: Comparison = field(default_factory=Comparison)

    def run(self, progress: Progress | None = None) -> Comparison:
        """Read the whole model. Raises Refused where no accepted digest is left, or a file moved while it was read."""
        result = self.result
        if self.signature and self.signature in self.files:
            raise refusal("VER-BUNDLE-IN-TREE", self.tree.locate(self.signature))
        ignored = self._ignored()
        skip = [path for path in ignored if path not in self.files and self.allowed.permits("VER-IGNORED", path)]
        skip += [self.signature] if self.signature else []
        listing = result.listing = self.tree.scan(skip)
        # Only what is there has been let pass.
        present = (path for path in listing.ignored if path != self.signature)
        result.uncovered = [path for path in present if self.allowed("VER-IGNORED", path)]
        self._odd()
        self._unsigned(ignored)
        self._missing()
        jobs = self._jobs()
        listing.settle()
        result.by_receipt = not result.findings and self.hashed_before(listing)
        if result.by_receipt:
            jobs = []
        digests = hash_tree(self.tree, listing, jobs, progress)
        for job in jobs:
            (algorithm,) = job.algorithms
            result.bytes += listing.files[job.name].size
            result.hashed[algorithm] = result.hashed.get(algorithm, 0) + 1
            expected = tuple((digest_of(shard, algorithm),) for shard in self.files[job.name])
            if expected != digests[job.name]:
                self._find("VER-CHANGED", job.name)
        if not result.findings:
            result.findings += self.look(self.tree, listing)
        for name, reason in differences(listing, self.tree.scan(skip)).items():
            self._find("VER-CHANGED-WHILE-READING", name, reason)
        return result

    def _find(self, code: str, name: str, message: str = "") -> None:
        self.result.findings.append(finding(code, self.tree.locate(name), message))

    def _ignored(self) -> list[str]:
        """The paths inside the model that the signer left uncovered, without the bundle itself."""
        paths: list[str] = []
        for path in self.manifest.ignored:
            name = path.strip("/").removeprefix("./")
            if name in ("", "."):
                raise refusal("VER-IGNORED", self.tree.path, "the signer ignored the whole model", hint="sign it again")
            # A path that leads out of the model (a bundle kept beside it) leaves nothing in the model uncovered.
            if name != self.signature and ".." not in name.split("/") and not path.startswith("/"):
                paths.append(name)
        return paths

    def _odd(self) -> None:
        for name, kind in self.result.listing.odd.items():
            self._find("VER-SYMLINK" if kind == "symlink" else "VER-SPECIAL-FILE", name)

    def _unsigned(self, ignored: list[str]) -> None:
        reported: set[str] = set()
        for name in self.result.listing.files:
            if name in self.files:
                continue
            if is_signature_of(self.tree, name, self.manifest, self.signature):
                self.result.uncovered.append(name)
                continue
            owner = next((path for path in ignored if name == path or name.startswith(path + "/")), "")
            if not owner and self.allowed("VER-EXTRA", name):
                self.result.uncovered.append(name)
            elif not owner:
                self._find("VER-EXTRA", name)
            elif owner not in reported:
                reported.add(owner)
                self._find("VER-IGNORED", owner)

    def _missing(self) -> None:
        listing = self.result.listing
        for name in self.files:
            if name not in listing.files and name not in listing.odd:
                self._find("VER-MISSING", name)

    def _jobs(self) -> list[Job]:
        """What has to be read: a file whose size already differs needs no hashing to be known as changed."""
        jobs: list[Job] = []
        sharded = self.manifest.method == "shards"
        for name, shards in self.files.items():
            stamp = self.result.listing.files.get(name)
            if stamp is None:
                continue
            size = shards[-1].end if sharded else shards[0].size
            if 0 <= size != stamp.size:
                self._find("VER-CHANGED", name, f"has {stamp.size:,} bytes, {size:,} were signed")
                continue
            cuts = tuple((shard.start, shard.end) for shard in shards) if sharded else ()
            jobs.append(Job(name, (self._algorithm(name, shards),), cuts))
        return jobs

    def _algorithm(self, name: str, shards: list[Resource]) -> str:
        for algorithm in ("blake3", shards[0].algorithm):
            if algorithm in self.accepted and all(digest_of(shard, algorithm) for shard in shards):
                return algorithm
        signed = shards[0].algorithm + (" and blake3" if shards[0].blake3 else "")
        accepted = ", ".join(sorted(self.accepted))
        raise refusal("VER-ALGORITHM", self.tree.locate(name), f"signed with {signed}; accepted: {accepted}")


def digest_of(resource: Resource, algorithm: str) -> str:
    """A resource's signed digest under an algorithm, or empty."""
    if resource.algorithm == algorithm:
        return resource.digest
    return resource.blake3 if algorithm == "blake3" else ""
