# SPDX-License-Identifier: BSD-3-Clause
"""What the fragment language means, from the sentences of its reference: an evaluator with trees of its own.

It shares nothing with the front end or the runtime. Expressions are tuples: ("int", 1),
("real", "1.5"), ("string", "a"), ("ref", name, indices), ("cast", type, e), ("neg", e), ("bin", op, a, b),
("choice", c, a, b).
"""

import math
import operator
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Expr = tuple
Key = tuple[int, ...]


@dataclass(eq=False)
class Block:
    names: list[str] = field(default_factory=list)
    statements: list[Any] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Call:
    """`requests` are in a `request` rule, `home` is that of `locator_cyclic`, `rules` read nothing."""

    sub: str
    args: list[Expr]
    sets: list[Expr] = field(default_factory=list)
    requests: list[Expr] = field(default_factory=list)
    home: Expr | None = None
    label: str = ""
    deletes: list[Expr] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)


@dataclass(eq=False)
class For:
    var: str
    first: Expr
    last: Expr
    block: Block
    home: Expr | None = None


@dataclass(eq=False)
class While:
    condition: Expr
    var: str
    start: Expr
    out: Expr
    block: Block


@dataclass(eq=False)
class If:
    condition: Expr
    block: Block


@dataclass(eq=False)
class Let:
    name: str
    value: Expr
    block: Block


@dataclass(eq=False)
class Sub:
    """A subroutine with its parameters, each a type and a name, and statements or a body."""

    params: list[tuple[str, str]]
    block: Block | None = None
    body: Callable[..., Any] | None = None


class Missing(Exception):  # noqa: N818
    """A value is not there yet."""


class Fault:
    """The result of an operator that fails: it matters only where it is used."""


FAULT = Fault()
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
           "==": operator.eq, "!=": operator.ne}  # fmt: skip
PLAIN = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def text_of(value: Any) -> str:
    return f"{value:f}" if isinstance(value, float) else str(value)


def whole(value: Any) -> Any:
    return value if not isinstance(value, int) or -(2**31) <= value < 2**31 else FAULT


def divided(op: str, a: Any, b: Any) -> Any:
    """C's division: towards zero for ints; the remainder has the sign of the dividend."""
    if b == 0:
        return FAULT
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return whole(quotient if op == "/" else a - b * quotient)


def combined(op: str, a: Any, b: Any) -> Any:
    if op in ("&&", "||"):
        if a is not FAULT and bool(a) == (op == "||"):
            return int(op == "||")
        return FAULT if FAULT in (a, b) else int(bool(b))
    if FAULT in (a, b):
        return FAULT
    if op in COMPARE:
        return int(COMPARE[op](a, b))
    if op == "+" and str in (type(a), type(b)):
        return text_of(a) + text_of(b)
    return divided(op, a, b) if op in "/%" else whole(PLAIN[op](a, b))


def cast(to: str, value: Any) -> Any:
    if value is FAULT:
        return FAULT
    if to == "string":
        return text_of(value)
    return float(value) if to == "real" else whole(math.trunc(float(value)) if value != "" else FAULT)


def passed(kind: str, value: Any) -> Any:
    """The conversion at a parameter."""
    assert value is not FAULT
    if kind == "string":
        return text_of(value)
    return {"int": math.trunc, "real": float}.get(kind, lambda same: same)(value)


