"""Shell texts in YAML, Dockerfiles and files: found wherever they are, each word at its own place."""

from __future__ import annotations

from interlock.checks.lint.sources import scripts
from interlock.checks.lint.sources.kubernetes import resources
from interlock.checks.lint.sources.scripts import ShellText
from interlock.checks.lint.sources.text import TextFile
from interlock.checks.lint.sources.yamlreader import documents


def read(text: str, path: str = "a.yaml") -> list[ShellText]:
    file = TextFile(path, text)
    if not path.endswith((".yaml", ".yml")):
        return list(scripts.from_file(file))
    return [each for document in documents(file) for each in scripts.from_document(document, list(resources(document)))]


def words(texts: list[ShellText]) -> list[tuple[str, str]]:
    """(word as read, text of the file at its position)."""
    found: list[tuple[str, str]] = []
    for text in texts:
        for command in text.commands:
            for word in command.words:
                where = text.at(word)
                assert where.line is not None
                assert where.column is not None
                line = text.file.lines[where.line - 1]
                found.append((word.text, line[where.column - 1 : (where.end_column or 0) - 1]))
    return found


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers:
    - name: fetch
      image: amazon/aws-cli
      args: [s3, sync, "s3://b/m", '$(TARGET)']
      env:
        - {name: TARGET, value: /models}
  containers:
    - name: server
      image: x
      command: ["bash", "-c"]
      args:
        - |
          set -e

          cp -r /a /b
      lifecycle:
        preStop:
          exec: {command: [sh, -c, "sleep 10"]}
"""


def test_container_words_stand_where_they_are_written() -> None:
    texts = read(POD)
    assert words(texts) == [
        ("set", "set"), ("-e", "-e"), ("cp", "cp"), ("-r", "-r"), ("/a", "/a"), ("/b", "/b"), ("sleep", "sleep"),
        ("10", "10"), ("s3", "s3"), ("sync", "sync"), ("s3://b/m", "s3://b/m"), ("/models", "$(TARGET)"),
    ]  # fmt: skip
    assert [(t.how, t.container.name if t.container else "", t.pointer) for t in texts] == [
        ("container", "server", "/spec/containers/0/args/0"),
        ("container", "server", "/spec/containers/0/lifecycle/preStop/exec/command/2"),
        ("container", "fetch", "/spec/initContainers/0/args"),
    ]


def test_config_map_scripts() -> None:
    texts = read(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  run.sh: |2\n      cp a b\n"
        "  x: |\n    #!/bin/sh\n    ls\n  notes: ls -la\n"
    )
    assert words(texts) == [("cp", "cp"), ("a", "a"), ("b", "b"), ("ls", "ls")]
    assert texts[0].at(texts[0].commands[0].words[0]).object == "ConfigMap/c"


def test_workflow_steps() -> None:
    texts = read(
        "on: push\nenv: {DIR: /models}\njobs:\n  build:\n    steps:\n      - uses: actions/checkout@v4\n"
        "      - run: cp a $DIR\n      - run: |\n          ls ${{ github.ref }}\n          cp a b\n"
        "      - {run: print(1), shell: python}\n"
    )
    assert [c.argv for t in texts for c in t.commands] == [
        ["cp", "a", "/models"], ["ls", "${{ github.ref }}"], ["cp", "a", "b"],
    ]  # fmt: skip
    assert [t.commands[0].line for t in texts] == [7, 9]
    assert {t.how for t in texts} == {"workflow"}


def test_composite_action_and_gitlab() -> None:
    action = read("runs:\n  using: composite\n  steps:\n    - run: cp a b\n      shell: bash\n", "action.yml")
    assert words(action) == [("cp", "cp"), ("a", "a"), ("b", "b")]
    gitlab = read("build:\n  before_script: ls\n  script:\n    - cp a b\n    - |\n      mv c d\n", ".gitlab-ci.yml")
    assert [c.argv for t in gitlab for c in t.commands] == [["ls"], ["cp", "a", "b"], ["mv", "c", "d"]]
    assert read("build:\n  script: [cp a b]\n", "values.yaml") == []


def test_files() -> None:
    assert words(read("cp a b\n", "x.sh")) == [("cp", "cp"), ("a", "a"), ("b", "b")]
    image = read('FROM x\nRUN cp a b\nCMD ["tritonserver", \\\n  "--x=1"]\n', "Dockerfile")
    assert words(image)[:3] == [("cp", "cp"), ("a", "a"), ("b", "b")]
    assert words(image)[3:] == [("tritonserver", "tritonserver"), ("--x=1", "--x=1")]


def test_an_edit_touches_only_the_word() -> None:
    text = read('FROM x\nCMD ["tritonserver", "--mode=poll"]\n', "Dockerfile")[0]
    edit = text.replace(text.commands[0].words[1], "poll", "explicit")
    assert edit is not None
    assert (edit.line, edit.column, edit.end_column) == (2, 30, 34)


def test_compose_services() -> None:
    texts = read(
        "services:\n  triton:\n    image: x\n    command: tritonserver --a=b\n  other:\n    build: .\n"
        "    entrypoint: [sh, -c, cp a b]\n    command: [ls, '-l']\n  odd: {}\n"
    )
    assert words(texts) == [
        ("tritonserver", "tritonserver"), ("--a=b", "--a=b"), ("cp", "cp"), ("a", "a"), ("b", "b"), ("ls", "ls"),
        ("-l", "-l"),
    ]  # fmt: skip


def test_machine_start_scripts() -> None:
    texts = read(
        "Resources:\n  A:\n    UserData: !Sub |\n      #!/bin/bash\n      cp a b\n    Other: '#!/usr/bin/python'\n"
    )
    assert words(texts) == [("cp", "cp"), ("a", "a"), ("b", "b")]
