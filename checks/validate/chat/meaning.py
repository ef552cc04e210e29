"""What a chat template says, step by step: two templates with the same steps render alike whatever they are given.

Loaded by `child` inside its process, so it imports nothing of this package. Left out is what changes no rendering:
comments, parentheses, where tags trim white space, names of local variables, x.y or x['y'], one constant or two that
are put together, `x is defined and x`, elif or an if in else, and the marks of `{% generation %}`.
"""

from typing import Any, cast

# Attributes of dictionaries, lists and texts: there x.y and x['y'] are two things.
_METHODS = frozenset(name for kind in (dict, list, str, tuple) for name in dir(kind))
_OWN = frozenset(("loop", "caller", "varargs", "kwargs", "self", "super"))


Steps = list[tuple[int, str]]


def steps(environment: Any, tree: Any, given: dict[str, Any]) -> tuple[Steps, Steps]:
    """(line, statement) for every step, and those that remain for clients that send no variables of their own.

    `tree` is the parsed template, which is changed; `given` are the variables that servers pass, special tokens among them.
    """
    from jinja2 import meta, nodes
    from jinja2.optimizer import optimize

    outer = meta.find_undeclared_variables(tree)
    stored = {each.name for each in tree.find_all(nodes.Name) if each.ctx == "store"}
    # A parameter can be given by its name: it keeps it.
    kept = {each.name for each in tree.find_all(nodes.Name) if each.ctx == "param"}
    kept |= {each.name for each in tree.find_all(nodes.Macro)} | outer | given.keys() | _OWN
    local = stored - kept - set(environment.globals)
    tokens = {name: each for name, each in given.items() if name.endswith("_token") and isinstance(each, str)}
    constants = {name: each for name, each in tokens.items() if name not in stored}
    tree = optimize(tree, environment)
    absent = outer - given.keys() - set(environment.globals) - stored
    return tuple(_Steps(nodes, local, constants, names).of(tree) for names in (set[str](), absent))  # type: ignore[return-value]


