# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501
"""What a fragment program means, in plain Python: evaluates the serialised form, bodies from a shared object too.

Every statement is a generator that waits by yielding; all are resumed until none can continue.
"""

import ctypes
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

Value = int | float | str | bytes
TEXT_OPS = ("+", "==", "!=")


class Reference:
    """A data fragment: its number and indices."""

    def __init__(self, number: int, indices: tuple[int, ...] = ()) -> None:
        self.key = (number, *indices)

    def at(self, indices: list[int]) -> "Reference":
        return Reference(self.key[0], (*self.key[1:], *indices))


class Missing(Exception):  # noqa: N818
    """A value is not there yet."""


class Evaluator:
    """Runs a document; `bodies` maps names of subroutines to functions of their inputs that return their outputs."""

    def __init__(self, document: dict, bodies: dict[str, Callable[..., list[Value]]]) -> None:
        self.subs, self.main, self.bodies = document["subs"], document["main"], bodies
        self.data: dict[tuple, Value] = {}
        self.numbers = count()
        self.waiting: list[Iterator[None]] = []

    def run(self, *words: Value) -> int:
        """Runs main; the number of fragments that wait for ever."""
        values = [[{"s": word} if isinstance(word, str) else word] for word in words]
        self.start(self.execute({"code": self.main, "args": values}, {}))
        progress = True
        while progress and self.waiting:
            progress, batch, self.waiting = False, self.waiting, []
            for one in batch:
                before = len(self.data)
                done = next(one, self) is self
                progress |= done or len(self.data) > before
                self.waiting += [] if done else [one]
        return len(self.waiting)

    def start(self, fragment: Iterator[None]) -> None:
        self.waiting.append(fragment)

    # Expressions.

    def wait(self, expression: list, names: dict) -> Iterator[None]:
        """Waits until an expression has a value, and returns that."""
        while True:
            try:
                return self.value(self.result(expression, names))
            except Missing:
                yield

    def wait_reference(self, expression: list, names: dict) -> Iterator[None]:
        while True:
            try:
                return self.result(expression, names)
            except Missing:
                yield

    def value(self, found: Any) -> Value:
        if not isinstance(found, Reference):
            return found
        if found.key not in self.data:
            raise Missing
        return self.data[found.key]

    def result(self, expression: list, names: dict) -> Any:
        stack: list = []
        for token in expression:
            if not isinstance(token, dict):
                stack.append(token)
            elif "s" in token:
                stack.append(token["s"])
            elif "id" in token:
                stack.append(self.named(token, stack, names))
            else:
                stack.append(self.operation(token["op"], stack))
        return stack.pop()

    def named(self, token: dict, stack: list, names: dict) -> Any:
        length = token.get("n", 0)
        indices = [self.value(one) for one in stack[len(stack) - length :]]
        del stack[len(stack) - length :]
        found = names[token["id"]]
        if isinstance(found, tuple):
            found = self.result(*found)
        return found.at(indices) if isinstance(found, Reference) else found

    def operation(self, op: str, stack: list) -> Value:
        length = {"neg": 1, "int": 1, "real": 1, "string": 1, "?:": 3}.get(op, 2)
        operands = [self.value(one) for one in stack[-length:]]
        del stack[-length:]
        if op == "?:":
            return operands[1] if operands[0] else operands[2]
        return UNARY[op](*operands) if length == 1 else binary(op, *operands)

    # Statements.

    def block(self, block: dict, names: dict) -> None:
        names = dict(names)
        for item in block["body"]:
            if item["type"] == "dfs":
                names |= {one["id"]: Reference(next(self.numbers)) for one in item["names"]}
                continue
            kinds = {
                "exec": self.execute,
                "for": self.loop,
                "while": self.repeat,
                "if": self.condition,
                "let": self.let,
            }
            self.start(kinds[item["type"]](item, names))

    def execute(self, call: dict, names: dict) -> Iterator[None]:
        sub = self.subs[call["code"]]
        given = []
        for param, argument in zip(sub["args"], call["args"], strict=True):
            wait = self.wait_reference if param["type"] == "name" else self.wait
            value = yield from wait(argument, names)
            given.append(converted(value, param["type"]))
        if sub["type"] == "struct":
            names_inside = {param["id"]: value for param, value in zip(sub["args"], given, strict=True)}
            self.block(sub, names_inside)
        else:
            outputs = [one for one in given if isinstance(one, Reference)]
            inputs = [one for one in given if not isinstance(one, Reference)]
            for output, value in zip(outputs, self.bodies[call["code"]](*inputs), strict=True):
                self.write(output, value)
        for reference in call.get("set", ()):
            self.write((yield from self.wait_reference(reference, names)), 1)

    def write(self, reference: Reference, value: Value) -> None:
        assert reference.key not in self.data, f"{reference.key} is written twice"
        self.data[reference.key] = value

    def loop(self, item: dict, names: dict) -> Iterator[None]:
        first = yield from self.wait(item["first"], names)
        last = yield from self.wait(item["last"], names)
        for k in range(first, last + 1):
            self.block(item, names | {item["var"]: k})

    def repeat(self, item: dict, names: dict) -> Iterator[None]:
        k = yield from self.wait(item["start"], names)
        while (yield from self.wait(item["cond"], names | {item["var"]: k})):
            self.block(item, names | {item["var"]: k})
            k += 1
        self.write((yield from self.wait_reference(item["wout"], names)), k)

    def condition(self, item: dict, names: dict) -> Iterator[None]:
        if (yield from self.wait(item["cond"], names)):
            self.block(item, names)

    def let(self, item: dict, names: dict) -> Iterator[None]:
        names = dict(names)
        for one in item["names"]:
            names[one["id"]] = (one["expr"], dict(names))
        self.block(item, names)
        yield from ()


