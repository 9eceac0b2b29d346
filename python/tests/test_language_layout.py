# SPDX-License-Identifier: BSD-3-Clause
"""The canonical layout of programs: the same tokens and comments, and no change the second time."""

import re
from pathlib import Path

import pytest

import command
from fragment_texts import Programs
from tailrace.fragments.layout import laid_out
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
    } @ {
        locator_cyclic: -n * -2;
        stealable, unroll_at_once;
    }
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


TEXTS = [UGLY, *EXAMPLES, *(Programs(seed).program() for seed in range(200))]


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
    assert shown.status == 1 and "+    one(x[$F(1, 2)]);  // last\n" in shown.out
    assert program.read_text() == UGLY
    assert command.tailrace("compile", "--format", program, other).status == 0
    assert program.read_text() == other.read_text() == CANONICAL
    assert command.tailrace("compile", "--format", "--diff", program).out == ""
    assert command.tailrace("compile", "--diff", program).status == 2
    assert command.tailrace("compile", program, other).status == 2
