# SPDX-License-Identifier: BSD-3-Clause
"""Where the names of a checked program are, for editors: with declarations, types and places of execution.

In: `Bound`, also of a program with errors; out: `Occurrence`s and texts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property

from tailrace.fragments import tree
from tailrace.fragments.names import Bound, Symbol
from tailrace.fragments.source import Place, SourceFile

KEYWORDS = ("sub", "import", "as", "cf", "df", "let", "for", "while", "if", "out")
KEYWORDS += ("int", "real", "string", "name", "value")
# What is no child of a node.
APART = {"symbol", "at", "depth", "type"}


@dataclass(frozen=True)
class Occurrence:
    """A name in the text and what it means; `call` is the statement whose subroutine it names."""

    place: Place
    length: int
    target: Symbol | tree.Callable
    call: tree.Call | None = None

    def covers(self, offset: int) -> bool:
        return self.place.offset <= offset <= self.place.offset + self.length


def below(node: object) -> Iterator[tree.Node]:
    """A node and all that are below it."""
    if isinstance(node, list):
        for one in node:
            yield from below(one)
    elif isinstance(node, tree.Node):
        yield node
        for name in (field.name for field in fields(node) if field.name not in APART):
            yield from below(getattr(node, name))


class Lookup:
    """Answers of one version of a program."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.nodes = list(below(bound.program.items))

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """All names that are in the text itself, not brought there by a macro."""
        symbols = {symbol.at: symbol for symbol in self.bound.symbols}
        found = [(symbol.at, len(symbol.name), symbol, None) for symbol in symbols.values()]
        for node in self.nodes:
            if isinstance(node, tree.Ref) and isinstance(node.symbol, Symbol):
                found.append((node.at, len(node.name), node.symbol, None))
            elif isinstance(node, tree.Call) and node.sub in self.bound.subs:
                found.append((node.at, len(node.sub), self.bound.subs[node.sub], node))
            elif isinstance(node, tree.Callable):
                found.append((node.at, len(node.name), node, None))
        places = ((self.bound.expanded.place(at), *rest) for at, *rest in found)
        return [Occurrence(*one) for one in places if not one[0].macros]

    def at(self, file: SourceFile, offset: int) -> Occurrence | None:
        here = (one for one in self.occurrences if one.place.file is file and one.covers(offset))
        return next(here, None)

    def declaration(self, target: Symbol | tree.Callable) -> Place:
        return self.bound.expanded.place(target.at)

    # Texts.

    def about(self, one: Occurrence) -> list[str]:
        """What a name is, and where what it names runs or is kept."""
        if isinstance(one.target, Symbol):
            return [self.meaning(one.target), *self.homes(one.target)]
        return [signature(one.target), *self.runs(one.call)]

    def meaning(self, symbol: Symbol) -> str:
        line = self.declaration(symbol).line_and_column[0]
        if symbol.kind == "parameter":
            return f"parameter {symbol.type} {symbol.name}"
        kind = symbol.type or (symbol.value.type if symbol.value is not None else "")
        return f"{symbol.spoken} {symbol.name}{': ' + kind if kind else ''}, declared in line {line}"

    def homes(self, symbol: Symbol) -> Iterator[str]:
        """The rules that place a data fragment or labelled fragments."""
        rules = [node for node in self.nodes if isinstance(node, tree.MapRule) and node.ref.symbol is symbol]
        placing = [rule for rule in rules if rule.property.startswith("locator")]
        yield from (self.written(rule) for rule in placing)
        if symbol.kind == "df" and not placing:
            yield "kept on a rank that follows from its last index"

    def runs(self, call: tree.Call | None) -> Iterator[str]:
        if call is None:
            return
        placing = [rule for rule in call.rules if isinstance(rule, tree.ExprRule)]
        label = call.label.symbol if call.label is not None else None
        yield from (self.written(rule) for rule in placing)
        if not placing and isinstance(label, Symbol):
            yield from self.homes(label)

    def written(self, node: tree.Node) -> str:
        """The text of a rule, as far as it is in its line."""
        place = self.bound.expanded.place(node.at)
        line, column = place.line_and_column
        return place.file.line_text(line)[column - 1 :].partition(";")[0]

    def known_at(self, offset: int) -> list[Symbol]:
        """The names of the subroutine that an offset in the main file is in."""
        starts = sorted(
            self.bound.expanded.place(item.at).offset
            for item in self.bound.subs.values()
            if self.bound.expanded.place(item.at).file is self.bound.expanded.main
        )
        first = max((start for start in starts if start <= offset), default=0)
        last = min((start for start in starts if start > offset), default=None)
        return [symbol for symbol in self.bound.symbols if self.is_between(symbol, first, last)]

    def is_between(self, symbol: Symbol, first: int, last: int | None) -> bool:
        place = self.declaration(symbol)
        inside = first <= place.offset and (last is None or place.offset < last)
        return place.file is self.bound.expanded.main and inside


def signature(item: tree.Callable) -> str:
    head = {tree.Sub: "sub", tree.CppSub: "C++ sub", tree.Import: "import"}[type(item)]
    params = ", ".join(f"{param.type} {param.name}".strip() for param in item.params)
    return f"{head} {item.name}({params})"
