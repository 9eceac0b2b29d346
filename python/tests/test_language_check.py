# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501
"""What the front end of the fragment language accepts and refuses, with the exact place of each message."""

import json
import re
from pathlib import Path

import pytest

import command
from tailrace.fragments import preprocess
from tailrace.fragments.check import check_program
from tailrace.fragments.problems import Problem, Problems

BODIES = """C++ sub one(name r) ${{ r = 1; $}}
C++ sub use(value v) ${{ print(v); $}}
C++ sub use_int(int v) ${{ print(v); $}}
C++ sub use_real(real v) ${{ print(v); $}}
C++ sub use_string(string v) ${{ print(v); $}}
"""
FIRST = BODIES.count("\n") + 1


def checked(directory: Path, text: str | bytes, *defines: str) -> Problems:
    path = directory / "p.fa"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return check_program(path, defines)[1]


def seen(problem: Problem) -> tuple[str, int, int]:
    """Code, line behind the bodies, column."""
    line, column = problem.place.line_and_column
    return problem.code, line - FIRST + 1, column


def in_main(statements: str) -> str:
    return BODIES + f"sub main(int n, real r, string s) {{ df x, y; {statements} }}\n"


# Statements of a main with df x, y and parameters int n, real r, string s.
ACCEPTED_STATEMENTS = [
    "one(x); use(x);",
    "cf a[n][2]: one(x[n]);",
    "one(x) >> (y); use(y) --> (x, y);",
    "let a = 1, b = a + 1 { one(x[a]); use(x[b]); }",
    "for i = 1..n one(x[i]);",
    "for <<rush, 1, 2>> i = 1..5 one(x[i]);",
    "while x[k] < 3, k = 0..out y one(x[k + 1]);",
    "if n % 2 == 0 && r > 1.5e-3 || n - -1 <= 3 one(x);",
    "if s + 1 == s use_string(s + n + x);",
    "use(n > 1 ? n : r);",
    "use_real(n); use_real(1); use_real(x); use_int(int(r)); use_string(string(r)); use_int(int(s));",
    "one(x[-1]); use(x[-2147483648]); use(x[y[x]][1]);",
    "one(x) @ { locator_cyclic: -n; stealable, unroll_at_once; };",
    "{ one(x); } @ { request x, y[1]; wait x; delete x; }".replace("{ one(x); }", "if n { one(x); }"),
    "one(x) @ { req_count x = n; req_unlimited y; };",
    "cf a[1]: use(x); one(x) @ { afterpush x => a[1]; };",
    'use_string("a \\" b \\\\ c \\n d \\t e \\\nf");',
    "for i = 1..n cf a[i]: use(x[i]); for i = 1..n one(x[i]) @ { afterpush x[i] => a[i]; };",
    "let z = x[3] { one(z); use(z); }",
    "if n < (1 ? 2 : 3) one(x);",
]


@pytest.mark.parametrize("statements", ACCEPTED_STATEMENTS)
def test_statements_are_accepted(tmp_path, statements):
    assert checked(tmp_path, in_main(statements)).errors == []


