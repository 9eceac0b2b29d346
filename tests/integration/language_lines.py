# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501
"""The lines of the fragment language's description, each with programs that run and programs that are refused.

A program without `sub main` is the statements of SHORT. Places are LINE:COLUMN of the text as it is here. The words
of a refusal are in its message; a code that begins with "run" is of one that ends while it runs.
"""

from dataclasses import dataclass, field

BODIES = r"""#include <ucenv.h>
#include <stdexcept>
extern "C" void c_set(const InputDF &v, OutputDF &r) { r = v; }
extern "C" void c_show(const InputDF &v) {
  const auto kind = v.get_type();
  if (kind == 1) printf("int %d\n", v.get_int());
  if (kind == 2) printf("real %.17g\n", v.get_real());
  if (kind == 3) printf("string %s\n", v.get_string().c_str());
  if (kind == 4) printf("value of %zu\n", v.getSize());
}
extern "C" void c_int(int v) { printf("int %d\n", v); }
extern "C" void c_real(double v) { printf("real %.17g\n", v); }
extern "C" void c_text(const char *v) { printf("string %s\n", v); }
extern "C" void c_pass(InputDF &v, OutputDF &r) { r.copy(v); }
extern "C" void c_block(int n, OutputDF &r) { r.create<int>(n, 1); }
extern "C" void c_two(int a, OutputDF &r, OutputDF &s) { r = a; s = a + 1; }
extern "C" void c_nothing() {}
"""
HEAD = (
    "import c_set(value, name) as set; import c_show(value) as show; import c_int(int) as show_int; "
    "import c_real(real) as show_real; import c_text(string) as show_text; import c_pass(value &, name) as pass; "
    "import c_block(int, name) as block; import c_two(int, name, name) as two; import c_nothing() as nothing;\n"
)
SHORT = "sub main(int n, string s) {{ df x, y; {} }}\n"
WORDS = (3, "abc")  # of SHORT


@dataclass(frozen=True)
class Runs:
    """A program that runs, and what it prints, in any order."""

    text: str
    out: str
    defines: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    compiled: bool = False
    """Its bodies are its own."""


@dataclass(frozen=True)
class Refused:
    text: str
    code: str
    at: str
    words: str
    defines: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)


def runs(text: str, out: str, **more) -> Runs:
    return Runs(text, out, **more)


def no(text: str, code: str, at: str, words: str, **more) -> Refused:
    return Refused(text, code, at, words, **more)


