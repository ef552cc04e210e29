"""Shell commands that write many files one after the other: what they copy, and to where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from posixpath import basename

from ..sources.shell import Command, Word


@dataclass(frozen=True, slots=True)
class Copy:
    """One copying command. `tool` names it for messages; `target` is where the files arrive, as a word to point at and
    as `path`, with the folder's own name where the tool adds it. `download` tells a fetch from elsewhere."""

    command: Command
    tool: str
    target: Word
    path: str
    download: bool = False


_Reader = Callable[[Command, list[Word]], Copy | None]


def copies(commands: list[Command]) -> Iterator[Copy]:
    """The copying commands of a script, in order."""
    for command in commands:
        arguments = command.arguments
        name = command.name
        if name.startswith("python") and len(arguments) > 2 and arguments[1].text == "-m":
            name = arguments[2].text.rsplit(".", 1)[-1]
            arguments = arguments[2:]
        reader = _TOOLS.get(name)
        found = reader(command, arguments[1:]) if reader else None
        if found is not None:
            yield found


def _flags(words: list[Word]) -> set[str]:
    """Option names; single-letter groups (`-xvf`) also letter by letter."""
    found: set[str] = set()
    for word in words:
        text = word.text
        if text.startswith("-") and len(text) > 1:
            found.add(text.split("=", 1)[0])
            if not text.startswith("--"):
                found.update(f"-{letter}" for letter in text[1:])
    return found


def _operands(words: list[Word], takes_value: frozenset[str] = frozenset()) -> list[Word]:
    """The words that are neither options nor values of the options named."""
    found: list[Word] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.text.startswith("-") and len(word.text) > 1:
            skip = word.text in takes_value
        else:
            found.append(word)
    return found


def option(words: list[Word], *names: str) -> Word | None:
    """The value of an option, as `--name value` or `--name=value`."""
    for index, word in enumerate(words):
        head, equals, _ = word.text.partition("=")
        if head in names:
            if equals:
                rest = word.text[len(head) + 1 :]
                return Word((rest,), word.line, word.column, word.end_line, word.end_column)
            return words[index + 1] if index + 1 < len(words) else None
    return None


def _into(target: Word, source: Word) -> str:
    """Where a folder arrives: below the target under its own name, unless only its content is copied."""
    if source.text.endswith(("/", "/.", "*")) or "://" in target.text:
        return target.text
    return f"{target.text.rstrip('/')}/{basename(source.text)}"


def _cp(command: Command, words: list[Word]) -> Copy | None:
    flags = _flags(words)
    target = option(words, "-t", "--target-directory")
    operands = _operands(words, frozenset({"-t", "-S"}))
    if target is None and len(operands) > 1:
        target = operands.pop()
    many = flags & {"-r", "-R", "-a", "--recursive", "--archive"} or command.loop or len(operands) > 1
    many = many or any("*" in word.text for word in operands)
    if target is None or not operands or not many:
        return None
    return Copy(command, "cp", target, _into(target, operands[0]))


def _rsync(command: Command, words: list[Word]) -> Copy | None:
    if _flags(words) & {"--delay-updates", "--dry-run", "-n", "--list-only"}:
        return None
    operands = _operands(words, frozenset({"-e", "--rsh", "--exclude", "--include", "--filter", "-f", "--bwlimit"}))
    return Copy(command, "rsync", operands[-1], _into(operands[-1], operands[0])) if len(operands) > 1 else None


_AWS_VALUES = frozenset({
    "--region", "--profile", "--endpoint-url", "--exclude", "--include", "--acl", "--sse", "--storage-class",
    "--page-size",
})  # fmt: skip


def _aws(command: Command, words: list[Word]) -> Copy | None:
    operands = _operands(words, _AWS_VALUES)
    if len(operands) < 4 or operands[0].text != "s3" or operands[1].text not in ("cp", "sync", "mv"):
        return None
    verb = operands[1].text
    if verb != "sync" and "--recursive" not in _flags(words) and not command.loop:
        return None
    source, target = operands[2:4]
    return Copy(command, f"aws s3 {verb}", target, target.text, download=source.text.startswith("s3:"))