# Whole programs behind the bodies.
ACCEPTED_PROGRAMS = [
    "sub main() one(x);".replace("one(x)", "use_int(1)"),
    "sub main() { f(1); } sub f(int n) { use(n); }",
    "import f(int `rank, name `u) as g; sub main() { df x; g(1, `out x); }",
    "import f(value &, string s) : CUDA; sub main() { f(1, 2); }",
    "import f() as g : CUDA, NOCPU; sub main() { g(); }",
    "import main(int, real, string);",
    "C++ head ${{\n#include <cmath>\n$}} sub main() { use(1); }",
    "C++ sub main(int n) ${<END} { print(n); } END",
    "C++ sub f(value &v, int n) ${{ print(v, n); $}} sub main() f(1, 2);",
    "sub<<rush>> main() { use(1); }",
    "sub f(name x) { one(x); } @ { locator_cyclic x[i][j] => i + j; }\nsub main() { df x; f(x); }",
    "sub main() { df x; one(x); } @ { locator_replicating x => all; }",
    "sub main() { df x; one(x); } @ { locator_replicating x => 2; locator_cyclic x => 1; }",
    "sub f() { use(1) @ { locator_cyclic: n; }; } @ { nfparam n; }\nsub main() f() @ { nfparam n => 3; };",
    "sub main() { use(1); }// comment \\\n still comment\n/* /* */",
    "sub main() { df x; cf a[1 + 2]: use(x[2]); one(x[1 + 1]) @ { afterpush x[1 + 1] => a[1 + 2]; }; }",
    "sub main() { use(1); } // a comment at the end of the file",
    "import f(int) as g; import f(int `a) as g; sub main() g(1);",
    # Preprocessor, a line of its table each.
    "#define A 1\n#undef A\n#define A 2\nsub main() use($A);",
    "#ifndef A\nsub main() use(1);\n#else\nbroken\n#endif",
    "#ifdef A\n#define A 1\n#define A 2\n#ifdef B\n#endif\n#else\nsub main() use(1);\n#endif",
    "#define BOTH(a) two($a)\nsub two(int a, int b) use(a + b);\nsub main() { $BOTH(1\\, 2); }",
    "#define P(a) use$a\nsub main() { $P(\\(1\\)); }",
    "#define SUM(a, b) $a + \\\n $b\nsub main() use($SUM(1, 2));",
    "#define INNER(a) ($a * 2)\n#define OUTER(a) $INNER($a)\nsub main() use($OUTER(3));",
    'sub main() use_string("$T costs");',
    "C++ sub f() ${<!} { g($x); } !\nsub main() f();",
    # Grammar.
    "sub main() for <<static_for, 1>> i = 1..2 use(i);",
    "sub main() for <<unrolling>> i = 1..2 use(i);",
    "sub main() { df y; while <<static>> k < 2, k = 0..out y use(k); use(y); }",
    "sub main() { use(1.5e-3); use(2.5e6); use(1e3); for i = 1..5 use(i); }",
    "sub main() { use(`value 1); use(2`); }",
    "sub main() { df x; one(x) @ { locator_cyclic: 1; request x[1]; wait x[2]; req_count x = 2; }; one(x[1]); one(x[2]); use(x); }",
    "sub f() use(1); sub f() use(1); sub main() f();",
    "sub f(name x) { cf x: one(x[1]); use(x[1]); } sub main() { df x; f(x); }",
    "sub main() { df a; if 1 { cf a[2]: one(a[1]); one(a[2]) @ { afterpush a[2] => a[2]; }; use(a[1] + a[2]); } }",
]


@pytest.mark.parametrize("text", ACCEPTED_PROGRAMS)
def test_programs_are_accepted(tmp_path, text):
    assert checked(tmp_path, BODIES + text + "\n").errors == []