def text_of(value: Value) -> str:
    return f"{value:f}" if isinstance(value, float) else str(value)


UNARY = {"neg": lambda a: -a, "int": int, "real": float, "string": text_of}


def binary(op: str, a: Value, b: Value) -> Value:
    if isinstance(a, str) or isinstance(b, str):
        assert op in TEXT_OPS
        a, b = text_of(a), text_of(b)
    whole = isinstance(a, int) and isinstance(b, int)
    results = {
        "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "<": lambda: int(a < b), "<=": lambda: int(a <= b),
        ">": lambda: int(a > b), ">=": lambda: int(a >= b), "==": lambda: int(a == b), "!=": lambda: int(a != b),
        "&&": lambda: int(bool(a) and bool(b)), "||": lambda: int(bool(a) or bool(b)),
        "/": lambda: int(a / b) if whole else a / b, "%": lambda: a - b * int(a / b),
    }  # fmt: skip
    return results[op]()


def converted(value: Any, kind: str) -> Any:
    if kind == "real" and isinstance(value, int):
        return float(value)
    if kind == "int" and isinstance(value, float):
        return int(value)
    return text_of(value) if kind == "string" else value


# Bodies of a shared object, through the interface of tailrace/fragments/body.h.

CALL = ctypes.c_void_p
INT, SIZE, TEXT = ctypes.c_int, ctypes.c_ulonglong, ctypes.c_char_p
SIZES = ctypes.POINTER(SIZE)
FUNCTIONS = [
    ("type", INT, [INT]), ("name", CALL, [INT]), ("get_int", INT, [INT]), ("get_real", ctypes.c_double, [INT]),
    ("get_string", CALL, [INT, SIZES]), ("get_bytes", CALL, [INT, SIZES]), ("change_bytes", CALL, [INT, SIZES]),
    ("set_int", None, [INT, INT]), ("set_real", None, [INT, ctypes.c_double]), ("set_string", None, [INT, TEXT, SIZE]),
    ("create_block", CALL, [INT, SIZE]), ("share", None, [INT, INT]), ("fail", None, [TEXT]),
]  # fmt: skip
KINDS = {name: ctypes.CFUNCTYPE(result, CALL, *arguments) for name, result, arguments in FUNCTIONS}


class Interface(ctypes.Structure):
    _fields_ = [("size", SIZE), *KINDS.items()]


class Body:
    """A body of a shared object as a function of its inputs that returns its outputs."""

    def __init__(self, library: ctypes.CDLL, sub: dict) -> None:
        self.function, self.args = library[sub["code"]], sub["args"]

    def __call__(self, *inputs: Value) -> list[Value]:
        given = iter(inputs)
        self.values = [None if arg["type"] == "name" else next(given) for arg in self.args]
        self.kept: list = []
        own = {name: kind(getattr(self, name, self.refuse)) for name, kind in KINDS.items()}
        interface = Interface(size=ctypes.sizeof(Interface), **own)
        self.function(ctypes.byref(interface), None)
        outputs = [value for value, arg in zip(self.values, self.args, strict=True) if arg["type"] == "name"]
        return [value.raw if isinstance(value, ctypes.Array) else value for value in outputs]

    def refuse(self, *_: object) -> None:
        raise AssertionError("not part of this test")

    def type(self, _: int, n: int) -> int:
        return {type(None): 0, int: 1, float: 2, str: 3}.get(type(self.values[n]), 4)

    def get_int(self, _: int, n: int) -> int:
        return self.values[n]

    def get_real(self, _: int, n: int) -> float:
        return self.values[n]

    def lend(self, raw: bytes, size: Any, length: int) -> int:
        self.kept.append(ctypes.create_string_buffer(raw, len(raw) + 1))
        if size:
            size[0] = length
        return ctypes.addressof(self.kept[-1])

    def name(self, _: int, n: int) -> int:
        return self.lend(self.args[n]["id"].encode(), None, 0)

    def get_string(self, _: int, n: int, size: Any) -> int:
        raw = self.values[n].encode()
        return self.lend(raw, size, len(raw))

    def get_bytes(self, _: int, n: int, size: Any) -> int:
        return self.lend(bytes(self.values[n]), size, len(self.values[n]))

    def change_bytes(self, call: int, n: int, size: Any) -> int:
        if isinstance(self.values[n], bytes):
            self.values[n] = ctypes.create_string_buffer(self.values[n], len(self.values[n]))
        if size:
            size[0] = len(self.values[n])
        return ctypes.addressof(self.values[n])

    def set_int(self, _: int, n: int, value: int) -> None:
        self.values[n] = value

    set_real = set_int

    def set_string(self, _: int, n: int, text: bytes, size: int) -> None:
        self.values[n] = text[:size].decode()

    def create_block(self, _: int, n: int, size: int) -> int:
        self.values[n] = ctypes.create_string_buffer(size)
        return ctypes.addressof(self.values[n])

    def share(self, _: int, n: int, source: int) -> None:
        self.values[n] = self.values[source]


def bodies_of(shared_object: Path, document: dict) -> dict[str, Body]:
    library = ctypes.CDLL(str(shared_object.resolve()))
    return {name: Body(library, sub) for name, sub in document["subs"].items() if sub["type"] == "extern"}
