# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501
"""What ends a program of the fragment language while it runs: each class of errors with its exact place, and what
can be done, on any number of ranks; what does not depend on the error has run.
"""

import json
import os
from functools import partial
from pathlib import Path

import pytest

import jobs
from fragment_cache import common_cache
from native import needs
from tailrace.fragments.check import check_program
from tailrace.fragments.compile import Source, compile_source
from tailrace.fragments.lower import lower
from tailrace.programs import find_program

pytestmark = needs("tailrace-fragments")
RANKS = [1, 2, 3]

BODIES = r"""#include <ucenv.h>
#include <stdexcept>
extern "C" void c_set(const InputDF &v, OutputDF &r) { r = v; }
extern "C" void c_say(int v) { printf("%d\n", v); }
extern "C" void c_real(double v, OutputDF &r) { r = v; }
extern "C" void c_block(OutputDF &r) { r.create<int>(2); }
extern "C" void c_unset(int, OutputDF &) {}
extern "C" void c_fails(int v) { throw std::runtime_error("no luck with " + std::to_string(v)); }
"""
IMPORTS = """import c_set(value, name) as set;
import c_say(int) as say;
import c_real(real, name) as set_real;
import c_block(name) as block;
import c_unset(int, name) as unset;
import c_fails(int) as fails;
"""
SUBS = """sub down(int n) { down(n + 1); }
sub both(name g, int n) { line(g[n]); }
sub line(name g) { say(g[1]); }
sub real_in(name g) { set_real(1.5, g[1]); }
"""
# By class of errors: statements of main(int n) with df x, y, the column of the message in that line, what the message
# says, and lines that follow. n is 3.
VERDICTS = {
    "SEM1": [
        ("set_real(1.5, x); say(x);", 21, "x has type real, wanted is int [SEM1]", ["x is written at p.fa:MAIN:3", "Fix: int(...) makes an int of it"]),
        ('set("a", x); set_real(x, y);', 16, "x has type string, wanted is real [SEM1]", ["x is written at p.fa:MAIN:3", "Fix: real(...)"]),
        ("real_in(x[n]); say(x[n][1]);", 18, "x[3][1] has type real, wanted is int [SEM1]", ["x[3][1] is written at p.fa:10:23", "called from p.fa:MAIN:3 as real_in(x[3])"]),
        ("block(x); if x say(2);", 13, "a condition is an int or a real, x is a value [SEM1]", ["x is written at p.fa:MAIN:3", "Fix: "]),
        ("block(x); set(x ? 1 : 2, y);", 19, "a condition is an int or a real, not a value [SEM1]", ["Fix: "]),
        ("set_real(1.5, x); set(1, y[x]);", 28, "an index of y is 1.5, a real, not an int [SEM1]", ["Fix: int(...)"]),
        ("block(x); set(x + 1, y);", 19, "invalid operation on values: + [SEM1]", ["Fix: only a body"]),
    ],
    "SEM2": [
        ("set(1, x[n]); set(2, x[n]);", 17, "x[3] is written twice [SEM2.1]", ["also written at p.fa:MAIN:3", "Fix: "]),
        ("for i = 0..2 set(i, x[i]); for i = n - 1..4 set(i, x[i]);", 47, "x[2] is written twice [SEM2.1]", ["also written at p.fa:MAIN:16"]),
    ],
    "SEM3": [
        ("say(x[n]);", 3, "the program cannot finish: 1 fragment waits. Nobody writes x[3]. [SEM3]", ["^ needs x[3]"]),
        ("say(2) @ { request x[n + 1]; };", 3, "the program cannot finish: 1 fragment waits. Nobody writes x[4]. [SEM3]", ["^ needs x[4]"]),
        ("for i = 0..n set(i, x[i]); for i = 4..n + 1 say(x[i]);", 47, "the program cannot finish: 1 fragment waits. Nobody writes x[4]. [SEM3]", ["x[0..3] are written at p.fa:MAIN:16"]),
        ("set(x, y); set(y, x);", 3, "the program cannot finish: 2 fragments wait. cycle: these fragments wait for each other. [SEM3]", ["^ needs x", "p.fa:MAIN:14 needs y", "Fix: "]),
        ("set(1, x) @ { req_count x = 1; }; set(x, y[1]); if y[1] say(x);", 59, "the program cannot finish: 1 fragment waits. The use count of x is exhausted, it is set at p.fa:MAIN:17. [SEM3.5]", ["^ needs x", "Fix: "]),
        ("set(1, x); set(x, y) @ { delete x; }; if y say(x);", 46, "the program cannot finish: 1 fragment waits. x was deleted at p.fa:MAIN:14. [SEM3.6]", ["^ needs x", "Fix: delete it with the last"]),
    ],
    "no code": [
        ("unset(n, x);", 3, "unset has not set its output x", ["Fix: "]),
        ("set(0, x); say(n / x);", 20, "division by zero", ["Fix: "]),
        ("set(0, x); say(n % x);", 20, "division by zero", ["Fix: "]),
        ("set(2147483647, x); say(x + n);", 29, "int overflow", ["Fix: "]),
        ('set("12x", x); say(int(x));', 22, '"12x" is no int', ["Fix: "]),
        ("set_real(1e10, x); say(int(x));", 26, "10000000000 is out of the range of int", ["Fix: "]),
        ("fails(n);", 3, "fails failed: no luck with 3", []),
        ("set(1, x) @ { req_count x = 0 - n; };", 17, "the use count of x is -3, it must be an int from 0", ["Fix: "]),
    ],
}  # fmt: skip
# Errors within subroutines: statements, the place, what is said, and lines that follow.
WITHIN = [
    ("both(x, n);", "9:20", "the program cannot finish: 1 fragment waits. Nobody writes x[3][1]. [SEM3]", ["^ needs x[3][1] (here g[1])", "called from p.fa:8:27 as line(x[3])", "called from p.fa:MAIN:3 as both(x, 3)"]),
    ("real_in(x[n]); line(x[n]);", "9:20", "x[3][1] (here g[1]) has type real, wanted is int [SEM1]", ["called from p.fa:MAIN:18 as line(x[3])", "x[3][1] is written at p.fa:10:23", "called from p.fa:MAIN:3 as real_in(x[3])"]),
    ("down(n);", "7:19", "calls are nested more than 10000 deep [SEM8]", ["called from p.fa:7:19 as down(10002)", "Fix: "]),
]  # fmt: skip
CASES = [
    (text, f"MAIN:{column}", *said) for rows in VERDICTS.values() for text, column, *said in rows
] + WITHIN
HEAD = IMPORTS + SUBS + "sub main(int n) {\n  df x, y;\n  say(1);\n"
MAIN_LINE = HEAD.count("\n") + 1


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the bodies, compiled once."""
    folder = tmp_path_factory.mktemp("verdicts")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_CACHE_HOME", common_cache(tmp_path_factory))
        patch.setenv("CXX_FLAGS", "-O0")
        Path("bodies.cpp").write_text(BODIES)
        Path("bodies.fa").write_text(IMPORTS + "sub main() { df x; set(1, x); say(x); }\n")
        problems = compile_source(Source(Path("bodies.fa")), Path("bodies.so"))
        assert problems.errors == [], problems.as_text()
        yield folder


def document(text: str) -> Path:
    """The serialised form of a program of the working directory, which has no error before it runs."""
    Path("p.fa").write_text(text)
    bound, problems = check_program(Path("p.fa"))
    assert problems.errors == [], problems.as_text()
    Path("p.json").write_text(json.dumps(lower(bound)))
    return Path("p.json")


@pytest.mark.parametrize(("text", "at", "said", "lines"), CASES, ids=[one[0] for one in CASES])
def test_errors_while_a_program_runs(place, text, at, said, lines):
    program = document(f"{HEAD}  {text}\n}}\n")
    reports = set()
    for ranks in RANKS:
        words = ["--transport", f"local:{ranks}", "--bodies", "bodies.so", program, 3]
        ended = jobs.Job(words, command=[str(find_program("tailrace-fragments"))]).wait()
        assert ended.status == 3 and "1" in ended.out.splitlines(), ended
        reports.add(ended.err)
    assert len(reports) == 1, reports  # on any number of ranks
    first, source, caret, *further = reports.pop().replace(f":{MAIN_LINE}:", ":MAIN:").splitlines()
    assert first == f"p.fa:{at}: error: {said}"
    assert source in Path("p.fa").read_text().splitlines()
    assert caret.index("^") == int(at.split(":")[1]) - 1
    for line in lines:
        assert any(one.strip().startswith(line) for one in [caret, *further]), (line, further)


# Each of four kinds, run as a newcomer runs it: a program, lines of its independent part, the line of the message, and
# what it says.
FOUR = {
    "nobody writes": ("say(1); say(x[n]); for i = 2..9 say(i);", 4, "1 fragment waits. Nobody writes x[3]. [SEM3]"),
    "a cycle": ("say(1); set(x, y); set(y, x); for i = 2..9 say(i);", 4, "2 fragments wait. cycle: these fragments"),
    "two writers": ("for i = 1..9 say(i); set(1, x); set(2, x);", 4, "x is written twice [SEM2.1]"),
    "a wrong type": ("for i = 1..9 say(i); set_real(0.5, x); say(x);", 4, "x has type real, wanted is int [SEM1]"),
}  # fmt: skip
MANY = [1, 2] if jobs.waits_spin() else [1, 2, 3, 7]


@pytest.mark.parametrize("kind", FOUR)
def test_four_kinds_of_programs_that_cannot_end_well(place, kind):
    statements, line, said = FOUR[kind]
    folder = place / kind.replace(" ", "_")
    folder.mkdir()
    (folder / "bodies.cpp").write_text(BODIES)
    (folder / "p.fa").write_text(f"{IMPORTS}sub main(int n) {{\n  df x, y;\n  {statements}\n}}\n")
    words = ["run", folder / "p.fa", "--oversubscribe", "--no-report"]
    first = jobs.tailrace(*words, "--out", folder / "first", "--", 3)
    others = jobs.in_parallel(
        [
            partial(jobs.tailrace, *words, "-n", ranks, "--out", folder / str(ranks), "--", 3)
            for ranks in MANY[1:]
        ]
    )
    for ended in [first, *others]:
        assert ended.status == 3, ended
        assert sorted(ended.out.splitlines()) == list("123456789"), ended
        message = next(one for one in ended.err.splitlines() if ": error: " in one)
        assert (
            message.startswith(f"{folder / 'p.fa'}:{len(IMPORTS.splitlines()) + line - 1}:")
            and said in message
        )
        assert ended.err.count(": error: ") == 1 and os.fspath(folder) in message


def test_the_status_of_a_program_goes_to_a_file_so_that_launchers_end_at_once(place):
    program = document(f"{HEAD}  say(x[n]);\n}}\n")
    words = ["--transport", "local:2", "--status-file", "status", "--bodies", "bodies.so", program]
    native = [str(find_program("tailrace-fragments"))]
    ended = jobs.Job([*words, 3], command=native).wait()
    assert (ended.status, Path("status").read_text()) == (0, "3\n"), ended
    Path("status").unlink()
    ended = jobs.Job([*words, "12x"], command=native).wait()
    assert ended.status == 2 and not Path("status").exists(), ended
