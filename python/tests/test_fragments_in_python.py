# SPDX-License-Identifier: BSD-3-Clause
"""Programs in Python become the tree of a program: the same checks, with places in the module."""

import json
from pathlib import Path

import pytest

import command
from tailrace.fragments.check import check_program
from tailrace.fragments.lower import lower

HEAD = """from tailrace.fragments import *
program = Program()
@program.body
def one(r: Name):
    r.set(1)
@program.body
def show(what: str, v: int):
    print(what, v)
"""
MAIN = "@program.main\ndef main(n: int):\n    x = df('x')\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def checked(text: str) -> str:
    """All messages of a module."""
    Path("p.py").write_text(text)
    _, problems = check_program(Path("p.py"))
    return problems.as_text()


def document(path: str) -> dict:
    bound, problems = check_program(Path(path))
    assert problems.errors == []
    return lower(bound)


def without_places(node: object) -> object:
    if isinstance(node, list):
        return [without_places(one) for one in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_places(one) for key, one in node.items() if key not in ("at", "files", "code", "name")
    }


def test_it_is_the_same_program_as_in_the_language():
    Path("p.py").write_text(
        HEAD
        + "@program.sub\ndef fill(x: Name, n: int):\n    one(x[0]).on(-1).stealable()\n"
        + "    with loop('i', 1, n) as i:\n        one(x[i, i - 1]).uses(x[i, i - 1], 2).then_sets(x[i])\n"
        + "@program.main\ndef main(n: int, word: str):\n    x, big = df('x', 'big')\n"
        + "    home(x, lambda i, j: i + 2 * j)\n    fill(x, n).requests(x[7]).then_deletes(x[7])\n"
        + "    with repeat('k', 0, lambda k: (x[k] / 2 < n) & (k != 3), big) as k:\n"
        + "        with when(word == 'a \"b\"'):\n"
        + "            show('no: ' + word, choose(k > 1, -k, to_int('2')))\n"
        + "    show(to_string(1.5), x[big] % -2147483648)\n"
    )
    Path("p.fa").write_text(
        "C++ sub one(name r) ${{ r = 1; $}}\nC++ sub show(string what, int v) ${{ what; v; $}}\n"
        "sub fill(name x, int n) { one(x[0]) @ { locator_cyclic: -1; stealable; };\n"
        "  for i = 1..n { one(x[i][i - 1]) >> (x[i]) @ { req_count x[i][i - 1] = 2; }; } }\n"
        "sub main(int n, string word) { df x, big;\n"
        "  fill(x, n) --> (x[7]) @ { request x[7]; };\n"
        "  while x[k] / 2 < n && k != 3, k = 0..out big {\n"
        '    if word == "a \\"b\\"" { show("no: " + word, k > 1 ? -k : int("2")); } }\n'
        "  show(string(1.5), x[big] % -2147483648);\n} @ { locator_cyclic x[i][j] => i + 2 * j; }\n"
    )
    ours, theirs = (without_places(document(path)) for path in ("p.py", "p.fa"))
    assert ours == theirs


