# SPDX-License-Identifier: BSD-3-Clause
"""The work of the front end grows with the length of a program only: calls are counted, not timed."""

import sys

import pytest

from tailrace.fragments.check import check_program

HEAD = """#define A(i) ($i + 1)
C++ sub one(name r) ${{ r = 1; $}}
C++ sub use(value v) ${{ f(v); $}}
"""
MAIN = "sub main(int n) {{ df x; {} }}\n"


def part(k: int) -> str:
    return (
        f"sub part{k}(name x, int n) {{ df a; one(a); // a comment\n for i = $A(0)..n one(x[i]); use(a); }}\n"
    )


def in_main(statement: str):
    return lambda n: HEAD + MAIN.format(" ".join(statement.format(k=k, l=k + 1) for k in range(n)))


# Programs of n lines or so, each of another kind of many.
PROGRAMS = {
    "subroutines": lambda n: (
        HEAD + "".join(map(part, range(n))) + MAIN.format("".join(f"part{k}(x[{k}], n);" for k in range(n)))
    ),
    "a chain of calls": lambda n: (
        HEAD
        + "".join(f"sub s{k}(name x) s{k + 1}(x);\n" for k in range(n))
        + f"sub s{n}(name x) one(x);\n"
        + MAIN.format("s0(x); use(x);")
    ),
    "writes of one name": in_main("one(x[{k}]); use(x[{k}]);"),
    "loops that write one name": in_main("for i = {k}0..{k}9 one(x[0][i]); use(x[0][{k}1]);"),
    "the same written again and again": in_main("one(x); use(x);"),
    "unknown names": in_main("use(unknown{k}); one(x);"),
    "unknown subroutines": in_main("unknown{k}(x); one(x);"),
    "errors of syntax": in_main("use(x; one();"),
    "broken items": lambda n: HEAD + "".join(f"sub broken{k}(name x) {{ one(x \n" for k in range(n)),
    "words that begin items": lambda n: HEAD + n * "sub ",
    "items that end too early": lambda n: HEAD + "".join(f"sub broken{k}( " for k in range(n)),
    "recommendations behind what is broken": lambda n: (
        HEAD + MAIN.format("one(1 1) { } " + n * "@ { } " + "; one(x); use(x);")
    ),
    "names in one block": lambda n: (
        HEAD
        + f"sub main() {{ df {', '.join(f'x{k}' for k in range(n))};"
        + "".join(f"one(x{k}); use(x{k});" for k in range(n))
        + "}\n"
    ),
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_four_times_the_program_is_four_times_the_work(tmp_path, text):
    path = tmp_path / "p.fa"

    def calls(n: int) -> int:
        count = 0

        def seen(_frame: object, event: str, _what: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        path.write_text(text(n))
        sys.setprofile(seen)
        try:
            problems = check_program(path)[1]
        finally:
            sys.setprofile(None)
        assert problems.as_text() or text is PROGRAMS["subroutines"]
        return count

    calls(1)  # the grammar is read
    few, base = calls(100), calls(5)
    assert calls(400) - base < 5 * (few - base)


def test_chains_of_what_is_skipped_are_not_followed_by_calls(tmp_path):
    path = tmp_path / "p.fa"
    path.write_text(PROGRAMS["recommendations behind what is broken"](20_000))
    assert [str(one.place) for one in check_program(path)[1].errors] == [f"{path}:4:31"]


@pytest.mark.parametrize("blanks", ["\n", " ", "\t// no more\n"], ids=["lines", "spaces", "comments"])
def test_what_has_no_tokens_costs_nothing(tmp_path, blanks):
    """Once each blank at the end was looked at from all those in front of it, which took hours."""
    path = tmp_path / "p.fa"
    path.write_text(HEAD + "sub main() { df x; one(x); use(x); }\n" + 100_000 * blanks)
    assert check_program(path)[1].errors == []