# The program behind the bodies; the code, line and column of its only error, and words of its message and fix.
REFUSED = [
    # Grammar.
    ("sub main() { one(1; }", "SYN", 1, 19, "unexpected ;"),
    ("sub main() { }", "SYN", 1, 14, "unexpected }"),
    ("sub main() { use(1) }", "SYN", 1, 21, "unexpected }"),
    ("sub main() { use(1);", "SYN", 1, 20, "ends too early"),
    ("sub main() { use(!1); }", "SYN", 1, 18, "unexpected !"),
    ("sub main() { use(+1); }", "SYN", 1, 18, "unexpected +"),
    ("sub main() { use(1 else 2); }", "SYN", 1, 20, "unexpected else"),
    ("sub main() { for i = 1 use(i); }", "SYN", 1, 24, "unexpected use"),
    ("sub main() { while 1, k = 0..x use(k); }", "SYN", 1, 30, "unexpected x"),
    ("sub main() { if use(1); }", "SYN", 1, 20, "unexpected ("),
    ("sub main() { let a use(1); }", "SYN", 1, 20, "unexpected use"),
    ("sub main() { cf: use(1); }", "SYN", 1, 16, "unexpected :"),
    ("import f(int) as;\nsub main() use(1);", "SYN", 1, 17, "unexpected ;"),
    ("import f(int) : GPU;\nsub main() f(1);", "SYN", 1, 17, "unexpected GPU"),
    ("sub main() { use(1) >> x; }", "SYN", 1, 24, "unexpected x"),
    ("sub main() { use(1) --> 2; }", "SYN", 1, 25, "unexpected 2"),
    ("sub main() { use(1) @ { delete; }; }", "SYN", 1, 25, "delete x, y;"),
    ("C++ sub f(int a);\nsub main() f(1);", "SYN", 1, 17, "unexpected ;"),
    ("sub main() { use(1 ? 2); }", "SYN", 1, 23, "unexpected )"),
    ("sub main() { use(bool(1)); }", "SYN", 1, 22, "unexpected ("),
    ("sub main() use(1) @ { locator_cyclic x 1; };", "SYN", 1, 40, "unexpected 1"),
    ("sub main() { use(1); } @ { }", "SYN", 1, 28, "unexpected }"),
    ("sub main() { for i = 1.5 use(i); }", "SYN", 1, 26, "unexpected use"),
    ("sub main() { use(1)\n@ { locator_cyclic => 1; }; }", "SYN", 2, 20, "unexpected =>"),
    ("import f(bool); sub main() use(1);", "SYN", 1, 10, "unexpected bool"),
    ("sub for() use(1);\nsub main() use(1);", "SYN", 1, 5, "unexpected for"),
    ("sub main() { use(1)@ { req_count: 2; }; }", "SYN", 1, 24, "req_count x = e;"),
    ("sub main() { use(\"\\q\"); }", "SYN", 1, 19, "unknown escape \\q"),
    ("sub main() { use(" + "(" * 2000 + "1" + ")" * 2000 + "); }", "SYN", 1, 2018, "more than 1000 levels"),
    # Catalogue.
    ("sub main() { use_int(\"1\"); }", "SYN1", 1, 22, "argument 1 of use_int is a string, parameter v is an int"),
    ("sub main(real r) { use_int(r); }", "SYN1", 1, 28, "is a real, parameter v is an int"),
    ("sub main() { use_string(1.5); }", "SYN1", 1, 25, "is a real, parameter v is a string"),
    ("sub main() { use_string(1 + 1.5); }", "SYN1", 1, 25, "is a real"),
    ("sub main() { use_real(\"1\"); }", "SYN1", 1, 23, "Declared at "),
    ("sub main() { one(1 + 1); }", "SYN1", 1, 18, "is an expression, parameter r is a name"),
    ("sub main(int n) { one(n); }", "SYN1", 1, 23, "is a parameter"),
    ("sub main(int n) { use(1) >> (n); }", "SYN1", 1, 30, "n is a parameter; a data fragment"),
    ("sub main(string s) { use(s >= 1); }", "SYN1", 1, 28, "invalid operation on strings: >="),
    ("sub main(string s) { use(-s); }", "SYN1", 1, 26, "invalid operation on strings: -"),
    ("sub main() { use(5 % 1.5); }", "SYN1", 1, 20, "% takes ints only"),
    ("sub main() { if \"a\" use(1); }", "SYN1", 1, 17, "a condition is a string"),
    ("sub main() { for i = 1..2.5 use(i); }", "SYN1", 1, 25, "a bound is a real"),
    ("sub main() { df x; use(x[1.5]); }", "SYN1", 1, 26, "an index of x is a real"),
    ("sub main() { use(2147483648); }", "SYN1", 1, 18, "at most 2147483647"),
    ("sub main() { use(1e400); }", "SYN1", 1, 18, "a real is at most"),
    ("sub main() { use(1 ? 2 : \"b\"); }", "SYN1", 1, 20, "branches of types int and string"),
    ("sub main() { usee(1); }", "SYN2", 1, 14, "unknown subroutine usee; there is use"),
    ("sub main() { use(1, 2); }", "SYN3", 1, 14, "use takes 1 argument (value v), got 2. Declared at"),
    ("sub main() { use(1); df x; one(x); }", "SYN4", 1, 22, "one df at the start"),
    ("sub main() { df y; df x; one(x); use(y); }", "SYN4", 1, 20, "second one"),
    ("C++ sub f() ${{ 1; $}} C++ sub f() ${{ 2; $}} sub main() f();", "SYN6.2", 1, 32, "two subroutines have"),
    ("import f() as g; import h() as g; sub main() g();", "SYN6.1", 1, 25, "two imports have the name g"),
    ("sub f() use(1); sub f() use(2); sub main() f();", "SYN6.2", 1, 21, "two subroutines have the name f"),
    ("sub mian() use(1);", "SYN7", 1 - FIRST + 1, 1, "there is no main; there is mian"),
    ("sub main(name x) one(x);", "SYN7", 1, 15, "parameter x of main is a name"),
    ("sub main() { df x, x; one(x); }", "SYN8.1", 1, 20, "x is declared twice"),
    ("sub main() { let a = 1, a = 2 use(a); }", "SYN8.4", 1, 25, "a is declared twice"),
    ("sub main(int a, int a) { use(a); }", "SYN8.5", 1, 21, "a is declared twice"),
    ("C++ sub f(int a, int a) ${{ $}}\nsub main() f(1, 2);", "SYN8.5", 1, 22, "a is declared twice"),
    ("sub main(int n) { df n; one(n); }", "SYN8.1", 1, 22, "first as parameter"),
    ("sub main() { df grid; one(grid); use(grit); }", "SYN9", 1, 38, "unknown name grit; there is grid"),
    ("sub main() { cf a: use(1); use(a); }", "SYN9", 1, 32, "a is a label"),
    ("sub main(int n) { use(n[1]); }", "SYN11", 1, 23, "n has no indices"),
    ("sub f() { use(1); } @ { nfparam n; } sub main() f();", "SEM10", 1, 49, "nfparam n"),
    ("sub f() { use(n); } @ { nfparam n; } sub main() f() @ { nfparam n => 1; };", "SEM10", 1, 15, "read outside"),
    # Preprocessor.
    ('sub main() { use("a); }\n', "PRE", 1, 18, "a string reaches the end"),
    ("sub main() { use(1); } /* a", "PRE", 1, 24, "a comment reaches the end"),
    ("sub main() use(1); C++ head ${{ a", "PRE", 1, 29, "a foreign block reaches the end"),
    ("sub main() use(1);\n#define A 1\n#define A 2\n", "PRE", 3, 9, "A is defined twice"),
    ("sub main() use(1);\n#ifdef A\n", "PRE", 2, 1, "never closed"),
    ("sub main() use(1);\n#endif\n", "PRE", 2, 1, "#endif without #ifdef"),
    ("sub main() use(1);\n#else\n", "PRE", 2, 1, "#else without #ifdef"),
    ("sub main() use(1);\n#undef\n", "PRE", 2, 1, "#undef is not well formed"),
    ("sub main() use(1);\n#define 1A\n", "PRE", 2, 1, "#define is not well formed"),
    ("sub main() use(1);\n#include none.fa\n", "PRE", 2, 1, "#include is not well formed"),
    ("#define A(x) $y\nsub main() use($A(1));\n", "PRE", 2, 16, "unknown macro y"),
    ("sub main() use(1);\n#ifdef A\n#else\n#else\n#endif\n", "PRE", 4, 1, "a second #else"),
    ("sub main() use(1);\n#defin A\n", "PRE", 2, 1, "unknown directive #defin; there is #define"),
    ('sub main() use(1);\n#include "none.fa"\n', "PRE", 2, 1, "there is no file none.fa"),
    ("sub main() use($SIZE);\n", "PRE", 1, 16, "unknown macro SIZE"),
    ("#define A(x) $x\nsub main() use($A);\n", "PRE", 2, 16, "needs its arguments"),
    ("#define A(x) $x\nsub main() use($A(1, 2));\n", "PRE", 2, 16, "takes 1 arguments, got 2"),
    ("#define A $B\n#define B $A\nsub main() use($A);\n", "PRE", 3, 16, "macro A uses itself"),
    ("#define A $B\n#define B $A $A\nsub main() { use($A); use($B + $A); }\n", "PRE", 3, 18, "uses itself"),
    ("#define A use(1); $A\nsub main() { $A; }\n", "PRE", 2, 14, "Fix: leave $A out of its own text"),
    ("#define A(x) $A($x)\nsub main() { $A(1); use(1); }\n", "PRE", 2, 14, "macro A uses itself"),
    ("sub main() { $A; use(1); }\n", "PRE", 1, 14, "unknown macro A"),
    ("sub main() use(1); $ \n", "PRE", 1, 20, "a $ without a name"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "line", "column", "words"), REFUSED, ids=range(len(REFUSED)))
