# SPDX-License-Identifier: BSD-3-Clause
"""One canonical layout of a program: four columns per block, a line per statement.

Comments and directives stay. It works on the text before preprocessing, since nothing may be expanded. In and
out: text.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from tailrace.casefile import PYTHON_PROGRAM
from tailrace.console import CommandError
from tailrace.fragments.check import syntax_problems
from tailrace.fragments.preprocess import LINE, STRING, TERM, Passage, split_arguments
from tailrace.fragments.source import SourceFile, read_source

INDENT = "    "
WORDS = re.compile(
    r"(?P<blank>\s+)|(?P<comment>`\w*)|(?P<macro>\$\w+)|"
    r"(?P<word>C\+\+|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\w+)|"
    r"(?P<mark>-->|>>|<<|=>|<=|>=|==|!=|&&|\|\||\.\.|[\s\S])",
    re.ASCII,
)
# No space is put before and behind these.
TIGHT_BEFORE = {")", "]", "[", ",", ";", ".."}
TIGHT_BEHIND = {"(", "[", "..", "<<", ""}
VALUES = ("word", "macro", "string")
KEYWORDS = {"if", "while", "let", "for", "out"}


class Part(NamedTuple):
    """A part of the text: word, mark, string, foreign, macro, comment, line (to its end) or newlines."""

    kind: str
    text: str


def parts_of(text: str) -> Iterator[Part]:
    """The parts of a program, without blanks inside of lines."""
    index = 0
    while index < len(text):
        kind, end = section(text, index)
        if kind != "blank" or "\n" in text[index:end]:
            yield Part("newlines" if kind == "blank" else kind, text[index:end])
        index = end


def section(text: str, index: int) -> tuple[str, int]:
    """The kind of what begins at an offset, and where it ends."""
    if text.startswith(("#", "//"), index):
        return "line", LINE.match(text, index).end()
    if text.startswith("/*", index):
        return "comment", closed(text, index + 2, "*/")
    if text.startswith("${{", index):
        return "foreign", closed(text, index + 3, "$}}")
    if found := TERM.match(text, index):
        return "foreign", closed(text, found.end(), found[1])
    if found := STRING.match(text, index):
        return "string", found.end()
    if text[index] == '"':
        return "string", closed(text, len(text), '"')
    found = WORDS.match(text, index)
    if found.lastgroup == "macro" and text.startswith("(", found.end()):
        arguments = split_arguments(Passage(text, None, 0), found.end())
        return "macro", arguments[1] if arguments else found.end()
    return found.lastgroup, found.end()


def closed(text: str, index: int, closing: str) -> int:
    end = text.find(closing, index) if closing else -1
    if end < 0:
        raise CommandError(
            f"a part of the program is not closed with {closing}\n  Fix: --check names its place"
        )
    return end + len(closing)


def laid_out(text: str) -> str:
    """The text in the canonical layout."""
    layout = Layout()
    if text.startswith("#!"):
        first, _, text = text.partition("\n")
        layout.lines.append(first)
    parts = list(parts_of(text))
    for index, part in enumerate(parts):
        layout.add(part, part.text == "{" and layout.before.text == "@" and on_one_line(parts, index))
    layout.end_line()
    return "\n".join(layout.lines).strip("\n") + "\n"


def on_one_line(parts: list[Part], index: int) -> bool:
    """Whether recommendations are written in one line, which they keep."""
    for part in parts[index:]:
        if part.kind in ("newlines", "line"):
            return False
        if part.text == "}":
            return True
    return False


class Layout:
    """Lines that are complete, and the one that is written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line = ""
        # The levels of the statements whose blocks are open, and that of the current one, if it has begun.
        self.levels: list[int] = []
        self.level = 0
        self.begun = self.broken = False
        # The last part, and the last one that is no comment.
        self.before = self.word = Part("mark", "")
        # How many brackets are open, how many `?` wait for their `:`; are we in a hint, in recommendations of
        # one line; was `}` the last.
        self.brackets = self.choices = 0
        self.in_hint = self.in_rules = self.closed_block = False
        self.newline_before = True

    def base(self) -> int:
        """The level of a statement of the innermost block."""
        return self.levels[-1] + 1 if self.levels else 0

    def end_line(self) -> None:
        """Ends the statement and its line."""
        if self.line:
            self.lines.append(self.line)
        self.line, self.before, self.word = "", Part("mark", ""), Part("mark", "")
        self.begun = self.broken = self.in_rules = self.closed_block = False
        self.brackets = self.choices = 0

    def add(self, part: Part, opens_line: bool = False) -> None:
        """`opens_line`: recommendations begin that stay in one line."""
        if part.kind == "newlines":
            return self.newlines(part.text)
        if self.closed_block and part.text not in ("@", ";"):
            comment = part.kind == "line" and not part.text.startswith("#") and not self.newline_before
            if not comment:
                self.end_line()
        if part.kind == "line":
            self.whole_line(part.text.rstrip())
        elif part.kind == "mark" and part.text in ("{", "}", ";"):
            self.structure(part, opens_line)
        else:
            self.put(part)
            if part.kind == "foreign":
                self.end_line()
        self.newline_before = False
        return None

    def newlines(self, text: str) -> None:
        self.newline_before = True
        if self.begun and not self.closed_block:
            self.broken = True
        elif text.count("\n") > 1:
            self.end_line()
            self.lines += [""] if self.lines and self.lines[-1] else []

    def whole_line(self, text: str) -> None:
        """A directive is a line of its own; a comment may end a line."""
        if text.startswith("#"):
            self.flush()
            self.lines.append(text)
        elif not self.newline_before and (self.line or self.lines):
            target = self.line or self.lines.pop()
            self.lines.append(f"{target.rstrip()}  {text}")
            self.line = ""
        else:
            self.flush()
            self.lines.append(INDENT * (self.level + 1 if self.begun else self.base()) + text)
        if self.closed_block:
            self.end_line()
        self.before = Part("mark", "")

    def flush(self) -> None:
        """Ends the line, not the statement."""
        if self.line:
            self.lines.append(self.line)
        self.line = ""

    def structure(self, part: Part, opens_line: bool) -> None:
        if self.in_rules or opens_line:
            self.put(part)
            self.in_rules = part.text != "}"
            self.closed_block = not self.in_rules
        elif part.text == "{":
            self.put(part)
            self.levels.append(self.level)
            self.end_line()
        elif part.text == "}":
            self.end_line()
            self.level = self.levels.pop() if self.levels else 0
            self.line = INDENT * self.level + part.text
            self.begun = self.closed_block = True
            self.before = self.word = part
        else:
            self.put(part)
            self.end_line()

    def put(self, part: Part) -> None:
        if self.line and self.broken and part.text != "{":
            self.flush()
        if self.line:
            self.line += (" " if self.spaced(part) else "") + part.text
        else:
            self.line = INDENT * self.begin(part) + part.text
        self.broken = False
        self.remember(part)

    def begin(self, part: Part) -> int:
        """The level of a line: that of a statement, of one below a head without braces, or of a rest."""
        if not self.begun:
            self.begun, self.level = True, self.base()
            return self.level
        below = part.kind in ("word", "macro", "comment") or part.text == "{"
        if below and not self.brackets and self.ends_value():
            self.level += 1
            return self.level
        return self.level + 1

    def remember(self, part: Part) -> None:
        sign = part.text == "-" and not self.ends_value()
        self.choices += part.text == "?"
        if part.text in (":", ";"):
            self.choices = max(0, self.choices - 1) if part.text == ":" else 0
        self.brackets += (part.text in ("(", "[")) - (part.text in (")", "]"))
        self.in_hint = (self.in_hint or part.text == "<<") and part.text != ">>"
        self.before = Part("sign" if sign else part.kind, part.text)
        if part.kind != "comment":
            self.word = self.before
        self.closed_block = False

    def ends_value(self) -> bool:
        """Whether what is before ends an operand, so that a minus is an operator."""
        value = self.word.kind in VALUES and self.word.text not in KEYWORDS
        return value or self.word.text in (")", "]")

    def spaced(self, part: Part) -> bool:
        before, text = self.before, part.text
        if before.kind == "sign" or before.text in TIGHT_BEHIND or text in TIGHT_BEFORE:
            return False
        if text == ">>" and self.in_hint:
            return False
        if text == ":":
            return self.choices > 0
        if text == "(":
            return before.kind not in ("word", "macro") or before.text in KEYWORDS
        return True


def formatted(source: SourceFile, defines: Sequence[str] = ()) -> str:
    """The text of a file in the canonical layout; raises CommandError for one that cannot be read as a
    program, of which nobody knows where its strings and statements end.
    """
    if source.path.suffix == PYTHON_PROGRAM:
        raise CommandError(f"{source.name}: is in Python. Fix: --format programs of the language (.fa)")
    problems = syntax_problems(source, defines)
    if problems.errors:
        raise CommandError(f"{problems.as_text()}\n{source.name}: not formatted, since it cannot be read")
    return laid_out(source.text)


def reformat(path: Path, defines: Sequence[str], writes: bool) -> str:
    """Gives a file the canonical layout, or leaves it as it is; what changes, as a unified diff."""
    source = read_source(path, str(path))
    before, after = source.text, formatted(source, defines)
    if writes and after != before:
        path.write_text(after)
    names = (f"{path}", f"{path} (canonical layout)")
    return "".join(unified_diff(before.splitlines(True), after.splitlines(True), *names))