PREPROCESSOR = {
    "the first line `#!` is dropped": [
        runs("#!/usr/bin/env luna\nsub main() show(1);\n", "int 1"),
        no("sub main() show(1);\n#! late\n", "PRE", "2:1", "unknown directive"),
    ],
    "a string, its escapes and line breaks": [
        runs(r'show("a\"b\\c\td\ne' + '\\\nf"); show("g\nh");', 'string a"b\\c\td|ef|string g|h'),
        no(r'show("\q");', "SYN", "1:7", r"unknown escape \q"),
        no('show("a);', "PRE", "1:6", "a string reaches the end"),
    ],
    "`//` to the end of the line, a backslash continues it": [
        runs("sub main() show(1); // one \\\n two show(2);\n", "int 1"),
        no("sub main() { show(1); // }\n", "SYN", "1:21", "ends too early"),
    ],
    "`/* */`": [
        runs("sub main() /* one\n two */ show(1);\n", "int 1"),
        no("sub main() show(1); /* a\n", "PRE", "1:21", "a comment reaches the end"),
    ],
    "a backquote with its word": [
        runs("import c_show(value `v) as other; sub main() { other(`in 1); other(2`); }", "int 1|int 2", compiled=True),
        no("show(`two words 1);", "SYN", "1:17", "unexpected 1"),
    ],
    "`#define NAME body`, a backslash continues it": [
        runs("#define A 3 + \\\n 4\nsub main() show($A);\n", "int 7"),
        no("#define A 1\n#define A 2\nsub main() show($A);\n", "PRE", "2:9", "A is defined twice"),
        no("#define 1A 1\nsub main() show(1);\n", "PRE", "1:1", "#define is not well formed"),
    ],
    "`#define NAME(a, b) body`": [
        runs("#define F(a, b) $a * 10 + $b\nsub main() show($F(1, 2));\n", "int 12"),
        no("#define F(a, b) $a\nsub main() show($F(1));\n", "PRE", "2:17", "takes 2 arguments, got 1"),
        no("#define F(a) $c\nsub main() show($F(1));\n", "PRE", "2:17", "unknown macro c"),
    ],
    "`#undef NAME`": [
        runs("#define A 1\n#undef A\n#define A 2\nsub main() show($A);\n", "int 2"),
        no("#define A 1\n#undef A\nsub main() show($A);\n", "PRE", "3:17", "unknown macro A"),
    ],
    "`#ifdef`, `#ifndef`, `#else`, `#endif`": [
        runs("#ifdef A\n#ifdef B\n#define A 1\n#endif\n#else\n#ifndef A\n#define A 2\n#endif\n#endif\nsub main() show($A);\n", "int 2"),
        no("sub main() show(1);\n#ifdef A\n", "PRE", "2:1", "never closed"),
        no("#else\nsub main() show(1);\n", "PRE", "1:1", "#else without #ifdef"),
        no("sub main() show(1);\n#endif\n", "PRE", "2:1", "#endif without #ifdef"),
        no("#ifdef A\n#else\n#else\n#endif\nsub main() show(1);\n", "PRE", "3:1", "a second #else"),
    ],
    "`#include`, from the including file, then here": [
        runs('#include "sub/inner.fa"\nsub main() { f(); g(); }\n', "int 5|int 6", files={"sub/inner.fa": '#include "beside.fa"\n#include "here.fa"\n', "sub/beside.fa": "sub f() show(5);\n", "here.fa": "sub g() show(6);\n"}),
        no('#include "none.fa"\nsub main() show(1);\n', "PRE", "1:1", "there is no file none.fa"),
        no('#include "p.fa"\nsub main() show(1);\n', "PRE", "", "more than 64 deep"),
    ],
    "the use of a macro": [
        runs('#define P(a) show$a\n#define TWICE(a) $P(($a)) $P(($a))\nsub main() { $P(\\(1\\)); show_text("$P costs"); }\n', "int 1|string $P costs"),
        runs("#define INNER(a) ($a * 2)\n#define OUTER(a) $INNER($a)\nsub main() show($OUTER(3));\n", "int 6"),
        runs("#define BOTH(a) two($a)\nsub two_of(int a, int b) show(a + b);\n#define PASS(a) two_of($a)\nsub main() $PASS(1\\, 2);\n", "int 3"),
        no("sub main() show($SIZE);\n", "PRE", "1:17", "unknown macro SIZE"),
        no("#define A $B\n#define B $A\nsub main() show($A);\n", "PRE", "3:17", "macro A uses itself"),
    ],
    "`-D KEY`, `-D KEY=VALUE`": [
        runs("#ifdef DEEP\nsub main() show($N);\n#endif\n", "int 7", defines=("DEEP", "N=3 + 4")),
        no("#define N 1\nsub main() show($N);\n", "PRE", "1:9", "N is defined twice", defines=("N=2",)),
    ],
    "a foreign block is not expanded": [
        runs("#define A 1\nC++ sub f(name r) ${<END} { r = 4; const char *t = \"$A }\"; (void)t; } END\nC++ sub g(name r) ${{ r = 5; $}}\nsub main() { df x; f(x); g(x[1]); show(x + x[1]); }\n", "int 9", compiled=True),
        no("sub main() show(1); C++ head ${{ a", "PRE", "1:30", "a foreign block reaches the end"),
    ],
    "places, through includes and macros; a tab is a column": [
        runs("#define GOOD n\nsub main(int n, string s)\n\tshow($GOOD);\n", "int 3"),
        no("#define BAD nope + 1\nsub main()\n\tshow($BAD);\n", "SYN9", "3:7", "in macro BAD, defined at p.fa:2:9"),
        no('#include "inner.fa"\nsub main() f();\n', "SYN9", "inner.fa:2:3", "included from p.fa:2:1", files={"inner.fa": "sub f() show(\n  nope);\n"}),
    ],
}  # fmt: skip

