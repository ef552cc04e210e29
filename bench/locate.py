"""The ONNX file that a MODEL argument means."""

from __future__ import annotations

from pathlib import Path

from ..report.errors import BadInput


def onnx_file(model: str) -> str:
    """`model` itself when it is a file, else the one .onnx file in the folder or its onnx/ folder.

    Raises BadInput when there is none, or more than one to choose from.
    """
    path = Path(model)
    if path.is_file():
        return model
    if not path.exists():
        raise BadInput(model, "no such file or folder", hint="give an .onnx file or a folder that holds one")
    for folder in (path, path / "onnx"):
        found = sorted(str(file) for file in folder.glob("*.onnx"))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(Path(file).name for file in found[:5]) + (", …" if len(found) > 5 else "")
            raise BadInput(model, f"holds {len(found)} ONNX files: {names}", hint=f"name one, such as {found[0]}")
    deeper = next((str(file) for file in path.rglob("*.onnx")), "")
    hint = f"name the file: {deeper}" if deeper else "bench runs ONNX models; export one, or name the .onnx file"
    raise BadInput(model, "holds no ONNX file", hint=hint)