def test_programs_are_refused(tmp_path, text, code, line, column, words):
    problems = checked(tmp_path, BODIES + text + ("" if text.endswith(("a", ";", "}")) else "\n"))
    assert [seen(one) for one in problems.errors] == [(code, line, column)], problems.as_text()
    assert words in problems.errors[0].as_text() and "Fix: " in problems.errors[0].as_text()


RESERVED = """as cf df import for if let in out sub while int real string name value rush static static_for else SIZE
unrolling CUDA NOCPU"""


@pytest.mark.parametrize("word", RESERVED.split())
def test_words_of_the_language_are_no_names(tmp_path, word):
    problems = checked(tmp_path, BODIES + f"sub main() {{ df {word}; one({word}); }}\n")
    assert [(one.code, seen(one)[2]) for one in problems.errors][:1] == [("SYN", 17)], problems.as_text()


# Warnings that a program has, each with its place; others may be there.
WARNED = [
    ("#define A 1\nsub main() use(1);", "SYN5.1", 1, 9),
    ("sub main() let a = 1 use(1);", "SYN5.2", 1, 16),
    ("sub main() { df x; use(1); }", "SYN5.3", 1, 17),
    ("C++ sub f() ${{ $}}\nsub main() use(1);", "SYN5.4", 1, 9),
    ("sub f() use(1);\nsub main() use(1);", "SYN5.5", 1, 5),
    ("sub main(int n) use(1);", "SYN5.6", 1, 14),
    ("C++ sub f(int none) ${{ $}}\nsub main() f(1);", "SYN5.6", 1, 15),
    ("sub main() for i = 1..3 use(1);", "SYN5.7", 1, 16),
    ("sub main() { df x; while 1 < x, k = 0..out x use(1); }", "SYN5.8", 1, 33),
    ("sub main(int n) { if n > 1 { df n; one(n); use(n); } }", "SYN8.1", 1, 33),
    ("sub main(int n) for n = 1..3 use(n);", "SYN8.2", 1, 21),
    ("sub main(int n) { df x; while n < 3, n = 0..out x use(n); use(x); }", "SYN8.3", 1, 38),
    ("sub main(int n) let n = 1 use(n);", "SYN8.4", 1, 21),
    ("sub main() use_int(1.5);", "SYN1", 1, 20),
    ("sub main() use_string(1);", "SYN1", 1, 23),
    ("sub main() { df x; one(x); }", "SEM4", 1, 24),
    ("sub f(name a) one(a);\nsub main() { df x; f(x); }", "SEM4", 2, 22),
    ("sub main() { df x; use(x); }", "SEM3.1", 1, 24),
    ("sub f(name a) use(a);\nsub main() { df x; f(x[1]); }", "SEM3.1", 2, 22),
    ("sub main() { df x; use(1) @ { request x[1]; }; }", "SEM3.2", 1, 39),
    ("sub main() { df x; one(x[1]); use(x[1]); one(x[1]); }", "SEM2.1", 1, 46),
    ("sub main() { df x; for i = 0..5 one(x[i]); for i = 5..9 one(x[i]); use(x[1]); }", "SEM2.2", 1, 61),
    ("sub main(int n) { df x; for i = 1..n one(x[i]); for i = 1..n use(x[i - 1]); }", "SEM3.3", 1, 66),
    ("sub main() { df x; for i = 0..5 for j = 1..3 one(x[i][j]); for i = 0..5 use(x[i][0]); }", "SEM3.3", 1, 77),
    ("sub main() if 1 > 2 use(1);", "SEM5", 1, 17),
    ("sub main() for i = 1..3 if i > 3 use(i);", "SEM6", 1, 30),
    ("sub main(int n) if 0 < n < 3 use(1);", "SEM7", 1, 22),
    ("sub f() { f(); }\nsub main() f();", "SEM8", 1, 11),
    ("sub main(int n) use(n ? 1 : n ? 2 : 3);", "CHAIN", 1, 31),
    ("sub main() use(1) @ { flies; };", "RULE", 1, 23),
    ("sub main() for <<rush, 2>> i = 1..3 use(i);", "HINT", 1, 18),
    ("sub <<static>> main() use(1);", "HINT", 1, 7),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "line", "column"), WARNED, ids=range(len(WARNED)))
