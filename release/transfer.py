"""publish and pull: a version goes in whole and comes out whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..config.load import Config
from ..report.errors import BadInput, Refused
from ..report.report import Report
from . import durable
from .descriptor import is_tag
from .directory import Directory
from .durable import explained, human_size
from .evidence import carry
from .ledger import has_ledger
from .modelpack import Entry, Manifest
from .naming import errors_named, report_named, why_not
from .ocilayout import OciLayout
from .progress import watched
from .reference import Reference, digest_in, open_model, open_store, parse
from .signatures import attach_signature, signature_of
from .store import Store, load
from .tree import files_of


def publish_model(model: str, target: str, tags: Sequence[str], config: Config) -> Report:
    """Push `model` to the place and under the tag of `target`, and under `tags`.

    The tag moves last, after every byte is durable; one that named another version moves, and the report says so.
    Raises BadInput when a tag is that of a stage: those move by promote only.
    """
    reference = parse(target) if target else parse(config.settings.registry, config.root)
    wanted = [reference.version, *tags] if reference.version else list(tags)
    names = list(dict.fromkeys(wanted))
    for name in names:
        if not is_tag(name):
            raise BadInput(name[:140], "not a tag", hint="publish by tag; the digest follows from the files")
    with open_model(model) as opened:
        _check_apart(opened.path, reference)
        files = files_of(opened.path)
        signature = signature_of(opened.path)
        store = open_store(reference, create=True)
        ours = _is_registry(reference, config)
        for name in names:
            _check_tag(store, reference, name, config)
        owner = _owner(store, keeps_pointer=ours)
        with watched("publishing", sum(file.size for file in files)) as progress:
            pushed = store.put(files, progress)
    manifest = pushed.manifest
    source = parse(model)
    if source.scheme != "path" and not source.same_place(reference):
        carry(open_store(source), store, manifest)
    attached = attach_signature(store, manifest, signature) if signature else ""
    moved: dict[str, str] = {}
    for name in names:
        if (before := store.tag(name)) not in ("", manifest.digest):
            moved[name] = before
        store.point(name, manifest.digest)
    note = f"; {owner} keeps its pointer" if owner else ""
    if isinstance(store, Directory) and not owner:
        store.serve(manifest.digest, **({"version": names[0]} if names else {}))
        note = "; version.json names it"
    if isinstance(store, OciLayout) and store.relisted:
        note += f"; index.json was missing: {store.relisted} manifests are listed anew, without their tags"
    note += "".join(f"; tag {name} moved from {before}" for name, before in moved.items())
    facts = {
        "digest": manifest.digest,
        "reference": str(reference.at(manifest.digest)),
        "tags": names,
        "signature": attached or None,
        "moved": moved,
        "files": len(manifest.entries),
        "bytes": manifest.size,
        "sent": pushed.sent,
        "reused": pushed.reused,
    }
    unchanged = " (all there already)" if not pushed.sent else f", {human_size(pushed.sent)} written"
    size = f"{_files(manifest)}{unchanged}{note}"
    return Report(
        command="publish", facts=facts, inputs=1, headline=f"published {facts['reference']}: {size}", fail_on=None
    )


def _check_apart(model: Path, target: Reference) -> None:
    if target.scheme != "oci" and Path(target.place).resolve().is_relative_to(model.resolve()):
        reason = "the target lies inside the model, which would then hold itself"
        raise BadInput(target, reason, hint="publish to a place outside the model directory")


def _check_tag(store: Store, target: Reference, tag: str, config: Config) -> None:
    """Raise BadInput when a tag is that of a stage, by the settings of this registry or by a ledger kept for it."""
    states = [state] if (state := store.state()) is not None else []
    ours = _is_registry(target, config)
    if ours and config.settings.ledger:
        states.append(config.resolve(config.settings.ledger))
    if (ours and tag in config.settings.stages) or any(has_ledger(state, tag) for state in states):
        hint = f"publish under a version tag, then: interlock promote REF --to {tag}"
        raise BadInput(f"{store.name}:{tag}", "this tag belongs to a stage and moves by promote only", hint=hint)


def _is_registry(target: Reference, config: Config) -> bool:
    return bool(config.settings.registry) and parse(config.settings.registry, config.root).same_place(target)


def _owner(store: Store, *, keeps_pointer: bool) -> str:
    """The stage that moves version.json of a directory, empty where publishing does. Raises BadInput when someone
    publishes to it to serve from it; to a directory that is the registry a version is only added."""
    owner = str(store.current().get("stage") or "") if isinstance(store, Directory) else ""
    if owner and not keeps_pointer:
        hint = f"publish to the registry, then: interlock promote REF --to {owner}"
        raise BadInput(store.name, f"stage {owner} serves from this directory: its pointer moves by promote", hint=hint)
    return f"stage {owner}" if owner else ""


def pull_model(text: str, destination: str, config: Config, *, verify: bool) -> Report:
    """Fetch a version to a directory that does not exist yet or is empty.

    Bytes arrive in a hidden folder beside it, are checked against their digests, with `verify` against the signature
    and the trust settings too, made durable, and only then get the destination's name. Raises BadInput on anything
    wrong with the version or the place, Refused on a signature that does not hold.
    """
    reference = parse(text)
    if reference.scheme == "path":
        raise BadInput(text, "pull needs a reference", hint="write oci-layout:PATH:TAG; a plain path can be copied")
    target = _free(destination)
    store = open_store(reference)
    manifest = load(store, digest_in(store, reference))
    with explained("write", target):
        durable.make_folders(target.parent)
        durable.sweep(target.parent)
        durable.ensure_space(target.parent, manifest.size)
        with durable.draft_folder(target.parent) as draft, watched("pulling", manifest.size) as progress:

            def bring(entry: Entry) -> None:
                path = draft / entry.path
                path.parent.mkdir(parents=True, exist_ok=True)
                store.fetch(manifest, entry, path, progress)

            with errors_named({draft: str(target)}):
                durable.each(bring, manifest.entries, manifest.size if store.parallel else 0)
            signer = _check_signature(draft, str(reference.at(manifest.digest)), config) if verify else ""
            draft.chmod(0o755)
            durable.sync_tree(draft)
            draft.rename(target)
        durable.sync_folder(target.parent)
    facts = {
        "digest": manifest.digest,
        "reference": str(reference.at(manifest.digest)),
        "directory": str(target),
        "files": len(manifest.entries),
        "bytes": manifest.size,
        "signature": signer or "not checked",
    }
    checked = "digests and signature verified" if verify else "digests verified"
    size = f"{_files(manifest)}, {checked}"
    return Report(
        command="pull", facts=facts, inputs=1, headline=f"pulled {facts['reference']} to {target}: {size}", fail_on=None
    )


def _files(manifest: Manifest) -> str:
    count = len(manifest.entries)
    return f"{count} {'file' if count == 1 else 'files'}, {human_size(manifest.size)}"


def _free(destination: str) -> Path:
    target = Path(destination).absolute()
    if target.is_symlink():
        raise BadInput(target, "is a link, which cannot be replaced in one step", hint="name the directory itself")
    if target.is_dir():
        if os.path.ismount(target):
            raise BadInput(target, "a mount point cannot be replaced in one step", hint="name a new folder below it")
        if any(target.iterdir()):
            raise BadInput(target, "the directory is not empty", hint="name a new one: a pull never mixes two versions")
    elif os.path.lexists(target):
        raise BadInput(target, "exists and is not a directory", hint="name a new directory")
    return target


def _check_signature(folder: Path, name: str, config: Config) -> str:
    """Who signed the files in a folder, which messages call `name`. Raises Refused, or BadInput as `verify` does."""
    from .gates import run_verify

    report = report_named(lambda: run_verify(folder, config), {folder: name})
    if report.exit_code:
        hint = next((finding.hint for finding in report.findings if report.fails(finding)), "")
        reason = f"signature not accepted, nothing was pulled: {why_not(report, name)}"
        raise Refused(name, reason, hint=hint or "see interlock verify on the published files")
    return report.headline
