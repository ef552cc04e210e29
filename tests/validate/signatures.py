"""The table of operator signatures, out of ONNX Runtime's own schemas. Run as a program, it writes the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DOMAINS = {"": "ai.onnx", "ai.onnx.ml": "ai.onnx.ml"}


def table() -> str:
    """One line an operator and version: name, version, counts; inputs; outputs; attributes; types."""
    from interlock.checks.validate.graph.operators import fault
    from interlock.models.onnx import ELEMENTS
    from onnxruntime.capi import onnxruntime_pybind11_state as library

    def types(constraint: Any) -> str:
        mask, more = 0, ""
        for each in constraint.allowed_type_strs:
            name = each.removeprefix("tensor(").removesuffix(")")
            if each.startswith("tensor(") and name in ELEMENTS:
                mask |= 1 << ELEMENTS.index(name)
            else:
                more = "~"
        return f"{constraint.type_param_str}={mask:x}{more}"

    def parameter(each: Any) -> str:
        option = str(each.option).rsplit(".", 1)[-1]
        mark = {"Single": "", "Optional": "?", "Variadic": "*" if each.isHomogeneous else "+"}[option]
        return mark + each.typeStr.replace(" ", "")

    def attribute(name: str, each: Any) -> str:
        return f"{name}:{int(each.type)}{'!' if each.required else ''}"

    lines: dict[str, list[tuple[str, int, str]]] = {domain: [] for domain in DOMAINS}
    for schema in library.get_all_operator_schema():
        name, version = schema.name, schema.since_version
        if schema.domain not in DOMAINS or schema.deprecated or fault(schema.domain, name, version):
            continue
        if name.endswith("_TRT"):
            continue
        counts = [schema.min_input, schema.max_input, schema.min_output, schema.max_output]
        parts = [
            " ".join([name, str(version), *("-" if n > 1 << 30 else str(n) for n in counts)]),
            " ".join(map(parameter, schema.inputs)),
            " ".join(map(parameter, schema.outputs)),
            " ".join(attribute(*each) for each in sorted(schema.attributes.items())),
            " ".join(sorted(map(types, schema.type_constraints))),
        ]
        lines[schema.domain].append((name, version, ";".join(parts)))
    text = ""
    for domain, found in lines.items():
        text += f"@{DOMAINS[domain]}\n" + "".join(f"{line}\n" for _, _, line in sorted(found))
    return text


if __name__ == "__main__":
    import interlock.checks.validate.graph as room

    Path(str(room.__file__)).with_name("signatures.txt").write_text(table())
