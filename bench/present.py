"""An outcome of bench as a Report: findings, facts and the tables that a person reads."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from ..report.blocks import Block, Histogram, Table, Text
from ..report.finding import Finding
from ..report.report import Report
from . import rules
from .benchmark import NEW, OLD, Outcome, Settings
from .footprint import Footprint
from .stats import percentile
from .verdict import Judged, Verdict

_SHOWN = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
_BINS = 12
_MIB = 1 << 20


def report(outcome: Outcome, settings: Settings, names: dict[str, str]) -> Report:
    """The report of a benchmark; `names` maps arm to what the user called the model."""
    findings = _findings(outcome, names)
    return Report(
        command="bench",
        findings=findings,
        facts=_facts(outcome, settings, names),
        inputs=len(names),
        headline=_headline(outcome, names, findings),
        body=_body(outcome, settings, names),
        rules=rules.RULES,
    )


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %"


def _range(judged: Judged) -> str:
    return f"[{_percent(judged.ratio.low)}, {_percent(judged.ratio.high)}]"


def _findings(outcome: Outcome, names: dict[str, str]) -> list[Finding]:
    found: list[Finding] = []
    new = names[NEW]
    for each in outcome.judged:
        allowed = f"allowed {_percent(each.allowed)}"
        if each.verdict is Verdict.FAIL and not outcome.unfit:
            message = f"{each.metric} is {_percent(each.ratio.value)} slower, at least {_percent(each.ratio.low)}"
            found.append(rules.finding(rules.REGRESSION, f"{message}, {allowed}", new))
        elif each.verdict is Verdict.INCONCLUSIVE and outcome.verdict is Verdict.INCONCLUSIVE:
            message = f"{each.metric} changed by {_percent(each.ratio.value)} {_range(each)}: cannot tell, {allowed}"
            found.append(rules.finding(rules.INCONCLUSIVE, message, new))
    if outcome.unfit:
        for each in outcome.control:
            if each.verdict is not Verdict.PASS:
                message = f"the same model against itself differs by {_range(each)} at {each.metric}"
                found.append(rules.finding(rules.MACHINE, message, names[OLD]))
    for arm, foot in outcome.footprints.items():
        if foot.placement == "gpu-partial":
            message = f"{foot.nodes.get('cpu', 0)} of {sum(foot.nodes.values())} nodes run on the cpu"
            found.append(rules.finding(rules.PARTIAL, message, names[arm]))
        if foot.failure:
            message = f"runs on the cpu: {foot.failure['reason']}"
            found.append(rules.finding(rules.FALLBACK, message, names[arm], hint=foot.failure["hint"]))
    old = outcome.footprints.get(OLD)
    foot = outcome.footprints[NEW]
    if old and old.placement != foot.placement:
        message = f"runs as {foot.placement}, the old version as {old.placement}"
        found.append(rules.finding(rules.PLACEMENT, message, new))
    if old and old.finite and not foot.finite:
        found.append(rules.finding(rules.NONFINITE, "its first answer holds NaN or infinity", new))
    if outcome.plan.guessed:
        made = ", ".join(f"{name} {_made(outcome, name)}" for name in outcome.plan.guessed)
        found.append(rules.finding(rules.GUESSED, f"guessed {made}", new))
    return found


def _made(outcome: Outcome, name: str) -> str:
    shape = "x".join(map(str, outcome.plan.shapes[name])) or "scalar"
    return f"{shape} ({outcome.plan.values[name]})"


def _headline(outcome: Outcome, names: dict[str, str], findings: list[Finding]) -> str:
    if not outcome.judged:
        middle = percentile(outcome.pooled(NEW, corrected=False), 0.5)
        took = f"p50 {middle.value:.3f} ms, " if middle else ""
        return f"measured: {took}{outcome.throughput[NEW]:.0f} requests/s on {outcome.footprints[NEW].provider}"
    changes = ", ".join(f"{each.metric} {_percent(each.ratio.value)} {_range(each)}" for each in outcome.judged)
    if outcome.verdict is Verdict.INCONCLUSIVE:
        why = "this machine cannot judge it" if outcome.unfit else "undecided"
        return f"inconclusive, which is not a pass: {why} after {len(outcome.rounds)} rounds: {changes}"
    if outcome.verdict is Verdict.FAIL:
        return f"fail: {names[NEW]} is slower than allowed: {changes}"
    others = sum(finding.severity.rank for finding in findings)
    return f"{'no regression' if others else 'pass'}: {changes}"


def _body(outcome: Outcome, settings: Settings, names: dict[str, str]) -> list[Block]:
    where = [_where(names[arm], arm, foot, outcome.throughput[arm]) for arm, foot in outcome.footprints.items()]
    columns = ["", "model", "runs on", "nodes", "load ms", "first ms", "memory MiB", "peak MiB", "requests/s"]
    numbers = frozenset(columns[4:])
    runtime = outcome.footprints[NEW].runtime
    body: list[Block] = [Table(columns, where, f"Where it ran (onnx runtime {runtime}, {outcome.workers} callers for"
                               " requests/s)", numbers)]  # fmt: skip
    body.append(_latencies(outcome, settings))
    if outcome.judged:
        confidence = f"{(1 - outcome.alpha) * 100:.1f} %"
        rows = [_compared(each, "new / old") for each in outcome.judged]
        rows += [_compared(each, "old / old") for each in outcome.control]
        head = ["", "percentile", "change", "low", "high", "allowed", "verdict"]
        title = (
            f"Comparison on {outcome.basis} latency, {len(outcome.rounds)} rounds; each bound holds with {confidence}"
        )
        body.append(Table(head, rows, title, frozenset(head[2:6])))
    body.append(_histogram(outcome))
    if outcome.basis == "corrected":
        arms = [samples for each in outcome.rounds for samples in each.values()]
        share = sum(sum(s.delay) for s in arms) / max(sum(sum(s.wall) for s in arms), 1e-9)
        body.append(Text(f"other processes held the CPU for {share * 100:.1f} % of the time measured"))
    return body


def _where(name: str, arm: str, foot: Footprint, rate: float) -> list[str]:
    nodes = ", ".join(f"{count} {provider}" for provider, count in sorted(foot.nodes.items())) or "unknown"
    memory = [f"{value / _MIB:.0f}" for value in (foot.rss_loaded, foot.rss_peak)]
    return [arm, name, foot.placement, nodes, f"{foot.load_ms:.1f}", f"{foot.first_ms:.2f}", *memory, f"{rate:.0f}"]


def _latencies(outcome: Outcome, settings: Settings) -> Table:
    columns = ["", "latency", *_SHOWN, "mean", "cpu"]
    rows: list[list[str]] = []
    for arm in outcome.footprints:
        cpu = fmean(value for each in outcome.rounds for value in each[arm].cpu)
        for kind in ("wall", "corrected") if outcome.basis == "corrected" else ("wall",):
            values = outcome.pooled(arm, corrected=kind == "corrected")
            points = [percentile(values, quantile) for quantile in _SHOWN.values()]
            cells = ["too few" if point is None else f"{point.value:.3f}" for point in points]
            rows.append([arm, kind, *cells, f"{fmean(values):.3f}", f"{cpu:.3f}"])
    count = len(outcome.rounds) * outcome.requests
    threads = f"{settings.threads} thread" + ("" if settings.threads == 1 else "s")
    title = f"Latency in ms per request, {count} requests each, {threads}, fresh sessions every {outcome.requests}"
    return Table(columns, rows, title, frozenset(columns[2:]))


def _compared(each: Judged, what: str) -> list[str]:
    bounds = [_percent(value) for value in (each.ratio.value, each.ratio.low, each.ratio.high, each.allowed)]
    return [what, each.metric, *bounds, each.verdict.value]


def _histogram(outcome: Outcome) -> Histogram:
    corrected = outcome.basis == "corrected"
    pools = {arm: outcome.pooled(arm, corrected) for arm in outcome.footprints}
    low = min(pool[0] for pool in pools.values())
    # The rarest half per cent would squeeze everything else into one bin; it is counted in the last.
    high = max(pool[int(0.995 * (len(pool) - 1))] for pool in pools.values())
    width = (high - low) / _BINS or max(low, 1e-6) / _BINS
    edges = [low + i * width for i in range(_BINS + 1)]
    counts: dict[str, list[int]] = {}
    for arm, pool in pools.items():
        bins = [0] * _BINS
        for value in pool:
            bins[min(_BINS - 1, int((value - low) / width))] += 1
        counts[arm if len(pools) > 1 else ""] = bins
    return Histogram(f"{outcome.basis} latency, the slowest in the last bin", edges, dict(counts), "ms")


def _facts(outcome: Outcome, settings: Settings, names: dict[str, str]) -> dict[str, Any]:
    models: dict[str, Any] = {}
    for arm, foot in outcome.footprints.items():
        latency: dict[str, Any] = {}
        for kind in ("wall", "corrected") if outcome.basis == "corrected" else ("wall",):
            values = outcome.pooled(arm, corrected=kind == "corrected")
            latency[kind] = {"mean": fmean(values), "max": values[-1]}
            for metric, quantile in _SHOWN.items():
                point = percentile(values, quantile)
                latency[kind][metric] = point and {"value": point.value, "low": point.low, "high": point.high}
        models[arm] = {
            "model": names[arm],
            "provider": foot.provider,
            "placement": foot.placement,
            "nodes": foot.nodes,
            "nodes_on_cpu": foot.on_cpu,
            "cuda_failure": foot.failure,
            "load_ms": foot.load_ms,
            "first_ms": foot.first_ms,
            "rss_loaded_bytes": foot.rss_loaded,
            "rss_peak_bytes": foot.rss_peak,
            "finite": foot.finite,
            "latency_ms": latency,
            "cpu_ms": fmean(value for each in outcome.rounds for value in each[arm].cpu),
            "throughput": {"requests_per_second": outcome.throughput[arm], "callers": outcome.workers},
        }
    plan = outcome.plan
    return {
        "verdict": outcome.verdict.value if outcome.judged else None,
        "onnxruntime": outcome.footprints[NEW].runtime,
        "models": models,
        "inputs": {
            name: {"shape": list(shape), "values": plan.values[name], "guessed": name in plan.guessed}
            for name, shape in plan.shapes.items()
        },
        "state": sorted(plan.state),
        "method": {
            "rounds": len(outcome.rounds),
            "requests_per_round": outcome.requests,
            "threads": settings.threads,
            "seed": settings.seed,
            "basis": outcome.basis,
            "alpha": outcome.alpha,
        },
        "comparison": [_judged(each) for each in outcome.judged],
        "control": [_judged(each) for each in outcome.control],
    }


def _judged(each: Judged) -> dict[str, Any]:
    return {
        "percentile": each.metric,
        "ratio": each.ratio.value,
        "low": each.ratio.low,
        "high": each.ratio.high,
        "allowed": each.allowed,
        "verdict": each.verdict.value,
    }
