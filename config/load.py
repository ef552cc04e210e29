"""Find and read interlock.yaml (or `[tool.interlock]` of pyproject.toml) into `Settings`; refuse the unknown."""

from __future__ import annotations

import datetime
import difflib
import os
import types
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from ..report.errors import BadInput
from .settings import Limits, Settings

FILE = "interlock.yaml"
_MAX_BYTES, _MAX_DEPTH, _MAX_VALUES = 4 << 20, 64, 100_000


@dataclass(frozen=True, slots=True)
class Config:
    """Settings and the folder their relative paths start from; `path` is None when no file was found."""

    settings: Settings
    root: Path
    path: Path | None = None

    def resolve(self, path: str) -> Path:
        """A path of the settings, made absolute from the file's folder."""
        return self.root / os.path.expanduser(path)  # noqa: PTH111 - Path.expanduser raises on an unknown user


def find(start: Path) -> Path | None:
    """The nearest interlock.yaml or pyproject.toml with [tool.interlock], from `start` upward."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder / FILE
        pyproject = folder / "pyproject.toml"
        if pyproject.is_file():
            with pyproject.open("rb") as stream:
                if b"[tool.interlock" in stream.read(_MAX_BYTES):
                    return pyproject
    return None


def load(path: str | Path | None = None, *, start: Path | None = None) -> Config:
    """Read the given file, or the nearest one, or defaults where there is none.

    Raises BadInput with file, line and column on anything that is not understood: nothing is skipped.
    """
    found = Path(path) if path is not None else find((start or Path.cwd()).resolve())
    if found is None:
        return Config(Settings(), (start or Path.cwd()).resolve())
    text = _read(found, hint="run interlock init to write one")
    if found.suffix == ".toml":
        tree, marks = _toml(text, found)
    else:
        tree, marks = _yaml(text, found)
    settings = _Builder(found, marks).build(Settings, tree, "")
    return Config(settings, found.resolve().parent, found)


Marks = dict[str, tuple[int, int]]
Settable = TypeVar("Settable")


def parse(path: str | Path, *, hint: str = "") -> tuple[dict[str, Any], Marks]:
    """A YAML file as plain data, with line and column of every key by JSON pointer. Raises BadInput.

    `hint` is the next step where there is no such file or it is something else.
    """
    path = Path(path)
    tree, marks = _yaml(_read(path, hint), path)
    if not isinstance(tree, dict):
        raise BadInput(path, "the top level must be a mapping", hint=hint)
    return cast("dict[str, Any]", tree), marks


def build(kind: type[Settable], tree: Any, path: str | Path, marks: Marks) -> Settable:
    """Plain data as the dataclass `kind` (fields made by `setting`). Raises BadInput at the key that does not fit."""
    return _Builder(Path(path), marks).build(kind, tree, "")


def _read(path: Path, hint: str = "") -> str:
    """A file's text, by bounded reads: what is named may be a device or a model by mistake."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise BadInput(path, f"larger than {_MAX_BYTES >> 20} MiB, so not a configuration file")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise BadInput(path, (error.strerror or str(error)).lower(), hint=hint) from error
    except UnicodeDecodeError as error:
        raise BadInput(path, f"not UTF-8 at byte {error.start}", hint="save it as UTF-8") from error


def _toml(text: str, path: Path) -> tuple[Any, Marks]:
    import tomllib

    try:
        return tomllib.loads(text).get("tool", {}).get("interlock", {}), {}
    except tomllib.TOMLDecodeError as error:
        raise BadInput(path, f"invalid TOML: {str(error).lower()}") from error


