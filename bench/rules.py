"""What bench and drill report, as rules: id, meaning, cost and next step in one place."""

from __future__ import annotations

from ..report.finding import Finding, Location, Severity
from ..report.rule import Rule


def _rule(  # noqa: PLR0917 - one line a field in the table below
    id_: str, name: str, severity: Severity, summary: str, what: str, why: str, hint: str
) -> Rule:
    family = {"BEN": "bench", "DRL": "drill", "DOC": "doctor"}[id_[:3]]
    return Rule(
        id=id_, name=name, family=family, severity=severity, summary=summary, what=what, why=why, hint=hint, example=""
    )


REGRESSION = _rule(
    "BEN-REGRESSION", "latency-regression", Severity.ERROR,
    "the new version is slower than allowed",
    "the lower confidence bound of new/old at a percentile is above 1 + max_regression",
    "a slower version eats the headroom that the capacity plan counted on; at a load near saturation 10 % more service"
    " time can double the queue",
    "profile the new graph, or raise bench.max_regression if the cost is accepted",
)  # fmt: skip
INCONCLUSIVE = _rule(
    "BEN-INCONCLUSIVE", "comparison-inconclusive", Severity.ERROR,
    "the measurement cannot tell whether the new version is slower than allowed",
    "the confidence interval of new/old reaches across 1 + max_regression after the last round",
    "a gate that lets an undecided comparison pass is a gate for quiet days only",
    "measure longer (--max-rounds, --requests, --seconds), on a quieter machine, or with a wider margin",
)  # fmt: skip
MACHINE = _rule(
    "BEN-MACHINE", "machine-cannot-judge", Severity.ERROR,
    "this machine tells two sessions of the same model apart",
    "the control (the old version against itself, in the same rounds) does not pass its own gate",
    "whatever makes the same model look different makes a different model look the same",
    "measure on a quieter machine, longer, or with a wider margin",
)  # fmt: skip
PLACEMENT = _rule(
    "BEN-PLACEMENT", "placement-changed", Severity.WARNING,
    "the new version runs on other hardware than the old one",
    "the provider, or whether a GPU session runs whole graphs on the GPU, differs between the versions",
    "one operator without a CUDA kernel copies its tensors to the CPU and back in every request",
    "export the new version with operators that the provider has, or compare on the hardware that serves",
)  # fmt: skip
PARTIAL = _rule(
    "BEN-PARTIAL", "gpu-partial", Severity.INFO,
    "some nodes of a GPU session run on the CPU",
    "ONNX Runtime assigned nodes to the CPU provider in a session on CUDA",
    "small shape computations are placed so on purpose; anything larger costs two copies over the bus per request",
    "look at the nodes listed in the facts of the JSON report",
)  # fmt: skip
FALLBACK = _rule(
    "BEN-FALLBACK", "cpu-fallback", Severity.INFO,
    "CUDA was preferred and does not run here",
    "the session fell back to the CPU as the provider list allows",
    "CPU figures say little about a GPU server",
    "see interlock doctor; --provider cuda alone refuses to fall back",
)  # fmt: skip
GUESSED = _rule(
    "BEN-GUESSED", "inputs-guessed", Severity.INFO,
    "the sizes or values of some inputs were guessed",
    "the model leaves dimensions open or takes integers whose range it does not declare",
    "latency depends on sizes, and on values where the graph branches on them",
    "give those that clients send: --shape NAME=1,512 --domain NAME=8000,16000, or bench.inputs and contract.domains",
)  # fmt: skip
NONFINITE = _rule(
    "BEN-NONFINITE", "non-finite-output", Severity.ERROR,
    "the new version answers NaN or infinity where the old one does not",
    "the first generated input gives a float output that is not finite",
    "a broken export or a wrong precision shows here first, and clients rarely check",
    "export again, or keep the layers that overflow in float32",
)  # fmt: skip

