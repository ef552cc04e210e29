"""The verbs of the release room. Each is what the command of its name does, and returns a Report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ..config.load import Config, load
from ..report.blocks import Table
from ..report.errors import BadInput, NothingToCheck
from ..report.finding import Finding
from ..report.report import Report, ordered
from ..report.rule import Rule

if TYPE_CHECKING:
    from .desk import Desk


def _settings(config: str | None) -> Config:
    """The settings, with stages in an order that versions can follow."""
    from .stages import check_order

    settings = load(config)
    check_order(settings)
    return settings


def publish(model: str, target: str = "", *, tags: Sequence[str] = (), config: str | None = None) -> Report:
    """Push a model to `oci-layout:PATH:TAG`, `directory:PATH[:TAG]` or `oci://HOST/REPOSITORY:TAG`; by default to the
    registry of the settings. Facts hold the `digest`. Publishing the same files again changes nothing."""
    from .transfer import publish_model

    settings = _settings(config)
    if not target and not settings.settings.registry:
        hint = "name a target such as oci-layout:registry:1.0, or set registry in interlock.yaml"
        raise BadInput("publish", "no target given", hint=hint)
    return publish_model(model, target, tags, settings)


def pull(reference: str, directory: str, *, verify: bool = False, config: str | None = None) -> Report:
    """Fetch a version to a new directory, which appears only when every byte was verified; with `verify` also its
    signature against the trust settings."""
    from .transfer import pull_model

    return pull_model(reference, directory, load(config), verify=verify)


def gate(stage: str, model: str = "", *, key: str = "", password: str = "", config: str | None = None) -> Report:
    """Run the gates of a stage on a published version and keep the evidence, signed with `key` when given.

    `model` is a reference, tag or digest in the registry, or files that were published there; by default the model
    of the settings. The verdict is fail unless every gate passed; a gate that could not run did not pass.
    """
    from .desk import open_desk

    settings = _settings(config)
    desk = open_desk(stage, settings)
    desk.needs_gates(NothingToCheck)
    return _run_gates(desk, _named(model, settings), key, password)


def _named(model: str, config: Config) -> str:
    if model:
        return model
    if not config.settings.model:
        raise BadInput("gate", "no model given", hint="name a version, or set model in interlock.yaml")
    return str(config.resolve(config.settings.model)) if "://" not in config.settings.model else config.settings.model


def _run_gates(desk: Desk, model: str, key: str, password: str) -> Report:
    from .evidence import Evidence, record
    from .gates import Bench, run_gate
    from .policy import policy_digest
    from .store import load as load_manifest

    digest = desk.digest_of(model)
    manifest = load_manifest(desk.store, digest)
    against = desk.live(desk.position())
    findings: list[Finding] = []
    rules: list[Rule] = []
    rows: list[list[str]] = []
    facts: dict[str, Any] = {}
    unsigned = "signed" if key else "unsigned"
    with ExitStack() as stack:
        path = stack.enter_context(desk.store.view(manifest))
        old = stack.enter_context(desk.open_live(against)) if against else None
        bench = Bench(
            path, str(desk.registry.at(digest)), old.path if old else None, old.name if old else "", desk.config
        )
        for name in desk.stage.gates:
            outcome = run_gate(name, bench)
            evidence = record(
                desk.store,
                manifest,
                Evidence(
                    gate=name,
                    stage=desk.name,
                    subject=digest,
                    policy=policy_digest(name, desk.config, against),
                    passed=outcome.passed,
                    reason=outcome.reason,
                    against=against,
                    summary=outcome.summary,
                ),
                key,
                password,
            )
            if outcome.report is not None:
                findings += outcome.report.findings
                rules += outcome.report.rules
            word = "passed" if outcome.passed else "failed"
            rows.append([name, word, outcome.reason, unsigned])
            facts[name] = {"passed": outcome.passed, "reason": outcome.reason, "evidence": evidence.digest}
    failed = [row for row in rows if row[1] != "passed"]
    return Report(
        command="gate",
        findings=ordered(findings),
        rules=tuple(rules),
        fail_on=None,
        inputs=1,
        facts={"stage": desk.name, "digest": digest, "against": against or None, "gates": facts, "evidence": unsigned},
        body=[Table(("gate", "result", "because", "evidence"), rows)],
        headline=f"{len(rows) - len(failed)} of {len(rows)} gates of {desk.name} passed for {bench.name}",
        refused="; ".join(f"{row[0]}: {row[2]}" for row in failed),
    )


def promote(
    reference: str,
    to: str,
    *,
    request_id: str = "",
    reason: str = "",
    lift_hold: bool = False,
    config: str | None = None,
) -> Report:
    """Move a version to a stage: its tag in the registry and what its serving side serves, together or not at all.

    Needs passing, fresh evidence for exactly this digest. Run again after a crash, it finishes what was begun; the
    same `request_id` never moves anything twice.
    """
    from .desk import open_desk
    from .promotion import promote_version

    desk = open_desk(to, _settings(config))
    return promote_version(desk, reference, request=request_id, reason=reason, lift_hold=lift_hold)


def rollback(stage: str, *, to: str = "", request_id: str = "", reason: str = "", config: str | None = None) -> Report:
    """Put the previous good pair of a stage back, registry and serving; needs no evidence. An unfinished promotion is
    withdrawn. The version that is left is held: promote takes it again only with `lift_hold`."""
    from .desk import open_desk
    from .promotion import rollback_stage

    return rollback_stage(open_desk(stage, _settings(config)), to, request=request_id, reason=reason)


def status(stage: str = "", *, verify: bool = False, config: str | None = None) -> Report:
    """What each stage has, and whether its tag, its serving side and the ledger agree; with `verify` byte by byte."""
    from .watch import stage_status

    return stage_status(_settings(config), stage, verify=verify)


def history(stage: str = "", *, limit: int = 0, config: str | None = None) -> Report:
    """The requests in the ledger of a stage or of all stages, after verifying the hash chains."""
    from .watch import stage_history

    return stage_history(_settings(config), stage, limit=limit)
