"""The shell reader: commands, constants and positions of real-life scripts, and never a crash or a hang."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interlock.checks.lint.sources.shell import Command, Origin, parse

SCRIPT = """\
#!/bin/bash
set -euo pipefail
DIR=/models  # where
STAGE="$DIR/.tmp"
if [ ! -d "$DIR/x" ] && ! test -f $DIR/y; then
  aws s3 sync s3://bucket/model "$DIR/" --exclude '*.bin' || exit 1
elif x; then y
fi
for f in a b; do cp "$f" ${DIR}/; done
case "$1" in
  start|go) tritonserver --model-control-mode=poll ;;
  *) echo no ;;
esac
sh -c "mv -T '/a b' /models/cur && rm -rf x"
cat <<'EOT' > run.sh
vllm serve model
EOT
X=$(curl -s `hostname`/v1 | jq .a) foo
publish() { ln -s a b; }
(cd x; make) &
sudo -E env A=b exec python3 -m vllm \\
  --model x 2>&1 | tee log
"""


def shapes(text: str) -> list[tuple[int, int, list[str]]]:
    return [(c.first.line, c.first.column, c.argv) for c in parse(text).commands if c.words]


def test_commands_with_positions() -> None:
    assert shapes(SCRIPT) == [
        (2, 1, ["set", "-euo", "pipefail"]),
        (5, 4, ["[", "!", "-d", "/models/x", "]"]),
        (5, 27, ["test", "-f", "/models/y"]),
        (6, 3, ["aws", "s3", "sync", "s3://bucket/model", "/models/", "--exclude", "*.bin"]),
        (6, 62, ["exit", "1"]),
        (7, 6, ["x"]),
        (7, 14, ["y"]),
        (9, 1, ["for", "f", "in", "a", "b"]),
        (9, 18, ["cp", "$f", "/models/"]),
        (11, 13, ["tritonserver", "--model-control-mode=poll"]),
        (12, 6, ["echo", "no"]),
        (14, 1, ["sh", "-c", "mv -T '/a b' /models/cur && rm -rf x"]),
        (14, 8, ["mv", "-T", "/a b", "/models/cur"]),
        (14, 36, ["rm", "-rf", "x"]),
        (15, 1, ["cat"]),
        (16, 1, ["vllm", "serve", "model"]),
        (18, 14, ["hostname"]),
        (18, 5, ["curl", "-s", "`hostname`/v1"]),
        (18, 29, ["jq", ".a"]),
        (18, 36, ["foo"]),
        (19, 13, ["ln", "-s", "a", "b"]),
        (20, 2, ["cd", "x"]),
        (20, 8, ["make"]),
        (21, 1, ["python3", "-m", "vllm", "--model", "x"]),
        (22, 20, ["tee", "log"]),
    ]


def _one(text: str, name: str) -> Command:
    return next(command for command in parse(text).commands if command.name == name)


def test_how_commands_hang_together() -> None:
    assert _one("a && b", "b").joined == "&&"
    assert _one("a || b", "b").joined == "||"
    assert _one("a | b", "b").joined == "|"
    assert _one("a\nb", "b").joined == ";"
    assert _one("while read f; do cp $f x; done", "cp").loop == 1
    assert _one("for a in 1; do for b in 2; do cp x y; done; done; rm z", "cp").loop == 2
    assert _one("for a in 1; do cp x y; done; rm z", "rm").loop == 0
    assert _one("if grep x y; then cp a b; fi", "grep").condition
    assert not _one("if grep x y; then cp a b; fi", "cp").condition
    assert _one("x=$(cp a b)", "cp").nested == 1


def test_constants_are_filled_in_only_when_they_are_constant() -> None:
    assert _one("A=/x\nB=$A/y\ncp a $B", "cp").argv[-1] == "/x/y"
    assert _one("A=/x\nA=/y\ncp a $A", "cp").argv[-1] == "$A"
    assert _one("for A in x y; do cp a $A; done", "cp").argv[-1] == "$A"
    assert _one("read A\ncp a ${A}", "cp").argv[-1] == "${A}"
    assert _one("A=${1:-/x}\ncp a $A", "cp").argv[-1] == "$A"
    assert _one("cp a '$A'; A=/x", "cp").argv[-1] == "$A"
    assert not _one("cp a '$A'", "cp").words[-1].dynamic
    assert parse("cp a $A", variables={"A": "/env"}).commands[0].argv[-1] == "/env"
    assert parse("A=$(x)\ncp a $A", variables={"A": "/env"}).commands[-1].argv[-1] == "$A"


def test_redirects_and_here_documents() -> None:
    command = _one("cat > /models/a 2>/dev/null <<-EOF\n\tbody\n\tEOF\nls", "cat")
    assert [word.text for word in command.written()] == ["/models/a", "/dev/null"]
    assert [(doc.text, doc.line) for doc in command.heredocs] == [("\tbody", 2)]
    assert shapes("bash <<EOF\ncp a b\nEOF\nls") == [(1, 1, ["bash"]), (2, 1, ["cp", "a", "b"]), (4, 1, ["ls"])]
    assert shapes("bash run.sh <<EOF\ncp a b\nEOF") == [(1, 1, ["bash", "run.sh"])]


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ('echo "a\\"b $HOME" \'c d\' e\\ f', ["echo", 'a"b $HOME', "c d", "e f"]),
        ("echo $'a\\'b'", ["echo", "a'b"]),
        ("echo ${A:-${B:-'}'}} $((1 + 2))x", ["echo", "${A:-${B:-'}'}}", "$((1 + 2))x"]),
        ("echo ${{ github.ref }} b", ["echo", "${{ github.ref }}", "b"]),
        ("cp <(ls) b", ["cp", "<(ls)", "b"]),
        ("a=(1 2 3) cp x y", ["cp", "x", "y"]),
        ("ls !(x|y)", ["ls", "!(x|y)"]),
        ("a \\\n  b \\\r\n  c", ["a", "b", "c"]),
        ("echo `date # now` x", ["echo", "`date # now`", "x"]),
        ("echo a#b # c", ["echo", "a#b"]),
        ("time nohup cp x y", ["cp", "x", "y"]),
        ("timeout 5 cp x y", ["cp", "x", "y"]),
    ],
)
def test_words(text: str, argv: list[str]) -> None:
    assert [c.argv for c in parse(text).commands if not c.nested][-1] == argv


def test_positions_follow_the_origin() -> None:
    block = parse("a\nb c", Origin(10, 5, 5)).commands
    assert [(word.line, word.column) for command in block for word in command.words] == [(10, 5), (11, 5), (11, 7)]
    folded = parse("a\nb c", Origin(10, 5, 0)).commands
    assert {(word.line, word.column) for command in folded for word in command.words} == {(10, 5)}


@pytest.mark.parametrize(
    "text", ["'", '"', "`", "$(", "${", "$'", "a <<EOF", "case x in", "if", "((", "$((", "f(", "<("]
)
def test_unfinished_text_is_read_as_far_as_it_goes(text: str) -> None:
    assert shapes(f"ls a\n{text}")[0] == (1, 1, ["ls", "a"])


def test_hostile_nesting_is_bounded() -> None:
    assert "too deep" in parse("$(" * 20_000).problem
    assert "too deep" in parse("sh -c " + "'" + "$(" * 5000 + "'").problem
    parse("(" * 20_000)
    parse("{ " * 20_000)
    parse("a;" * 10_000)


_pieces = st.sampled_from(
    [*"'\"`$(){}[]<>|&;\\\n \t#=!*", "$(", "${", "$((", "<<EOF\n", "EOF\n", "if ", "fi", "then ", "do ", "done ",
     "case ", "esac ", "in ", "for ", "a", "cp x y", "sh -c ", "é", "\x00", "2>&1"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(_pieces, max_size=60).map("".join)))
def test_any_text_is_read(text: str) -> None:
    script = parse(text)
    lines = text.count("\n") + 1
    for command in script.commands:
        assert 1 <= command.first.line <= lines
        assert command.first.column >= 1


@given(st.lists(st.text(st.characters(codec="ascii", exclude_characters="\x00"), max_size=12), min_size=1, max_size=5))
def test_quoted_words_come_back(words: list[str]) -> None:
    line = "cp " + " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    assert parse(line).commands[0].argv == ["cp", *words]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing")
@given(
    st.lists(
        st.lists(
            st.sampled_from(["a", "\\ ", "'b c'", '"d\\"e"', "f#g", "'$x'", "\\$h", "{i}", "=", "\\\n"]),
            min_size=1,
            max_size=4,
        ).map("".join),
        min_size=1,
        max_size=4,
    )
)
def test_words_are_those_of_bash(words: list[str]) -> None:
    line = "printf '%s\\0' x" + " " + " ".join(words)
    expected = subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    assert parse(line).commands[0].argv[2:] == expected