LOST = _rule(
    "DRL-LOST", "requests-lost", Severity.ERROR,
    "requests failed while the server swapped",
    "requests answered with an error status, reset, cut short, refused or timed out during or after the swap",
    "each is a user's request that the old version would have answered",
    "load the new version beside the old one and drain before the old one goes; never unload first",
)  # fmt: skip
STALE = _rule(
    "DRL-STALE", "stale-answers", Severity.ERROR,
    "the old version answered after the new one had",
    "requests sent after the first answer of the new version came back with the old fingerprint",
    "two versions answer side by side: caches, sessions and metrics mix them",
    "switch in one place (an atomic pointer or a route), and drain connections to the old version",
)  # fmt: skip
FROZEN = _rule(
    "DRL-FROZEN", "requests-frozen", Severity.ERROR,
    "requests stood still while the server swapped",
    "requests took longer than the stall limit, measured from when they should have been sent",
    "a freeze of one connection in a hundred is invisible to the median and to the overall P99, not to its users",
    "load outside the threads that serve; control plane and data plane on different ports or protocols",
)  # fmt: skip
SPIKE = _rule(
    "DRL-SPIKE", "latency-spike", Severity.ERROR,
    "latency rose beyond the limit while the server swapped",
    "the P99 (or the maximum below 459 requests) during the swap divided by that before is above --max-spike",
    "callers with tight timeouts retry, and the retries arrive at the worst moment",
    "load with lower priority or in another process, and warm up before the switch",
)  # fmt: skip
SWAP = _rule(
    "DRL-SWAP", "swap-failed", Severity.ERROR,
    "the swap command failed",
    "it ended with a status other than 0, or ran into --swap-timeout",
    "a drill without a swap proves nothing",
    "run the command by hand; its output is in the report",
)  # fmt: skip
UNSEEN = _rule(
    "DRL-UNSEEN", "swap-unseen", Severity.ERROR,
    "no answer shows that the new version serves",
    "after the swap command returned, the fingerprint of answers never changed, or was never stable",
    "a swap that changed nothing loses nothing: the drill would praise a reload that did not happen",
    "send an input on which the versions differ and point --fingerprint at the part of the answer that shows it",
)  # fmt: skip
UNWELL = _rule(
    "DRL-UNWELL", "unwell-before", Severity.WARNING,
    "requests failed before anything was swapped",
    "failures in the phase before the swap command",
    "losses of the swap cannot be told from those of an unhealthy server",
    "repair the server or lower --rate, then drill again",
)  # fmt: skip
LYING = _rule(
    "DRL-LABEL", "lying-label", Severity.ERROR,
    "answers of the new version carry the old version's label",
    "the fingerprint says new, the label at --label still says old",
    "metrics, caches and incident reports are keyed by the label",
    "load new weights under a new version number, never in place",
)  # fmt: skip
CLIENT = _rule(
    "DRL-CLIENT", "client-late", Severity.ERROR,
    "the load generator itself was too late to judge",
    "requests left later than planned by as much as what they were to measure",
    "then a freeze of the client looks like a freeze of the server",
    "lower --rate, or run the drill on a machine of its own",
)  # fmt: skip

MISSING = _rule(
    "DOC-MISSING", "dependency-missing", Severity.ERROR,
    "a dependency of interlock is not installed",
    "a package that interlock's own metadata requires is absent from this environment",
    "commands fail half way, when they first need it",
    "reinstall: pip install interlock",
)  # fmt: skip
CONFLICT = _rule(
    "DOC-CONFLICT", "two-onnxruntimes", Severity.ERROR,
    "onnxruntime and onnxruntime-gpu are both installed",
    "two wheels that own the same package folder",
    "whichever was installed last overwrote the other, and removing either breaks both",
    "pip uninstall onnxruntime onnxruntime-gpu, then install the one that you need",
)  # fmt: skip
RUNTIME = _rule(
    "DOC-RUNTIME", "onnxruntime-broken", Severity.ERROR,
    "onnxruntime is installed and cannot be imported",
    "importing the installed wheel fails",
    "nothing can be measured",
    "reinstall onnxruntime for this Python and platform",
)  # fmt: skip
CUDA = _rule(
    "DOC-CUDA", "cuda-does-not-run", Severity.ERROR,
    "the GPU wheel is installed and CUDA does not run",
    "a session that asks for CUDA alone cannot be opened",
    "sessions fall back to the CPU with nothing but a line in the log",
    "follow the hint: the driver belongs to the host, CUDA and cuDNN come as wheels",
)  # fmt: skip

RULES = (
    REGRESSION, INCONCLUSIVE, MACHINE, PLACEMENT, PARTIAL, FALLBACK, GUESSED, NONFINITE,
    LOST, STALE, FROZEN, SPIKE, SWAP, UNSEEN, UNWELL, LYING, CLIENT,
    MISSING, CONFLICT, RUNTIME, CUDA,
)  # fmt: skip


def finding(rule: Rule, message: str, path: str = "", *, hint: str = "") -> Finding:
    """A finding of `rule` about `path`: a model file, a URL, or nothing for this machine."""
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        message=message,
        where=Location(path) if path else None,
        why=rule.why,
        hint=hint or rule.hint,
        url=rule.url,
    )