class Evaluation:
    """A run of a program: each fragment is tried again until what it needs is there.

    `users` has the statements of the fragments that needed each value, `declared` the numbers that a name of
    a block got; `lines` is what was printed.
    """

    def __init__(self, subs: dict[str, Sub]) -> None:
        self.subs = subs
        self.data: dict[Key, Any] = {}
        self.lines: list[str] = []
        self.users: dict[Key, list[Any]] = {}
        self.declared: dict[tuple[Block, str], list[int]] = {}
        self.count = 0
        self.todo: deque[Callable[[], None]] = deque()
        self.needs: set[Key] = set()

    def run(self, block: Block, names: dict[str, Any]) -> None:
        self.unfold(block, names)
        waits = 0
        while self.todo:
            fragment = self.todo.popleft()
            self.needs = set()
            try:
                fragment()
                waits = 0
            except Missing:
                self.todo.append(fragment)
                waits += 1
                assert waits <= len(self.todo), "the program cannot finish"

    def used(self, statement: Any, needs: set[Key]) -> None:
        for key in needs:
            self.users.setdefault(key, []).append(statement)

    # Expressions.

    def value(self, node: Expr, names: dict[str, Any]) -> Any:
        match node:
            case ("int" | "string", value):
                return value
            case ("real", text):
                return float(text)
            case ("ref", name, indices):
                return self.named(name, indices, names)
            case ("cast", to, inner):
                return cast(to, self.value(inner, names))
            case ("neg", inner):
                return (
                    combined("-", 0, found) if isinstance(found := self.value(inner, names), int) else -found
                )
            case ("bin", op, a, b):
                return combined(op, self.value(a, names), self.value(b, names))
            case ("choice", c, a, b):
                return self.chosen(*(self.value(part, names) for part in (c, a, b)))
        raise TypeError(node)

    def chosen(self, condition: Any, a: Any, b: Any) -> Any:
        """Of the branches' common type."""
        found = FAULT if condition is FAULT else a if condition else b
        return float(found) if float in (type(a), type(b)) and isinstance(found, int) else found

    def named(self, name: str, indices: list[Expr], names: dict[str, Any]) -> Any:
        meant = names[name]
        if isinstance(meant, tuple) and meant[0] == "let":
            return self.value(*meant[1:])
        if not isinstance(meant, tuple):
            return meant
        key = self.key(("ref", name, indices), names)
        self.needs.add(key)
        if key not in self.data:
            raise Missing
        return self.data[key]

    def key(self, ref: Expr, names: dict[str, Any]) -> Key:
        kind, *meant = names[ref[1]]
        base = self.key(*meant) if kind == "let" else meant[0]
        return (*base, *(self.value(index, names) for index in ref[2]))

    # Statements.

    def unfold(self, block: Block, names: dict[str, Any]) -> None:
        names = dict(names)
        for name in block.names:
            names[name] = ("data", (self.count,))
            self.declared.setdefault((block, name), []).append(self.count)
            self.count += 1
        for statement in block.statements:
            self.start(statement, names)

    def start(self, statement: Any, names: dict[str, Any]) -> None:
        if isinstance(statement, Let):
            self.unfold(statement.block, names | {statement.name: ("let", statement.value, names)})
        elif isinstance(statement, While):
            self.todo.append(lambda: self.begin_while(statement, names))
        else:
            work = {Call: self.call, For: self.loop, If: self.condition}[type(statement)]
            self.todo.append(lambda: work(statement, names))

    def call(self, call: Call, names: dict[str, Any]) -> None:
        sub = self.subs[call.sub]
        given = [
            ("data", self.key(arg, names)) if kind == "name" else passed(kind, self.value(arg, names))
            for (kind, _), arg in zip(sub.params, call.args, strict=True)
        ]
        sets = [self.key(ref, names) for ref in call.sets]
        for ref in [*call.requests, *([call.home] if call.home else [])]:
            self.value(ref, names)
        self.used(call, self.needs)
        if sub.block is not None:
            self.unfold(sub.block, {name: value for (_, name), value in zip(sub.params, given, strict=True)})
        else:
            self.execute(sub, given)
        for key in sets:
            self.write(key, 1)

    def execute(self, sub: Sub, given: list[Any]) -> None:
        inputs = [value for (kind, _), value in zip(sub.params, given, strict=True) if kind != "name"]
        outputs = [value[1] for (kind, _), value in zip(sub.params, given, strict=True) if kind == "name"]
        results = sub.body(*inputs)
        if not outputs:
            self.lines.append(results)
        for key, value in zip(outputs, results if outputs else [], strict=True):
            self.write(key, value)

    def write(self, key: Key, value: Any) -> None:
        assert key not in self.data, f"{key} is written twice"
        self.data[key] = value

    def loop(self, loop: For, names: dict[str, Any]) -> None:
        first, last = self.value(loop.first, names), self.value(loop.last, names)
        if loop.home:
            self.value(loop.home, names)
        self.used(loop, self.needs)
        for k in range(first, last + 1):
            self.unfold(loop.block, names | {loop.var: k})

    def condition(self, statement: If, names: dict[str, Any]) -> None:
        holds = self.value(statement.condition, names)
        self.used(statement, self.needs)
        if holds:
            self.unfold(statement.block, names)

    def begin_while(self, loop: While, names: dict[str, Any]) -> None:
        start = self.value(loop.start, names)
        self.used(loop, self.needs)
        self.todo.append(lambda: self.step(loop, names, start, set()))

    def step(self, loop: While, names: dict[str, Any], k: int, before: set[Key]) -> None:
        """One condition; values that it shares with the one before are used once by both."""
        inside = names | {loop.var: k}
        holds, needs = self.value(loop.condition, inside), self.needs
        self.used(loop, needs - before)
        if holds:
            self.unfold(loop.block, inside)
            self.todo.append(lambda: self.step(loop, names, k + 1, needs))
        else:
            self.write(self.key(loop.out, names), k)
