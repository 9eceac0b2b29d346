# SPDX-License-Identifier: BSD-3-Clause
"""The Pygments lexer of the fragment language."""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Number, String, Token

from tailrace.fragments.highlight import FragmentLexer

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "fragment_language.md").read_text()
TEXTS = [block.split("```")[0] for block in PAGE.split("```fragments\n")[1:]]
TEXTS += [path.read_text() for path in sorted((ROOT / "examples" / "fragments").glob("*.fa"))]


def lexed(text: str) -> list[tuple[Token, str]]:
    return list(FragmentLexer(stripnl=False, ensurenl=False).get_tokens(text))


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_programs_are_coloured_whole(text):
    found = lexed(text)
    assert "".join(word for _, word in found) == text
    assert [word for kind, word in found if kind is Error] == []


@pytest.mark.parametrize(
    ("text", "kind", "word"),
    [
        ("C++ sub f(int a) ${{ return a; $}}", Keyword, "C++"),
        ("C++ sub f(int a) ${{ return a; $}}", Keyword.Type, "int"),
        ("C++ sub f(int a) ${{ return a; $}}", Keyword, "return"),
        ("C++ sub f() ${<END} throw 1; END", Keyword, "throw"),
        ("f(x) @ { locator_cyclic: 1; };", Name.Attribute, "locator_cyclic"),
        ("f(x) @ { locator_cyclic: 1; };", Name.Function, "f"),
        ("for i = 1..5 f(i);", Number.Integer, "1"),
        ("f(1.5e3);", Number.Float, "1.5e3"),
        ('f("a \\" b");', String, '"a \\" b"'),
        ("f(`out x);", Comment, "`out"),
        ("#define A \\\n 1\n", Comment.Preproc, "#define A \\\n 1"),
        ("f($A);", Name.Constant, "$A"),
        ("for <<rush>> i = 1..2 f(i);", Keyword.Pseudo, "rush"),
    ],
)
def test_words_have_their_kinds(text, kind, word):
    assert (kind, word) in lexed(text)


def test_others_find_it():
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][
        "pygments.lexers"
    ]
    module, _, name = entries["fragments"].partition(":")
    assert getattr(import_module(module), name) is FragmentLexer
    assert FragmentLexer.filenames == ["*.fa"]
