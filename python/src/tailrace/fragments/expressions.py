# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of programs in Python: what is computed with them becomes an expression of the program, with the
place of the Python text.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tailrace.fragments import tree

PACKAGE = str(Path(__file__).parent)
MAX_INT = 2**31 - 1
_serials = count(1)


class Place(NamedTuple):
    """A place in a Python file; the column counts from 1 in bytes, as Python has it."""

    file: str
    line: int
    column: int
    serial: int = 0
    """Tells names apart that one place declares."""

    def fresh(self) -> "Place":
        """The same place, as that of one name alone."""
        return self._replace(serial=next(_serials))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ProgramError(Exception):
    """What is wrong with the description of a program, said as errors of the language are."""

    def __init__(self, place: Place, text: str, code: str = "", fix: str = "") -> None:
        super().__init__(f"{place}: error: {text}{f' [{code}]' if code else ''}")
        self.place, self.text, self.code, self.fix = place, text, code, fix


class Scope:
    """A block that is being described, by its identity."""


class SymbolRef(tree.Ref):
    """A reference that knows the block of its name."""

    __slots__ = ("scope",)

    def __init__(self, at: Any, name: str, indices: list[tree.Expression], scope: Scope) -> None:
        super().__init__(at, name, indices)
        self.scope = scope


def symbol(name: str, scope: Scope, place: Place) -> SymbolRef:
    return SymbolRef(place, name, [], scope)