class _Steps:
    def __init__(self, nodes: Any, local: set[str], constants: dict[str, str], absent: set[str]) -> None:
        self._nodes, self._local, self._constants, self._absent = nodes, local, constants, absent
        self._names: dict[str, str] = {}
        self._found: Steps = []
        self._text: tuple[int, str] | None = None

    def of(self, tree: Any) -> Steps:
        self._body(tree.body)
        self._flush()
        return self._found

    def _say(self, line: int, words: str) -> None:
        self._flush()
        self._found.append((line, words))

    def _flush(self) -> None:
        if self._text is not None:
            self._found.append((self._text[0], f"write {self._text[1]!r}"))
            self._text = None

    def _body(self, body: list[Any]) -> None:
        for each in body:
            self._statement(each)

    def _statement(self, node: Any) -> None:
        nodes, line = self._nodes, node.lineno
        if isinstance(node, nodes.Output):
            for each in node.nodes:
                self._write(each)
        elif isinstance(node, nodes.Scope) and next(node.find_all((nodes.Assign, nodes.AssignBlock)), None) is None:
            self._body(node.body)
        elif isinstance(node, nodes.If):
            rest = node.else_
            if node.elif_:
                first, *others = node.elif_
                rest = [nodes.If(first.test, first.body, others, node.else_, lineno=first.lineno)]
            self._branches(line, node.test, node.body, rest)
        else:
            self._other(node)

    def _branches(self, line: int, test: Any, body: list[Any], rest: list[Any]) -> None:
        known = self._known(test)
        if known is not None:
            self._body(body if known else rest)
            return
        asked = self._truth(test)
        yes, no = self._alone(body), self._alone(rest)
        if self._cannot_fail(test) and [w for _, w in yes] == [w for _, w in no]:
            self._body(body)
            return
        self._say(line, f"if {asked}")
        self._found += yes
        if rest:
            self._say(line, "else")
            self._found += no
        self._say(line, "end if")

    def _alone(self, body: list[Any]) -> Steps:
        before = self._found, self._text
        self._found, self._text = [], None
        self._body(body)
        self._flush()
        found = self._found
        self._found, self._text = before
        return found

    def _cannot_fail(self, test: Any) -> bool:
        """Whether a condition compares a field of a variable with a constant: that raises nothing."""
        nodes = self._nodes
        if not isinstance(test, nodes.Compare) or len(test.ops) != 1 or test.ops[0].op not in ("eq", "ne"):
            return False
        field = test.expr
        plain = isinstance(field, nodes.Getitem | nodes.Getattr) and isinstance(field.node, nodes.Name)
        return plain and isinstance(test.ops[0].expr, nodes.Const)

    def _known(self, node: Any) -> bool | None:
        """Whether a condition holds where nobody sends the absent variables; None where that decides nothing."""
        nodes = self._nodes
        if self._missing(node):
            return False
        if isinstance(node, nodes.Test) and self._missing(node.node) and node.name in ("defined", "undefined", "none"):
            return node.name == "undefined"
        if isinstance(node, nodes.Not):
            inner = self._known(node.node)
            return None if inner is None else not inner
        if isinstance(node, nodes.And | nodes.Or):
            ends = isinstance(node, nodes.Or)
            sides = [self._known(node.left), self._known(node.right)]
            # The right side is not asked where the left one decides; where it fails, both must be asked.
            return ends if sides[0] is ends else (not ends if sides == [not ends] * 2 else None)
        if isinstance(node, nodes.Compare) and self._missing(node.expr) and len(node.ops) == 1:
            other = node.ops[0].expr
            literal = isinstance(other, nodes.Const) and other.value is not None
            literal = literal or (isinstance(other, nodes.List | nodes.Tuple) and node.ops[0].op == "in")
            return False if literal and node.ops[0].op in ("eq", "in") else None
        return None

    def _missing(self, node: Any) -> bool:
        return isinstance(node, self._nodes.Name) and node.name in self._absent

    def _other(self, node: Any) -> None:
        """A statement by its fields, with the bodies that it holds after it."""
        bodies = [(name, each) for name, each in node.iter_fields() if name in ("body", "else_")]
        fields = [f"{name}={self._value(each)}" for name, each in node.iter_fields(exclude=("body", "else_"))]
        self._say(node.lineno, f"{type(node).__name__} {' '.join(fields)}")
        for name, body in bodies:
            if body:
                self._say(node.lineno, name)
                self._body(body)
        self._say(node.lineno, f"end {type(node).__name__}")

    def _write(self, node: Any) -> None:
        nodes = self._nodes
        if isinstance(node, nodes.Concat):
            for each in node.nodes:
                self._write(each)
            return
        text = None
        if isinstance(node, nodes.Filter) and node.name == "default" and self._missing(node.node) and node.args:
            self._write(node.args[0])
            return
        if self._missing(node):
            text = ""
        elif isinstance(node, nodes.TemplateData):
            text = node.data
        elif isinstance(node, nodes.Const) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, nodes.Name) and node.name in self._constants:
            text = self._constants[node.name]
        if text is None:
            self._say(node.lineno, f"write {self._value(node)}")
        elif text:
            line, before = self._text or (node.lineno, "")
            self._text = (line, before + text)

    def _truth(self, node: Any) -> str:
        """A condition: only whether it holds counts, and what is not defined does not."""
        nodes = self._nodes
        if isinstance(node, nodes.And) and isinstance(node.left, nodes.Test) and node.left.name == "defined":
            asked = self._value(node.left.node)
            if asked == self._value(node.right):
                return asked
        return self._value(node)

    def _value(self, node: Any) -> str:
        nodes = self._nodes
        if isinstance(node, nodes.Name):
            if node.name in self._constants:
                return repr(self._constants[node.name])
            return self._named(node.name)
        if isinstance(node, nodes.NSRef):
            return f"{self._named(node.name)}.{node.attr}"
        if isinstance(node, nodes.Const):
            return repr(node.value)
        if isinstance(node, nodes.Getattr) and node.attr not in _METHODS:
            return f"{self._value(node.node)}[{node.attr!r}]"
        if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
            return f"{self._value(node.node)}[{node.arg.value!r}]"
        if isinstance(node, nodes.CondExpr):
            other = self._value(node.expr2)
            return f"({self._value(node.expr1)} if {self._truth(node.test)} else {other})"
        if isinstance(node, nodes.Node):
            parts = (f"{key}={self._value(each)}" for key, each in node.iter_fields() if key != "ctx")
            return f"{type(node).__name__}({', '.join(parts)})"
        if isinstance(node, list | tuple):
            return f"[{', '.join(map(self._value, cast('list[Any]', node)))}]"
        return repr(node)

    def _named(self, name: str) -> str:
        if name not in self._local:
            return name
        return self._names.setdefault(name, f"local {len(self._names) + 1}")
