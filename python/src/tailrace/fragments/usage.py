# SPDX-License-Identifier: BSD-3-Clause
"""Warnings of what is declared, written or read for nothing, and of endless recursion.

In: `Bound` with types.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from tailrace.fragments import tree
from tailrace.fragments.names import Bound, Symbol
from tailrace.fragments.problems import Problems
from tailrace.fragments.types import stands_for
from tailrace.fragments.walk import callee_params, statements

WORD = re.compile(r"\w+")
UNUSED = {
    "let": ("SYN5.2", "let name"),
    "df": ("SYN5.3", "data fragment"),
    "parameter": ("SYN5.6", "parameter"),
    "for": ("SYN5.7", "counter of for"),
    "while": ("SYN5.8", "counter of while"),
}


@dataclass(eq=False)
class Access:
    """How a data fragment is used, in the subroutine that declares it and in those that it is passed to."""

    reads: list[tree.Ref] = field(default_factory=list)
    writes: list[tree.Ref] = field(default_factory=list)
    # By `request` and `wait`, which are reads, too.
    requests: list[tree.Ref] = field(default_factory=list)
    # Where it is passed on by name: the reference, the subroutine and the number of the parameter.
    passed: list[tuple[tree.Ref, str, int]] = field(default_factory=list)


def check_usage(bound: Bound, problems: Problems) -> None:
    accesses = find_accesses(bound)
    warn_of_unused(bound, problems)
    warn_of_accesses(bound, accesses, problems)
    warn_of_recursion(bound, problems)


def find_accesses(bound: Bound) -> dict[Symbol, Access]:
    found: dict[Symbol, Access] = {symbol: Access() for symbol in bound.symbols if symbol.is_data}
    for item in bound.program.items:
        for statement in statements(item.block) if isinstance(item, tree.Sub) else ():
            Collector(bound, found).statement(statement)
        if isinstance(item, tree.Sub):
            Collector(bound, found).rules(item.block.rules)
    return found


class Collector:
    """Adds what one statement reads and writes."""

    def __init__(self, bound: Bound, found: dict[Symbol, Access]) -> None:
        self.bound, self.found = bound, found

    def reads(self, nodes: Iterable[tree.Node | None]) -> None:
        for node in nodes:
            for ref in references(node):
                if ref.symbol in self.found:
                    self.found[ref.symbol].reads.append(ref)

    def write(self, ref: tree.Ref) -> None:
        target = stands_for(ref)
        self.reads(target.indices if isinstance(target, tree.Ref) else ())
        if isinstance(target, tree.Ref) and target.symbol in self.found:
            self.found[target.symbol].writes.append(target)

    def request(self, ref: tree.Ref) -> None:
        self.reads(ref.indices)
        target = stands_for(ref)
        if isinstance(target, tree.Ref) and target.symbol in self.found:
            self.found[target.symbol].requests.append(ref)

    def rules(self, rules: Iterable[tree.Rule]) -> None:
        for rule in rules:
            if isinstance(rule, tree.ListRule) and rule.property in ("request", "wait"):
                for ref in rule.refs:
                    self.request(ref)
            if isinstance(rule, tree.ExprRule | tree.AssignRule):
                self.reads([rule.value])

    def statement(self, statement: tree.Node) -> None:
        match statement:
            case tree.Call():
                self.call(statement)
            case tree.Let():
                self.reads(binding.value for binding in statement.bindings)
            case tree.For():
                self.reads([statement.first, statement.last])
            case tree.While():
                self.reads([statement.start, statement.condition])
                self.write(statement.out)
            case tree.If():
                self.reads([statement.condition])
        if (block := getattr(statement, "block", None)) is not None:
            self.rules(block.rules)

    def call(self, call: tree.Call) -> None:
        self.reads(call.label.indices if call.label else ())
        self.rules(call.rules)
        for ref in call.sets:
            self.write(ref)
        for number, (argument, param) in enumerate(callee_params(self.bound, call)):
            target = stands_for(argument)
            if param is None or param.type != "name" or not isinstance(target, tree.Ref):
                self.reads([argument])
            elif not isinstance(self.bound.subs[call.sub], tree.Sub):
                self.write(target)
            elif target.symbol in self.found:
                self.reads(target.indices)
                self.found[target.symbol].passed.append((target, call.sub, number))


def references(node: tree.Node | None) -> Iterator[tree.Ref]:
    """All references in an expression, in indices too, and in what let names mean."""
    todo = [node]
    while todo:
        node = todo.pop()
        match node:
            case tree.Ref():
                target = stands_for(node)
                yield node
                todo += node.indices if target is node else [target]
            case tree.Cast() | tree.Negative():
                todo.append(node.value)
            case tree.Binary():
                todo += [node.left, node.right]
            case tree.Choice():
                todo += [node.condition, node.then, node.otherwise]


def effects(bound: Bound, accesses: dict[Symbol, Access]) -> dict[Symbol, tuple[bool, bool]]:
    """Whether each symbol is read and written, through all calls that it is passed to."""
    known = {symbol: (bool(one.reads or one.requests), bool(one.writes)) for symbol, one in accesses.items()}
    users: dict[Symbol, list[Symbol]] = {}
    for symbol, one in accesses.items():
        for _, sub, number in one.passed:
            params = bound.parameters.get(sub, [])
            if number < len(params) and params[number] in known:
                users.setdefault(params[number], []).append(symbol)
    todo = list(known)
    while todo:
        below = todo.pop()
        for symbol in users.get(below, ()):
            both = tuple(a or b for a, b in zip(known[symbol], known[below], strict=True))
            if both != known[symbol]:
                known[symbol] = both
                todo.append(symbol)
    return known


def warn_of_accesses(bound: Bound, accesses: dict[Symbol, Access], problems: Problems) -> None:
    for symbol, (read, written) in effects(bound, accesses).items():
        if symbol.kind != "df" or not symbol.used or symbol.name in bound.program.doubtful:
            continue
        one = accesses[symbol]
        if written and not read:
            at = one.writes[0].at if one.writes else one.passed[0][0].at
            text = f"{symbol.name} is written, but nobody reads it"
            problems.warn(bound.expanded.place(at), text, "SEM4", "leave it out, or read it")
        elif read and not written:
            code, use = ("SEM3.1", "reads") if one.reads or not one.requests else ("SEM3.2", "requests")
            at = (one.reads or one.requests or [ref for ref, *_ in one.passed])[0].at
            text = f"nobody writes {symbol.name}: what {use} it will wait for ever"
            problems.warn(bound.expanded.place(at), text, code, f"have a subroutine write {symbol.name}")


def warn_of_unused(bound: Bound, problems: Problems) -> None:
    def warn(at: int, code: str, what: str, name: str) -> None:
        problems.warn(bound.expanded.place(at), f"{what} {name} is never used", code, "remove it")

    called = bound.called | {"main"}
    for symbol in bound.symbols:
        if symbol.kind in UNUSED and not symbol.used and not is_passive(bound, symbol):
            warn(symbol.at, *UNUSED[symbol.kind], symbol.name)
    for item in bound.program.items:
        if isinstance(item, tree.CppSub):
            words = set(WORD.findall(bound.expanded.foreign[item.body].text))
            for param in item.params:
                if param.name not in words:
                    warn(param.at, *UNUSED["parameter"], param.name)
        if isinstance(item, tree.CppSub | tree.Sub) and item.name not in called:
            warn(item.at, *kind_of(item), item.name)


def kind_of(item: tree.CppSub | tree.Sub) -> tuple[str, str]:
    """The code under which an unused subroutine is known, and what it is called."""
    if isinstance(item, tree.Sub):
        return "SYN5.5", "sub"
    return "SYN5.4", "body" if isinstance(item, tree.PythonSub) else "C++ sub"


def is_passive(bound: Bound, symbol: Symbol) -> bool:
    """Parameters of subroutines whose text could not be parsed are not complained about."""
    return symbol.name in bound.program.doubtful


def warn_of_recursion(bound: Bound, problems: Problems) -> None:
    """Subroutines that call themselves whatever happens: on a circle of calls that depend on no condition."""
    certain = {
        name: list(certain_calls(item.block))
        for name, item in bound.subs.items()
        if isinstance(item, tree.Sub)
    }
    for name in endless(certain):
        for call in certain[name]:
            if name in reachable(certain, call.sub):
                text = f"{name} calls itself without end: no condition stops it"
                fix = "put the call behind an `if`"
                problems.warn(bound.expanded.place(call.at), text, "SEM8", fix)
                break


def endless(certain: dict[str, list[tree.Call]]) -> list[str]:
    """The subroutines that are on a circle of calls or lead to one, found in linear time."""
    sorter = TopologicalSorter({name: {call.sub for call in calls} for name, calls in certain.items()})
    with suppress(CycleError):  # what is on no circle comes out all the same
        sorter.prepare()
    ending: set[str] = set()
    while ready := sorter.get_ready():
        ending.update(ready)
        sorter.done(*ready)
    return [name for name in certain if name not in ending]


def certain_calls(block: tree.Block) -> Iterator[tree.Call]:
    for statement in block.statements:
        if isinstance(statement, tree.Call):
            yield statement
        elif isinstance(statement, tree.Let):
            yield from certain_calls(statement.block)


def reachable(certain: dict[str, list[tree.Call]], start: str) -> set[str]:
    seen, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [call.sub for call in certain.get(name, ())]
    return seen