GRAMMAR = {
    "`sub`": [
        runs("sub main() { df x; f(x, 4); show(x); } sub f(name x, int n) set(n, x);", "int 4"),
        no("sub f( show(1);\nsub main() show(1);\n", "SYN", "1:8", "unexpected show"),
    ],
    "`C++ sub`": [
        runs("C++ sub f(int a) ${{ printf(\"%d\\n\", a); $}} C++ sub main(int n, string s) ${{ printf(\"%d %s\\n\", n, s); $}}", "3 abc", compiled=True),
        no("C++ sub f(int a);\nsub main() show(1);\n", "SYN", "1:17", "unexpected ;"),
    ],
    "`C++ head`": [
        runs("C++ head ${{\n#include <numeric>\nstatic int seven() { return 7; }\n$}}\nC++ sub f() ${{ printf(\"%d\\n\", seven()); $}}\nsub main() f();\n", "7", compiled=True),
        no("C++ head x;\nsub main() show(1);\n", "SYN", "1:10", "unexpected x"),
    ],
    "`import`": [
        runs("import c_show(value) as other; import c_nothing(); sub main() { other(1); c_nothing(); }", "int 1", compiled=True),
        no("import c_show(value) as;\nsub main() show(1);\n", "SYN", "1:24", "unexpected ;"),
    ],
    "`import ... : CUDA, NOCPU`": [
        runs("import c_show(value) as other : CUDA; sub main() other(1);", "int 1", compiled=True),
        no("import c_show(value) as other : CUDA, NOCPU;\nsub main() other(1);\n", "SYN10", "1:8", "runs on GPUs only (NOCPU)"),
        no("import c_show(value) as other : GPU;\nsub main() other(1);\n", "SYN", "1:33", "unexpected GPU"),
    ],
    "the types of parameters": [
        runs("sub f(int a, real b, string c, value d, value &e, name r) { set(d, r); show(a + b); show(c); show(e); } sub main() { df x; f(1, 2, \"t\", 3, 4, x); show(x); }", "real 3|string t|int 3|int 4"),
        no("sub f(bool a) show(1);\nsub main() f(1);\n", "SYN", "1:7", "unexpected bool"),
    ],
    "a block: a statement, or braces with `df` first": [
        runs("sub main() { df x, y; set(1, x); set(2, y); if 1 { df x; set(5, x); show(x); } show(x + y); }", "int 3|int 5"),
        no("sub main() { }", "SYN", "1:14", "unexpected }"),
        no("sub main() { show(1); df x; set(1, x); }", "SYN4", "1:23", "one df at the start"),
    ],
    "a call with `cf`, `>>`, `-->`": [
        runs("cf a[n][1]: set(1, x) >> (y, y[1]); show(x) >> (y[2]); if y[2] nothing() --> (x, y); show(y[1]);", "int 1|int 1"),
        no("show(1) >> x;", "SYN", "1:12", "unexpected x"),
        no("cf: show(1);", "SYN", "1:3", "unexpected :"),
        no("show(1) --> (2);", "SYN", "1:14", "unexpected 2"),
    ],
    "`let`": [
        runs("let a = n, b = a + 1 show(a * b);", "int 12"),
        no("let a show(1);", "SYN", "1:7", "unexpected show"),
    ],
    "`for`": [
        runs("for i = 1..n show(i);", "int 1|int 2|int 3"),
        no("for i = 1 show(1);", "SYN", "1:11", "unexpected show"),
    ],
    "`while`": [
        runs("while k < n, k = 1..out y show(k); show(y);", "int 1|int 2|int 3"),
        no("while 1, k = 0..y show(1);", "SYN", "1:17", "unexpected y"),
    ],
    "`if`": [
        runs("if n show(1); if n == 4 show(2);", "int 1"),
        no("if show(1);", "SYN", "1:8", "unexpected ("),
        no("if 1 { show(1); } else { show(2); }", "SYN", "1:19", "unexpected else"),
    ],
    "recommendations, their five forms": [
        runs("set(n, x) @ { req_count x = 1; locator_cyclic: 1; stealable, unroll_at_once; request y, y[1]; }; set(1, y); set(1, y[1]); show(x);", "int 3"),
        runs("sub main() { df x; set(1, x[2]); show(x[2]); } @ { locator_cyclic x[i] => i; }", "int 1"),
        no("sub main() { show(1); } @ { }", "SYN", "1:29", "unexpected }"),
        no("set(1, x) @ { req_count: 2; };", "SYN", "1:15", "req_count x = e;"),
        no("set(1, x) @ { delete; };", "SYN", "1:15", "delete x, y;"),
    ],
    "a hint has no effect": [
        runs("sub <<rush>> f() show(1); sub main() { df y; for <<static_for, 1, 2>> i = 1..2 f(); while <<static>> k < 1, k = 0..out y show(k); for <<unrolling, 1>> i = 1..1 show(y); }", "int 1|int 1|int 0|int 1"),
        no("for <<fast>> i = 1..2 show(i);", "SYN", "1:7", "unexpected fast"),
    ],
    "a reference": [
        runs("set(1, x[0][1][n]); show(x[0][1][3]);", "int 1"),
        no("show(x[]);", "SYN", "1:8", "unexpected ]"),
        no("show(n[1]);", "SYN11", "1:6", "n has no indices"),
    ],
    "expressions: constants, brackets, casts, minus": [
        runs('show((1)); show(2.5); show("t"); show(int(2.5) + real(1) * -2); show(string(-n));', "int 1|real 2.5|string t|real 0|string -3"),
        no("show(bool(1));", "SYN", "1:10", "unexpected ("),
        no("show(2147483648);", "SYN1", "1:6", "at most 2147483647"),
    ],
    "a real has a point with digits, or an exponent; `1..5` is a range": [
        runs("show(1e-3); show(2.5e6); for i = 1..2 show(i);", "real 0.001|real 2500000|int 1|int 2"),
        no("show(1.);", "SYN", "1:7", "unexpected ."),
        no("show(1e400);", "SYN1", "1:6", "a real is at most"),
    ],
    "how tightly operators bind": [
        runs("show(1 + 2 * 3); show(2 < 3 == 1); show(1 || 0 && 0); show(-2 + 3); show(1 + 1 == 2 && 3 > 2 ? 5 : 6);", "int 7|int 1|int 1|int 1|int 5"),
        no("show(1 ? 2);", "SYN", "1:11", "unexpected )"),
        no("show(1 + );", "SYN", "1:10", "unexpected )"),
    ],
    "all operators group to the left, `?:` too": [
        runs("show(8 - 4 - 2); show(1 ? 2 : 0 ? 3 : 4); show(3 < 2 < 1); show(7 / 2 * 2);", "int 2|int 3|int 1|int 6"),
        no("show(1 ? 2 : );", "SYN", "1:14", "unexpected )"),
    ],
    "`i--1` is i - (-1); no `!`, no unary plus": [
        runs("show(n--1); show(n - -1); show(--n);", "int 4|int 4|int 3"),
        no("show(!n);", "SYN", "1:6", "unexpected !"),
        no("show(+n);", "SYN", "1:6", "unexpected +"),
    ],
    "words of the language are no names; `all` is one rank's as any": [
        runs("sub main() { df all; set(1, all); show(all); } @ { locator_replicating all => all; }", "int 1"),
        no("let else = 1 show(1);", "SYN", "1:5", "unexpected else"),
        no("set(1, SIZE);", "SYN", "1:8", "unexpected SIZE"),
        no("show(1) @ { locator_cyclic: all; };", "SYN9", "1:29", "unknown name all"),
    ],
    "an item may be used before it is declared; `main` is of any kind": [
        runs("sub main() later(1); sub later(int a) show(a);", "int 1"),
        runs("import c_int(int) as main;", "int 3", compiled=True),
        no("sub main() later(1);\n", "SYN2", "1:12", "unknown subroutine later"),
        no("sub mian() show(1); // no main\n", "SYN7", "0:1", "there is no main; there is mian"),
    ],
    "subroutines have names of their own; one scope for all else; labels may repeat": [
        runs("sub main() { df show; set(1, show); cf a: show(show); cf a: show(2); }", "int 1|int 2"),
        no("let x = 1 let x = 2, x = 3 show(x);", "SYN8.4", "1:22", "x is declared twice"),
        no("sub main(int a) { df a; set(1, a); }", "SYN8.1", "1:22", "first as parameter"),
    ],
    "`C++` is one word, also behind a `}` or `;`": [
        runs("sub f() { show(1); }C++ sub g() ${{ puts(\"2\"); $}}import c_show(value) as h;C++ sub i() ${{ $}} sub main() { f(); g(); h(3); }", "int 1|2|int 3", compiled=True),
        no("sub main() show(1);C++ sub;", "SYN", "1:27", "unexpected ;"),
    ],
}  # fmt: skip