def test_programs_are_warned_of(tmp_path, text, code, line, column):
    problems = checked(tmp_path, BODIES + text + "\n")
    assert problems.errors == []
    assert (code, line, column) in [seen(one) for one in problems.warnings], problems.as_text()


def test_an_unknown_recommendation_is_named_with_its_neighbour(tmp_path):
    problems = checked(tmp_path, BODIES + "sub main() use(1) @ { stealabel; };\n")
    assert "unknown recommendation stealabel; there is stealable [RULE]" in problems.as_text()
    assert "Fix: leave it out, or mend its name: it has no effect" in problems.as_text()


def test_a_forgotten_end_is_named_first(tmp_path):
    problems = checked(tmp_path, BODIES + "sub main() use(1) @ { locator_cyclic: 1 };\n")
    assert 'expected ")", ",", ";", "]", "&&"' in problems.as_text()


# Codes whose programs are in test_language_compile.py and test_language_bad_input.py, since they need C++.
ELSEWHERE = {"SYN10", "SYN12", "CXX"}


def test_each_code_of_the_reference_has_a_program():
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "fragment_language.md"
    errors, warnings = page.read_text().split("| code | error |")[1].split("| code | warning |")
    for table, programs, others in ((errors, REFUSED, ELSEWHERE), (warnings, WARNED, set())):
        named = {code for row in table.splitlines() for code in codes_of(row)}
        assert named == {program[1] for program in programs} | others
        assert len(named) > 15


