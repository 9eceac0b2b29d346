# SPDX-License-Identifier: BSD-3-Clause
"""Types and conversions: constants are decoded, and what cannot fit together is found where types are known.

In: `Bound`; out: the same, with `type` of every expression filled in.
"""

import re

from tailrace.fragments import tree
from tailrace.fragments.names import Bound, Symbol, hint_values
from tailrace.fragments.problems import Problems
from tailrace.fragments.walk import callee_params

ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "\n": ""}
MAX_INT = 2**31 - 1
NUMBERS = ("int", "real")


def check_types(bound: Bound, problems: Problems) -> None:
    for item in bound.program.items:
        if isinstance(item, tree.Sub):
            Checker(bound, problems).block(item.block)


class Checker:
    """Finds the types of all expressions of a subroutine."""

    def __init__(self, bound: Bound, problems: Problems) -> None:
        self.bound, self.problems = bound, problems
        self.in_rule = False

    def error(self, at: int, text: str, code: str = "SYN1", fix: str = "") -> None:
        self.problems.error(self.bound.expanded.place(at), text, code, fix)

    def warn(self, at: int, text: str, code: str, fix: str = "") -> None:
        self.problems.warn(self.bound.expanded.place(at), text, code, fix)

    # Statements.

    def block(self, block: tree.Block) -> None:
        for statement in block.statements:
            self.statement(statement)
        self.rules(block.rules)

    def statement(self, statement: tree.Node) -> None:
        match statement:
            case tree.Call():
                self.call(statement)
            case tree.Let():
                for binding in statement.bindings:
                    self.type_of(binding.value)
            case tree.For():
                self.bounds(statement, [statement.first, statement.last])
            case tree.While():
                self.bounds(statement, [statement.start])
                self.condition(statement.condition)
                self.type_of(statement.out)
            case tree.If():
                self.condition(statement.condition)
        if (block := getattr(statement, "block", None)) is not None:
            self.block(block)

    def bounds(self, loop: tree.For | tree.While, values: list[tree.Expression]) -> None:
        for value in values:
            self.whole(value, "a bound")
        for value in hint_values(loop):
            self.type_of(value)

    def whole(self, value: tree.Expression, what: str) -> None:
        if (found := self.type_of(value)) not in ("int", ""):
            self.error(value.at, f"{what} is a {found}, where an int is needed", "SYN1", "int(...) converts")

    def condition(self, value: tree.Expression) -> None:
        if self.type_of(value) == "string":
            self.error(value.at, "a condition is a string", "SYN1", 'compare it, as in s == "yes"')

    def call(self, call: tree.Call) -> None:
        for ref in (*call.sets, *call.deletes, *([call.label] if call.label else [])):
            self.type_of(ref)
        self.rules(call.rules)
        for number, (argument, param) in enumerate(callee_params(self.bound, call), start=1):
            self.argument(call, number, argument, param)

    def rules(self, rules: list[tree.Rule]) -> None:
        self.in_rule = True
        for rule in rules:
            for ref in rule.refs if isinstance(rule, tree.ListRule) and rule.property != "nfparam" else ():
                self.type_of(ref)
            if isinstance(rule, tree.AssignRule):
                self.type_of(rule.ref)
            if rule.property == "afterpush" and isinstance(rule, tree.MapRule):
                self.type_of(rule.ref)
                self.type_of(rule.value)
            elif isinstance(rule, tree.AssignRule | tree.ExprRule | tree.MapRule):
                self.whole(rule.value, f"the value of {rule.property}")
        self.in_rule = False

    # Arguments.

    def argument(
        self, call: tree.Call, number: int, value: tree.Expression, param: tree.Param | None
    ) -> None:
        found = self.type_of(value)
        if param is None or isinstance(value, tree.Unknown):
            return
        if param.type == "name":
            return self.name_argument(call, number, value, param)
        if param.type in ("value", "value &") or found in ("", param.type):
            return None
        return self.converted(call, number, value, param, found)

    def name_argument(self, call: tree.Call, number: int, value: tree.Expression, param: tree.Param) -> None:
        target = stands_for(value)
        symbol = target.symbol if isinstance(target, tree.Ref) else None
        if isinstance(target, tree.Ref) and (symbol is None or symbol.is_data):
            return
        what = "an expression" if symbol is None else f"a {symbol.spoken}"
        self.mismatch(call, number, value, param, what, "pass a data fragment, declared with df")

    def converted(
        self, call: tree.Call, number: int, value: tree.Expression, param: tree.Param, found: str
    ) -> None:
        target = stands_for(value)
        single = isinstance(target, tree.Ref)
        fix = f"{param.type}(...) converts"
        if found == "string" or (found == "real" and (param.type == "string" or single)):
            return self.mismatch(call, number, value, param, f"a {found}", fix)
        if (found, param.type) == ("int", "real"):
            return None
        text = "is truncated to an int" if found == "real" else "is converted to a string"
        self.warn(value.at, f"argument {number} of {call.sub}, {spoken(found)}, {text}", "SYN1", fix)
        return None

    def mismatch(
        self, call: tree.Call, number: int, value: tree.Expression, param: tree.Param, what: str, fix: str
    ) -> None:
        declared = self.bound.expanded.place(self.bound.subs[call.sub].at)
        name = f"parameter {param.name}" if param.name else "the parameter"
        wanted = f"{name} is {spoken(param.type)}. Declared at {declared}."
        text = f"argument {number} of {call.sub} is {what}, {wanted}"
        self.error(start_of(value), text, "SYN1", fix)

    # Expressions.

    def type_of(self, node: tree.Expression) -> str:
        match node:
            case tree.Constant():
                self.constant(node)
            case tree.Ref():
                node.type = self.reference(node)
            case tree.Cast():
                self.type_of(node.value)
            case tree.Negative():
                node.type = self.negative(node)
            case tree.Binary():
                node.type = self.binary(node)
            case tree.Choice():
                node.type = self.choice(node)
        return node.type

    def constant(self, node: tree.Constant, limit: int = MAX_INT) -> None:
        if not isinstance(node.value, str):
            return
        if node.type == "string":
            node.value = ESCAPE.sub(lambda found: self.escape(node, found), node.value[1:-1])
        elif node.type == "real":
            node.value = float(node.value)
            if node.value == float("inf"):
                self.error(node.at, "a real is at most 1.8e308", "SYN1", "a smaller number")
        else:
            digits = node.value.lstrip("0") or "0"
            node.value = int(digits) if len(digits) <= 10 else MAX_INT + 2
            if node.value > limit:
                self.error(node.at, f"an int is at most {MAX_INT}", "SYN1", "a smaller number, or a real")

    def escape(self, node: tree.Constant, found: re.Match[str]) -> str:
        if found[1] not in ESCAPES:
            at = node.at + 1 + found.start()
            self.error(
                at, f"unknown escape {found[0]}", "SYN", r"\" \\ \n \t, or a backslash before a new line"
            )
        return ESCAPES.get(found[1], "")

    def reference(self, node: tree.Ref) -> str:
        for index in node.indices:
            self.whole(index, f"an index of {node.name}")
        symbol = node.symbol
        if symbol is None:
            return ""
        if symbol.kind == "nfparam" and not self.in_rule:
            self.error(
                node.at, f"nfparam {node.name} is read outside of recommendations", "SEM10", "pass an int"
            )
        return type_of_symbol(symbol)

    def negative(self, node: tree.Negative) -> str:
        if isinstance(node.value, tree.Constant) and node.value.type == "int":
            self.constant(node.value, MAX_INT + 1)
        found = self.type_of(node.value)
        if found == "string":
            self.bad_on_strings(node.at, "-")
        return found

    def bad_on_strings(self, at: int, op: str) -> None:
        self.error(at, f"invalid operation on strings: {op}", "SYN1", "strings have +, == and !=")

    def binary(self, node: tree.Binary) -> str:
        left, right = self.type_of(node.left), self.type_of(node.right)
        types = (left, right)
        if "string" in types and not self.fits_strings(node, types):
            self.bad_on_strings(node.at, node.op)
        if node.op == "%" and "real" in types:
            self.error(node.at, "% takes ints only, got a real", "SYN1", "int(...) converts")
        self.check_truth(node)
        if node.op in ("||", "&&", "==", "!=", "<", "<=", ">", ">="):
            return "int"
        if "string" in types and node.op == "+":
            return "string"
        return common(types)

    def fits_strings(self, node: tree.Binary, types: tuple[str, str]) -> bool:
        if node.op == "+":
            for side, found in zip((node.left, node.right), types, strict=True):
                if found == "real":
                    self.error(start_of(side), "a real is added to a string", "SYN1", "string(...) converts")
            return True
        return node.op in ("==", "!=") and set(types) <= {"string", ""}

    def check_truth(self, node: tree.Binary) -> None:
        if node.op in ("||", "&&"):
            return
        for side in (node.left, node.right):
            if isinstance(side, tree.Binary) and side.op in ("||", "&&", "==", "!=", "<", "<=", ">", ">="):
                text = f"the truth value of {side.op} is used as a number"
                self.warn(side.at, text, "SEM7", "a < b && b < c compares three values")

    def choice(self, node: tree.Choice) -> str:
        self.condition(node.condition)
        types = (self.type_of(node.then), self.type_of(node.otherwise))
        if "string" in types and set(types) & set(NUMBERS):
            self.error(
                node.at, f"?: has branches of types {types[0]} and {types[1]}", "SYN1", "string(...) converts"
            )
        if isinstance(node.condition, tree.Choice) and not node.condition.bracketed:
            text = "a chain of ?: groups to the left: (a ? b : c) ? d : e"
            self.warn(node.at, text, "CHAIN", "write brackets")
        return common(types)


def common(types: tuple[str, str]) -> str:
    """The type of two operands together, '' where one is not known."""
    if types[0] == types[1]:
        return types[0]
    if "" in types:
        return ""
    return "real" if "real" in types else "string"


def stands_for(value: tree.Expression) -> tree.Expression:
    """The expression itself, or what a let name in its place means."""
    while isinstance(value, tree.Ref) and isinstance(value.symbol, Symbol) and value.symbol.value is not None:
        value = value.symbol.value
    return value


def type_of_symbol(symbol: Symbol) -> str:
    if symbol.value is not None:
        return symbol.value.type
    return "" if symbol.type in ("name", "value", "value &") else symbol.type


def spoken(found: str) -> str:
    return f"an {found}" if found == "int" else f"a {found}"


def start_of(node: tree.Expression) -> int:
    """The offset of the first character of an expression, brackets aside."""
    while isinstance(node, tree.Binary | tree.Choice):
        node = node.left if isinstance(node, tree.Binary) else node.condition
    return node.at
