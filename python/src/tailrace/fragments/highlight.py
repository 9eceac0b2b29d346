# SPDX-License-Identifier: BSD-3-Clause
"""A Pygments lexer for the fragment language, which `pygmentize`, Sphinx and others find by its entry point.

Foreign blocks are C++.
"""

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, include, using, words
from pygments.lexers.c_cpp import CppLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from tailrace.fragments.names import PROPERTIES

FOREIGN = bygroups(Punctuation, Name.Label, Punctuation, using(CppLexer), Name.Label)
KEYWORDS = ("as", "cf", "df", "else", "for", "if", "import", "in", "let", "out", "sub", "while", "head")
HINTS = ("rush", "static", "static_for", "unrolling", "CUDA", "NOCPU")


class FragmentLexer(RegexLexer):
    """The fragment language of Tailrace and LuNA."""

    name = "Tailrace fragments"
    aliases: ClassVar[list[str]] = ["fragments", "luna-fa"]
    filenames: ClassVar[list[str]] = ["*.fa"]

    tokens: ClassVar[dict] = {
        "root": [
            (r"\A#!.*\n", Comment.Hashbang),
            (r"#\s*(define|undef|ifdef|ifndef|else|endif|include)\b(\\\n|.)*", Comment.Preproc),
            (r"(\$\{\{)([\s\S]*?)(\$\}\})", bygroups(Punctuation, using(CppLexer), Punctuation)),
            (r"(\$\{<)([^}]*)(\})([\s\S]*?)(\2)", FOREIGN),
            include("blanks"),
            (r"C\+\+", Keyword),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\b(int|real|string|name|value)\b", Keyword.Type),
            (words(HINTS, prefix=r"\b", suffix=r"\b"), Keyword.Pseudo),
            (r"(@\s*)(\{)", bygroups(Operator, Punctuation), "rules"),
            include("values"),
        ],
        "rules": [
            include("blanks"),
            (r"\}", Punctuation, "#pop"),
            (words(sorted(PROPERTIES), prefix=r"\b", suffix=r"\b"), Name.Attribute),
            include("values"),
        ],
        "blanks": [
            (r"\s+", Whitespace),
            (r"//(\\\n|.)*", Comment.Single),
            (r"/\*[\s\S]*?\*/", Comment.Multiline),
            (r"`\w*", Comment),
        ],
        "values": [
            (r'"(\\[\s\S]|[^"\\])*"', String),
            (r"[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+", Number.Float),
            (r"[0-9]+", Number.Integer),
            (r"\$\w+", Name.Constant),
            (r"[A-Za-z_]\w*(?=\s*\()", Name.Function),
            (r"[A-Za-z_]\w*", Name),
            (r"-->|>>|<<|=>|\.\.|<=|>=|==|!=|&&|\|\||[-+*/%<>=?:@&]", Operator),
            (r"[{}()\[\],;\\]", Punctuation),
        ],
    }
