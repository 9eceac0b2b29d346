# SPDX-License-Identifier: BSD-3-Clause
"""The canonical layout of programs: the same tokens and comments, and no change the second time."""

import json
import re
from pathlib import Path

import pytest

import command
from fragment_bodies import IMPORTS
from fragment_generator import Program
from fragment_texts import Programs
from tailrace.fragments.check import check_program
from tailrace.fragments.layout import laid_out
from tailrace.fragments.lower import lower
from tailrace.fragments.parse import tokens
from tailrace.fragments.preprocess import preprocess
from tailrace.fragments.problems import Problems
from tailrace.fragments.source import SourceFile

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "fragment_language.md"
EXAMPLES = re.findall(r"```fragments\n(.*?)```", PAGE.read_text(), re.DOTALL)

UGLY = """#!/usr/bin/env luna
// first
#define F(a,b)  $a+$b // kept
C++ sub one(name r) ${{ r = 1;
   /* as it is */ $}}
sub main(int n){df x,y;  // names


  for<<rush,2>>i=1..n{one(x[ i-1 ]);/* here */one( y );}@{locator_cyclic:-n*-2;stealable,unroll_at_once;}
#ifdef DEEP
 if(n>1)cf a [i]:one(x) >>(y)--> (x) ;
#endif
 let a=n?1:2,b="x  y"
   // in between
   one(x[$F(1, 2)]); // last
}
"""
CANONICAL = """#!/usr/bin/env luna
// first
#define F(a,b)  $a+$b // kept
C++ sub one(name r) ${{ r = 1;
   /* as it is */ $}}
sub main(int n) {
    df x, y;  // names

    for <<rush, 2>> i = 1..n {
        one(x[i - 1]);
        /* here */ one(y);
    } @ { locator_cyclic: -n * -2; stealable, unroll_at_once; }
#ifdef DEEP
    if (n > 1) cf a[i]: one(x) >> (y) --> (x);
#endif
    let a = n ? 1 : 2, b = "x  y"
        // in between
        one(x[$F(1, 2)]);  // last
}
"""


def meaning(text: str) -> tuple[list[str], list[str]]:
    expanded = preprocess(SourceFile("p", Path("p"), text), ["DEEP"], Problems())
    return [token.text for token in tokens(expanded.text)], [block.text for block in expanded.foreign]


def test_the_canonical_layout():
    assert laid_out(UGLY) == CANONICAL


def document(path: Path, text: str) -> str:
    """The serialised program without its texts and places."""
    path.write_text(text)
    bound, problems = check_program(path)
    assert problems.errors == [], problems.as_text()
    lowered = lower(bound)
    del lowered["files"]
    return re.sub(r', "at": \[[0-9, ]*\]|"at": \[[0-9, ]*\], ', "", json.dumps(lowered))


FOLDER = PAGE.parents[2] / "examples" / "fragments"
PROGRAMS = sorted([*FOLDER.glob("*.fa"), *FOLDER.glob("*.inc")])


@pytest.mark.parametrize("path", PROGRAMS, ids=[path.name for path in PROGRAMS])
def test_examples_have_the_canonical_layout(path):
    assert laid_out(path.read_text()) == path.read_text()


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_random_programs_have_the_same_serialised_form(tmp_path, first):
    for seed in range(first, first + 25):
        program = Program(1, seed)
        text = f"{IMPORTS}{program.text()}sub main() {program.name}({program.argument});\n"
        meant, once = document(tmp_path / "p.fa", text), laid_out(text)
        assert laid_out(once) == once
        assert document(tmp_path / "p.fa", once) == meant
        # As few lines as possible, and one for each token behind a comma.
        for other in (text.replace("\n", " "), text.replace(", ", ",\n\n")):
            assert document(tmp_path / "p.fa", laid_out(other)) == meant
            assert laid_out(laid_out(other)) == laid_out(other)


TEXTS = [
    UGLY,
    *EXAMPLES,
    *(path.read_text() for path in PROGRAMS),
    *(Programs(seed).program() for seed in range(200)),
]


@pytest.mark.parametrize("number", range(0, len(TEXTS), 50))
def test_the_layout_is_kept_and_means_the_same(number):
    for text in TEXTS[number : number + 50]:
        once = laid_out(text)
        assert laid_out(once) == once
        assert meaning(once) == meaning(text)


def test_the_command_formats_in_place_or_shows_what_would_change(tmp_path):
    program, other = tmp_path / "p.fa", tmp_path / "q.fa"
    program.write_text(UGLY)
    other.write_text(CANONICAL)
    shown = command.tailrace("compile", "--format", "--diff", program, other)
    assert shown.status == 1 and "+        one(x[$F(1, 2)]);  // last\n" in shown.out
    assert program.read_text() == UGLY
    assert command.tailrace("compile", "--format", program, other).status == 0
    assert program.read_text() == other.read_text() == CANONICAL
    assert command.tailrace("compile", "--format", "--diff", program).out == ""
    assert command.tailrace("compile", "--diff", program).status == 2
    assert command.tailrace("compile", program, other).status == 2


def test_what_cannot_be_read_is_refused_with_its_place_and_left_as_it_is(tmp_path):
    whole, broken = "sub main(){df x;}\n", tmp_path / "broken.fa"
    texts = {
        'sub main(){df x;}\nsub f(){g("a   b);}\n': (":2:11: error: a string", "reaches the end of the file"),
        "sub main(){df x}\n": (":1:16: error: unexpected }", "[SYN]"),
        "sub main(){df x;\n": (":1:16: error: the text ends too early", "[SYN]"),
        "sub main(){ /* a   b\n": (":1:13: error: a comment", "reaches the end of the file"),
    }
    for text, said in texts.items():
        broken.write_text(text)
        for option in ([], ["--diff"]):
            answer = command.tailrace("compile", "--format", *option, broken)
            assert answer.status == 2 and all(part in answer.err for part in said), answer
            assert broken.read_text() == text
    part = tmp_path / "part.inc"
    part.write_text("df   x;\n")  # statements, which a program includes
    broken.write_text(whole.replace("x", "$NAME"))
    assert command.tailrace("compile", "--format", part, broken).status == 0
    assert part.read_text() == "df x;\n" and "df $NAME;" in broken.read_text()


def test_a_program_in_python_has_no_layout_of_the_language(tmp_path):
    (tmp_path / "p.py").write_text("a=1\n")
    answer = command.tailrace("compile", "--format", tmp_path / "p.py")
    assert answer.status == 2 and "is in Python" in answer.err and (tmp_path / "p.py").read_text() == "a=1\n"
