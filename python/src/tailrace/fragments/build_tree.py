# SPDX-License-Identifier: BSD-3-Clause
"""What each rule of `language.lark` makes of its parts: a node of the tree.

The methods are named as the rules.
"""

from lark import Token

from tailrace.fragments import tree

MAX_DEPTH = 1000


class TooDeepError(Exception):
    """A construct at the offset `at` is nested too deeply for the passes."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def deepened(node: tree.Node, *parts: tree.Node | None) -> tree.Node:
    """The node, whose depth follows from that of its parts."""
    node.depth = 1 + max((part.depth for part in parts if part is not None), default=0)
    if node.depth > MAX_DEPTH:
        raise TooDeepError(node.at)
    return node


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
        return tree.Sub(name.start_pos, str(name), params, block, hint)

    def cpp_sub(self, parts: list) -> tree.CppSub:
        _, name, params, body = parts
        return tree.CppSub(name.start_pos, str(name), params, int(body[1:-1]))

    def cpp_head(self, parts: list) -> tree.CppHead:
        return tree.CppHead(parts[0].start_pos, int(parts[1][1:-1]))

    def import_item(self, parts: list) -> tree.Import:
        function, params, alias, cuda, nocpu = parts
        name = str(alias or function)
        return tree.Import(function.start_pos, str(function), name, params, cuda is not None, nocpu is None)

    def broken(self, parts: list) -> tree.Broken:
        return tree.Broken(parts[0].start_pos)

    def params(self, parts: list) -> list[tree.Param]:
        return known(parts)

    exts = params

    def param(self, parts: list) -> tree.Param:
        kind, name = parts
        return tree.Param(kind.start_pos if name is None else name.start_pos, str(kind), str(name or ""))

    ext = param

    def type(self, parts: list) -> Token:
        return parts[0] if len(parts) == 1 or parts[1] is None else parts[0].update(value="value &")

    # Blocks and statements.

    def bare_block(self, parts: list) -> tree.Block:
        return deepened(tree.Block(parts[0].at, [], parts, [], False), *parts)

    def block(self, parts: list) -> tree.Block:
        names, *statements, rules = parts
        return deepened(tree.Block(statements[0].at, names or [], statements, rules or [], True), *statements)

    def names(self, parts: list) -> list[tree.Name]:
        return [tree.Name(part.start_pos, str(part)) for part in parts]

    def call(self, parts: list) -> tree.Call:
        label, name, args, sets, deletes, rules = parts
        call = tree.Call(name.start_pos, str(name), args, label, sets or [], deletes or [], rules or [])
        return deepened(call, *args)

    def let(self, parts: list) -> tree.Let:
        word, *bindings, block = parts
        return deepened(tree.Let(word.start_pos, bindings, block), block)

    def binding(self, parts: list) -> tree.Binding:
        return deepened(tree.Binding(parts[0].start_pos, str(parts[0]), parts[1]), parts[1])

    def for_loop(self, parts: list) -> tree.For:
        word, hint, var, first, last, block = parts
        name = tree.Name(var.start_pos, str(var))
        return deepened(tree.For(word.start_pos, name, first, last, block, hint), first, last, block)

    def while_loop(self, parts: list) -> tree.While:
        word, hint, condition, var, start, out, block = parts
        name = tree.Name(var.start_pos, str(var))
        loop = tree.While(word.start_pos, condition, name, start, out, block, hint)
        return deepened(loop, condition, block)

    def condition(self, parts: list) -> tree.If:
        word, condition, block = parts
        return deepened(tree.If(word.start_pos, condition, block), condition, block)

    def late_df(self, parts: list) -> tree.LateDf:
        return tree.LateDf(parts[0].start_pos, parts[1])

    def hint(self, parts: list) -> tree.Hint:
        values = known(parts)
        return tree.Hint(values[0].at if values else 0, values)

    # Recommendations. A rule of several flags is several nodes.

    def rules(self, parts: list) -> list[tree.Rule]:
        return [rule for part in parts for rule in part]

    def assign_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.AssignRule(parts[0].start_pos, str(parts[0]), parts[1], parts[2])]

    def map_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.MapRule(parts[0].start_pos, str(parts[0]), parts[1], parts[2])]

    def list_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.ListRule(parts[0].start_pos, str(parts[0]), parts[1:])]

    def expr_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.ExprRule(parts[0].start_pos, str(parts[0]), parts[1])]

    def flag_rule(self, parts: list) -> list[tree.Rule]:
        return [tree.FlagRule(part.start_pos, str(part)) for part in parts]

    def broken_rule(self, parts: list) -> list[tree.Rule]:
        return []

    # Expressions.

    def exprs(self, parts: list) -> list[tree.Expression]:
        return known(parts)

    refs = exprs

    def ref(self, parts: list) -> tree.Ref:
        name, *indices = parts
        return deepened(tree.Ref(name.start_pos, str(name), indices), *indices)

    def choice(self, parts: list) -> tree.Choice:
        condition, word, then, otherwise = parts
        return deepened(tree.Choice(word.start_pos, condition, then, otherwise), condition, then, otherwise)

    def binary(self, parts: list) -> tree.Binary:
        left, op, right = parts
        return deepened(tree.Binary(op.start_pos, str(op), left, right), left, right)

    def negative(self, parts: list) -> tree.Negative:
        return deepened(tree.Negative(parts[0].start_pos, parts[1]), parts[1])

    def constant(self, parts: list, kind: str) -> tree.Constant:
        node = tree.Constant(parts[0].start_pos, str(parts[0]))
        node.type = kind
        return node

    def int_value(self, parts: list) -> tree.Constant:
        return self.constant(parts, "int")

    def real_value(self, parts: list) -> tree.Constant:
        return self.constant(parts, "real")

    def string_value(self, parts: list) -> tree.Constant:
        return self.constant(parts, "string")

    def unknown_value(self, parts: list) -> tree.Unknown:
        return tree.Unknown(parts[0].start_pos)

    def cast(self, parts: list) -> tree.Cast:
        node = tree.Cast(parts[0].start_pos, str(parts[0]), parts[1])
        node.type = node.to
        return deepened(node, parts[1])

    def brackets(self, parts: list) -> tree.Expression:
        parts[0].bracketed = True
        return deepened(parts[0], parts[0])
