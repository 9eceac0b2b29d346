# SPDX-License-Identifier: BSD-3-Clause
"""Fragment programs written in Python: bodies are Python functions, and functions that are called once, with
symbols, describe which fragments there are. How to use it: docs/howto/fragments.md.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tailrace.fragments import tree
from tailrace.fragments.expressions import (
    Data,
    Expression,
    Place,
    ProgramError,
    Scope,
    SymbolRef,
    node_of,
    place_of_caller,
    place_of_function,
    refs_in,
    symbol,
)
from tailrace.fragments.outputs import Changeable, Name, Value

Function = TypeVar("Function", bound=Callable[..., Any])
# What annotations of parameters are called in the language.
TYPES: dict[Any, str] = {int: "int", float: "real", str: "string"}
TYPES |= {Value: "value", Changeable: "value &", Name: "name"}
TYPE_WORDS = "int, float, str, Value, Changeable or Name"


class Program:
    """A program: bodies, subroutines and `main`. One module has one, and is run by `tailrace run MODULE.py`.

    All functions only describe; nothing is executed. Errors of the description are those of the fragment
    language, with places in the module.
    """

    def __init__(self) -> None:
        self.place = place_of_caller()
        self.functions: dict[str, Callable[..., None]] = {}
        self.bodies: dict[str, list[tree.Param]] = {}
        self.subs: dict[str, Subroutine] = {}
        self.items: list[tuple[Subroutine, tree.Callable]] = []

    def body(self, function: Function) -> "Subroutine":
        """A function whose calls are computation fragments: it is given int, float, str and values, and sets
        its outputs, parameters of type `Name`. It has no other effect than that.
        """
        sub = self._subroutine(function, None)
        self.functions[sub.name] = function
        return sub

    def sub(self, function: Function) -> "Subroutine":
        """A function that describes what each call of it creates; it is called once, with symbols."""
        return self._subroutine(function, function)

    def main(self, function: Function) -> "Subroutine":
        """The subroutine with which the program begins; its parameters are words of the command line."""
        return self._subroutine(function, function, "main")

    def _subroutine(
        self, function: Callable[..., None], describes: Callable[..., None] | None, name: str = ""
    ) -> "Subroutine":
        place = place_of_function(function)
        name = name or function.__name__
        if name in self.subs:
            raise ProgramError(
                place,
                f"two subroutines have the name {name}. The first is at {self.subs[name].place}",
                "SYN6.2",
                "rename one of them",
            )
        self.subs[name] = sub = Subroutine(self, name, place, params_of(function, place), describes, function)
        return sub


def params_of(function: Callable[..., None], place: Place) -> list[tuple[str, str]]:
    """Names and types of parameters, as the language calls them."""
    found = []
    for one in inspect.signature(function, eval_str=True).parameters.values():
        word = TYPES.get(one.annotation) if one.kind is one.POSITIONAL_OR_KEYWORD else None
        if word is None or one.default is not one.empty:
            fix = f"annotate it {TYPE_WORDS}, without a default"
            raise ProgramError(
                place, f"parameter {one.name} of {function.__name__} has no type of the language", "SYN1", fix
            )
        found.append((one.name, word))
    return found


class Subroutine:
    """A body or a structured subroutine; a call of it, while one is described, is a fragment of that."""

    def __init__(
        self,
        program: Program,
        name: str,
        place: Place,
        params: Sequence[tuple[str, str]],
        describes: Callable[..., None] | None,
        function: Callable[..., None],
    ) -> None:
        self.program, self.name, self.place, self.params = program, name, place, params
        self.describes, self.function = describes, function

    def __call__(self, *arguments: object) -> "Call":
        place = place_of_caller()
        block = open_block(place, f"a call of {self.name}")
        nodes = [node_of(one, place) for one in arguments]
        call = tree.Call(place, self.name, nodes, None, [], [], [])
        block.add(call, nodes, place)
        return Call(call, block)


class Call:
    """A fragment that is being described: what is said of it changes no result."""

    def __init__(self, call: tree.Call, block: "OpenBlock") -> None:
        self._call, self._block = call, block

    def on(self, rank: object) -> "Call":
        """It runs on this rank, modulo their number (`locator_cyclic`)."""
        return self._rule(tree.ExprRule(place_of_caller(), "locator_cyclic", self._node(rank)))

    def requests(self, *data: Data) -> "Call":
        """It needs these, though it does not name them otherwise (`request`)."""
        return self._rule(tree.ListRule(place_of_caller(), "request", [self._ref(one) for one in data]))

    def waits(self, *data: Data) -> "Call":
        """The same, for values that `pushes` of another fragment brings (`wait`)."""
        return self._rule(tree.ListRule(place_of_caller(), "wait", [self._ref(one) for one in data]))

    def labelled(self, label: Data) -> "Call":
        """It has this label, with indices (`cf label[i]:`), by which `home` and `pushes` know it."""
        self._call.label = self._ref(label)
        return self

    def pushes(self, data: Data, label: Data) -> "Call":
        """When it has run, the value is for the fragment that has the label (`afterpush`)."""
        at = place_of_caller()
        return self._rule(tree.MapRule(at, "afterpush", self._ref(data), self._ref(label)))

    def given(self, **values: object) -> "Call":
        """Values for the recommendations of the subroutine that is called (`nfparam n => e`)."""
        at = place_of_caller()
        for name, value in values.items():
            self._rule(tree.MapRule(at, "nfparam", tree.Ref(at.fresh(), name, []), self._node(value)))
        return self

    def uses(self, output: Data, count: object) -> "Call":
        """The value of an output goes after so many uses (`req_count`)."""
        at = place_of_caller()
        return self._rule(tree.AssignRule(at, "req_count", self._ref(output), self._node(count)))

    def stealable(self) -> "Call":
        """It may move to a rank without work, if `--balance` says so."""
        return self._rule(tree.FlagRule(place_of_caller(), "stealable"))

    def then_sets(self, *data: Data) -> "Call":
        """These become 1 when it has run, with all that it created (`>>`)."""
        self._call.sets += [self._ref(one) for one in data]
        return self

    def then_deletes(self, *data: Data) -> "Call":
        """These are deleted when it has run, with all that it created (`-->`)."""
        self._call.deletes += [self._ref(one) for one in data]
        return self

    def _rule(self, rule: tree.Rule) -> "Call":
        self._call.rules.append(rule)
        return self

    def _node(self, value: object) -> tree.Expression:
        place = place_of_caller()
        node = node_of(value, place)
        self._block.check([node], place)
        return node

    def _ref(self, value: object) -> tree.Ref:
        node = self._node(value)
        if not isinstance(node, tree.Ref):
            raise ProgramError(place_of_caller(), "an expression, where a data fragment is needed", "SYN1")
        return node


class OpenBlock:
    """A block that is being described, within others."""

    def __init__(self, block: tree.Block, scope: Scope, above: "OpenBlock | None") -> None:
        self.block, self.scope, self.above = block, scope, above
        self.names: set[str] = set()

    def add(self, statement: tree.Node, nodes: Sequence[tree.Expression], place: Place) -> None:
        self.check(nodes, place)
        self.block.statements.append(statement)

    def check(self, nodes: Sequence[tree.Expression], place: Place) -> None:
        """Symbols mean something only in the block that has them, and below it."""
        for ref in refs_in(nodes):
            if not self.sees(ref.scope):
                text = f"{ref.name} is used outside of the block that has it"
                raise ProgramError(place, text, "SYN9", "use it inside, or pass it on as an argument")

    def sees(self, scope: Scope) -> bool:
        return scope is self.scope or (self.above is not None and self.above.sees(scope))

    def declare(self, name: str, place: Place) -> SymbolRef:
        """A new name, which no open block has."""
        one: OpenBlock | None = self
        while one is not None:
            if name in one.names:
                raise ProgramError(place, f"{name} is in use already", "SYN8.1", "give it another name")
            one = one.above
        if not name.isidentifier():
            raise ProgramError(place, f"{name!r} is no name", "SYN9", "letters, digits and underscores")
        self.names.add(name)
        return symbol(name, self.scope, place)


_open: list[OpenBlock] = []


def open_block(place: Place, what: str) -> OpenBlock:
    if not _open:
        text = f"{what} outside of a subroutine that is being described"
        raise ProgramError(place, text, "SYN2", "put it into a function with @program.main or @program.sub")
    return _open[-1]


def df(*names: str) -> Any:
    """New data fragments of the block, each time that it is created; one, or a tuple."""
    place = place_of_caller()
    block = open_block(place, "df")
    found = [Data(block.declare(name, place)) for name in names]
    block.block.names += [tree.Name(place.fresh(), name) for name in names]
    return found[0] if len(found) == 1 else tuple(found)


def label(name: str) -> Data:
    """A name for fragments that the function describes, which `.labelled` gives them; it has no value."""
    place = place_of_caller()
    return Data(open_block(place, "label").declare(name, place))


def nfparam(name: str) -> Expression:
    """An int that is for recommendations only, and that each call of the subroutine says by `.given`."""
    place = place_of_caller()
    block = open_block(place, "nfparam")
    if block.above is not None:
        raise ProgramError(
            place, "nfparam within a block", "SEM10", "say it at the beginning of the function"
        )
    symbol_of = block.declare(name, place)
    block.block.rules.append(tree.ListRule(place, "nfparam", [tree.Ref(place.fresh(), name, [])]))
    return Expression(symbol_of)


def home(data: Data, place_of: Callable[..., object]) -> None:
    """The rank of each value of a name, or fragment of a label, modulo their number, by its indices
    (`locator_cyclic`).
    """
    _map_rule("locator_cyclic", data, place_of)


def replicated(data: Data, every: object) -> None:
    """Copies of the values of a name are on each `every`th rank, "all": on all (`locator_replicating`)."""
    _map_rule("locator_replicating", data, every)


def _map_rule(word: str, data: Data, value: object) -> None:
    place = place_of_caller()
    block = open_block(place, word)
    names = [*inspect.signature(value).parameters] if callable(value) else []
    indices = [symbol(name, block.scope, place) for name in names]
    found = value(*map(Expression, indices)) if callable(value) else value
    node = tree.Ref(place, "all", []) if isinstance(found, str) and found == "all" else node_of(found, place)
    base = data.base_node(place)
    ref = tree.Ref(place, base.name, [tree.Ref(place, name, []) for name in names])
    block.block.rules.append(tree.MapRule(place, word, ref, node))


@contextmanager
def _inside(block: tree.Block, scope: Scope) -> Iterator[OpenBlock]:
    opened = OpenBlock(block, scope, _open[-1] if _open else None)
    _open.append(opened)
    try:
        yield opened
    finally:
        _open.remove(opened)


def new_block(place: Place, whole: bool = False) -> tree.Block:
    """A block; labels within it belong to the function that is described, the whole."""
    return tree.Block(place, [], [], [], whole)


@contextmanager
def loop(name: str, first: object, last: object) -> Iterator[Expression]:
    """What is in the block is created for all ints from first to last, both included."""
    place = place_of_caller()
    block, scope = open_block(place, "loop"), Scope()
    ends = [node_of(first, place), node_of(last, place)]
    statement = tree.For(place, tree.Name(place.fresh(), name), *ends, new_block(place), None)
    block.add(statement, ends, place)
    with _inside(statement.block, scope) as inner:
        yield Expression(inner.declare(name, place))


@contextmanager
def repeat(
    name: str, start: object, condition: Callable[[Expression], object], out: Data
) -> Iterator[Expression]:
    """What is in the block is created for start, start + 1, ... while the condition holds; `out` becomes the
    first int for which it does not.
    """
    place = place_of_caller()
    block, scope = open_block(place, "repeat"), Scope()
    inner_block = new_block(place)
    with _inside(inner_block, scope) as inner:
        counter = Expression(inner.declare(name, place))
        holds = node_of(condition(counter), place)
        inner.check([holds], place)
    begin, target = node_of(start, place), node_of(out, place)
    if not isinstance(target, tree.Ref):
        raise ProgramError(place, "out is an expression, where a data fragment is needed", "SYN1")
    block.add(
        tree.While(place, holds, tree.Name(place.fresh(), name), begin, target, inner_block, None),
        [begin, target],
        place,
    )
    _open.append(inner)
    try:
        yield counter
    finally:
        _open.remove(inner)


@contextmanager
def when(condition: object) -> Iterator[None]:
    """What is in the block is created if the condition is not 0."""
    place = place_of_caller()
    block = open_block(place, "when")
    node = node_of(condition, place)
    statement = tree.If(place, node, new_block(place))
    block.add(statement, [node], place)
    with _inside(statement.block, Scope()):
        yield


def described(sub: Subroutine) -> tree.Callable:
    """The item of a subroutine, made by calling its function with symbols."""
    params = [tree.Param(sub.place.fresh(), word, name) for name, word in sub.params]
    if sub.describes is None:
        return tree.PythonSub(sub.place, sub.name, params, -1)
    item = tree.Sub(sub.place, sub.name, params, new_block(sub.place, whole=True), None)
    with _inside(item.block, Scope()) as block:
        symbols = []
        for name, word in sub.params:
            ref = block.declare(name, sub.place)
            symbols.append(Data(ref) if word == "name" else Expression(ref))
        sub.describes(*symbols)
    return item
