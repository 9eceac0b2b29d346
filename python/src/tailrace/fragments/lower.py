# SPDX-License-Identifier: BSD-3-Clause
"""Lowers a checked program to the serialised form (docs/formats/fragment_program.md).

In: `Bound` without errors; out: the document.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tailrace.fragments import tree
from tailrace.fragments.names import Bound, Symbol, labels_of
from tailrace.fragments.source import SourceFile

VERSION = 1
PYTHON_BODY = "tailrace_python_body"


def lower(bound: Bound, options: Sequence[str] = ()) -> dict:
    """The document of a program, with the texts of all files that it was made of, and options of its runs."""
    lowering = Lowering(bound)
    called = bound.called | {"main"}
    # Imports that nobody calls may have no function.
    kept = {
        name: item for name, item in bound.subs.items() if name in called or not isinstance(item, tree.Import)
    }
    subs = {name: lowering.sub(item) for name, item in kept.items()}
    files = [{"name": file.name, "text": file.text} for file in lowering.files]
    name = Path(bound.expanded.main.name).stem
    document = {"tailrace_fragments": VERSION, "name": name, "files": files, "subs": subs, "main": "main"}
    return document | ({"options": [*options]} if options else {})


def symbol_of(item: tree.CppSub | tree.Import) -> str:
    """The symbol of a body in the shared object; bodies in Python have one for all."""
    return PYTHON_BODY if isinstance(item, tree.PythonSub) else f"tailrace_body_{item.name}"


class Lowering:
    """Makes nodes of the document; `files` are those that places have named so far."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.files: dict[SourceFile, int] = {bound.expanded.main: 0}
        names: tuple[set[str], set[str]] = (set(), set())
        for symbol in bound.symbols:
            names[symbol.kind == "label"].add(symbol.name)
        self.ambiguous = names[0] & names[1]

    def at(self, node: tree.Node) -> list[int]:
        place = self.bound.expanded.place(node.at)
        return [self.files.setdefault(place.file, len(self.files)), *place.line_and_column]

    def name(self, ref: tree.Ref) -> str:
        symbol = ref.symbol
        is_label = isinstance(symbol, Symbol) and symbol.kind == "label"
        return self.label(ref.name) if is_label else ref.name

    def label(self, name: str) -> str:
        """A label as the document has it, where labels and data share their names."""
        return f"cf {name}" if name in self.ambiguous else name

    # Subroutines and blocks.

    def sub(self, item: tree.Callable) -> dict:
        head = {"at": self.at(item), "args": [self.arg(*param) for param in enumerate(item.params, start=1)]}
        if not isinstance(item, tree.Sub):
            return head | {"type": "extern", "code": symbol_of(item)}
        nfparams = self.bound.nfparams[item.name]
        return head | {"type": "struct", "nfparams": nfparams} | self.block(item.block, labels=True)

    def arg(self, number: int, param: tree.Param) -> dict:
        name = param.name or f"argument_{number}"
        return {"type": param.type.replace(" ", ""), "id": name, "at": self.at(param)}

    def block(self, block: tree.Block, labels: bool = False) -> dict:
        names = [{"id": name.text, "at": self.at(name)} for name in block.names]
        known = list(dict.fromkeys(self.label(ref.name) for ref in labels_of(block)))
        known = known if labels or block.braces else []
        declared = [{"type": "dfs", "names": names, "labels": known}] if names or known else []
        body = [self.statement(statement) for statement in block.statements]
        return {"body": declared + body, "rules": self.rules(block.rules)}

    # Statements.

    def statement(self, node: tree.Node) -> dict:
        at = {"at": self.at(node)}
        match node:
            case tree.Call():
                return at | self.call(node)
            case tree.Let():
                names = [
                    {"id": one.name, "expr": self.expr(one.value), "at": self.at(one)}
                    for one in node.bindings
                ]
                return at | {"type": "let", "names": names} | self.block(node.block)
            case tree.For():
                ends = {"first": self.expr(node.first), "last": self.expr(node.last)}
                return at | {"type": "for", "var": node.var.text} | ends | self.block(node.block)
            case tree.While():
                values = {"cond": self.expr(node.condition), "start": self.expr(node.start)}
                head = {"type": "while", "var": node.var.text, "wout": self.expr(node.out)}
                return at | head | values | self.block(node.block)
            case tree.If():
                return at | {"type": "if", "cond": self.expr(node.condition)} | self.block(node.block)
        raise TypeError(f"no statement: {node}")

    def call(self, call: tree.Call) -> dict:
        fields = {
            "type": "exec",
            "code": call.sub,
            "args": self.exprs(call.args),
            "rules": self.rules(call.rules),
        }
        if call.label is not None:
            fields["id"] = self.expr(call.label)
        if call.sets:
            fields["set"] = self.exprs(call.sets)
        if call.deletes:
            fields["delete"] = self.exprs(call.deletes)
        return fields

    # Recommendations. Unknown ones are warned of by the checks, and left out.

    def rules(self, rules: Iterable[tree.Rule]) -> list[dict]:
        return [
            {"at": self.at(rule), "property": rule.property} | fields
            for rule in rules
            if (fields := self.rule(rule)) is not None
        ]

    def rule(self, rule: tree.Rule) -> dict | None:
        match rule:
            case tree.ListRule(property="nfparam"):
                return None
            case tree.ListRule(property="request" | "wait" | "delete" | "req_unlimited"):
                return {"ruletype": "indexed", "refs": self.exprs(rule.refs)}
            case tree.MapRule(property="afterpush"):
                return {"ruletype": "afterpush", "ref": self.expr(rule.ref), "to": self.expr(rule.value)}
            case tree.MapRule(property="locator_cyclic" | "locator_replicating" | "nfparam"):
                return self.map_rule(rule)
            case tree.AssignRule(property="req_count"):
                return {"ruletype": "assign", "ref": self.expr(rule.ref), "expr": self.expr(rule.value)}
            case tree.ExprRule(property="locator_cyclic"):
                return {"ruletype": "expr", "expr": self.expr(rule.value)}
            case tree.FlagRule(property="stealable" | "unroll_at_once"):
                return {"ruletype": "flags"}
        return None

    def map_rule(self, rule: tree.MapRule) -> dict:
        value = rule.value
        everywhere = (
            rule.property == "locator_replicating" and isinstance(value, tree.Ref) and value.name == "all"
        )
        indices = [index.name for index in rule.ref.indices if isinstance(index, tree.Ref)]
        expr = {"s": "all"} if everywhere else self.expr(value)
        return {"ruletype": "map", "ref": self.name(rule.ref), "indices": indices, "expr": expr}

    # Expressions, in postfix order.

    def exprs(self, nodes: Iterable[tree.Expression]) -> list[list]:
        return [self.expr(node) for node in nodes]

    def expr(self, node: tree.Expression) -> list:
        out: list = []
        self.push(node, out)
        return out

    def push(self, node: tree.Expression, out: list) -> None:
        match node:
            case tree.Constant():
                out.append({"s": node.value} if node.type == "string" else node.value)
            case tree.Ref():
                self.push_all(node.indices, out)
                count = {"n": len(node.indices)} if node.indices else {}
                out.append({"id": self.name(node), "at": self.at(node)} | count)
            case tree.Negative(value=tree.Constant(type="int")):
                out.append(-node.value.value)
            case tree.Negative():
                self.operation(node, "neg", [node.value], out)
            case tree.Cast():
                self.operation(node, node.to, [node.value], out)
            case tree.Binary():
                self.operation(node, node.op, [node.left, node.right], out)
            case tree.Choice():
                self.operation(node, "?:", [node.condition, node.then, node.otherwise], out)

    def push_all(self, nodes: Iterable[tree.Expression], out: list) -> None:
        for node in nodes:
            self.push(node, out)

    def operation(self, node: tree.Expression, op: str, operands: list[tree.Expression], out: list) -> None:
        self.push_all(operands, out)
        out.append({"op": op, "at": self.at(node)})