def _gsutil(command: Command, words: list[Word]) -> Copy | None:
    operands = _operands(words, frozenset({"-o", "-h", "-u", "-x", "-j"}))
    if operands and operands[0].text == "storage":
        operands = operands[1:]
    if len(operands) < 3 or operands[0].text not in ("cp", "rsync", "mv"):
        return None
    verb = operands[0].text
    many = _flags(words) & {"-r", "-R", "--recursive"} or verb == "rsync" or command.loop
    if not many and not any("*" in word.text for word in operands[1:-1]):
        return None
    tool = "gsutil" if command.name == "gsutil" else "gcloud storage"
    return Copy(command, f"{tool} {verb}", operands[-1], operands[-1].text, operands[1].text.startswith("gs:"))


def _hub(command: Command, words: list[Word]) -> Copy | None:
    target = option(words, "--local-dir", "--local_dir")
    if target is None or not words or words[0].text not in ("download", "snapshot"):
        return None
    return Copy(command, f"{command.name} download", target, target.text, download=True)


def _aibrix(command: Command, words: list[Word]) -> Copy | None:
    target = option(words, "--local-dir", "--local_dir", "--target-dir")
    return Copy(command, "aibrix_download", target, target.text, download=True) if target else None


def _two_sided(command: Command, words: list[Word]) -> Copy | None:
    """rclone, mc, s3cmd, azcopy, s5cmd: `verb [options] from to`."""
    operands = _operands(words, frozenset({"--config", "--transfers", "--exclude", "--include"}))
    if len(operands) < 3 or operands[0].text not in ("copy", "sync", "mirror", "cp", "put", "get", "move"):
        return None
    verb = operands[0].text
    remote = re.compile(r"^[\w-]+:|^https?:|^s3:")
    download = bool(remote.match(operands[1].text)) and not remote.match(operands[-1].text)
    return Copy(command, f"{command.name} {verb}", operands[-1], operands[-1].text, download)


def _tar(command: Command, words: list[Word]) -> Copy | None:
    target = option(words, "-C", "--directory", "--one-top-level")
    extracts = _flags(words) & {"-x", "--extract", "--get"} or (words and re.fullmatch(r"[a-z]*x[a-z]*", words[0].text))
    return Copy(command, "tar", target, target.text) if target is not None and extracts else None


def _unzip(command: Command, words: list[Word]) -> Copy | None:
    target = option(words, "-d")
    return Copy(command, "unzip", target, target.text) if target is not None else None


def _wget(command: Command, words: list[Word]) -> Copy | None:
    target = option(words, "-O", "--output-document", "-P", "--directory-prefix")
    if target is None or target.text in ("-", "/dev/null"):
        return None
    return Copy(command, "wget", target, target.text, download=True)


def _curl(command: Command, words: list[Word]) -> Copy | None:
    target = option(words, "-o", "--output", "--output-dir")
    if target is None or target.text in ("-", "/dev/null"):
        return None
    return Copy(command, "curl", target, target.text, download=True)


def _git(command: Command, words: list[Word]) -> Copy | None:
    operands = _operands(words, frozenset({"-b", "--branch", "--depth", "-C", "-c"}))
    if len(operands) < 3 or operands[0].text != "clone":
        return None
    return Copy(command, "git clone", operands[2], operands[2].text, download=True)


_TOOLS: dict[str, _Reader] = {
    "cp": _cp,
    "rsync": _rsync,
    "aws": _aws,
    "gsutil": _gsutil,
    "gcloud": _gsutil,
    "hf": _hub,
    "huggingface-cli": _hub,
    "modelscope": _hub,
    "aibrix_download": _aibrix,
    "downloader": _aibrix,
    "rclone": _two_sided,
    "mc": _two_sided,
    "s3cmd": _two_sided,
    "s5cmd": _two_sided,
    "azcopy": _two_sided,
    "tar": _tar,
    "unzip": _unzip,
    "wget": _wget,
    "curl": _curl,
    "git": _git,
}