MEANING = {
    "an int has 32 bits, a real is a double, a string has bytes": [
        runs('show(-2147483647 - 1); show(0.1); show("\u00e9\u4e16");', "int -2147483648|real 0.10000000000000001|string \u00e9\u4e16"),
        no("show(n + 2147483647);", "run", "1:8", "int overflow"),
    ],
    "x, x[0] and x[0][0] are different; an index is an int, also a negative one": [
        runs("set(1, x); set(2, x[0]); set(3, x[0][0]); set(4, x[-1]); show(x * 1000 + x[0] * 100 + x[0][0] * 10 + x[-1]);", "int 1234"),
        no("show(x[1.5]);", "SYN1", "1:8", "an index of x is a real"),
        no('set("a", y); set(1, x[y]);', "run SEM1", "1:21", "an index of x is"),
    ],
    "the index of a `name` is fixed when the call unfolds": [
        runs("sub f(name line, int n) { set(n, line[n]); } sub main() { df g, i; set(4, i); f(g[i], 1); show(g[4][1]); }", "int 1"),
        no("sub f(name line) show(1); sub main(int n) f(n);", "SYN1", "1:45", "is a parameter, parameter line is a name"),
    ],
    "all operands are needed, also those that do not count": [
        runs("set(1, x); set(2, y); show(x ? 5 : y); show(x || y);", "int 5|int 1"),
        no("set(1, x); show(x ? 5 : y);", "run SEM3", "1:12", "Nobody writes y."),
        no("set(1, x); show(x || y);", "run SEM3", "1:12", "Nobody writes y."),
        no("set(1, x) @ { locator_cyclic: y; };", "run SEM3", "1:1", "Nobody writes y."),
    ],
    "what an index needs is found first": [
        runs("set(1, y); set(5, x[1]); show(x[y]);", "int 5"),
        no("set(5, x[1]); show(x[y]);", "run SEM3", "1:15", "Nobody writes y."),
    ],
    "a fragment uses a value once, each of a loop for itself": [
        runs("set(2, x) @ { req_count x = 4; }; show(x + x * x); for i = 1..3 show(x + i);", "int 6|int 3|int 4|int 5"),
        no("set(2, x) @ { req_count x = 1; }; set(x, y); if y show(x);", "run SEM3.5", "1:51", "The use count of x is exhausted"),
    ],
    "a bound, a condition and an argument of a subroutine are uses": [
        runs("sub f(int a) nothing(); sub main() { df x; set(1, x) @ { req_count x = 3; }; for i = x..1 show(i); if x show(2); f(x); }", "int 1|int 2"),
        no("sub f(int a, name r) set(a, r); sub main() { df x, y; set(1, x) @ { req_count x = 1; }; f(x, y); if y show(x); }", "run SEM3.5", "1:103", "The use count of x is exhausted"),
    ],
    "`for`: both ends included, none when first > last": [
        runs("for i = n..4 show(i); for i = 5..4 show(i); for i = -1..0 show(i);", "int 3|int 4|int -1|int 0"),
        no('for i = 1..s show(i);', "SYN1", "1:12", "a bound is a string"),
        no("for i = 1..2.5 show(i);", "SYN1", "1:12", "a bound is a real"),
    ],
    "`while`: r becomes the first k for which c is false": [
        runs("set(1, x[0]); while x[k] < 10, k = 0..out y set(x[k] * 3, x[k + 1]); show(y); while 0, k = 7..out y[1] show(k); show(y[1]);", "int 3|int 7"),
        no("while x[k] < 10, k = 0..out y set(1, x[k + 2]); show(y);", "run SEM3", "1:1", "Nobody writes x[0]."),
    ],
    "`if`: not 0 and not 0.0; a string is an error": [
        runs("if 0.5 show(1); if 0.0 show(2); if -1 show(3);", "int 1|int 3"),
        no("if s show(1);", "SYN1", "1:4", "a condition is a string"),
        no('set("a", x); if x show(1);', "run SEM1", "1:14", "a condition is an int or a real"),
    ],
    "`let` is another word for its expression": [
        runs("let a = x[n] { set(4, a); show(a + x[3]); }", "int 8"),
        no("let a = n + 1 set(4, a);", "SYN1", "1:22", "the parameter is a name"),
    ],
    "`df` makes new data per iteration and per call": [
        runs("sub f(int n) { df z; set(n, z); show(z); } sub main() { for i = 1..2 { df z; set(i, z); show(z); } f(3); f(4); }", "int 1|int 2|int 3|int 4"),
        no("if n { df z; set(1, z); } show(z);", "SYN9", "1:32", "unknown name z"),
    ],
    "int to real": [
        runs("set(2, x); show_real(x); show_real(n); show_real(3); show(real(7) / 2);", "real 2|real 3|real 3|real 3.5"),
        no('show_real("1");', "SYN1", "1:11", "is a string, the parameter is a real"),
        no('set("a", x); show_real(x);', "run SEM1", "1:14", "x has type string, wanted is real"),
    ],
    "real to int": [
        runs("show_int(2.7); show_int(n * 1.5); show(int(-2.7));", "int 2|int 4|int -2"),
        no("sub f(real r) show_int(r); sub main() f(1.5);", "SYN1", "1:24", "is a real, the parameter is an int"),
        no("set(1.5, x); show_int(x);", "run SEM1", "1:14", "x has type real, wanted is int"),
        no("set(1e10, x); show(int(x));", "run", "1:20", "is out of the range of int"),
    ],
    "int, and data with a number, to string": [
        runs("set(1.5, x); show_text(n); show_text(x); show(string(n) + string(0.25));", "string 3|string 1.500000|string 30.250000"),
        no("show_text(1.5);", "SYN1", "1:11", "is a real, the parameter is a string"),
        no("block(n, x); show_text(x);", "run SEM1", "1:14", "x has type value, wanted is string"),
    ],
    "string to int and real": [
        runs('show(int("12") + 1); show(real("2.5") * 2); set("7", x); show(int(x));', "int 13|real 5|int 7"),
        no('show_int("1");', "SYN1", "1:10", "is a string, the parameter is an int"),
        no('set("12x", x); show(int(x));', "run", "1:21", '"12x" is no int'),
        no('set("", x); show(real(x));', "run", "1:18", '"" is no real'),
    ],
    "real constants and parameters to string by a cast only": [
        runs("sub f(real r) show_text(string(r)); sub main() f(0.5);", "string 0.500000"),
        no("sub f(real r) show_text(r); sub main() f(0.5);", "SYN1", "1:25", "is a real, the parameter is a string"),
    ],
    "anything to value": [
        runs('show(1); show(1.5); show("t"); block(2, x); show(x);', "int 1|real 1.5|string t|value of 8"),
        no("block(2, x); show(x + 1);", "run SEM1", "1:21", "invalid operation on values: +"),
    ],
    "a `name` is a reference": [
        runs("two(n, x[1], y); show(x[1]); show(y); let z = x[2] set(9, z); show(x[2]);", "int 3|int 4|int 9"),
        no("set(1, 1 + 1);", "SYN1", "1:8", "is an expression, the parameter is a name"),
    ],
    "arithmetic": [
        runs("show(7 / 2); show(-7 / 2); show(-7 % 3); show(7 / 2.0); show(1 + 0.5);", "int 3|int -3|int -1|real 3.5|real 1.5"),
        no("show(5 % 1.5);", "SYN1", "1:8", "% takes ints only"),
        no("set(1.5, x); show(5 % x);", "run SEM1", "1:21", "invalid operation on reals: %"),
    ],
    "comparisons and truth values are 0 or 1; `?:` has one type": [
        runs("show(2 < 3); show(2.5 >= 3); show(5 && 0.5); show(0 || 0); show(n > 5 ? 1 : 2.5); show(1 ? 2 : 2.5);", "int 1|int 0|int 1|int 0|real 2.5|real 2"),
        no('show(1 ? 2 : "b");', "SYN1", "1:8", "branches of types int and string"),
    ],
    "strings have `+`, `==`, `!=`": [
        runs('show(s + 1); show(s == "abc"); show(s != "abc"); set(2.5, x); show("a" + x);', "string abc1|int 1|int 0|string a2.500000"),
        no("show(s >= 1);", "SYN1", "1:8", "invalid operation on strings: >="),
        no('set("a", x); set("b", y); show(x * y);', "run SEM1", "1:34", "invalid operation on strings: *"),
    ],
    "a division by zero and an overflow have a place": [
        runs("set(2, x); show(n / x); show(2147483647 - x);", "int 1|int 2147483645"),
        no("set(0, x); show(n / x);", "run", "1:19", "division by zero"),
        no("set(0, x); show(n % x);", "run", "1:19", "division by zero"),
        no("set(2147483647, x); show(x * n);", "run", "1:28", "int overflow"),
    ],
    "after a fragment: outputs, `>>`, `-->`; of a structured one when all has run": [
        runs("sub f(name x) { show(x); show(x + 1); } sub main() { df x, d; set(1, x); f(x) >> (d) --> (x); show(d + 6); }", "int 1|int 2|int 7"),
        no("sub f(name x) show(x); sub main() { df x, d; set(1, x); f(x) >> (d) --> (x); if d show(x); }", "run SEM3.6", "1:83", "x was deleted at"),
        no("set(1, x) >> (y); set(2, y);", "run SEM2.1", "1:19", "y is written twice"),
    ],
    "`locator_cyclic: e`, also below 0, at a statement or a block": [
        runs("set(1, x) @ { locator_cyclic: -n; }; for i = 1..2 { show(i); } @ { locator_cyclic: n; } show(x);", "int 1|int 1|int 2"),
        no("set(1, x) @ { locator_cyclic; };", "SYN", "1:15", "locator_cyclic: e;"),
    ],
    "`locator_cyclic x[i] => e`: homes of data and of labelled fragments": [
        runs("sub main() { df x; for i = 0..3 cf c[i]: set(i, x[i][1]); show(x[3][1]); } @ { locator_cyclic x[i][j] => i * j - 7; locator_cyclic c[k] => k; }", "int 3"),
        no("sub main() { df x; set(1, x[1]); } @ { locator_cyclic x[1] => 2; }", "SYN", "1:57", "an index of a locator is a new name"),
        no("sub main() { df x; set(1, x); } @ { locator_cyclic z => 2; }", "SYN9", "1:52", "unknown name z"),
    ],
    "`locator_replicating x => k` or `all`": [
        runs("sub main() { df x, y; set(1, x); set(2, y); for i = 0..3 show(x + y) @ { locator_cyclic: i; }; } @ { locator_replicating x => all; locator_replicating y => 2; }", "int 3|int 3|int 3|int 3"),
        no("set(1, x) @ { locator_replicating: 2; };", "SYN", "1:15", "locator_replicating x => e;"),
    ],
    "`request x`": [
        runs("set(1, x); show(2) @ { request x; };", "int 2"),
        no("show(2) @ { request x; };", "run SEM3", "1:1", "Nobody writes x."),
        no("show(2) @ { request n; };", "SYN1", "1:21", "n is a parameter"),
    ],
    "`wait x`, fetched if nobody pushes": [
        runs("set(1, x); cf a: show(x) @ { wait x; };", "int 1"),
        runs("set(1, x); set(2, y) @ { afterpush y => a; }; cf a: show(x) @ { wait x; };", "int 1"),
        no("cf a: show(2) @ { wait x; }; set(1, y) @ { afterpush y => a; };", "run SEM3", "1:7", "Nobody writes x."),
    ],
    "`req_count x = e`: 0 at once, negative and one use more are errors, fewer a note": [
        runs("set(2, x) @ { req_count x = x; }; show(x); show(x + 1); set(1, y) @ { req_count y = 0; };", "int 2|int 3"),
        runs("set(2, x) @ { req_count x = 5; }; show(x);", "int 2"),
        no("set(1, x) @ { req_count x = 0 - n; };", "run", "1:15", "the use count of x is -3"),
        no("set(1, x) @ { req_count x = 0; }; show(1) >> (y); if y show(x);", "run SEM3.5", "1:56", "The use count of x is exhausted"),
    ],
    "`req_unlimited x`": [
        runs("set(2, x) @ { req_unlimited x; }; for i = 1..3 show(x);", "int 2|int 2|int 2"),
        no("set(2, x) @ { req_unlimited: 1; };", "SYN", "1:15", "req_unlimited x, y;"),
    ],
    "`delete x, y`": [
        runs("set(1, x); set(2, y); show(x + y) @ { delete x, y; };", "int 3"),
        no("set(1, x); show(x) >> (y) @ { delete x; }; if y show(x);", "run SEM3.6", "1:49", "x was deleted at"),
    ],
    "`afterpush x => label`": [
        runs("for i = 0..n set(i, x[i]) @ { afterpush x[i] => a[i]; req_count x[i] = 1; }; for i = 0..n cf a[i]: show(x[i]) @ { wait x[i]; };", "int 0|int 1|int 2|int 3"),
        runs("sub main() { df x; set(1, x); show(5) @ { afterpush x => a[2]; }; cf a[2]: set(x, x[1]) @ { wait x; locator_cyclic: 1; }; show(x[1] + x); } @ { locator_cyclic a[i] => i; }", "int 5|int 2"),
        no("set(1, x) @ { afterpush x => x; };", "SYN1", "1:30", "x is no label"),
        no("set(1, x) @ { afterpush x => b; };", "SYN9", "1:30", "unknown name b"),
    ],
    "`stealable`, `unroll_at_once`": [
        runs("for i = 1..2 { show(i) @ { stealable; }; } @ { unroll_at_once; }", "int 1|int 2"),
        no("show(1) @ { stealable: 1; };", "SYN", "1:13", "stealable;"),
    ],
    "`nfparam`": [
        runs("sub f() { show(1) @ { locator_cyclic: k; }; } @ { nfparam k; } sub main() f() @ { nfparam k => 2; };", "int 1"),
        no("sub f() { show(1); } @ { nfparam k; } sub main() f();", "SEM10", "1:50", "nfparam k"),
        no("sub f() { show(k); } @ { nfparam k; } sub main() f() @ { nfparam k => 2; };", "SEM10", "1:16", "read outside"),
    ],
    "an unknown recommendation is a warning": [
        runs("show(1) @ { flies; };", "int 1"),
        no("show(1) @ { flies x 1; };", "SYN", "1:21", "unexpected 1"),
    ],
    "all errors of a program, also in code that never runs": [
        runs("if 0 show(1 / n); show(2);", "int 2"),
        no("if 0 nope(1); show(2);", "SYN2", "1:6", "unknown subroutine nope"),
    ],
}  # fmt: skip
LINES = {"A": PREPROCESSOR, "B": GRAMMAR, "C": MEANING}