def test_labels_and_what_only_recommendations_know():
    Path("p.py").write_text(
        HEAD
        + "@program.sub\ndef part(x: Name, i: int):\n"
        + "    where = nfparam('where')\n    one(x[i]).on(where + i)\n"
        + "@program.main\ndef main(n: int):\n    x, y = df('x', 'y')\n    sum = label('sum')\n"
        + "    home(sum, lambda i: i)\n    part(x, n).given(where=2)\n    with loop('i', 1, n) as i:\n"
        + "        show('a', x[i]).labelled(sum[i]).waits(x[i])\n    one(y).pushes(y, sum[n])\n"
        + "    replicated(y, 'all')\n    show('b', y)\n"
    )
    Path("p.fa").write_text(
        "C++ sub one(name r) ${{ r = 1; $}}\nC++ sub show(string what, int v) ${{ what; v; $}}\n"
        "sub part(name x, int i) { one(x[i]) @ { locator_cyclic: where + i; }; } @ { nfparam where; }\n"
        "sub main(int n) { df x, y; part(x, n) @ { nfparam where => 2; };\n"
        '  for i = 1..n cf sum[i]: show("a", x[i]) @ { wait x[i]; };\n'
        '  one(y) @ { afterpush y => sum[n]; }; show("b", y);\n'
        "} @ { locator_cyclic sum[i] => i; locator_replicating y => all; }\n"
    )
    ours, theirs = (without_places(document(path)) for path in ("p.py", "p.fa"))
    assert ours == theirs


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    one(x).given(where=1)\n", "error: one has no nfparam where [SEM10]"),
        ("    one(x).pushes(x, x)\n", "p.py:12:5: error: x is no label [SYN1]"),
        ("    one(x)\n    show('a', label('f'))\n", "p.py:13:5: error: unknown name f"),
        ("    where = nfparam('where')\n    one(x)\n    show('a', where)\n", "read outside"),
        ("    one(x)\n    show('a')\n", "p.py:13:5: error: show takes 2 arguments (string what, int"),
        ("    one(x)\n    show(x, 'b')\n", "p.py:13:5: error: argument 2 of show is a string, parameter v"),
        ("    one(n)\n", "error: argument 1 of one is a parameter, parameter r is a name"),
        ("    if x[n] < 3:\n        one(x)\n", "p.py:12:8: error: a condition of fragments is known only"),
        ("    for i in x:\n        one(x)\n", "p.py:12:5: error: fragments are no list"),
        ("    with loop('i', 0, n) as i:\n        one(x[i])\n    show('a', i)\n",
         "p.py:14:5: error: i is used outside of the block that has it [SYN9]"),
        ("    with loop('n', 0, n) as i:\n        one(x[i])\n", "error: n is in use already [SYN8.1]"),
        ("    with loop('i', 0, 1.5) as i:\n        one(x[i])\n", "error: a bound is a real, where an int"),
        ("    show('a', 2**31)\n", "p.py:12:5: error: 2147483648 is no int of 32 bits"),
        ("    show('a', None)\n", "p.py:12:5: error: a NoneType is no value of the language"),
        ("    show('a', 'b' < x)\n", "error: invalid operation on strings: >"),
        ("    one(x + 1)\n", "error: argument 1 of one is an expression, parameter r is a name"),
        ("    home(x[1], lambda i: i)\n", "p.py:12:5: error: x has indices here [SYN11]"),
        ("    y, y = df('y', 'y')\n", "error: y is in use already"),
        ("    one(x[n])\n@program.body\ndef main(r: Name):\n    r.set(1)\n",
         "error: two subroutines have the name main"),
    ],
)  # fmt: skip
def test_errors_have_their_places(body, message):
    assert message in checked(HEAD + MAIN + body)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.py:1:1: error: the module has no Program [SYN7]"),
        (HEAD, "error: there is no main [SYN7]"),
        (HEAD + "one(1)\n", "p.py:9:1: error: a call of one outside of a subroutine that is being described"),
        (HEAD + "@program.body\ndef f(a, r: Name):\n    r.set(a)\n",
         "p.py:10:5: error: parameter a of f has no type of the language [SYN1]"),
        (HEAD + "@program.body\ndef f(a: int = 3):\n    print(a)\n",
         "parameter a of f has no type of the language"),
        (HEAD + "@program.main\ndef main(x: Name):\n    one(x)\n",
         "parameter x of main is a name, which no word"),
    ],
)  # fmt: skip
def test_errors_of_the_module(text, message):
    assert message in checked(text)


def test_warnings_are_those_of_the_language():
    unused = "@program.body\ndef f(a: int):\n    pass\n"
    said = checked(HEAD + unused + MAIN + "    y = df('y')\n    one(x)\n")
    unused = (
        "parameter a is never used [SYN5.6]",
        "body f is never used [SYN5.4]",
        "fragment y is never used",
    )
    for message in (*unused, "x is written, but nobody reads it [SEM4]"):
        assert message in said
    assert "parameter r" not in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n", "p.py:1:7: error: SyntaxError: invalid syntax\n"),
        (HEAD + "\nnope\n", "p.py:10:1: error: NameError: name 'nope' is not defined\n"),
        (
            "import nowhere_at_all\n",
            "p.py:1:1: error: ModuleNotFoundError: No module named 'nowhere_at_all'\n",
        ),
    ],
)
def test_a_module_that_python_refuses(text, message):
    Path("p.py").write_text(text)
    answer = command.tailrace("compile", "--check", "p.py")
    assert (answer.status, answer.out, answer.err) == (2, "", f"tailrace: {message}"), answer


def test_commands_know_programs_in_python():
    Path("p.py").write_text(HEAD + MAIN + "    one(x)\n    show('a', x)\n")
    assert command.tailrace("compile", "p.py", "-o", "p.json").status == 0
    assert json.loads(Path("p.json").read_text())["subs"]["one"]["code"] == "tailrace_python_body"
    assert command.tailrace("compile", "--check", "p.py", "--json").status == 0
    refused = command.tailrace("compile", "p.py")
    assert (
        refused.status == 2 and "bodies in Python are in no shared object. Fix: -o FILE.json" in refused.err
    )
    refused = command.tailrace("run", "p.py", "-D", "X", "1")
    assert refused.status == 2 and "-D: not for p.py: it is in Python" in refused.err, refused
    refused = command.tailrace("compile", "p.py", "--check", "-D", "X")
    assert refused.status == 2 and "-D: not for p.py" in refused.err, refused
