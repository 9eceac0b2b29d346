# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501
"""Random text of the fragment language: well-formed programs, and changes at random to them."""

import random

TOKENS = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "=",
    "=>",
    "..",
    "@",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    "<=",
    "==",
    "!=",
    "||",
    "&&",
    "?",
    ">>",
    "-->",
    "<<",
    "&",
    "!",
    '"',
    "`",
    "\\",
    "#",
    "$",
    "${{",
    "$}}",
    "//",
    "/*",
    "*/",
    "~",
    "\x01",
    "sub",
    "C++",
    "import",
    "as",
    "cf",
    "df",
    "let",
    "for",
    "while",
    "if",
    "out",
    "in",
    "int",
    "real",
    "string",
    "name",
    "value",
    "rush",
    "CUDA",
    "NOCPU",
    "main",
    "f",
    "g",
    "x",
    "y",
    "i",
    "n",
    "0",
    "1",
    "2.5",
    "1e3",
    "99999999999",
    '"text"',
    "$A",
    "$A(1)",
    "$F(1,\\,)",
    "#define",
    "#ifdef",
    "#endif",
    "#else",
    "#undef",
    '\n#include "part.fa"\n',
    '\n#include "loop.fa"\n',
    '\n#include "none.fa"\n',
    "locator_cyclic",
    "request",
    "req_count",
    "delete",
    "stealable",
    "nfparam",
    "é",
    "\n",
    "\t",
]
HEAD = """#define A 3
#define F(a, b) ($a + $b)
import h(int, value `v, name) as g;
C++ sub f(int a, name r) ${{ r = a; $}}
C++ sub k(value v, string s) ${<END} { } END
"""


class Programs:
    """Well-formed programs with names in scope; `depth` bounds how far constructs are nested."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = 0

    def program(self) -> str:
        """Most are short, so that more of their text is changed by a few changes."""
        one = self.random
        depth, most = one.choice([(3, 2), (1, 1), (0, 0), (0, 0)])
        subs = "".join(
            f"sub s{n}(name x, int n) {self.block(depth - 1)}\n" for n in range(one.randint(0, most))
        )
        return HEAD + subs + f"sub main(int n) {{ df x, y; {self.statements(depth)} }} {self.rules()}\n"

    def block(self, depth: int) -> str:
        return f"{{ df y; {self.statements(depth)} }}"

    def statements(self, depth: int) -> str:
        return " ".join(self.statement(depth) for _ in range(self.random.randint(1, 3)))

    def statement(self, depth: int) -> str:
        one, self.numbers = self.random, self.numbers + 1
        expr, ref, name = self.expr, self.ref, f"c{self.numbers}"
        kinds = [
            lambda: f"f({expr()}, {ref()}) {self.rules()};",
            lambda: f"cf l{name}[{expr()}]: g({expr()}, {expr()}, {ref()}) >> ({ref()}) --> ({ref()});",
            lambda: f'k({expr()}, "a\\"{name}");',
        ]
        if depth:
            below = lambda: self.statements(depth - 1) if one.random() < 0.3 else self.statement(depth - 1)  # noqa: E731
            braces = lambda: "{ " + below() + " } " + self.rules()  # noqa: E731
            kinds += [
                lambda: f"for {name} = {expr()}..{expr()} {braces()}",
                lambda: f"while {expr()}, {name} = {expr()}..out {ref()} {braces()}",
                lambda: f"if {expr()} {braces()}",
                lambda: f"let {name} = {expr()} {braces()}",
            ]
        return one.choice(kinds)()

    def rules(self) -> str:
        one = self.random
        some = [
            f"locator_cyclic: {self.expr()};", f"request {self.ref()};", f"req_count {self.ref()} = {self.expr()};",
            "stealable;", f"delete {self.ref()}, {self.ref()};",
        ]  # fmt: skip
        return "@ { " + " ".join(one.sample(some, one.randint(1, 2))) + " }" if one.random() < 0.3 else ""

    def ref(self) -> str:
        return self.random.choice("xy") + "".join(
            f"[{self.expr(1)}]" for _ in range(self.random.randint(0, 2))
        )

    def expr(self, depth: int = 2) -> str:
        one = self.random
        if not depth or one.random() < 0.4:
            return one.choice(["n", "1", "7", "$A", "x", "y[2]", "$F(n, 2)"])
        op = one.choice(["+", "-", "*", "/", "%", "<", "<=", "==", "!=", "&&", "||"])
        sides = self.expr(depth - 1), self.expr(depth - 1)
        return one.choice(
            [
                f"({sides[0]} {op} {sides[1]})",
                f"-{sides[0]}",
                f"int({sides[0]})",
                f"({sides[0]} ? 1 : {sides[1]})",
            ]
        )


def mutated(text: str, seed: int) -> str:
    """The text with a few tokens or characters taken out, put in, doubled or exchanged."""
    one = random.Random(seed)
    for _ in range(one.randint(1, 4)):
        at = one.randrange(len(text) + 1)
        length = one.choice([0, 0, 1, 1, 2, 5, 40])
        new = one.choice(
            ["", one.choice(TOKENS), f" {one.choice(TOKENS)} ", text[at : at + one.randint(1, 30)] * 2]
        )
        text = text[:at] + new + text[at + length :]
    return text
