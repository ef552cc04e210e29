"""Hostile and broken input: no crash, no hang, bounded memory, one notice each, and the rest of the run goes on."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interlock.checks.lint.run import lint
from interlock.checks.lint.sources.text import MAX_BYTES, TextFile
from interlock.checks.lint.sources.yamlreader import documents
from interlock.report.report import Report

GOOD = "apiVersion: v1\nkind: Service\nmetadata:\n  name: chat\n"
BOMB = "kind: List\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)

BROKEN = {
    "alias-bomb.yaml": (BOMB.encode(), "aliases expand"),
    "alias-loop.yaml": (b"kind: A\nspec: &a\n  self: *a\n", "refers to what contains it"),
    "flow-deep.yaml": (b"kind: A\nspec: " + b"[" * 50_000, "nesting depth"),
    "block-deep.yaml": (b"kind: A\nspec:\n" + b"- " * 50_000 + b"x\n", "nesting depth"),
    "deep-but-valid.yaml": (b"kind: A\nspec: " + b"[" * 500 + b"]" * 500, "nested deeper"),
    "tab.yaml": (b"kind: A\nspec:\n\tname: x\n", "tab"),
    "nul.yaml": (b"kind: A\nname: a\0b\n", "NUL"),
    "latin1.yaml": ("kind: A\nname: caf\u00e9\n".encode("latin-1"), "not UTF-8"),
    "control.yaml": (b"kind: A\nname: \x07\n", "invalid YAML"),
    "unclosed.yaml": (b'kind: A\nname: "abc\n', "invalid YAML"),
    "indent.yaml": (b"kind: A\nspec:\n    a: 1\n  b: 2\n", "invalid YAML"),
    "anchor.yaml": (b"kind: A\nspec: *nowhere\n", "undefined alias"),
    "template.yaml": (b"kind: A\nname: {{ .Values.name }}: {{ .Values.other }}: x\n", "a Helm template: not YAML"),
    "braces.yaml": (b"kind: A\nspec: {{ x }}: {{ y }}\n", "Go template"),
    "python2.py": (b"import torch\nprint 'hello'\n", "not Python 3"),
    "broken.py": (b"import torch\ndef f(:\n", "not Python 3"),
    "deep.py": (b"import torch\nx = " + b"(" * 5000 + b")" * 5000 + b"\n", "not"),
    "deep-attributes.py": (b"import torch\nx = a" + b".b" * 200_000 + b"\n", "not"),
    "nul.py": (b"import torch\0\n", "NUL"),
    "types3.yaml": (
        b"apiVersion: v1\nkind: Pod\nspec: {containers: [1, [2], {name: 3, image: [], env: {}}]}\n",
        "not a list of containers",
    ),
    "types2.yaml": (b"apiVersion: v1\nkind: Pod\nspec: {containers: {a: 1}, volumes: 7}\n", "not a list of containers"),
}

# The same examples in every run, unless more are asked for: a failure says something about lint, not about the machine.
STEADY = settings(
    derandomize="LINT_MUTANTS" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

ODD_BUT_FINE = {
    "bom.yaml": b"\xef\xbb\xbf" + GOOD.encode(),
    "crlf.yaml": GOOD.replace("\n", "\r\n").encode(),
    "utf16.yaml": GOOD.encode("utf-16"),
    "no-end.yaml": GOOD.rstrip("\n").encode(),
    "keys.yaml": (GOOD + "spec:\n  1: a\n  true: b\n  ~: c\n  [x, y]: d\n  {z: 1}: e\n").encode(),
    "merge.yaml": (GOOD + "x: &x {a: 1}\nspec:\n  <<: *x\n  b: 2\ny:\n  <<: [*x, {c: 3}]\nz:\n  <<: text\n").encode(),
    "tags.yaml": (GOOD + "spec: !Join [a, !Ref b]\nx: !!binary aGVsbG8=\ny: !!python/object:os.system {}\n").encode(),
    "scalars.yaml": (GOOD + "a: 0x1f\nb: 0o17\nc: 017\nd: 1_000\ne: .inf\nf: 2001-01-01\ng: 1:30\nh: 1e400\n").encode(),
    "empty-values.yaml": (GOOD + "spec:\nstatus: {}\n").encode(),
    "types.yaml": b"apiVersion: apps/v1\nkind: Deployment\nmetadata: text\nspec: [1, 2]\n",
    "list.json": b'{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Service"}, 1, null]}',
    "one-line.yaml": (GOOD + 'data: "' + "x" * 1_000_000 + '"\n').encode(),
}


def run(*paths: Path | str) -> Report:
    return lint([str(path) for path in paths], pedantic=True)


def notices(report: Report) -> list[str]:
    return [finding.message for finding in report.findings if finding.rule == "HU000"]


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_is_one_notice_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    content, says = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.yaml").write_text(GOOD)
    report = run(tmp_path)
    assert len(notices(report)) == 1
    assert says in notices(report)[0]
    assert report.unread == 1
    assert report.inputs == 1
    assert report.exit_code == 0
    assert run(tmp_path / name).exit_code == 2


@pytest.mark.parametrize("name", ODD_BUT_FINE)
def test_odd_file_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(ODD_BUT_FINE[name])
    report = run(tmp_path)
    assert notices(report) == []
    assert report.inputs >= 1


def test_bad_document_does_not_take_its_neighbours(tmp_path: Path) -> None:
    text = f"{GOOD}---\nkind: [\n---\n{GOOD.replace('chat', 'other')}---\n\tbad: 1\n---\n{GOOD}"
    (tmp_path / "stream.yaml").write_text(text)
    report = run(tmp_path)
    assert report.inputs == 3
    assert len(notices(report)) == 2
    lines = [finding.where.line for finding in report.findings if finding.where]
    assert lines == [7, 13]  # the unfinished one is noticed where the next begins


def test_duplicate_key_is_a_notice_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "twice.yaml").write_text(GOOD + "  name: again\n")
    report = run(tmp_path)
    assert notices(report) == ["key 'name' appears twice, the last one counts"]
    assert report.unread == 0
    (finding,) = report.findings
    assert finding.where is not None
    assert (finding.where.line, finding.where.column) == (5, 3)


def test_definitions_are_skipped_and_lines_stay(tmp_path: Path) -> None:
    definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {a: 1}\n"
    (tmp_path / "install.yaml").write_text(f"{definition}---\n{definition}---\n{GOOD}---\n{GOOD}  name: again\n")
    report = run(tmp_path)
    assert report.inputs == 2
    assert [f.where.line for f in report.findings if f.where] == [18]


def test_a_million_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "blank.yaml").write_text("\n" * 1_000_000 + "x: 1\n")
    assert run(tmp_path).exit_code == 3


def test_many_documents(tmp_path: Path) -> None:
    (tmp_path / "stream.yaml").write_text("---\n".join([GOOD] * 10_000))
    assert run(tmp_path).inputs == 10_000


def test_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.yaml").open("wb") as stream:
        stream.write(b"kind: A\n")
        stream.truncate(1 << 30)
    tracemalloc.start()
    report = run(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "larger than" in notices(report)[0]
    assert peak < MAX_BYTES


def test_endless_standard_input_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.RawIOBase):
        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            buffer[:] = b"# a\n"[:1] * len(buffer)
            return len(buffer)

        def readable(self) -> bool:
            return True

    class Standard:
        buffer = io.BufferedReader(Endless())

    monkeypatch.setattr(sys, "stdin", Standard())
    assert "larger than" in notices(run("-"))[0]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard:
        buffer = io.BytesIO(GOOD.encode())

    monkeypatch.setattr(sys, "stdin", Standard())
    report = run("-")
    assert report.inputs == 1


def test_links_and_special_files(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self.yaml").symlink_to(tmp_path / "self.yaml")
    (tmp_path / "dangling.yaml").symlink_to(tmp_path / "absent.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    report = run(tmp_path)
    assert report.inputs == 1
    assert report.unread == 3
    assert run(tmp_path / "pipe.yaml").exit_code == 2


def test_unreadable_file(tmp_path: Path, unprivileged: list[str]) -> None:
    path = tmp_path / "secret.yaml"
    path.write_text(GOOD)
    path.chmod(0)
    command = [*unprivileged, sys.executable, "-m", "interlock", "lint", str(tmp_path), "--output-format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    assert [f["message"] for f in said["findings"]] == ["cannot read: permission denied"]
    assert (done.returncode, said["verdict"]) == (2, "error")
    path.chmod(stat.S_IRUSR)


@pytest.mark.parametrize("depth", [100, 300, 900, 3000])
def test_deep_python(tmp_path: Path, depth: int) -> None:
    chain = "x" + ".b" * depth
    lines = ["import torch, os, fastapi", "app = fastapi.FastAPI()", "model = None"]
    lines += [
        f"@app.get({chain})",
        "def f(a):",
        "    global model",
        f"    with {chain}:",
        f"        model = torch.load({chain})",
    ]
    lines += [f"if os.path.exists({chain}):", f"    torch.load({chain})", f"del {chain}"]
    lines += [f"elif {chain}:\n    pass" if n else "if 1:\n    pass" for n in range(20)]
    (tmp_path / "deep.py").write_text("\n".join(lines) + "\n")
    report = run(tmp_path)
    assert report.inputs + report.unread == 1


def test_huge_shell_line(tmp_path: Path) -> None:
    args = '"' + "a='b' && echo $(x) | " * 20_000 + '"'
    (tmp_path / "pod.yaml").write_text(
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n    - name: c\n"
        f"      image: vllm/vllm-openai:v1\n      command: [sh, -c]\n      args: [{args}]\n"
    )
    assert run(tmp_path).inputs == 1


@settings(STEADY, max_examples=300)
@given(st.text(max_size=300) | st.text("abk:-[]{}&*!|>'\"#%@,? \n\t\r<~0", max_size=200))
def test_any_text_is_documents_or_notices(text: str) -> None:
    for document in documents(TextFile("x.yaml", text)):
        assert document.line >= 1


MUTANTS = int(os.environ.get("LINT_MUTANTS", "1000"))
WORDS = [
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"-1",
    b"1e9",
    b'""',
    b"*a",
    b"&a ",
    b"<<: ",
    b"!!binary ",
    b"{{ x }}",
    b"---\n",
]
JUNK = (
    st.binary(max_size=20) | st.sampled_from(WORDS) | st.text(":-{}[]&*!|>'\"#\n\t \\$0", max_size=20).map(str.encode)
)
CHANGES = st.lists(
    st.tuples(st.sampled_from(["cut", "repeat", "overwrite", "swap"]), st.floats(0, 1), st.integers(1, 200), JUNK),
    min_size=1,
    max_size=6,
)


def test_mutants_of_real_files(tmp_path: Path, shared: Path) -> None:
    """Cut, repeat, overwrite and swap pieces of real manifests: lint may say anything but never break."""
    files = sorted(p for p in (shared / "corpus" / "lint" / "files").rglob("*.*") if p.stat().st_size < 20_000)

    @settings(STEADY, max_examples=MUTANTS)
    @given(st.sampled_from(files), CHANGES)
    def survives(source: Path, changes: list[tuple[str, float, int, bytes]]) -> None:
        data = source.read_bytes()
        for change in changes:
            data = mutated(data, *change)
        path = tmp_path / f"mutant{source.suffix}"
        path.write_bytes(data)
        assert run(path).exit_code in (0, 1, 2, 3)

    survives()


def mutated(data: bytes, kind: str, place: float, length: int, junk: bytes) -> bytes:
    """The data with one change at a relative place."""
    start = int(place * len(data))
    end = min(len(data), start + length)
    if kind == "cut":
        return data[:start] + data[end:]
    if kind == "repeat":
        return data[:end] + data[start:]
    if kind == "overwrite":
        return data[:start] + junk + data[end:]
    lines = data.split(b"\n")
    first, second = int(place * (len(lines) - 1)), length % len(lines)
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


ODDITIES = [
    None,
    0,
    -1,
    True,
    1.5,
    "",
    "x",
    "${X}",
    "25%",
    "a/b",
    10**20,
    [],
    {},
    [1, "a", None],
    [{}],
    {"a": {"b": 1}},
]
FIXTURES = Path(__file__).resolve().parent.parent / "corpus" / "lint"


def _yaml_seed(path: Path) -> str:
    """A fixture as YAML that can be changed and written again, without comments and styles."""
    try:
        return yaml.safe_dump_all(yaml.safe_load_all(path.read_text()))
    except yaml.YAMLError:
        return GOOD  # a fixture of broken YAML


# Read once: what an example is made of must not change while hypothesis runs it again.
SEEDS = [_yaml_seed(path) for path in sorted(FIXTURES.glob("*/bad/**/*.yaml"))]
SPOT = st.integers(0, 2**16)


@settings(STEADY, max_examples=MUTANTS // 4)
@given(st.sampled_from(range(len(SEEDS))), st.lists(st.tuples(SPOT, st.sampled_from(ODDITIES)), min_size=1, max_size=3))
def test_fixtures_with_values_of_other_types(
    tmp_path_factory: pytest.TempPathFactory, seed: int, changes: list[tuple[int, Any]]
) -> None:
    """Every rule meets values of types it does not expect, where it looks for them."""
    tree = list(yaml.safe_load_all(SEEDS[seed]))
    for spot, oddity in changes:
        places = list(_places(tree))
        holder, key = places[spot % len(places)]
        holder[key] = deepcopy(oddity)
    path = tmp_path_factory.getbasetemp() / "odd.yaml"
    path.write_text(yaml.safe_dump_all(tree))
    assert run(path).exit_code in (0, 1, 2, 3)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in keys:
        yield value, key
        yield from _places(value[key])
