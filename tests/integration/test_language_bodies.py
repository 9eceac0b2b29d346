# SPDX-License-Identifier: BSD-3-Clause
"""What bodies of the fragment language can do with their inputs and outputs, member by member of `ucenv.h`,
and what each says of a wrong use, on 1, 2 and 3 ranks.
"""

import re
from pathlib import Path

import pytest

import jobs
from native import needs
from tailrace.programs import find_program

pytestmark = needs("tailrace-fragments")
RANKS = [1, 2, 3]

PROGRAM = r"""C++ sub make(name i, name r, name s, name t, name u, name c, name f) ${{
  i = 7; r = 1.5; s = std::string("text"); t = "more"; u = (unsigned short)200; c = 'a'; f = 0.25f;
$}}
C++ sub again(name a, name b) ${{
  a = 1; a = 2.5;
  b.create<int>(4, 9);
  int *kept = b.create<int>(2, 3);
  kept[1] = 4;
$}}
C++ sub none(name r) ${{ r.create<double>(0); $}}
C++ sub raw(name r) ${{ memset(r.create(3), 'x', 3); $}}
C++ sub share(value v, name a, name b, name c) ${{ a = v; b.copy(v); c.setValue(v.getValue<int>() + 1); $}}
C++ sub show(string what, value v) ${{
  const std::string name = v.getName(), text = v.to_string();
  printf("%s: %s = %s, %zu %zu\n", what, name.c_str(), text.c_str(), v.getSize(), v.get_size());
$}}
C++ sub read(value i, value r, value s) ${{
  printf("read %d %g %s\n", i.get_int(), r.get_real(), s.get_string().c_str());
  printf("got %d %g %s\n", i.getValue<int>(), r.getValue<double>(), s.getValue<std::string>().c_str());
$}}
C++ sub types(value i, value j, value r, name done) ${{
  printf("types %d %d", i.get_type() == j.get_type(), i.get_type() == r.get_type());
  const bool before = done.is_set();
  done = 1;
  printf(", set %d %d %d\n", i.is_set(), before, done.is_set());
$}}
C++ sub sum(string what, value b) ${{
  const int *first = b.getData<int>();
  const int *same = static_cast<const int *>(b.get_data());
  printf("%s: %d %d\n", what, first[0] + first[1], first == same);
$}}
C++ sub change(value &b, name r) ${{ b.getData<int>()[0] = 10; r.copy(b); $}}
C++ sub too_large(name r) ${{ r = 3000000000LL; $}}
C++ sub negative(name r) ${{ r = (unsigned)-1; $}}
C++ sub as_int(value v) ${{ v.get_int(); $}}
C++ sub as_real(value v) ${{ v.get_real(); $}}
C++ sub as_text(value v) ${{ v.get_string(); $}}
C++ sub as_doubles(value v) ${{ v.getData<double>(); $}}
C++ sub unset(name r) ${{ $}}
sub main(string what) {
  df i, r, s, t, u, c, f, a, b, e, w, x, y, z, m, o;
  make(i, r, s, t, u, c, f);
  show("int", i); show("real", r); show("string", s); show("chars", t); show("small", u); show("char", c);
  show("float", f);
  if what == "all" {
    again(a, b); show("the last", a); show("the second", b);
    none(e); show("nothing", e); raw(w); show("bytes", w);
    share(i, x, y, z); show("shared", x); show("copied", y); show("counted", z);
    read(i, r, s); types(i, u, r, o);
    sum("as it is", b); change(b, m); sum("changed", m);
  }
  if what == "too large" too_large(x);
  if what == "negative" negative(x);
  if what == "as int" as_int(s);
  if what == "as real" as_real(s);
  if what == "as text" as_text(i);
  if what == "as doubles" as_doubles(i);
  if what == "unset" unset(x);
}
"""
MADE = """int: i = 7, 4 4
real: r = 1.500000, 8 8
string: s = text, 5 5
chars: t = more, 5 5
small: u = 200, 4 4
char: c = 97, 4 4
float: f = 0.250000, 8 8
"""
ALL = """the last: a = 2.500000, 8 8
the second: b = block of 8 bytes, 8 8
nothing: e = block of 0 bytes, 0 0
bytes: w = block of 3 bytes, 3 3
shared: x = 7, 4 4
copied: y = 7, 4 4
counted: z = 8, 4 4
read 7 1.5 text
got 7 1.5 text
types 1 0, set 1 0 1
as it is: 7 1
changed: 14 1
"""
REFUSED = {
    "too large": "x: the number does not fit an int",
    "negative": "x: the number does not fit an int",
    "as int": "s has type string, wanted is int",
    "as real": "s has type string, wanted is real",
    "as text": "i has type int, wanted is string",
    "as doubles": "i: its 4 bytes are no multiple of 8",
    "unset": "unset has not set its output x",
}


@pytest.fixture(scope="module")
def program(once) -> Path:
    def build(folder: Path) -> Path:
        (folder / "bodies.fa").write_text(PROGRAM)
        ended = jobs.tailrace("compile", folder / "bodies.fa", "-O0", "-o", folder / "bodies.so")
        assert ended.status == 0, ended
        return folder / "bodies.so"

    return once("bodies", build)


def run(program: Path, ranks: int, what: str) -> jobs.Ended:
    command = [str(find_program("tailrace-fragments"))]
    return jobs.Job(["--transport", f"local:{ranks}", program, what], command=command).wait()


@pytest.mark.parametrize("ranks", RANKS)
def test_every_member_does_what_the_reference_says(program, ranks):
    ended = run(program, ranks, "all")
    assert ended.status == 0, ended
    assert sorted(ended.out.splitlines()) == sorted((MADE + ALL).splitlines())


@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_use_is_named_with_its_place(program, what):
    line = next(n for n, text in enumerate(PROGRAM.splitlines(), 1) if f'what == "{what}"' in text)
    for ranks in RANKS:
        ended = run(program, ranks, what)
        assert ended.status == 3 and sorted(ended.out.splitlines()) == sorted(MADE.splitlines()), ended
        first = ended.err.splitlines()[0]
        assert re.search(rf"bodies\.fa:{line}:\d+: error: ", first) and REFUSED[what] in first, ended