def frame_of_caller() -> FrameType:
    """The innermost frame of somebody else's code."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_ours(file: str) -> bool:
    return file.startswith(PACKAGE) or Path(file).name == "contextlib.py"


def place_of_caller() -> Place:
    """Where the program's text is at work."""
    frame = frame_of_caller()
    positions = list(frame.f_code.co_positions())
    line, _, column, _ = positions[frame.f_lasti // 2]
    return Place(frame.f_code.co_filename, line or frame.f_lineno, (column or 0) + 1)


def place_of_function(function: Callable[..., Any]) -> Place:
    """The place of its `def`, behind its decorators."""
    code = function.__code__
    line = next((line for *_, line in code.co_lines() if line and line > code.co_firstlineno), None)
    return Place(code.co_filename, code.co_firstlineno, 1) if line is None else def_before(code, line)


def def_before(code: Any, line: int) -> Place:
    """The last line with a `def` of this name from the first line of the function to a line of its body."""
    import linecache

    for number in range(line, code.co_firstlineno - 1, -1):
        text = linecache.getline(code.co_filename, number)
        if text.lstrip().startswith("def "):
            return Place(code.co_filename, number, len(text.encode()[: text.index("def ")]) + 5)
    return Place(code.co_filename, code.co_firstlineno, 1)


class Expression:
    """A value that is known when the program runs: int, real or string, as in the language.

    `/` truncates between ints, comparisons give 0 or 1, `&` and `|` are && and ||.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: tree.Expression) -> None:
        self._node = node

    def __bool__(self) -> bool:
        raise ProgramError(
            place_of_caller(),
            "a condition of fragments is known only when the program runs",
            "SYN1",
            "with when(condition): ..., or choose(condition, a, b); & and | for and, or",
        )

    def __iter__(self) -> Iterator[Any]:
        raise ProgramError(
            place_of_caller(), "fragments are no list", "SYN1", 'with loop("i", first, last) as i: ...'
        )

    def __add__(self, other: object) -> "Expression":
        return _binary("+", self, other)

    def __radd__(self, other: object) -> "Expression":
        return _binary("+", other, self)

    def __sub__(self, other: object) -> "Expression":
        return _binary("-", self, other)

    def __rsub__(self, other: object) -> "Expression":
        return _binary("-", other, self)

    def __mul__(self, other: object) -> "Expression":
        return _binary("*", self, other)

    def __rmul__(self, other: object) -> "Expression":
        return _binary("*", other, self)

    def __truediv__(self, other: object) -> "Expression":
        return _binary("/", self, other)

    def __rtruediv__(self, other: object) -> "Expression":
        return _binary("/", other, self)

    def __mod__(self, other: object) -> "Expression":
        return _binary("%", self, other)

    def __rmod__(self, other: object) -> "Expression":
        return _binary("%", other, self)

    def __lt__(self, other: object) -> "Expression":
        return _binary("<", self, other)

    def __le__(self, other: object) -> "Expression":
        return _binary("<=", self, other)

    def __gt__(self, other: object) -> "Expression":
        return _binary(">", self, other)

    def __ge__(self, other: object) -> "Expression":
        return _binary(">=", self, other)

    def __eq__(self, other: object) -> "Expression":  # type: ignore[override]
        return _binary("==", self, other)

    def __ne__(self, other: object) -> "Expression":  # type: ignore[override]
        return _binary("!=", self, other)

    def __and__(self, other: object) -> "Expression":
        return _binary("&&", self, other)

    def __or__(self, other: object) -> "Expression":
        return _binary("||", self, other)

    def __neg__(self) -> "Expression":
        place = place_of_caller()
        return Expression(tree.Negative(place, node_of(self, place)))


class Data(Expression):
    """A data fragment, or with indices one of those of a name; as an argument of type `Name` the name."""

    _node: SymbolRef

    def __getitem__(self, indices: object) -> "Data":
        place = place_of_caller()
        some = indices if isinstance(indices, tuple) else (indices,)
        found = [*self._node.indices, *(node_of(one, place) for one in some)]
        return Data(SymbolRef(place, self._node.name, found, self._node.scope))

    def base_node(self, place: Place) -> SymbolRef:
        """The name itself; raises ProgramError if there are indices."""
        if self._node.indices:
            raise ProgramError(place, f"{self._node.name} has indices here", "SYN11", "leave them out")
        return self._node


def _binary(operator: str, left: object, right: object) -> Expression:
    place = place_of_caller()
    return Expression(tree.Binary(place, operator, node_of(left, place), node_of(right, place)))


def choose(condition: object, then: object, otherwise: object) -> Expression:
    """One of two values; both are needed."""
    place = place_of_caller()
    return Expression(tree.Choice(place, *(node_of(one, place) for one in (condition, then, otherwise))))


def to_int(value: object) -> Expression:
    """Towards zero; a string must be a number as a whole."""
    return _cast("int", value)


def to_real(value: object) -> Expression:
    return _cast("real", value)


def to_string(value: object) -> Expression:
    """Decimal digits; of a real six decimals."""
    return _cast("string", value)


def _cast(to: str, value: object) -> Expression:
    place = place_of_caller()
    return Expression(tree.Cast(place, to, node_of(value, place)))


def node_of(value: object, place: Place) -> tree.Expression:
    """The expression of a value, which is known now or when the program runs."""
    match value:
        case Expression(_node=SymbolRef() as ref):
            return SymbolRef(place, ref.name, [copied(one) for one in ref.indices], ref.scope)
        case Expression():
            return copied(value._node)
        case bool() | int():
            if not -MAX_INT - 1 <= value <= MAX_INT:
                raise ProgramError(place, f"{value} is no int of 32 bits", "SYN1", "a real, such as 1e10")
            return _constant(place, int(value), "int")
        case float():
            return _constant(place, value, "real")
        case str():
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            return _constant(place, f'"{quoted}"', "string")
    raise ProgramError(
        place, f"a {type(value).__name__} is no value of the language", "SYN1", "an int, a float or a str"
    )


def _constant(place: Place, value: int | float | str, word: str) -> tree.Expression:
    if isinstance(value, str) or value >= 0:
        node = tree.Constant(place, value)
        node.type = word
        return node
    return tree.Negative(place, _constant(place, -value, word))


def copied(node: tree.Expression) -> tree.Expression:
    """Each use of an expression has nodes of its own: the passes leave in them what they find."""
    match node:
        case SymbolRef():
            return SymbolRef(node.at, node.name, [copied(one) for one in node.indices], node.scope)
        case tree.Binary():
            return tree.Binary(node.at, node.op, copied(node.left), copied(node.right))
        case tree.Negative():
            return tree.Negative(node.at, copied(node.value))
        case tree.Cast():
            return tree.Cast(node.at, node.to, copied(node.value))
        case tree.Choice():
            return tree.Choice(node.at, *map(copied, (node.condition, node.then, node.otherwise)))
        case tree.Constant():
            same = tree.Constant(node.at, node.value)
            same.type = node.type
            return same
    raise TypeError(f"no expression: {node}")


def refs_in(nodes: Iterable[tree.Expression]) -> Iterator[SymbolRef]:
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, SymbolRef):
            yield node
            todo += node.indices
        elif isinstance(node, tree.Binary):
            todo += [node.left, node.right]
        elif isinstance(node, tree.Negative | tree.Cast):
            todo.append(node.value)
        elif isinstance(node, tree.Choice):
            todo += [node.condition, node.then, node.otherwise]