def codes_of(row: str) -> list[str]:
    """The codes in the first column of a row; SYN5.1-5.8 is eight of them."""
    found = []
    for word in re.findall(r"[A-Z]+[0-9.]*(?:-[0-9.]+)?", row.split("|")[1] if row.startswith("| ") else ""):
        first, _, last = word.partition("-")
        base, _, number = first.rpartition(".")
        count = int(last.partition(".")[2]) - int(number) + 1 if last else 1
        found += [f"{base}.{int(number) + k}" for k in range(count)] if last else [first]
    return found


SILENT = [
    "sub main(int n) { df x; for i = 0..n one(x[i]); for i = 1..n use(x[i - 1]); }",
    "sub main(int n) { df x; for i = 0..4 one(x[2 * i]); for i = 0..4 use(x[2 * i + 1]); use(n); }",
    "sub main(int n) { df x; one(x[0]); for i = 1..n one(x[i]); for i = 0..n use(x[i]); }",
    "sub main(int n) { df x; if n > 0 one(x[0]); if n <= 0 one(x[0]); use(x[0]); }",
    "sub f(int n) if n > 0 f(n - 1);\nsub main(int n) f(n);",
]


@pytest.mark.parametrize("text", SILENT)
def test_what_is_not_known_is_not_complained_about(tmp_path, text):
    warnings = checked(tmp_path, BODIES + text + "\n").warnings
    assert [one.code for one in warnings if one.code.startswith("SEM")] == []


