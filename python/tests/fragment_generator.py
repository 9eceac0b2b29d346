# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of the fragment language that are well-typed and end: as trees and as text.

Each value is written once and read only where it is certain to be written; ints stay within 32 bits.
"""

import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fragment_bodies import BODIES, LIMIT, MAX_TEXT, body_subs
from fragment_meaning import Block, Call, Evaluation, Expr, For, If, Let, Sub, While
from fragment_writer import text, text_of_block

MAX_INT = 2**31 - 1


@dataclass(frozen=True)
class Array:
    """name[low] to name[high] are certain to be written, with values of a type; low is None: name is."""

    name: str
    type: str
    low: int | None = None
    high: int = 0
    # Indices in front of the last one.
    front: tuple[Expr, ...] = ()
    is_data: bool = True


@dataclass
class Scope:
    """What may be read: ints with their largest absolute value, and data."""

    ints: list[tuple[str, int]]
    data: list[Array]
    block: Block
    # How often statements here may be executed: once, or not known.
    once: bool = True

    def inside(self, *ints: tuple[str, int], once: bool = False) -> "Scope":
        return Scope([*self.ints, *ints], list(self.data), Block(), self.once and once)


class Program:
    """A subroutine `pTAG(int n)` with helpers, made at random; all that it prints begins with its tag."""

    def __init__(self, tag: int, seed: int) -> None:
        self.tag, self.random = tag, random.Random(seed)
        self.names = 0
        self.helpers: dict[str, tuple[Sub, list[Array]]] = {}
        self.once: list[tuple[Call, Block]] = []
        self.argument = self.random.randint(-3, 9)
        if self.random.random() < 0.7:
            self.make_helper()
        if self.random.random() < 0.5:
            self.make_recursion()
        scope = Scope([("n", 9)], [], Block())
        self.fill(scope, 3, self.random.randint(4, 9))
        self.main = Sub([("int", "n")], scope.block)
        self.add_counts()

    @property
    def name(self) -> str:
        return f"p{self.tag}"

    @property
    def subs(self) -> dict[str, Sub]:
        return body_subs() | {name: sub for name, (sub, _) in self.helpers.items()}

    def text(self) -> str:
        subs = {name: sub for name, (sub, _) in self.helpers.items()} | {self.name: self.main}
        return "".join(
            f"sub {name}({', '.join(' '.join(param) for param in sub.params)}) {text_of_block(sub.block, '')}"
            for name, sub in subs.items()
        )

    @cached_property
    def evaluated(self) -> Evaluation:
        """A run of it; counts and deletes change nothing of that."""
        run = Evaluation(self.subs)
        run.run(self.main.block, {"n": self.argument})
        return run

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # Expressions, each with its largest absolute value.

    def int_expr(self, scope: Scope, depth: int = 2) -> tuple[Expr, int]:
        if depth == 0 or self.chance(0.25):
            return self.int_leaf(scope)
        kinds = [self.arithmetic, self.comparison, self.guarded, self.int_choice, self.int_cast, self.negated]
        return self.random.choices(kinds, [6, 3, 1, 1, 2, 1])[0](scope, depth - 1)

    def int_leaf(self, scope: Scope) -> tuple[Expr, int]:
        ref = self.read(scope, "int")
        if ref is not None and self.chance(0.5):
            return ref, LIMIT
        if scope.ints and self.chance(0.5):
            name, bound = self.random.choice(scope.ints)
            return ("ref", name, []), bound
        value = self.random.randint(0, 20)
        return (("neg", ("int", value)), value) if self.chance(0.2) else (("int", value), value)

    def arithmetic(self, scope: Scope, depth: int) -> tuple[Expr, int]:
        (a, max_a), (b, max_b) = self.int_expr(scope, depth), self.int_expr(scope, depth)
        op = self.pick("+", "-", "*", "/", "%")
        if op in "/%":
            c = self.random.randint(1, 9)
            return ("bin", op, a, ("int", c)), max_a if op == "/" else c - 1
        bound = max_a * max_b if op == "*" else max_a + max_b
        if bound > MAX_INT:
            return ("bin", op, ("bin", "%", a, ("int", 101)), ("bin", "%", b, ("int", 103))), 10_200
        return ("bin", op, a, b), bound

    def comparison(self, scope: Scope, depth: int) -> tuple[Expr, int]:
        op = self.pick("<", "<=", ">", ">=", "==", "!=", "&&", "||")
        make = self.pick(self.int_expr, self.real_expr)
        a, b = make(scope, depth)[0], self.int_expr(scope, depth)[0]
        if op in ("==", "!=") and self.chance(0.3):
            a, b = self.string_expr(scope)[0], self.string_expr(scope)[0]
        return ("bin", op, a, b), 1

    def guarded(self, scope: Scope, depth: int) -> tuple[Expr, int]:
        """A division that may fail where nobody looks at it."""
        (a, bound), (b, _) = self.int_expr(scope, depth), self.int_expr(scope, 0)
        if self.chance(0.5):
            return (
                "bin",
                "&&",
                ("bin", "!=", b, ("int", 0)),
                ("bin", ">", ("bin", "/", a, b), ("int", 1)),
            ), 1
        return ("choice", ("bin", "!=", b, ("int", 0)), ("bin", "/", a, b), ("int", 0)), bound

    def int_choice(self, scope: Scope, depth: int) -> tuple[Expr, int]:
        (a, max_a), (b, max_b) = self.int_expr(scope, depth), self.int_expr(scope, depth)
        return ("choice", self.condition(scope, depth), a, b), max(max_a, max_b)

    def condition(self, scope: Scope, depth: int = 1) -> Expr:
        return self.pick(self.int_expr, self.int_expr, self.real_expr)(scope, depth)[0]

    def int_cast(self, scope: Scope, depth: int) -> tuple[Expr, int]:
        if self.chance(0.5):
            inner, bound = self.int_expr(scope, depth)
            return ("cast", "int", ("cast", "string", inner)), bound
        inner, bound = self.real_expr(scope, depth)
        return (("cast", "int", inner), int(bound)) if bound < MAX_INT else self.int_leaf(scope)

    def negated(self, scope: Scope, depth: int) -> tuple[Expr, int]:
        inner, bound = self.int_expr(scope, depth)
        return ("neg", inner), bound

    def real_expr(self, scope: Scope, depth: int = 2) -> tuple[Expr, float]:
        ref = self.read(scope, "real")
        if depth == 0 or self.chance(0.3):
            constant = self.pick("0.5", "1.25", "3.0", "1e-3", "2.5e2")
            return (ref, LIMIT) if ref and self.chance(0.6) else (("real", constant), float(constant))
        (a, max_a), (b, max_b) = self.real_expr(scope, depth - 1), self.number(scope, depth - 1)
        if (op := self.pick("+", "-", "*", "/", "real", "choice")) == "real":
            return ("cast", "real", self.int_expr(scope, depth - 1)[0]), MAX_INT
        if op == "/":
            return ("bin", "/", a, ("int", self.random.randint(1, 9))), max_a
        if op == "choice":
            return ("choice", self.condition(scope, 0), a, b), max(max_a, max_b)
        return ("bin", op, a, b), max_a * max_b if op == "*" else max_a + max_b

    def number(self, scope: Scope, depth: int) -> tuple[Expr, float]:
        return self.pick(self.int_expr, self.real_expr)(scope, depth)

    def string_expr(self, scope: Scope) -> tuple[Expr, int]:
        """With its largest length."""
        ref = self.read(scope, "string")
        if ref is not None and self.chance(0.5):
            return ref, MAX_TEXT
        first = self.pick(("string", "a b"), ("string", 'q"\\'), ("string", ""))
        real = self.read(scope, "real", only_data=True)
        added = [self.int_expr(scope, 1)[0], ("cast", "string", self.real_expr(scope, 1)[0]), first]
        added += [real] if real else []
        return self.pick(first, ("bin", "+", first, self.random.choice(added)), added[1]), 100

    # Reading.

    def read(self, scope: Scope, kind: str, only_data: bool = False) -> Expr | None:
        found = [one for one in scope.data if one.type == kind and one.is_data >= only_data]
        if not found:
            return None
        one = self.random.choice(found)
        return ("ref", one.name, [*one.front, *([] if one.low is None else [self.index(scope, one)])])

    def index(self, scope: Scope, one: Array) -> Expr:
        """An expression whose value is between the ends of an array."""
        if self.chance(0.5):
            return constant(self.random.randint(one.low, one.high))
        count = ("int", one.high - one.low + 1)
        inner = self.int_leaf(replace(scope, data=scope.data if self.chance(0.3) else []))[0]
        positive = ("bin", "%", ("bin", "+", ("bin", "%", inner, count), count), count)
        return ("bin", "+", positive, constant(one.low))

    # Statements. Each kind adds some to the scope's block, and what they write to its data.

    def fill(self, scope: Scope, depth: int, count: int) -> Block:
        flat = [self.assign, self.show, self.show, self.blocks, self.kind]
        nested = [self.loop, self.loop, self.repeat, self.branch, self.let, self.call_helper]
        for _ in range(count):
            self.random.choice(flat + nested if depth else flat)(scope, depth - 1)
        while not scope.block.statements:
            self.show(scope, 0)
        self.random.shuffle(scope.block.statements)
        return scope.block

    def declare(self, scope: Scope, letter: str = "x") -> str:
        scope.block.names.append(self.fresh(letter))
        return scope.block.names[-1]

    def add(self, scope: Scope, call: Call) -> Call:
        scope.block.statements.append(call)
        if self.chance(0.2):
            call.home = self.int_expr(scope, 1)[0]
        if self.chance(0.1) and (ref := self.read(scope, self.pick("int", "real", "string"), True)):
            call.requests.append(ref)
        if self.chance(0.2):
            call.rules.append(self.pick("stealable;", "unroll_at_once;", "stealable, unroll_at_once;"))
        if self.chance(0.1):
            call.label = self.fresh("l")
        if scope.once:
            self.once.append((call, scope.block))
        return call

    def written(self, scope: Scope, target: Expr, kind: str) -> Call:
        """A call that writes a value of a type, without anything around it."""
        if kind == "int":
            a, b = self.int_argument(scope), self.int_argument(scope)
            return self.pick(Call("set_int", [self.small(scope), target]), Call("add", [a, b, target]))
        if kind == "real":
            a, b = self.real_argument(scope), self.real_argument(scope)
            return self.pick(Call("set_real", [a, target]), Call("mean", [a, b, target]))
        return Call("join", [self.string_argument(scope), self.string_argument(scope), target])

    def small(self, scope: Scope) -> Expr:
        inner, bound = self.int_expr(scope)
        return inner if bound <= LIMIT else ("bin", "%", inner, ("int", 1009))

    def int_argument(self, scope: Scope) -> Expr:
        """An int, or a real formula, which is truncated."""
        formula, bound = self.real_expr(scope)
        if self.chance(0.2) and formula[0] in ("bin", "cast", "real") and bound < MAX_INT:
            return formula
        return self.int_expr(scope)[0]

    def real_argument(self, scope: Scope) -> Expr:
        inner, bound = self.number(scope, 2)
        return inner if bound <= LIMIT else self.real_expr(scope, 0)[0]

    def string_argument(self, scope: Scope) -> Expr:
        number = self.read(scope, self.pick("int", "real"), only_data=True)
        return number if number and self.chance(0.2) else self.string_expr(scope)[0]

    def assign(self, scope: Scope, _: int) -> None:
        kind, name = self.pick("int", "real", "string"), self.declare(scope)
        indices = [constant(self.random.randint(-3, 3)) for _ in range(self.pick(0, 0, 1, 2))]
        call = self.add(scope, self.written(scope, ("ref", name, indices), kind))
        if indices:
            low = value_of(indices[-1])
            scope.data.append(Array(name, kind, low, low, tuple(indices[:-1])))
        else:
            scope.data.append(Array(name, kind))
        if self.chance(0.2):
            done = self.declare(scope, "d")
            call.sets.append(("ref", done, []))
            scope.data.append(Array(done, "int"))

    def show(self, scope: Scope, _: int) -> None:
        kind = self.pick("int", "real", "string", "value")
        value = self.read(scope, "value") if kind == "value" else None
        if kind != "value":
            make = {"int": self.int_argument, "real": self.real_argument, "string": self.string_argument}[
                kind
            ]
            value = make(scope)
        if value is not None:
            self.add(scope, Call(f"show_{kind}", [("int", self.tag), value]))

    def blocks(self, scope: Scope, _: int) -> None:
        first, second, third = (self.declare(scope, "b") for _ in range(3))
        self.add(scope, Call("fill", [self.small(scope), self.small(scope), ("ref", first, [])]))
        self.add(scope, Call("change", [("ref", first, []), ("ref", second, [])]))
        self.add(scope, Call("total", [("ref", second, []), ("ref", third, [])]))
        scope.data += [Array(first, "value"), Array(second, "value"), Array(third, "int")]

    def kind(self, scope: Scope, _: int) -> None:
        name = self.declare(scope, "k")
        value = self.pick(self.int_expr, self.real_expr)(scope)[0]
        self.add(scope, Call("kind", [value, ("ref", name, [])]))
        scope.data.append(Array(name, "string"))

    def loop(self, scope: Scope, depth: int) -> None:
        """x[first - 1] is written before, x[i] in the loop, which may read x[i - 1]."""
        name, var, kind = self.declare(scope), self.fresh("i"), self.pick("int", "real", "string")
        first = self.random.randint(-2, 2)
        last = first + self.random.randint(-1, 5)
        self.add(scope, self.written(scope, ("ref", name, [constant(first - 1)]), kind))
        inner = scope.inside((var, 7))
        before = ("bin", "-", ("ref", var, []), ("int", 1))
        if self.chance(0.5):
            inner.data.append(Array(name, kind, front=(before,)))
        self.add(inner, self.written(inner, ("ref", name, [("ref", var, [])]), kind))
        self.fill(inner, depth, self.random.randint(0, 2))
        home = self.int_expr(scope, 1)[0] if self.chance(0.2) else None
        scope.block.statements.append(
            For(var, self.exactly(scope, first), self.exactly(scope, last), inner.block, home)
        )
        scope.data.append(Array(name, kind, first - 1, max(last, first - 1)))
        if self.chance(0.3):
            scope.block.rules.append(
                f"locator_cyclic {name}[{var}] => {var} * {self.random.randint(-2, 5)} + 1;"
            )

    def exactly(self, scope: Scope, value: int) -> Expr:
        """An expression with a value, which may need data."""
        if self.chance(0.6):
            return constant(value)
        inner = self.int_leaf(scope)[0]
        return ("bin", "+", ("bin", "-", inner, inner), constant(value))

    def repeat(self, scope: Scope, depth: int) -> None:
        """Adds to x[k] until a limit is reached; k is the index of the value that reached it."""
        name, out, var = self.declare(scope), self.declare(scope, "w"), self.fresh("k")
        start, step, limit = (
            self.random.randint(-2, 2),
            self.random.randint(2, 9),
            self.random.randint(-5, 40),
        )
        self.add(
            scope, Call("set_int", [("int", self.random.randint(0, 9)), ("ref", name, [constant(start)])])
        )
        inner = scope.inside((var, 60))
        here, following = ("ref", name, [("ref", var, [])]), ("bin", "+", ("ref", var, []), ("int", 1))
        self.add(inner, Call("add", [here, ("int", step), ("ref", name, [following])]))
        self.fill(inner, depth, self.random.randint(0, 1))
        condition = ("bin", "<", here, constant(limit))
        if self.chance(0.3):
            condition = (
                "bin",
                "&&",
                condition,
                ("bin", "==", ("ref", name, [constant(start)]), ("ref", name, [constant(start)])),
            )
        loop = While(condition, var, constant(start), ("ref", out, []), inner.block)
        scope.block.statements.append(loop)
        scope.data += [Array(out, "int"), Array(name, "int", front=(("ref", out, []),))]

    def branch(self, scope: Scope, depth: int) -> None:
        """Writes a name in one of two blocks."""
        kind, name, condition = self.pick("int", "real", "string"), self.declare(scope), self.condition(scope)
        for holds in (condition, ("choice", condition, ("int", 0), ("int", 1))):
            inner = scope.inside()
            self.add(inner, self.written(inner, ("ref", name, []), kind))
            self.fill(inner, depth, self.random.randint(0, 2))
            scope.block.statements.append(If(holds, inner.block))
        scope.data.append(Array(name, kind))

    def let(self, scope: Scope, depth: int) -> None:
        name = self.fresh("e")
        inner = scope.inside(once=True)
        kind = self.pick("int", "real", "string")
        target = self.read(scope, kind)
        if target is not None and self.chance(0.4):
            inner.data.append(Array(name, kind, is_data=target[1] != "b"))
            scope.block.statements.append(Let(name, target, inner.block))
        else:
            value, bound = self.int_expr(scope)
            inner.ints.append((name, bound))
            scope.block.statements.append(Let(name, value, inner.block))
        self.fill(inner, depth, self.random.randint(1, 3))

    # Subroutines with statements.

    def make_helper(self) -> None:
        """Writes y, and y[0] to y[2], of what it is given."""
        params = [("name", "y"), ("int", "a"), ("real", "b"), ("string", "s"), ("value", "v"), ("name", "z")]
        scope = Scope([("a", LIMIT)], [Array("b", "real", is_data=False), Array("z", "int")], Block(), False)
        outputs = [Array("y", "int"), Array("y", "real", 0, 2)]
        scope.block.statements.append(self.written(scope, ("ref", "y", []), "int"))
        for k in range(3):
            scope.block.statements.append(self.written(scope, ("ref", "y", [constant(k)]), "real"))
        scope.block.statements.append(Call("show_string", [("int", self.tag), ("ref", "s", [])]))
        scope.block.statements.append(
            Call("kind", [("ref", "v", []), ("ref", "y", [constant(9), constant(1)])])
        )
        self.fill(scope, 1, 2)
        self.helpers[f"h{self.tag}"] = Sub(params, scope.block), outputs

    def make_recursion(self) -> None:
        """y[a] to y[0], each by a call of its own."""
        name = f"r{self.tag}"
        scope = Scope([("a", 7)], [], Block(), False)
        scope.block.statements.append(self.written(scope, ("ref", "y", [("ref", "a", [])]), "int"))
        deeper = Call(name, [("ref", "y", []), ("bin", "-", ("ref", "a", []), ("int", 1))])
        scope.block.statements.append(If(("bin", ">", ("ref", "a", []), ("int", 0)), Block([], [deeper])))
        self.helpers[name] = Sub([("name", "y"), ("int", "a")], scope.block), []

    def call_helper(self, scope: Scope, _: int) -> None:
        if not self.helpers:
            return
        name, (sub, outputs) = self.random.choice(list(self.helpers.items()))
        target, indices = self.declare(scope), [constant(self.random.randint(-2, 5))]
        ref = ("ref", target, indices)
        if not outputs:
            last = self.random.randint(0, 5)
            self.add(scope, Call(name, [ref, self.exactly(scope, last)]))
            scope.data.append(Array(target, "int", 0, last, tuple(indices)))
            return
        needed = [one for one in scope.data if one.type == "int" and one.low is None and not one.front]
        if not needed or sub.block is scope.block:
            return
        values = [self.small(scope), self.real_argument(scope), self.string_argument(scope)]
        given = [ref, *values, self.number_expr(scope), ("ref", self.random.choice(needed).name, [])]
        self.add(scope, Call(name, given))
        scope.data.append(Array(target, "int", front=tuple(indices)))
        scope.data.append(Array(target, "real", 0, 2, tuple(indices)))
        scope.data.append(Array(target, "string", 1, 1, (*indices, constant(9))))

    def number_expr(self, scope: Scope) -> Expr:
        return self.number(scope, 1)[0]

    # Use counts, which follow from an evaluation.

    def add_counts(self) -> None:
        """Says how often some values are used, exactly, or deletes them behind their only use."""
        run = self.evaluated
        calls = {call for call, _ in self.once}
        for call, block in self.once:
            for target in [*call.args, *call.sets]:
                if target[0] != "ref" or target[1] not in block.names or self.chance(0.6):
                    continue
                if not all(is_constant(index) for index in target[2]) or not self.writes(call, target):
                    continue
                (number,) = run.declared[block, target[1]]
                key = (number, *map(value_of, target[2]))
                users = run.users.get(key, [])
                self.count(call, target, users, calls)

    def writes(self, call: Call, target: Expr) -> bool:
        params = self.subs[call.sub].params
        outputs = [arg for (kind, _), arg in zip(params, call.args, strict=True) if kind == "name"]
        return call.sub in BODIES and any(target is one for one in [*outputs, *call.sets])

    def count(self, call: Call, target: Expr, users: list[Any], calls: set[Call]) -> None:
        if len(users) == 1 and users[0] in calls and self.chance(0.5):
            users[0].deletes.append(target)
        elif self.chance(0.7):
            call.rules.append(f"req_count {text(target)} = {len(users)};")
        else:
            call.rules.append(f"req_unlimited {text(target)};")


def constant(value: int) -> Expr:
    return ("int", value) if value >= 0 else ("neg", ("int", -value))


def is_constant(node: Expr) -> bool:
    return node[0] == "int" or (node[0] == "neg" and node[1][0] == "int")


def value_of(node: Expr) -> int:
    return node[1] if node[0] == "int" else -node[1][1]
