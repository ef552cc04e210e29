"""What standard operators take and give: counts, attributes and types, by version of their domain.

`signatures.txt` holds them, `@domain` before each group. A line is `name version min-inputs max-inputs min-outputs
max-outputs;inputs;outputs;attributes;types`: a parameter is a type or the name of one, after `?` where it may be left
out, `*` for any number of one type and `+` of any types; an attribute is `name:kind` with the number of
AttributeProto.AttributeType, and `!` where it is required; types are `name=` a hexadecimal set of TensorProto.DataType,
with `~` where others than tensors may come. tests/validate compares the file with ONNX Runtime's own schemas.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from ....models.onnx import ELEMENTS, Node

_KINDS = "none float int string tensor graph floats ints strings tensors graphs sparse sparses type types"
# Parameters of these are optional, but one of them has to be there.
_ONE_OF = {"Constant"}


class Parameter(NamedTuple):
    """An input or output: `mark` is '', '?', '*' or '+', `type` a type or the name of a type parameter."""

    mark: str
    type: str


class Signature(NamedTuple):
    """One version of an operator. Counts are inclusive; None is no limit. `types` maps a name to a set of bits."""

    version: int
    takes: tuple[int, int | None]
    gives: tuple[int, int | None]
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: dict[str, tuple[int, bool]]
    types: dict[str, int]
    open: frozenset[str]

    def allows(self, name: str, kind: str) -> bool:
        """Whether a type parameter, or a type, may be `kind` as ONNX Runtime writes it."""
        if name not in self.types:
            return name == kind
        if not kind.startswith("tensor("):
            return name in self.open
        element = kind[7:-1]
        return element in ELEMENTS and bool(self.types[name] >> ELEMENTS.index(element) & 1)


@cache
def _lines() -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    domain = ""
    for line in Path(__file__).with_name("signatures.txt").read_text().splitlines():
        if line.startswith("@"):
            domain = "" if line == "@ai.onnx" else line[1:]
        else:
            found.setdefault((domain, line.partition(" ")[0]), []).append(line)
    return found


@cache
def signature(domain: str, operator: str, version: int) -> Signature | None:
    """The signature of an operator in version `version` of its domain; None where it is not known."""
    known = [_parse(line) for line in _lines().get((domain, operator), ())]
    return max((each for each in known if each.version <= version), key=lambda each: each.version, default=None)


def _parse(line: str) -> Signature:
    head, inputs, outputs, attributes, types = line.split(";")
    _, version, *counts = head.split()
    limits = [None if count == "-" else int(count) for count in counts]
    pairs = [each.split("=") for each in types.split()]
    named = [each.split(":") for each in attributes.split()]
    return Signature(
        int(version),
        (limits[0] or 0, limits[1]),
        (limits[2] or 0, limits[3]),
        tuple(map(_parameter, inputs.split())),
        tuple(map(_parameter, outputs.split())),
        {name: (int(kind.rstrip("!")), kind.endswith("!")) for name, kind in named},
        {name: int(mask.rstrip("~"), 16) for name, mask in pairs},
        frozenset(name for name, mask in pairs if mask.endswith("~")),
    )


def _parameter(text: str) -> Parameter:
    return Parameter(text[0], text[1:]) if text[0] in "?*+" else Parameter("", text)


def misfit(node: Node, of: Signature) -> str:
    """Why an operator is not used as its signature says; empty where it is."""
    return _counts(node, of) or _attributes(node, of)


def _counts(node: Node, of: Signature) -> str:
    sides = (("input", node.inputs, of.takes, of.inputs), ("output", node.outputs, of.gives, of.outputs))
    for word, names, (low, high), parameters in sides:
        if len(names) < low or (high is not None and len(names) > high):
            most = "or more" if high is None else f"to {high}" if high != low else ""
            return f"has {len(names)} {word}s, the operator {f'{low} {most}'.rstrip()}"
        for name, parameter in zip(names, parameters, strict=False):
            if not name and not parameter.mark:
                return f"leaves out an {word} that it needs"
    return ""


def _attributes(node: Node, of: Signature) -> str:
    seen: set[str] = set()
    for each in node.attributes:
        if each.name.startswith("__"):
            continue  # runtimes keep notes under such names
        if not each.name:
            return "has an attribute without a name"
        if each.name in seen:
            return f"has the attribute '{each.name[:80]}' twice"
        seen.add(each.name)
        if each.name not in of.attributes:
            return f"has the attribute '{each.name[:80]}', which its version does not know"
        kind = of.attributes[each.name][0]
        if each.kind != kind and not each.reference:
            kinds = _KINDS.split()
            have = kinds[each.kind] if each.kind < len(kinds) else f"type {each.kind}"
            return f"has the attribute '{each.name[:80]}' as {have}, not as {kinds[kind]}"
        if node.op == "ConstantOfShape" and each.name == "value" and any(t.dims != (1,) for t in each.tensors):
            return f"has a value with the dims {list(each.tensors[0].dims)}, not [1]"
    missing = [name for name, (_, required) in of.attributes.items() if required and name not in seen]
    if missing:
        return f"lacks the attribute '{missing[0]}'"
    return "has no value" if node.op in _ONE_OF and not node.domain and not seen else ""
