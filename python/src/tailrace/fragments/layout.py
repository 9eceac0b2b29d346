# SPDX-License-Identifier: BSD-3-Clause
"""One canonical layout of a program: four columns per block, a line per statement.

Comments and directives stay. It works on the text before preprocessing, since nothing may be expanded. In and
out: text.
"""

import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from tailrace.console import CommandError
from tailrace.fragments.preprocess import LINE, STRING, TERM, Passage, split_arguments
from tailrace.fragments.source import read_source

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
    for part in parts_of(text):
        layout.add(part)
    layout.end_line()
    return "\n".join(layout.lines).strip("\n") + "\n"


class Layout:
    """Lines that are complete, and the one that is written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line = ""
        self.depth = 0
        self.before = Part("mark", "")
        # How many `?` wait for their `:`; are we in a hint; was `}` the last.
        self.choices = 0
        self.in_hint = self.closed_block = False
        self.newline_before = True

    def end_line(self) -> None:
        if self.line:
            self.lines.append(self.line)
        self.line, self.before, self.closed_block = "", Part("mark", ""), False

    def add(self, part: Part) -> None:
        if part.kind == "newlines":
            return self.newlines(part.text)
        if self.closed_block and part.text not in ("@", ";"):
            comment = part.kind == "line" and not part.text.startswith("#") and not self.newline_before
            if not comment:
                self.end_line()
        if part.kind == "line":
            self.whole_line(part.text.rstrip())
        elif part.kind == "mark" and part.text in ("{", "}", ";"):
            self.structure(part)
        else:
            self.put(part)
            if part.kind == "foreign":
                self.end_line()
        self.newline_before = False
        return None

    def newlines(self, text: str) -> None:
        self.newline_before = True
        if self.line and not self.closed_block:
            self.lines.append(self.line)
            self.line = INDENT * (self.depth + 1)
        elif text.count("\n") > 1:
            self.end_line()
            self.lines += [""] if self.lines and self.lines[-1] else []

    def whole_line(self, text: str) -> None:
        """A directive is a line of its own; a comment may end a line."""
        if text.startswith("#"):
            self.end_line()
            self.lines.append(text)
        elif not self.newline_before and (self.line.strip() or self.lines):
            target = self.line or self.lines.pop()
            self.line = ""
            self.lines.append(f"{target.rstrip()}  {text}")
        else:
            self.lines.append(
                (self.line if not self.line.strip() and self.line else INDENT * self.depth) + text
            )
            self.line = ""
        self.before, self.closed_block = Part("mark", ""), False

    def structure(self, part: Part) -> None:
        if part.text == "{":
            self.put(part)
            self.end_line()
            self.depth += 1
        elif part.text == "}":
            self.end_line()
            self.depth = max(0, self.depth - 1)
            self.put(part)
            self.closed_block = True
        else:
            self.put(part)
            self.choices = 0
            self.end_line()

    def put(self, part: Part) -> None:
        if not self.line.strip():
            self.line = (self.line or INDENT * self.depth) + part.text
        else:
            self.line += (" " if self.spaced(part) else "") + part.text
        self.remember(part)

    def remember(self, part: Part) -> None:
        sign = part.text == "-" and not self.ends_value()
        self.choices += part.text == "?"
        if part.text == ":" and self.choices:
            self.choices -= 1
        self.in_hint = (self.in_hint or part.text == "<<") and part.text != ">>"
        self.before = Part("sign" if sign else part.kind, part.text)
        self.closed_block = False

    def ends_value(self) -> bool:
        """Whether what is before ends an operand, so that a minus is an operator."""
        value = self.before.kind in VALUES and self.before.text not in KEYWORDS
        return value or self.before.text in (")", "]")

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


def reformat(path: Path, writes: bool) -> str:
    """Gives a file the canonical layout, or leaves it as it is; what changes, as a unified diff."""
    before = read_source(path, str(path)).text
    after = laid_out(before)
    if writes and after != before:
        path.write_text(after)
    names = (f"{path}", f"{path} (canonical layout)")
    return "".join(unified_diff(before.splitlines(True), after.splitlines(True), *names))
