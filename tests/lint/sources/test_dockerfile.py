"""Dockerfiles: instructions, their shell text in place, and never a crash."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from interlock.checks.lint.sources.dockerfile import parse_dockerfile

DOCKERFILE = """\
# escape=\\
FROM --platform=$X nvcr.io/nvidia/tritonserver:24.01-py3 AS base
ENV MODEL_DIR=/models \\
    # a comment
    HF_HOME="/c d"
ARG V
ENV old style value
RUN --mount=type=cache,target=/root/.cache pip install x \\
    # comment
  && cp -r /src ${MODEL_DIR}/ \\

  && echo $V
RUN <<EOF
mkdir a
cp b c
EOF
COPY <<EOF /x
FROM hello
EOF
bogus
CMD ["tritonserver", \\
     "--model-control-mode=poll"]
onbuild entrypoint exec tritonserver --model-repository=$MODEL_DIR
HEALTHCHECK --interval=5s CMD curl -f localhost
"""


def test_instructions() -> None:
    read = parse_dockerfile(DOCKERFILE)
    assert [(item.keyword, item.line, item.end_line) for item in read.instructions] == [
        ("FROM", 2, 2), ("ENV", 3, 5), ("ARG", 6, 6), ("ENV", 7, 7), ("RUN", 8, 12), ("RUN", 13, 16), ("COPY", 17, 19),
        ("CMD", 21, 22), ("ENTRYPOINT", 23, 23), ("HEALTHCHECK", 24, 24),
    ]  # fmt: skip
    assert read.all("FROM")[0].flags == {"platform": "$X"}
    assert read.all("FROM")[0].text == "nvcr.io/nvidia/tritonserver:24.01-py3 AS base"
    assert read.variables == {"MODEL_DIR": "/models", "HF_HOME": "/c d", "old": "style value"}
    assert read.all("CMD")[0].words == ["tritonserver", "--model-control-mode=poll"]
    assert read.problem == "no instruction at line 20"


def test_shell_text_stands_where_it_is_written() -> None:
    read = parse_dockerfile(DOCKERFILE)
    commands = [(c.first.line, c.first.column, c.argv) for script in read.scripts() for c in script.commands]
    assert commands == [
        (8, 44, ["pip", "install", "x"]),
        (10, 6, ["cp", "-r", "/src", "/models/"]),
        (12, 6, ["echo", "$V"]),
        (14, 1, ["mkdir", "a"]),
        (15, 1, ["cp", "b", "c"]),
        (23, 20, ["tritonserver", "--model-repository=/models"]),
        (24, 31, ["curl", "-f", "localhost"]),
    ]


def test_escape_directive() -> None:
    read = parse_dockerfile("# escape=`\nRUN a `\n  b\nRUN c\n")
    assert [[c.argv for c in script.commands] for script in read.scripts()] == [[["a", "b"]], [["c"]]]


_pieces = st.sampled_from(
    ["FROM x\n", "RUN ", "COPY ", "CMD [", '"a"', "]", "\\\n", "# c\n", "<<EOF\n", "EOF\n", "\n", "ENV ", "A=b ",
     "--x=y ", "$A", "'", "\x00", "é"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(_pieces, max_size=40).map("".join)))
def test_any_text_is_read(text: str) -> None:
    lines = text.count("\n") + 1
    for item in parse_dockerfile(text).instructions:
        assert 1 <= item.line <= item.end_line <= lines
