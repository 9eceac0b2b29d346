# SPDX-License-Identifier: BSD-3-Clause
"""The text of trees of the fragment language."""

from dataclasses import replace
from typing import Any

from fragment_meaning import Block, Call, Expr, For, If, Let, While

STRENGTH = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5} | dict.fromkeys(
    ["<", "<=", ">", ">=", "==", "!="], 3
)


def text(node: Expr, needed: int = 0) -> str:
    """An expression, in brackets where its operator binds less than `needed`."""
    match node:
        case ("int", value):
            return str(value)
        case ("real", value):
            return value
        case ("string", value):
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case ("ref", name, indices):
            return name + "".join(f"[{text(index)}]" for index in indices)
        case ("cast", to, inner):
            return f"{to}({text(inner)})"
        case ("neg", inner):
            return bracketed(f"-{text(inner, 6)}", 6, needed)
        case ("bin", op, a, b):
            own = STRENGTH[op]
            return bracketed(f"{text(a, own)} {op} {text(b, own + 1)}", own, needed)
        case ("choice", c, a, b):
            return bracketed(f"{text(c, 0)} ? {text(a)} : {text(b, 1)}", 0, needed)
    raise TypeError(node)


def bracketed(written: str, strength: int, needed: int) -> str:
    return f"({written})" if strength < needed else written


def text_of_block(block: Block, indent: str) -> str:
    declared = f"{indent}    df {', '.join(block.names)};\n" if block.names else ""
    inner = "".join(text_of_statement(one, indent + "    ") for one in block.statements)
    return f"{{\n{declared}{inner}{indent}}}{text_of_rules(block.rules)}\n"


def text_of_rules(rules: list[str]) -> str:
    return f" @ {{ {' '.join(rules)} }}" if rules else ""


def text_of_statement(one: Any, indent: str) -> str:
    match one:
        case Call():
            return f"{indent}{text_of_call(one)};\n"
        case For():
            head = f"for {one.var} = {text(one.first)}..{text(one.last)} "
            home = [f"locator_cyclic: {text(one.home)};"] if one.home else []
            return indent + head + text_of_block(replace(one.block, rules=one.block.rules + home), indent)
        case While():
            ends = f"{one.var} = {text(one.start)}..out {text(one.out)} "
            return f"{indent}while {text(one.condition)}, {ends}{text_of_block(one.block, indent)}"
        case If():
            return f"{indent}if {text(one.condition)} {text_of_block(one.block, indent)}"
        case Let():
            return f"{indent}let {one.name} = {text(one.value)} {text_of_block(one.block, indent)}"
    raise TypeError(one)


def text_of_call(call: Call) -> str:
    rules = list(call.rules)
    rules += [f"request {', '.join(map(text, call.requests))};"] if call.requests else []
    rules += [f"locator_cyclic: {text(call.home)};"] if call.home else []
    return (
        (f"cf {call.label}: " if call.label else "")
        + f"{call.sub}({', '.join(map(text, call.args))})"
        + (f" >> ({', '.join(map(text, call.sets))})" if call.sets else "")
        + (f" --> ({', '.join(map(text, call.deletes))})" if call.deletes else "")
        + text_of_rules(rules)
    )
