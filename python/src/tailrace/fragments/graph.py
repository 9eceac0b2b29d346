# SPDX-License-Identifier: BSD-3-Clause
"""A drawing of a program for Graphviz: which fragments read and write which data.

In: `Bound` without errors; out: text in the language DOT.
"""

from collections.abc import Iterable, Iterator

from tailrace.fragments import tree
from tailrace.fragments.names import Bound, Symbol
from tailrace.fragments.types import stands_for
from tailrace.fragments.usage import references
from tailrace.fragments.walk import callee_params


def drawing(bound: Bound) -> str:
    """Each subroutine with statements is a frame; loops and conditions are frames in it."""
    lines = ["digraph program {", "  rankdir = LR;", "  node [fontname = sans, fontsize = 11];"]
    draw = Drawing(bound)
    for item in bound.program.items:
        if isinstance(item, tree.Sub):
            lines += draw.frame(f"sub {item.name}", item.block, "  ")
    edges = [f"  {edge};" for edge in dict.fromkeys(draw.edges)]
    return "\n".join([*lines, *edges, "}"]) + "\n"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Drawing:
    """Numbers the nodes, and collects the edges between them."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.edges: list[str] = []
        self.count = 0
        # The node whose edges are collected.
        self.this = ""
        self.data = {symbol: f"d{number}" for number, symbol in enumerate(bound.symbols) if symbol.is_data}
        self.declared = {(symbol.kind, symbol.at): symbol for symbol in self.data}

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def frame(self, label: str, block: tree.Block, indent: str) -> Iterator[str]:
        """A frame with the data that is declared in it and its statements."""
        yield f"{indent}subgraph cluster_{self.fresh('f')} {{"
        yield f"{indent}  label = {quoted(label)};"
        kind, _, name = label.partition(" ")
        own = self.bound.parameters.get(name, []) if kind == "sub" else []
        names = [self.declared.get(("df", name.at)) for name in block.names]
        for symbol in [*own, *names]:
            if symbol in self.data:
                yield f"{indent}  {self.data[symbol]} [shape = ellipse, label = {quoted(symbol.name)}];"
        for statement in block.statements:
            yield from self.statement(statement, indent + "  ")
        yield f"{indent}}}"

    def statement(self, node: tree.Node, indent: str) -> Iterator[str]:
        match node:
            case tree.Call():
                yield self.node(node.sub, "box", node, indent)
                self.call(node)
            case tree.For():
                yield from self.structured(node, f"for {node.var.text}", [node.first, node.last], indent)
            case tree.While():
                reads = [node.start, node.condition]
                yield from self.structured(node, f"while {node.var.text}", reads, indent)
            case tree.If():
                yield from self.structured(node, "if", [node.condition], indent)
            case tree.Let():
                names = ", ".join(one.name for one in node.bindings)
                yield from self.frame(f"let {names}", node.block, indent)

    def structured(
        self, node: tree.For | tree.While | tree.If, label: str, reads: list[tree.Expression], indent: str
    ) -> Iterator[str]:
        """What unfolds is a node, too, which reads bounds and conditions; `while` writes a name."""
        yield self.node(label, "diamond", node, indent)
        self.read(reads)
        if isinstance(node, tree.While):
            self.write(node.out)
        yield from self.frame(label, node.block, indent)

    def node(self, label: str, shape: str, node: tree.Node, indent: str) -> str:
        self.this = self.fresh("s")
        place = self.bound.expanded.place(node.at)
        line = place.line_and_column[0]
        link = f'URL = "#line-{line}", ' if place.file is self.bound.expanded.main else ""
        return f"{indent}{self.this} [shape = {shape}, {link}label = {quoted(f'{label}:{line}')}];"

    # Edges of the node `this`.

    def call(self, call: tree.Call) -> None:
        for ref in call.sets:
            self.write(ref)
        for argument, param in callee_params(self.bound, call):
            target = stands_for(argument)
            if param is None or param.type != "name" or not isinstance(target, tree.Ref):
                self.read([argument])
            elif isinstance(self.bound.subs[call.sub], tree.Sub):
                self.read(target.indices)
                self.edge(target.symbol, "{node} -> {data} [dir = both]")
            else:
                self.write(target)

    def read(self, nodes: Iterable[tree.Expression]) -> None:
        for node in nodes:
            for ref in references(node):
                self.edge(ref.symbol, "{data} -> {node}")

    def write(self, ref: tree.Ref) -> None:
        target = stands_for(ref)
        self.read(target.indices)
        self.edge(target.symbol, "{node} -> {data}")

    def edge(self, symbol: Symbol | None, form: str) -> None:
        if symbol in self.data:
            self.edges.append(form.format(node=self.this, data=self.data[symbol]))
