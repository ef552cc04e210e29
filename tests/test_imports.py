"""Start-up stays cheap and rooms keep their floors: what a command may import is written down here."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "jinja2",
    "numpy",
    "onnx",
    "onnxruntime",
    "pydantic",
    "requests",
    "rich",
    "sigstore",
    "cryptography",
    "urllib3",
}

# A room imports only rooms named here (itself is implied). Low to high.
FLOORS = {
    "version": set(),
    "report": {"version"},
    "models": set(),
    "config": {"report"},
    "signing": {"models", "report", "config", "version"},
    "bench": {"models", "report", "config", "version"},
    "checks": {"models", "report", "config", "version"},
    "release": {"signing", "checks", "bench", "models", "report", "config", "version"},
    "templates": {"report", "config", "version"},
    "cli": {"release", "signing", "checks", "bench", "models", "report", "config", "templates", "version"},
}


def imported(code: str) -> set[str]:
    """Top-level names of the modules that running `code` in a new interpreter leaves imported."""
    report = "print('\\n'.join(sys.modules), file=sys.stderr)"
    probe = f"import sys\nsys.argv = ['interlock']\ntry:\n{code}\nexcept SystemExit: pass\n{report}"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stderr.split()}


def test_import_interlock_loads_nothing_else() -> None:
    names = imported("    import interlock")
    assert not names & (HEAVY | {"typer", "yaml", "json"})


def test_help_loads_neither_typer_nor_anything_heavy() -> None:
    names = imported("    from interlock.cli.main import main; main(['--help'])")
    assert not names & (HEAVY | {"typer", "yaml", "json", "asyncio"})


def test_lint_of_one_file_loads_nothing_heavy(tmp_path: Path) -> None:
    manifest = tmp_path / "service.yaml"
    manifest.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {selector: {app: a}}\n")
    names = imported(f"    from interlock.cli.main import main; main(['lint', {str(manifest)!r}])")
    assert "yaml" in names
    assert not names & (HEAVY | {"asyncio", "promql_parser", "multiprocessing"})


def test_validate_loads_nothing_heavy(tmp_path: Path) -> None:
    tokenizer: dict[str, object] = {
        "version": "1.0",
        "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"},
    }
    for side, fill in (("old", b"\0"), ("new", b"\1")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "tokenizer.json").write_text(json.dumps(tokenizer))
        (tmp_path / side / "config.json").write_text('{"model_type": "llama", "vocab_size": 1}')
        header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        (tmp_path / side / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + fill * 4)
    new, old = str(tmp_path / "new"), str(tmp_path / "old")
    names = imported(f"    from interlock.cli.main import main; main(['validate', {new!r}, '--against', {old!r}])")
    assert "json" in names
    assert not names & (HEAVY | {"tokenizers", "gguf", "safetensors", "email", "asyncio", "multiprocessing"})


def room_imports(root: Path) -> list[tuple[str, str, Path, int]]:
    """(room, imported room, file, line) for every relative import that leaves a room."""
    found: list[tuple[str, str, Path, int]] = []
    for room in FLOORS:
        paths = [root / f"{room}.py"] if (root / f"{room}.py").is_file() else sorted((root / room).rglob("*.py"))
        for path in paths:
            package = path.relative_to(root).parts[:-1]
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.level:
                    base = package[: len(package) - (node.level - 1)] if node.level <= len(package) + 1 else ()
                    full = [*base, *(node.module or "").split(".")] if node.module else list(base)
                    targets = [full[0]] if full else [alias.name for alias in node.names]
                    found.extend((room, target, path, node.lineno) for target in targets if target != room)
    return found


def test_no_room_imports_a_higher_floor(root: Path) -> None:
    wrong = [
        f"{path.relative_to(root)}:{line}: {room} imports {target}"
        for room, target, path, line in room_imports(root)
        if target not in FLOORS[room]
    ]
    assert not wrong


def module_graph(root: Path) -> dict[str, set[str]]:
    """Import-time edges between modules of the package (imports inside functions do not count)."""
    graph: dict[str, set[str]] = {}
    paths = [path for room in FLOORS for path in (root / room).rglob("*.py")]
    names = {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for path in paths}
    for path in paths:
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        edges: set[str] = set()
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.level:
                package = parts[:-1]
                base = ".".join([*package[: len(package) - (node.level - 1)], *filter(None, [node.module])])
                edges |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in names else base for alias in node.names}
        graph[name] = (edges & names) - {name}
    return graph


def test_no_import_cycles(root: Path) -> None:
    graph = module_graph(root)
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name not in done:
            for target in sorted(graph[name]):
                visit(target, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


@pytest.mark.parametrize("name", ["lint", "validate", "sign", "verify", "publish", "pull", "gate", "promote", "render"])
def test_python_api_offers_the_verbs(name: str) -> None:
    import interlock

    assert callable(getattr(interlock, name))
    assert name in interlock.__all__
