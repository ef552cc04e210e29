"""Every shell text of a run as one kind of subject: script files, image builds, CI steps, container commands, and the
scripts that ConfigMaps carry. Reading is put off until a rule asks, since most texts hold nothing of interest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ....report.finding import Edit, Location
from ..lazy import lazy
from . import workflow
from .argv import Word as YamlWord
from .embedded import origin_of
from .kubernetes import Resource
from .pods import Container
from .shell import Command, Hole, Origin, Script, Word, parse
from .text import TextFile
from .yamlnodes import EMPTY, Document, Map, Seq, Span, pointer, walk
from .yamlnodes import text as scalar_text

if TYPE_CHECKING:
    from .dockerfile import Instruction

_SHEBANG = lazy(r"#!\s*/\S*(?:/env\s+)?(?:ba|da|a|z|k)?sh\b")
_LOOKS_LIKE_SHELL = lazy(r"#!\s*/\S*\bsh\b|#!\s*/\S*env (ba)?sh|^\s*set -[eux]", re.MULTILINE)
_INTERPOLATED = lazy(r"\$\([A-Za-z_]\w*\)|\$\{?[A-Za-z_]\w*\}?|\{\{.*?\}\}")


@dataclass(eq=False)
class ShellText:
    """A shell text. `how` is `script`, `dockerfile`, `workflow`, `container`, `compose` or `config`; `text` what to
    search before asking for `script`. Container commands have the `container`, and ConfigMaps too the `resource`."""

    file: TextFile
    how: str
    text: str
    origin: Origin = field(default_factory=Origin)
    resource: Resource | None = None
    container: Container | None = None
    pointer: str = ""
    read: Callable[[], Script] | None = None
    variables: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def path(self) -> str:
        return self.file.path

    @cached_property
    def script(self) -> Script:
        """The commands, read now."""
        return self.read() if self.read is not None else parse(self.text, self.origin, self._known())

    @property
    def commands(self) -> list[Command]:
        """The commands of the script."""
        return self.script.commands

    def _known(self) -> dict[str, str]:
        if self.container is None:
            return self.variables
        values = {name: self.container.env_value(name) or "" for name in self.container.env}
        return {name: value for name, value in values.items() if "$" not in value}

    def replace(self, word: Word, old: str, new: str) -> Edit | None:
        """The edit that writes `new` for the first `old` in a word; None where the word is not in the file as it is."""
        lines = self.file.lines
        if self.file.origin is not None or word.line > len(lines):
            return None
        end = word.end_column - 1 if word.end_line == word.line else len(lines[word.line - 1])
        column = lines[word.line - 1].find(old, word.column - 1, end) + 1
        return Edit(word.line, column, word.line, column + len(old), new) if column else None

    def at(self, word: Word) -> Location:
        """Where a word stands."""
        identity = self.resource.identity if self.resource else ""
        one_line = word.end_line == word.line and word.end_column > word.column
        end_line, end_column = (word.end_line, word.end_column) if one_line else (None, None)
        return self.file.location(word.line, word.column, end_line, end_column, object=identity, pointer=self.pointer)


def from_file(file: TextFile) -> Iterator[ShellText]:
    """The script that a `.sh` file, or a file with a shell's shebang, is; the shell parts of a Dockerfile."""
    name = file.path.rsplit("/", 1)[-1].lower()
    if name.endswith((".sh", ".bash", ".ksh", ".zsh")) or _SHEBANG.match(file.text):
        yield ShellText(file, "script", file.text)
        return
    from .dockerfile import parse_dockerfile

    read = parse_dockerfile(file.text)
    for item in read.instructions:
        script = item.script
        if script is not None:
            yield ShellText(file, "dockerfile", item.text, item.origin, read=partial(_known_script, script))
        elif item.words and item.keyword in ("RUN", "CMD", "ENTRYPOINT"):
            yield ShellText(file, "dockerfile", " ".join(item.words), item.origin, read=partial(_exec_form, item))


def _known_script(script: Script) -> Script:
    return script


def _exec_form(item: Instruction) -> Script:
    """`["a", "b"]` as a command whose words stand where they are quoted."""
    words: list[Word] = []
    at = 0
    for word in item.words or []:
        found = item.text.find(f'"{word}"', at)
        at = max(found, at)
        line = item.origin.line + item.text.count("\n", 0, at)
        start = item.text.rfind("\n", 0, at) + 1
        column = (item.origin.column if start == 0 else 1) + at - start + 1
        words.append(Word((word,), line, column, line, column + len(word), quoted=True))
        at += len(word)
    return Script([Command(words)], {})