def test_all_errors_come_out_together_and_the_parser_resumes(tmp_path):
    text = (
        BODIES + "sub f( { use(1); }\nsub main() { use(; nope(1); use(n);\n if 1 > { use(2); } use(1 2); }\n"
    )
    found = [seen(one)[:2] for one in checked(tmp_path, text).shown()]
    assert found == [("SYN", 1), ("SYN", 2), ("SYN2", 2), ("SYN9", 2), ("SYN", 3), ("SYN", 3)]


def test_at_most_twenty_are_shown(tmp_path):
    problems = checked(tmp_path, "sub main() {" + "f();" * 30 + "}\n")
    assert len(problems.errors) == 30 and len(problems.shown()) == 20
    assert "... and 10 more errors" in problems.as_text()


def test_places_through_includes_and_macros(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "inner.fa").write_text("sub g(int a) { use(a);\n  use($TWICE(bad)); }\n")
    (tmp_path / "sub" / "outer.fa").write_text('#include "inner.fa"\n')
    text = f'{BODIES}#define TWICE(x) $x + $x + worse\n#include "sub/outer.fa"\nsub main() g(1);\n'
    problems = checked(tmp_path, text)
    inner = tmp_path / "sub" / "inner.fa"
    assert [str(one.place) for one in problems.errors] == [f"{inner}:2:14", f"{inner}:2:14", f"{inner}:2:7"]
    notes = problems.errors[2].as_text()
    assert f"in macro TWICE, defined at {tmp_path / 'p.fa'}:{FIRST}:9" in notes
    assert f"included from {tmp_path / 'sub' / 'outer.fa'}:1:1" in notes
    assert f"included from {tmp_path / 'p.fa'}:{FIRST + 1}:1" in notes


def test_an_include_of_itself_ends(tmp_path):
    problems = checked(tmp_path, 'sub main() f();\n#include "p.fa"\n')
    assert "more than 64 deep" in problems.as_text()


def test_macros_that_double_end(tmp_path, monkeypatch):
    monkeypatch.setattr(preprocess, "MAX_USES", 10_000)
    lines = ["#define A0 1 +", *(f"#define A{n + 1} $A{n} $A{n}" for n in range(60))]
    problems = checked(tmp_path, "\n".join(lines) + "\nsub main() use($A60 1);\n")
    assert "the program expands to more than" in problems.as_text()


def test_definitions_of_the_command_line(tmp_path):
    text = BODIES + "#ifdef DEEP\nsub main() use($N);\n#else\nbroken\n#endif\n"
    assert checked(tmp_path, text, "DEEP", "N=3 + 4").errors == []
    assert checked(tmp_path, text).errors != []


BAD_FILES = [
    (b"", "the program is empty"),
    (b"sub main() use(\xff);\n", "byte 15 of the file (0xff) is not UTF-8"),
    (b"\xef\xbb\xbf// \xe4\nsub main() {}", "byte 6 of the file"),
    (b"sub main() { \x00 }", ":1:14: error: control character U+0000"),
]


@pytest.mark.parametrize(("raw", "words"), BAD_FILES)
def test_bad_files_have_one_message(tmp_path, raw, words):
    (tmp_path / "p.fa").write_bytes(raw)
    answer = command.tailrace("compile", "--check", tmp_path / "p.fa")
    assert answer.status == 2 and words in answer.err and answer.err.count("error") == 1
    assert "Fix: " in answer.err


GOOD_FILES = ["\ufeff{}", "{}\r\n", "{}", "\t{}", "/* \u00e9 */ {}", "#! anything\n{}"]


