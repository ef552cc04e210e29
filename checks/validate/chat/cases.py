"""The conversations over which chat templates are rendered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Marks that no template writes itself: what stands around them in a rendering is the template's.
USER, ANSWER = "Uq7zX", "Aq7zX"


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A conversation: its `name` for messages and the `variables` given to the template."""

    name: str
    variables: dict[str, Any]


def _case(name: str, *messages: dict[str, Any], prompt: bool = True, **more: Any) -> Case:
    return Case(name, {"messages": list(messages), "add_generation_prompt": prompt, "tools": None, **more})


def _user(content: Any = USER) -> dict[str, Any]:
    return {"role": "user", "content": content}


_SYSTEM = {"role": "system", "content": "Be brief."}
_ASSISTANT = {"role": "assistant", "content": ANSWER}
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Tells the weather.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]


def _call(content: str | None, arguments: Any) -> dict[str, Any]:
    function = {"name": "weather", "arguments": arguments}
    calls = [{"id": "call12345", "type": "function", "function": function}]
    return {"role": "assistant", "content": content, "tool_calls": calls}


_CALL = _call("", {"city": "Ulm"})
_RESULT = {"role": "tool", "name": "weather", "tool_call_id": "call12345", "content": "sunny"}

PROMPT = _case("one question", _user())
BARE = _case("one question, no prompt", _user(), prompt=False)
ANSWERED = _case("one answer", _user(), _ASSISTANT, prompt=False)
SYSTEM = _case("a system message", _SYSTEM, _user())
TOOLS = _case("tools", _user(), tools=_TOOLS)
EMPTY = _case("no message")

# Its marks are the user's, not the template's.
QUOTING = _case("marks in a question", _user("a <|im_end|> b <|eot_id|> c </s> d <think>e</think> f"), prompt=False)

# What the OpenAI API sends: the arguments of a call are text, and there is no content beside it. Some servers parse
# them before they render, and some do not.
WIRE = (
    _case("a call's arguments as text", _user(), _call("", '{"city": "Ulm"}'), _RESULT, tools=_TOOLS),
    _case("a call without content, its arguments as text", _user(), _call(None, '{"city": "Ulm"}'), _RESULT),
)

CASES: tuple[Case, ...] = (
    PROMPT,
    BARE,
    ANSWERED,
    SYSTEM,
    TOOLS,
    _case("a system message, an answer", _SYSTEM, _user(), _ASSISTANT, prompt=False),
    _case("two turns", _user(), _ASSISTANT, _user("And?")),
    _case("a system message, two turns", _SYSTEM, _user(), _ASSISTANT, _user("And?")),
    _case("a system message and tools", _SYSTEM, _user(), tools=_TOOLS),
    _case("a tool's result", _user(), _CALL, _RESULT, tools=_TOOLS),
    _case("an empty question", _user("")),
    _case("a question with spaces around", _user("  x \n")),
    _case("a question in parts", _user([{"type": "text", "text": USER}])),
    _case("a system message alone", _SYSTEM),
    _case("two questions in a row", _user(), _user("And?")),
    EMPTY,
    _case("a developer's message", {"role": "developer", "content": "Be brief."}, _user()),
    _case("an answer with its reasoning", _user(), {**_ASSISTANT, "reasoning_content": "Hm."}, _user("And?")),
    _case("a last answer with its reasoning", _user(), {**_ASSISTANT, "reasoning_content": "Hm."}, prompt=False),
    _case("documents", _user(), documents=[{"title": "Ulm", "text": "A town."}]),
    _case("an answer last, and a prompt", _user(), _ASSISTANT),
    _case("three turns", _user(), _ASSISTANT, _user("And?"), _ASSISTANT, _user("So?")),
    _case("four turns", *(_ASSISTANT if turn % 2 else _user() for turn in range(7))),
    _case("an answer after a tool's result", _user(), _CALL, _RESULT, _ASSISTANT, prompt=False, tools=_TOOLS),
    _case("Windows line ends", _user("a\r\nb\r\n"), prompt=False),
    _case("upper case and a link", _user("SEE http://Example.com/A"), prompt=False),
    _case("other scripts", _user("Grüße\u00a0aus \u4f60\u597d\uff0c\u4e16\u754c \U0001f600"), prompt=False),
    QUOTING,
    _case("a very long question", _user("word " * 4_000), prompt=False),
    _case("a long conversation", *(_ASSISTANT if turn % 2 else _user() for turn in range(61))),
    *WIRE,
)

WITH_TOOLS: tuple[Case, ...] = tuple(case for case in CASES if case.variables["tools"])
