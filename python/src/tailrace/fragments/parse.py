# SPDX-License-Identifier: BSD-3-Clause
"""The parser: lark's LALR tables for `language.lark`, which resume behind the next `;` or `}` after an error.

In: `Expanded`; out: `Program`.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from tailrace.fragments import tree
from tailrace.fragments.build_tree import MAX_DEPTH, TooDeepError
from tailrace.fragments.problems import Problems
from tailrace.fragments.source import Expanded
from tailrace.fragments.tables import END, Machine, Token, lark_of_grammar

# Stands for a macro that could not be expanded, which is reported already.
NOT_EXPANDED = "\x02"
ITEM_WORDS = ("SUB", "CPP", "IMPORT")


# Words of the language that begin nothing in it, and are no names either.
RESERVED = ("in", "else", "SIZE")


class Kinds(dict[str, tuple[str, str]]):
    """The kind of each token by its text, and this text, one object for all tokens that have it."""

    def __init__(self, classes: re.Pattern[str], fixed: dict[str, str]) -> None:
        super().__init__({word: (kind, word) for word, kind in fixed.items()})
        self.update({word: ("STRAY", word) for word in RESERVED})
        self.classes = classes

    def __missing__(self, word: str) -> tuple[str, str]:
        found = self.classes.fullmatch(word)
        self[word] = (found.lastgroup if found else "STRAY", word)
        return self[word]


@cache
def scanner() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str]]:
    """A pattern for the next token, one with a group for each class of them, and the kinds of those that are
    always the same.
    """
    fixed, classes = {}, []
    for terminal in lark_of_grammar().terminals:
        if terminal.pattern.type == "str":
            fixed[terminal.pattern.value] = terminal.name
        else:
            classes.append((-terminal.priority, -terminal.pattern.max_width, terminal.name, terminal))
    marks = sorted((mark for mark in fixed if not mark.isidentifier()), key=len, reverse=True)
    several = "|".join(re.escape(mark) for mark in marks if len(mark) > 1)
    named = [(name, kind.pattern.to_regexp()) for *_, name, kind in sorted(classes)]
    token = "|".join([several, *(one for _, one in named), r"\S"])
    groups = "|".join(f"(?P<{name}>{one})" for name, one in named)
    return re.compile(rf"\s*({token})"), re.compile(groups), fixed


def tokens(text: str) -> list[Token]:
    """All tokens of a text; characters that begin none are of the kind STRAY."""
    pattern, classes, fixed = scanner()
    kinds, new, found = Kinds(classes, fixed), tuple.__new__, []
    # Blanks at the end begin no token, which the pattern would find out from each of them.
    for match in pattern.finditer(text.rstrip()):
        kind, word = kinds[match[1]]
        found.append(new(Token, (kind, word, match.start(1))))
    return found


def parse(expanded: Expanded, problems: Problems) -> tree.Program:
    """Parses a program; statements with errors of syntax are reported and left out."""
    return Parser(expanded, problems).run()


class Parser:
    """A run of the tables over the tokens of a program."""

    def __init__(self, expanded: Expanded, problems: Problems) -> None:
        self.expanded, self.problems = expanded, problems
        self.tokens = tokens(expanded.text)
        self.doubtful: set[str] = set()
        self.gave_up_items = False
        # Behind the last error: what is in front of that is looked at no more.
        self.behind = 0
        self.machine = Machine()

    def run(self) -> tree.Program:
        try:
            return tree.Program(self.items(), self.doubtful)
        except TooDeepError as error:
            place = self.expanded.place(error.at)
            what = f"nested more than {MAX_DEPTH} levels deep"
            self.problems.error(place, what, "SYN", "divide it; each operator of a formula counts, too")
            return tree.Program([], {one.text for one in self.tokens})

    def items(self) -> list[tree.Item]:
        index, feed, length = 0, self.machine.feed, len(self.tokens)
        while (index := feed(self.tokens, index)) < length:
            index = self.recover(index)
        end = Token(END, "", len(self.expanded.text))
        if feed([end]) == 0:
            if not self.expanded.cut:
                self.report(end)
            self.replace_item(end.at)
            feed([end])
        return self.machine.values[0]

    def recover(self, index: int) -> int:
        """Reports, and replaces what is around an error by ERROR; the index of the token behind that."""
        token = self.tokens[index]
        self.report(token)
        if token.kind in ITEM_WORDS and len(self.machine.states) > 2:
            self.replace_item(token.at)
            return index
        item = self.replace(token.at)
        before = range(index - 1, self.behind - 1, -1)
        ends = (i for i in before if self.tokens[i].text in ("{", "}", ";"))
        first = next(ends, self.behind - 1) + 1
        self.behind = self.skip(index, item)
        self.doubtful |= {one.text for one in self.tokens[first : self.behind] if one.kind == "ID"}
        return self.behind

    def replace_item(self, at: int) -> None:
        """Gives up the item that is open; any subroutine may have been in it."""
        states, table = self.machine.states, self.machine.table
        self.machine.keep(int(len(states) > 1 and "SUB" in table[states[1]]))
        self.replace(at)
        if not self.gave_up_items:
            words = ("SUB", "AS", "IMPORT")
            self.doubtful |= {name.text for word, name in pairwise(self.tokens) if word.kind in words}
            self.gave_up_items = True

    def replace(self, at: int) -> bool:
        """Leaves states until one can take ERROR, and gives it that. Is it an item?"""
        while not self.machine.takes("ERROR", at):
            self.machine.keep(len(self.machine.values) - 1)
        return len(self.machine.states) <= 3

    def skip(self, index: int, item: bool) -> int:
        """Skips to behind the next `;`, or to a `}` that closes what is open; braces are skipped whole."""
        depth = 0
        for position in range(index, len(self.tokens)):
            token = self.tokens[position]
            if item and not depth and position > index and token.kind in ITEM_WORDS:
                return position
            if token.text == "{":
                depth += 1
            elif token.text == "}":
                if not depth and not item:
                    return position
                depth -= 1
                if depth <= 0:
                    return self.behind_rules(position + 1)
            elif token.text == ";" and not depth:
                return position + 1
        return len(self.tokens)

    def behind_rules(self, position: int) -> int:
        """Recommendations that follow a block that was skipped are skipped, too."""
        text = [token.text for token in self.tokens[position : position + 2]]
        while text == ["@", "{"]:
            position = self.behind_braces(position + 1)
            text = [token.text for token in self.tokens[position : position + 2]]
        return position + (text[:1] == [";"])

    def behind_braces(self, opening: int) -> int:
        """Behind the brace that closes the one at a position."""
        depth = 0
        for position in range(opening, len(self.tokens)):
            depth += {"{": 1, "}": -1}.get(self.tokens[position].text, 0)
            if depth == 0:
                return position + 1
        return len(self.tokens)

    def report(self, token: Token) -> None:
        if token.text == NOT_EXPANDED:
            return
        place = self.expanded.place(token.at if token.kind != END else self.last_offset())
        what, fix = describe(token, self.machine.expected)
        self.problems.error(place, what, "SYN", fix)

    def last_offset(self) -> int:
        return self.tokens[-1].at if self.tokens else 0


# What ends a part of a program, and is forgotten most often.
ENDS = {";", ")", "]", "}", ","}


def describe(token: Token, expected: set[str]) -> tuple[str, str]:
    """What is wrong at a token, and what could be there instead."""
    shown = "${{" if token.text[:1] == "\x01" else token.text
    what = "the text ends too early" if token.kind == END else f"unexpected {shown}"
    ends_first = sorted(set(spelled(expected)), key=lambda word: (word not in ENDS, word))
    words = [word if word[0].isalpha() else f'"{word}"' for word in ends_first]
    some = ", ".join(words[:8]) + (", ..." if len(words) > 8 else "")
    return what, f"expected {some}" if words else ""


def spelled(kinds: set[str]) -> Iterator[str]:
    """How the kinds of tokens look in a program."""
    by_name = {terminal.name: terminal.pattern for terminal in lark_of_grammar().terminals}
    others = {"ID": "a name", "INT": "a number", "REAL": "a number", "STRING": "a string", "FOREIGN": "${{",
              "COMPARE": "a comparison", "PRODUCT": "*", END: "the end"}  # fmt: skip
    for kind in kinds - {"ERROR", "UNKNOWN"}:
        yield others.get(kind) or by_name[kind].value
