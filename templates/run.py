"""The verb `render`: manifests of a model server from a profile and values."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..report.blocks import Table, Text
from ..report.errors import BadInput
from ..report.report import Report
from . import context, drift, inputs, owned, rules, versions
from .check import problems
from .engine import render as expand
from .profiles import PROFILES
from .scalars import dump
from .values import Values


def render(
    profile: str,
    *,
    values: Mapping[str, Any] | None = None,
    values_file: str | None = None,
    sets: Sequence[str] = (),
    kube_version: str = versions.DEFAULT,
    output_dir: str | None = None,
    check: str | None = None,
    diff: str | None = None,
    signer: rules.Signer = rules.any_signer,
) -> Report:
    """Manifests of `profile` (vllm, triton, onnxruntime): YAML as payload, or compared with or written to a folder.

    `values` are nested keys as in the file; `sets` are KEY=VALUE over it. With `check` or `diff` the report refuses
    where the folder differs from what would be rendered. `signer` judges each trusted key and identity as the verifier
    in the pod will. Raises BadInput on values that a cluster would refuse, that name an artefact by tag, that the
    profile sets itself, or that are not known.
    """
    if profile not in PROFILES:
        close = difflib.get_close_matches(profile, PROFILES, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"use one of {', '.join(PROFILES)}"
        raise BadInput(f"profile {profile}", "unknown", hint=hint)
    read, marks, source = inputs.read(values_file, values, sets)
    rules.check(read, marks, source, owned.problems(profile, read), signer)
    objects = documents(profile, read, kube_version)
    files = {drift.file_name(o): f"{drift.MARK}\n{dump(o)}" for o in objects}
    report = Report(
        command="render",
        inputs=len(objects),
        headline=f"{profile}: {len(objects)} objects for Kubernetes {kube_version}",
        facts={
            "profile": profile,
            "kube_version": kube_version,
            "template_digest": PROFILES[profile].digest(),
            "objects": [f"{o['kind']}/{o['metadata']['name']}" for o in objects],
        },
    )
    if check is not None or diff is not None:
        _compare(report, cast("str", check if diff is None else diff), files, show=diff is not None)
    elif output_dir is not None:
        drift.write(output_dir, files)
        rows = [[name, f"{o['kind']}/{o['metadata']['name']}"] for name, o in zip(files, objects, strict=True)]
        report.body.append(Table(("file", "object"), rows))
        report.headline = f"{len(files)} files written to {output_dir}"
    else:
        report.payload = f"{drift.MARK}\n" + "---\n".join(dump(o) for o in objects)
    return report


def documents(profile: str, values: Values, kube_version: str) -> list[dict[str, Any]]:
    """The objects of a profile as plain data, for values that passed `rules.check`."""
    import yaml

    chosen = PROFILES[profile]
    if chosen.ports is not None and values.server != type(values.server)():
        raise BadInput("server", f"the {profile} profile fixes how its server is started", hint="use args and env")
    seen = {
        **context.build(profile, values, versions.fields(kube_version), chosen.digest()),
        **chosen.context(values),
    }
    objects = [yaml.load(expand(name, seen), yaml.CSafeLoader) for name in chosen.templates()]
    for problem in problems(objects):
        raise BadInput(f"profile {profile}", problem, hint="this is a mistake in the profile; please report it")
    return objects


def _compare(report: Report, folder: str, files: Mapping[str, str], *, show: bool) -> None:
    differing = drift.compare(folder, files)
    report.facts["drift"] = sorted(differing)
    report.headline = f"{folder} is what would be rendered"
    if not differing:
        return
    report.headline = f"{len(differing)} of {len(files)} files in {folder} differ from what would be rendered"
    report.refused = f"{', '.join(differing)}; run interlock render with --output-dir {folder}"
    if show:
        report.payload = drift.unified(folder, differing)
    else:
        state = {True: "differs", False: "missing"}
        lines = [
            f"{n}: {'not rendered any more' if not here else state[bool(there)]}"
            for n, (there, here) in differing.items()
        ]
        report.body.append(Text("\n".join(lines)))
