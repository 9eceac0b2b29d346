# SPDX-License-Identifier: BSD-3-Clause
"""A program as it is parsed. `at` is the offset of a node's place in the expanded text."""

from dataclasses import dataclass, field, fields


@dataclass(slots=True, eq=False)
class Node:
    at: int
    # How deep the node is nested, counted from the leaves.
    depth: int = field(default=0, init=False)


@dataclass(slots=True, eq=False)
class Name(Node):
    text: str


# Expressions. `type` is what the pass `types` finds: int, real, string, value, or '' where only a run knows.


@dataclass(slots=True, eq=False)
class Expression(Node):
    type: str = field(default="", init=False)
    bracketed: bool = field(default=False, init=False)


@dataclass(slots=True, eq=False)
class Constant(Expression):
    value: int | float | str


@dataclass(slots=True, eq=False)
class Unknown(Expression):
    """Where an unknown macro was used; nothing is said of it again."""


@dataclass(slots=True, eq=False)
class Ref(Expression):
    name: str
    indices: list[Expression]
    # What the name means, found by the pass `names`.
    symbol: "object | None" = field(default=None, init=False)


@dataclass(slots=True, eq=False)
class Cast(Expression):
    to: str
    value: Expression


@dataclass(slots=True, eq=False)
class Negative(Expression):
    value: Expression


@dataclass(slots=True, eq=False)
class Binary(Expression):
    """`at` is the operator's place."""

    op: str
    left: Expression
    right: Expression


@dataclass(slots=True, eq=False)
class Choice(Expression):
    condition: Expression
    then: Expression
    otherwise: Expression


# Recommendations. `property` is the first word.


@dataclass(slots=True, eq=False)
class Rule(Node):
    property: str


@dataclass(slots=True, eq=False)
class AssignRule(Rule):
    ref: Ref
    value: Expression


@dataclass(slots=True, eq=False)
class MapRule(Rule):
    ref: Ref
    value: Expression


@dataclass(slots=True, eq=False)
class ListRule(Rule):
    refs: list[Ref]


@dataclass(slots=True, eq=False)
class ExprRule(Rule):
    value: Expression


@dataclass(slots=True, eq=False)
class FlagRule(Rule):
    """One flag; `stealable, unroll_at_once;` is two of these."""


# Statements.


@dataclass(slots=True, eq=False)
class Block(Node):
    names: list[Name]
    statements: list[Node]
    rules: list[Rule]
    braces: bool


@dataclass(slots=True, eq=False)
class Call(Node):
    """`at` is the place of the subroutine's name."""

    sub: str
    args: list[Expression]
    label: Ref | None
    sets: list[Ref]
    deletes: list[Ref]
    rules: list[Rule]


@dataclass(slots=True, eq=False)
class Binding(Node):
    name: str
    value: Expression


@dataclass(slots=True, eq=False)
class Let(Node):
    bindings: list[Binding]
    block: Block


@dataclass(slots=True, eq=False)
class For(Node):
    var: Name
    first: Expression
    last: Expression
    block: Block
    hint: "Hint | None"


@dataclass(slots=True, eq=False)
class While(Node):
    condition: Expression
    var: Name
    start: Expression
    out: Ref
    block: Block
    hint: "Hint | None"


@dataclass(slots=True, eq=False)
class If(Node):
    condition: Expression
    block: Block


@dataclass(slots=True, eq=False)
class Broken(Node):
    """A statement or item with an error of syntax, which is reported already."""


@dataclass(slots=True, eq=False)
class LateDf(Node):
    """A `df` that is not at the start of its block."""

    names: list[Name]


@dataclass(slots=True, eq=False)
class Hint(Node):
    """`<<rush>>` and its like: accepted, without effect."""

    word: str
    values: list[Expression]


# Items.


@dataclass(slots=True, eq=False)
class Param(Node):
    type: str
    name: str


@dataclass(slots=True, eq=False)
class Sub(Node):
    """`at` is the place of the name, here and in CppSub; in Import that of the function's name."""

    name: str
    params: list[Param]
    block: Block
    hint: Hint | None


@dataclass(slots=True, eq=False)
class CppSub(Node):
    name: str
    params: list[Param]
    # The index of the foreign block in `Expanded.foreign`.
    body: int


@dataclass(slots=True, eq=False)
class PythonSub(CppSub):
    """A body that is a function in Python; its foreign block has the names that it uses."""


@dataclass(slots=True, eq=False)
class CppHead(Node):
    text: int


@dataclass(slots=True, eq=False)
class Import(Node):
    function: str
    name: str
    params: list[Param]
    cuda: bool
    cpu: bool


Callable = Sub | CppSub | Import
Item = Sub | CppSub | CppHead | Import | Broken


@dataclass(slots=True, eq=False)
class Program:
    items: list[Item]
    # Names in text that could not be parsed: nothing is said of them being unknown.
    doubtful: set[str]


def is_same(one: object, other: object) -> bool:
    """Whether two parts of a program say the same, wherever they are; foreign blocks are left out."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if not isinstance(one, Node):
        return one == other
    if type(one) is not type(other):
        return False
    parts = (part.name for part in fields(one) if part.name not in ("at", "depth", "symbol"))
    return all(is_same(getattr(one, name), getattr(other, name)) for name in parts if not is_block(one, name))


def is_block(node: Node, part: str) -> bool:
    """Whether a part is the number of a foreign block."""
    return isinstance(node, CppSub) and part == "body"