def _yaml(text: str, path: Path) -> tuple[Any, Marks]:
    import yaml

    loader = yaml.CSafeLoader(text)
    try:
        node = loader.get_single_node()
        marks: Marks = {}
        tree = None if node is None else _plain(node, "", marks, loader, path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise BadInput(path, f"invalid YAML: {error.problem}", line=line, column=column) from error
    except yaml.YAMLError as error:
        raise BadInput(path, f"invalid YAML: {error}") from error
    finally:
        loader.dispose()
    return ({} if tree is None else tree), marks


def _plain(node: Any, pointer: str, marks: Marks, loader: Any, path: Path) -> Any:
    """A node as Python data, remembering where each key stands. Aliases that feed on themselves are refused."""
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    marks.setdefault(pointer, (line, column))
    if pointer.count("/") > _MAX_DEPTH or len(marks) > _MAX_VALUES:
        raise BadInput(
            path, "nested too deep or too many values", line=line, column=column, hint="write no such aliases"
        )
    if node.id == "mapping":
        result: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            place = (key.start_mark.line + 1, key.start_mark.column + 1)
            if name in result:
                raise BadInput(path, f"duplicate key '{name}'", line=place[0], column=place[1], hint="keep one of them")
            marks[f"{pointer}/{name}"] = place
            result[name] = _plain(value, f"{pointer}/{name}", marks, loader, path)
        return result
    if node.id == "sequence":
        return [_plain(item, f"{pointer}/{i}", marks, loader, path) for i, item in enumerate(node.value)]
    try:
        return loader.construct_object(node)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # What PyYAML raises on a scalar that is not of its tag: `!!int yes`, the 45th of a month.
        kind = node.tag.rpartition(":")[2]
        raise BadInput(path, f"{node.value[:80]!r} is no {kind}", line=line, column=column) from error


class _Builder:
    """Turns plain data into the dataclasses of `settings`, checking every key and type."""

    def __init__(self, path: Path, marks: Marks) -> None:
        self.path = path
        self.marks = marks

    def fail(self, pointer: str, reason: str, hint: str = "") -> BadInput:
        line, column = self.marks.get(pointer, (None, None))
        return BadInput(self.path, reason, hint=hint, line=line, column=column)

    def build(self, kind: Any, value: Any, pointer: str) -> Any:
        origin = get_origin(kind)
        name = pointer.strip("/").replace("/", ".") or "the top level"
        if is_dataclass(kind):
            return self._dataclass(kind, value, pointer, name)
        if origin in (Union, types.UnionType):
            inner = [arg for arg in get_args(kind) if arg is not type(None)]
            return None if value is None else self.build(inner[0], value, pointer)
        if origin is Literal:
            choices = get_args(kind)
            if value not in choices:
                raise self.fail(pointer, f"{name} is {value!r}", f"use one of {', '.join(map(str, choices))}")
            return value
        if origin is list:
            if not isinstance(value, list):
                raise self.fail(pointer, f"{name} must be a list")
            (item,) = get_args(kind)
            return [self.build(item, each, f"{pointer}/{i}") for i, each in enumerate(value)]  # pyright: ignore
        if origin is dict:
            if not isinstance(value, dict):
                raise self.fail(pointer, f"{name} must be a mapping")
            _, item = get_args(kind)
            return {str(k): self.build(item, v, f"{pointer}/{k}") for k, v in value.items()}  # pyright: ignore
        return self._scalar(kind, value, pointer, name)

    def _scalar(self, kind: Any, value: Any, pointer: str, name: str) -> Any:
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        if kind is str and type(value) is datetime.date:
            return value.isoformat()  # the text that YAML or TOML took for a day
        if kind is str and isinstance(value, int | float) and not isinstance(value, bool):
            raise self.fail(pointer, f"{name} must be a string, not the number {value}", f"write '{value}' in quotes")
        words = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
        raise self.fail(pointer, f"{name} must be {words[kind]}")

    def _limited(self, limits: Limits | None, value: Any, pointer: str) -> None:
        """Refuse what is of the right kind and still makes no sense."""
        if limits is None:
            return
        if isinstance(value, dict):
            for key, item in cast("dict[str, Any]", value).items():
                self._limited(limits, item, f"{pointer}/{key}")
            return
        reason = limits.broken(value)
        if reason:
            name = pointer.strip("/").replace("/", ".")
            raise self.fail(pointer, f"{name} is {value!r}, {reason}")

    def _dataclass(self, kind: Any, value: Any, pointer: str, name: str) -> Any:
        if not isinstance(value, dict):
            raise self.fail(pointer, f"{name} must be a mapping")
        hints = get_type_hints(kind)
        known = {(f.metadata.get("key") or f.name): f.name for f in fields(kind)}
        limits = {(f.metadata.get("key") or f.name): f.metadata.get("limits") for f in fields(kind)}
        given: dict[str, Any] = {}
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType]
            key = str(key)  # pyright: ignore[reportUnknownArgumentType]  # noqa: PLW2901
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean '{close[0]}'?" if close else f"known keys: {', '.join(known)}"
                where = "" if not pointer else f" in {name}"
                raise self.fail(f"{pointer}/{key}", f"unknown key '{key}'{where}", hint)
            built = given[known[key]] = self.build(hints[known[key]], item, f"{pointer}/{key}")
            self._limited(limits[key], built, f"{pointer}/{key}")
        return kind(**given)
