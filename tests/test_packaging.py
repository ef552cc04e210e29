"""The wheel holds what the tree holds: one import name, every module, the templates, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import interlock
import pytest

# Rooms that are not shipped: they have no place in an installed package.
NOT_SHIPPED = {"tests", "benchmarks", "docs", "examples", "build", "dist"}


def tree_files(root: Path) -> set[str]:
    """Every file of the package in the checkout, as its name in the wheel."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name and (root / name).is_file()]
    return {
        f"interlock/{name}"
        for name in names
        if name.split("/")[0] not in NOT_SHIPPED
        and not name.startswith(".")
        and (name.endswith((".py", ".j2", ".txt")) or name == "py.typed")
    }


def test_packages_listed_in_pyproject_are_the_packages_of_the_tree(root: Path) -> None:
    listed = set(tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {str(Path(name).parent).replace("/", ".") for name in tree_files(root) if name.endswith("/__init__.py")}
    assert listed == found


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # `egg-info` and `build` go to a copy: building must not touch the checkout that other tests read.
    source = folder / "source"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (root / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((root / name).read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_exactly_the_tree(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == tree_files(root)


def test_wheel_installs_one_import_name_and_the_script(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
        scripts = archive.read(entry_points).decode()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"interlock"}
    assert "interlock = interlock.cli.main:main" in scripts
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_version_is_written_once(wheel: Path, root: Path) -> None:
    assert wheel.name.startswith(f"interlock-{interlock.__version__}-")
    changelog = (root / "CHANGELOG.md").read_text()
    assert f"## {interlock.__version__}" in changelog


@pytest.mark.parametrize("command", [["-m", "interlock"], [str(Path(sys.executable).with_name("interlock"))]])
def test_module_and_script_run(command: list[str]) -> None:
    line = [sys.executable, *command] if command[0] == "-m" else command
    done = subprocess.run([*line, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"interlock {interlock.__version__}\n"
