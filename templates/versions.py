"""Kubernetes versions: which fields a cluster of a version knows. Floors as in the API schemas of each release."""

from __future__ import annotations

from ..report.errors import BadInput

OLDEST, NEWEST, DEFAULT = (1, 25), (1, 37), "1.31"

FLOORS = {
    "sleep": (1, 29),  # lifecycle.preStop.sleep: no shell in the image needed
    "eviction": (1, 27),  # PodDisruptionBudget unhealthyPodEvictionPolicy, on by default
    "match_label_keys": (1, 27),  # topologySpreadConstraints matchLabelKeys, on by default
}


def fields(version: str) -> dict[str, bool]:
    """Which of the gated fields a cluster of `version` (such as 1.31) knows. Raises BadInput."""
    major, _, minor = version.removeprefix("v").partition(".")
    minor = minor.partition(".")[0]
    what = f"--kube-version {version}"
    if not (major.isascii() and major.isdigit() and minor.isascii() and minor.isdigit()):
        raise BadInput(what, "not a Kubernetes version", hint=f"write --kube-version {DEFAULT}")
    number = (int(major), int(minor))
    if not OLDEST <= number <= NEWEST:
        known = " to ".join(".".join(map(str, version)) for version in (OLDEST, NEWEST))
        raise BadInput(what, "outside of the versions this release was tested with", hint=f"use {known}")
    return {name: number >= floor for name, floor in FLOORS.items()}
