# SPDX-License-Identifier: BSD-3-Clause
"""What each rule of `language.lark` makes of its parts: a node of the tree.

The methods are named as the rules.
"""

from typing import TYPE_CHECKING

from tailrace.fragments import tree

if TYPE_CHECKING:
    from tailrace.fragments.tables import Token

MAX_DEPTH = 1000


class TooDeepError(Exception):
    """A construct at the offset `at` is nested too deeply for the passes."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def deepened(node: tree.Node, *parts: tree.Node | None) -> tree.Node:
    """The node, whose depth follows from that of its parts."""
    depth = 0
    for part in parts:
        if part is not None and part.depth > depth:
            depth = part.depth
    node.depth = depth + 1
    if depth >= MAX_DEPTH:
        raise TooDeepError(node.at)
    return node


def foreign_index(mark: "Token") -> int:
    """The number of a foreign block, which its mark holds."""
    return int(mark.text[1:-1])


def known(parts: list) -> list:
    """The parts without the places of those that were left out."""
    return [part for part in parts if part is not None]


class BuildTree:
    """Callbacks of the parser; every one takes the list of a rule's parts."""

    def program(self, parts: list) -> list[tree.Item]:
        return parts

    # Items.

    def sub(self, parts: list) -> tree.Sub:
        hint, name, params, block = parts
        return tree.Sub(name.at, name.text, params, block, hint)

    def cpp_sub(self, parts: list) -> tree.CppSub:
        _, name, params, body = parts
        return tree.CppSub(name.at, name.text, params, foreign_index(body))

    def cpp_head(self, parts: list) -> tree.CppHead:
        return tree.CppHead(parts[0].at, foreign_index(parts[1]))

    def import_item(self, parts: list) -> tree.Import:
        function, params, alias, cuda, nocpu = parts
        name = (alias or function).text
        return tree.Import(function.at, function.text, name, params, cuda is not None, nocpu is None)

    def broken(self, parts: list) -> tree.Broken:
        return tree.Broken(parts[0].at)

    def params(self, parts: list) -> list[tree.Param]:
        return known(parts)

    exts = params

    def param(self, parts: list) -> tree.Param:
        kind, name = parts
        return tree.Param(kind.at if name is None else name.at, kind.text, "" if name is None else name.text)

    ext = param

    def type(self, parts: list) -> "Token":
        return parts[0] if len(parts) == 1 or parts[1] is None else parts[0]._replace(text="value &")

    # Blocks and statements.

    def bare_block(self, parts: list) -> tree.Block:
        return deepened(tree.Block(parts[0].at, [], parts, [], False), *parts)

    def block(self, parts: list) -> tree.Block:
        names, *statements, rules = parts
        return deepened(tree.Block(statements[0].at, names or [], statements, rules or [], True), *statements)

    def names(self, parts: list) -> list[tree.Name]:
        return [tree.Name(part.at, part.text) for part in parts]

    def call(self, parts: list) -> tree.Call:
        label, name, args, sets, deletes, rules = parts
        call = tree.Call(name.at, name.text, args, label, sets or [], deletes or [], rules or [])
        return deepened(call, *args)

    def let(self, parts: list) -> tree.Let:
        word, *bindings, block = parts
        return deepened(tree.Let(word.at, bindings, block), block)

    def binding(self, parts: list) -> tree.Binding:
        return deepened(tree.Binding(parts[0].at, parts[0].text, parts[1]), parts[1])

    def for_loop(self, parts: list) -> tree.For:
        word, hint, var, first, last, block = parts
        name = tree.Name(var.at, var.text)
        return deepened(tree.For(word.at, name, first, last, block, hint), first, last, block)

    def while_loop(self, parts: list) -> tree.While:
        word, hint, condition, var, start, out, block = parts
        name = tree.Name(var.at, var.text)
        loop = tree.While(word.at, condition, name, start, out, block, hint)
        return deepened(loop, condition, block)

    def condition(self, parts: list) -> tree.If:
        word, condition, block = parts
        return deepened(tree.If(word.at, condition, block), condition, block)

    def late_df(self, parts: list) -> tree.LateDf:
        return tree.LateDf(parts[0].at, parts[1])

    def hint(self, parts: list) -> tree.Hint:
        word, *values = parts
        return tree.Hint(word.at, word.text, known(values))

    # Recommendations. A rule of several flags is several nodes.

    def rules(self, parts: list) -> list[tree.Rule]:
        return [rule for part in parts for rule in part]

    def assign_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.AssignRule(parts[0].at, parts[0].text, parts[1], parts[2])]

    def map_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.MapRule(parts[0].at, parts[0].text, parts[1], parts[2])]

    def list_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.ListRule(parts[0].at, parts[0].text, parts[1:])]

    def expr_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.ExprRule(parts[0].at, parts[0].text, parts[1])]

    def flag_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.FlagRule(part.at, part.text) for part in parts]

    def broken_rule(self, parts: list) -> list[tree.Rule]:
        return []

    # Expressions.

    def exprs(self, parts: list) -> list[tree.Expression]:
        return known(parts)

    refs = exprs

    def ref(self, parts: list) -> tree.Ref:
        name, *indices = parts
        return deepened(tree.Ref(name.at, name.text, indices), *indices)

    def choice(self, parts: list) -> tree.Choice:
        condition, word, then, otherwise = parts
        return deepened(tree.Choice(word.at, condition, then, otherwise), condition, then, otherwise)

    def binary(self, parts: list) -> tree.Binary:
        left, op, right = parts
        return deepened(tree.Binary(op.at, op.text, left, right), left, right)

    def negative(self, parts: list) -> tree.Negative:
        return deepened(tree.Negative(parts[0].at, parts[1]), parts[1])

    def constant(self, parts: list, kind: str) -> tree.Constant:
        node = tree.Constant(parts[0].at, parts[0].text)
        node.type = kind
        return node

    def int_value(self, parts: list) -> tree.Constant:
        return self.constant(parts, "int")

    def real_value(self, parts: list) -> tree.Constant:
        return self.constant(parts, "real")

    def string_value(self, parts: list) -> tree.Constant:
        return self.constant(parts, "string")

    def unknown_value(self, parts: list) -> tree.Unknown:
        return tree.Unknown(parts[0].at)

    def cast(self, parts: list) -> tree.Cast:
        node = tree.Cast(parts[0].at, parts[0].text, parts[1])
        node.type = node.to
        return deepened(node, parts[1])

    def brackets(self, parts: list) -> tree.Expression:
        parts[0].bracketed = True
        return deepened(parts[0], parts[0])