@pytest.mark.parametrize("around", GOOD_FILES)
def test_marks_line_ends_and_letters_do_no_harm(tmp_path, around):
    text = BODIES + 'sub main() { use_string("\u00e9\u4e16"); }'
    raw = around.format(text.replace("\n", "\r\n") if "\r" in around else text).encode()
    assert checked(tmp_path, raw).errors == []


def test_the_command_answers(tmp_path):
    (tmp_path / "p.fa").write_text(BODIES + "sub main() { df x; use(x); nope(1); }\n")
    (tmp_path / "q.fa").write_text(BODIES + "sub main() { df x; use(x); }\n")
    answer = command.tailrace("compile", "--check", "--json", tmp_path / "p.fa")
    (found,) = json.loads(answer.out)["problems"]
    assert (answer.status, found["code"], found["line"], found["column"]) == (2, "SYN2", FIRST, 28)
    assert command.tailrace("compile", "--check", tmp_path / "q.fa").status == 0
    assert command.tailrace("compile", "--check", "--warnings", "error", tmp_path / "q.fa").status == 2
    for how, shown in (("off", ""), ("SEM4", ""), ("SEM3", "SEM3.1"), ("SYN5,SEM", "SEM3.1")):
        answer = command.tailrace("compile", "--check", "--warnings", how, tmp_path / "q.fa")
        assert (answer.status, bool(answer.err)) == (0, bool(shown)) and shown in answer.err


def test_a_message_in_full(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("powers.fa").write_text(
        'C++ sub double_it(int a, name r) ${{ r = 2 * a; $}}\nsub main() { df x;\n\tdouble_it("1", x); }\n'
    )
    answer = command.tailrace("compile", "--check", "--warnings", "off", "powers.fa")
    assert answer.err == (
        "powers.fa:3:12: error: argument 1 of double_it is a string, parameter a is an int. "
        "Declared at powers.fa:1:9. [SYN1]\n"
        '\tdouble_it("1", x); }\n'
        "\t          ^\n"
        "  Fix: int(...) converts\n"
    )


# The program of the reference (with another name for what prints), and what two faults in it get.
POWERS = """C++ sub one(name r)                 ${{ r = 1; $}}
C++ sub double_it(int a, name r)    ${{ r = 2 * a; $}}
C++ sub show(string what, int v)    ${{ printf("%s %d\\n", what, v); $}}
sub powers(name x, int n) {
    one(x[0]);
    for i=1..n cf step[i]: double_it(x[i-1], x[i]) @ { locator_cyclic: i; };
} @ { locator_cyclic x[i] => i; }
sub main(int n) {
    df x, big;
    powers(x, n);
    while x[k] < 100, k=0..out big
        let next = k + 1 if next % 2 == 0 show("even", x[k]);
    show("first over 100:", x[big]);
}
"""
FAULTS = [
    (
        "one(x[0]);",
        'double_it("1", x[0]);',
        "powers.fa:5:15: error: argument 1 of double_it is a string, parameter a is an int. "
        "Declared at powers.fa:2:9. [SYN1]\n"
        '    double_it("1", x[0]);\n'
        "              ^\n"
        "  Fix: int(...) converts\n",
    ),
    (
        ", x[big]);",
        ");",
        "powers.fa:13:5: error: show takes 2 arguments (string what, int v), got 1. "
        "Declared at powers.fa:3:9. [SYN3]\n"
        '    show("first over 100:");\n'
        "    ^\n"
        "  Fix: show(what, v)\n",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "said"), FAULTS, ids=["a type", "a number"])
def test_faults_in_the_program_of_the_reference(tmp_path, monkeypatch, right, wrong, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CXX", "/nowhere/g++")
    Path("powers.fa").write_text(POWERS)
    assert check_program(Path("powers.fa"))[1].errors == []
    Path("powers.fa").write_text(POWERS.replace(right, wrong))
    answer = command.tailrace("compile", "--warnings", "off", "powers.fa")
    assert (answer.status, answer.out, answer.err) == (2, "", said)
    assert not Path("powers.so").exists()