def from_document(document: Document, resources: list[Resource]) -> Iterator[ShellText]:
    """The shell texts that a YAML document carries."""
    file = document.file
    for step in workflow.steps(file.path, document.root):
        origin = origin_of(file, _span(step), step.text)
        where = pointer(step.holder, step.slot)
        yield ShellText(file, "workflow", step.text, origin, pointer=where, variables=step.variables)
    if not resources:
        yield from _user_data(file, document.root)
        yield from _compose(file, document.root)
    for resource in resources:
        for pod in resource.pods:
            for container in [*pod.containers, *pod.init_containers]:
                yield from _container(file, resource, container)
        if resource.kind == "ConfigMap":
            yield from _config(file, resource)


def _user_data(file: TextFile, root: object) -> Iterator[ShellText]:
    """The start scripts of machines in a CloudFormation template: texts that begin with a shell's shebang."""
    if not isinstance(root, Map) or not isinstance(root.get("Resources"), Map):
        return
    for holder, key in walk(root["Resources"]):
        value = holder[key]
        if isinstance(value, str) and _SHEBANG.match(value):
            yield ShellText(
                file, "config", value, origin_of(file, holder.span(key), value), pointer=pointer(holder, key)
            )


def _compose(file: TextFile, root: object) -> Iterator[ShellText]:
    """The commands of the services in a Compose file."""
    services = root.get_map("services") if isinstance(root, Map) else EMPTY
    for service in services.values():
        if not isinstance(service, Map) or not ("image" in service or "build" in service):
            continue
        for key in ("entrypoint", "command"):
            value = service.get(key)
            if isinstance(value, str):
                origin = origin_of(file, service.span(key), value)
                yield ShellText(file, "compose", value, origin, pointer=pointer(service, key))
            elif isinstance(value, Seq) and value:
                words = [YamlWord(scalar_text(item), value, index) for index, item in enumerate(value)]
                yield from _words(file, words, None, pointer(service, key))


def _config(file: TextFile, resource: Resource) -> Iterator[ShellText]:
    data = resource.root.get_map("data")
    for key, value in data.items():
        if isinstance(value, str) and (key.endswith(".sh") or _LOOKS_LIKE_SHELL.match(value)):
            yield ShellText(
                file, "config", value, origin_of(file, data.span(key), value), resource, None, pointer(data, key)
            )


def _container(file: TextFile, resource: Resource, container: Container) -> Iterator[ShellText]:
    command, arguments = container.words
    where = pointer(container.map, "command" if command else "args")
    for text in _words(file, [*command, *arguments], container, where):
        text.resource = resource
        yield text
    hooks = container.map.get_map("lifecycle")
    for hook in ("postStart", "preStop"):
        run = hooks.get_map(hook).get_map("exec").get("command")
        if isinstance(run, Seq) and len(run) > 1 and isinstance(run[-1], str):
            yield ShellText(
                file,
                "container",
                run[-1],
                origin_of(file, run.span(len(run) - 1), run[-1]),
                resource,
                container,
                pointer(run, len(run) - 1),
            )


def _words(file: TextFile, words: list[YamlWord], container: Container | None, where: str) -> Iterator[ShellText]:
    """A command and its arguments: the text after `sh -c`, or the one command that they are."""
    for place in _script_words(words):
        word = words[place]
        origin = origin_of(file, _span(word), word.text)
        where = pointer(word.holder, word.slot)
        yield ShellText(file, "container", word.text, origin, None, container, where)
        return
    if words:
        text = " ".join(word.text for word in words)
        yield ShellText(
            file, "container", text, Origin(), None, container, where, partial(_argv, file, words, container)
        )


def _argv(file: TextFile, words: list[YamlWord], container: Container | None) -> Script:
    """A command and its arguments as the one command that they are."""
    return Script([Command([_word(file, word, container) for word in words])], {})


def _script_words(words: list[YamlWord]) -> Iterator[int]:
    """The place of the text after `sh -c`."""
    for index, word in enumerate(words[:-1]):
        if word.text.rsplit("/", 1)[-1] in ("sh", "bash", "ash", "dash", "zsh"):
            for later in range(index + 1, min(index + 5, len(words) - 1)):
                if re.fullmatch(r"-[a-z]*c[a-z]*", words[later].text):
                    yield later + 1
                    return
            return


def _span(word: YamlWord | workflow.Step) -> Span:
    return word.holder.span(word.slot)  # pyright: ignore[reportArgumentType]


def _word(file: TextFile, word: YamlWord, container: Container | None) -> Word:
    """A YAML word as a shell word, with the variables filled in that the container sets."""
    origin, span = origin_of(file, _span(word), word.text), _span(word)
    parts: list[str] = []
    value, at = container.expand(word.text) if container else word.text, 0
    for found in _INTERPOLATED.finditer(value):
        parts.extend((value[at : found.start()], Hole(found.group())))
        at = found.end()
    parts.append(value[at:])
    end = (
        (span.end_line, span.end_column - (span.style in ("'", '"')))
        if span.line == span.end_line
        else (origin.line, origin.column)
    )
    return Word(tuple(part for part in parts if part), origin.line, origin.column, *end, quoted=True)
