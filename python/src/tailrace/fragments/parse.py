# SPDX-License-Identifier: BSD-3-Clause
"""The parser: lark's LALR tables for `language.lark`, which resume behind the next `;` or `}` after an error.

In: `Expanded`; out: `Program`.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from lark import Lark, Token, UnexpectedToken

from tailrace.fragments import tree
from tailrace.fragments.build_tree import MAX_DEPTH, BuildTree, TooDeepError
from tailrace.fragments.folders import cache_folder
from tailrace.fragments.problems import Problems
from tailrace.fragments.source import Expanded

GRAMMAR = Path(__file__).with_name("language.lark")
ITEM_WORDS = ("SUB", "CPP", "IMPORT")


@cache
def lark_tables() -> Lark:
    """The tables, from the cache of the user where they are there already."""
    folder = cache_folder("grammar")
    kept = str(folder / f"language-{sys.version_info.major}.{sys.version_info.minor}") if folder else False
    return Lark(GRAMMAR.read_text(), parser="lalr", start="program", cache=kept, transformer=BuildTree())


@cache
def scanner() -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern with a group for each kind of token, and the words that are not identifiers."""
    words, kinds = {}, []
    for terminal in lark_tables().terminals:
        value = terminal.pattern.value
        if terminal.pattern.type == "str" and value.isidentifier():
            words[value] = terminal.name
        else:
            kinds.append((terminal.priority, terminal.pattern.max_width, terminal))
    kinds.sort(key=lambda kind: (-kind[0], -kind[1], kind[2].name))
    groups = [f"(?P<{kind.name}>{kind.pattern.to_regexp()})" for *_, kind in kinds]
    return re.compile("|".join([r"(?P<BLANK>\s+)", *groups, r"(?P<STRAY>[\s\S])"])), words


def tokens(text: str) -> list[Token]:
    """All tokens of a text; characters that begin none are of the kind STRAY."""
    pattern, words = scanner()
    found = []
    for match in pattern.finditer(text):
        kind = match.lastgroup
        if kind == "ID":
            kind = words.get(match[0], "ID")
        if kind != "BLANK":
            found.append(Token(kind, match[0], match.start()))
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
        self.state = lark_tables().parse_interactive("").parser_state

    def run(self) -> tree.Program:
        try:
            return tree.Program(self.items(), self.doubtful)
        except TooDeepError as error:
            place = self.expanded.place(error.at)
            self.problems.error(place, f"nested more than {MAX_DEPTH} levels deep", "SYN", "divide it")
            return tree.Program([], {str(one) for one in self.tokens})

    def items(self) -> list[tree.Item]:
        index, all_tokens, feed = 0, self.tokens, self.state.feed_token
        while index < len(all_tokens):
            try:
                feed(all_tokens[index])
                index += 1
            except UnexpectedToken as error:
                index = self.recover(error, index)
        end = Token("$END", "", len(self.expanded.text))
        try:
            return feed(end, True)
        except UnexpectedToken as error:
            if not self.expanded.cut:
                self.report(error)
            self.replace_item(end.start_pos)
            return feed(end, True)

    def recover(self, error: UnexpectedToken, index: int) -> int:
        """Reports, and replaces what is around an error by ERROR; the index of the token behind that."""
        self.report(error)
        token = self.tokens[index]
        if token.type in ITEM_WORDS and len(self.state.state_stack) > 2:
            self.replace_item(token.start_pos)
            return index
        item = self.replace(token.start_pos)
        behind = self.skip(index, item)
        first = next((i for i in range(index - 1, -1, -1) if self.tokens[i] in ("{", "}", ";")), -1)
        self.doubt(first + 1, behind)
        return behind

    def doubt(self, first: int, behind: int) -> None:
        self.doubtful |= {str(one) for one in self.tokens[first:behind] if one.type == "ID"}

    def replace_item(self, at: int) -> None:
        """Gives up the item that is open; any subroutine may have been in it."""
        stack, states = self.state.state_stack, self.state.parse_conf.states
        complete = 1 + (len(stack) > 1 and "SUB" in states[stack[1]])
        del stack[complete:], self.state.value_stack[complete - 1 :]
        self.replace(at)
        self.doubtful |= {
            str(name) for word, name in pairwise(self.tokens) if word.type in ("SUB", "AS", "IMPORT")
        }

    def replace(self, at: int) -> bool:
        """Leaves states until one can take ERROR, and gives it that. Is it an item?"""
        stack = self.state.state_stack
        while not self.takes_error(at):
            stack.pop()
            self.state.value_stack.pop()
        return len(stack) <= 3

    def takes_error(self, at: int) -> bool:
        """Gives ERROR to the state on top, which may complete what is open and refuse it only then."""
        try:
            self.state.feed_token(Token("ERROR", "", at))
        except UnexpectedToken:
            return False
        return True

    def skip(self, index: int, item: bool) -> int:
        """Skips to behind the next `;`, or to a `}` that closes what is open; braces are skipped whole."""
        depth = 0
        for position in range(index, len(self.tokens)):
            token = self.tokens[position]
            if item and not depth and position > index and token.type in ITEM_WORDS:
                return position
            if token == "{":
                depth += 1
            elif token == "}":
                if not depth and not item:
                    return position
                depth -= 1
                if depth <= 0:
                    return self.behind_rules(position + 1)
            elif token == ";" and not depth:
                return position + 1
        return len(self.tokens)

    def behind_rules(self, position: int) -> int:
        """Recommendations that follow a block that was skipped are skipped, too."""
        following = [str(token) for token in self.tokens[position : position + 2]]
        if following == ["@", "{"]:
            return self.skip(position, False)
        return position + (following[:1] == [";"])

    def report(self, error: UnexpectedToken) -> None:
        token = error.token
        place = self.expanded.place(token.start_pos if token.type != "$END" else self.last_offset())
        what, fix = describe(token, error.expected)
        self.problems.error(place, what, "SYN", fix)

    def last_offset(self) -> int:
        return self.tokens[-1].start_pos if self.tokens else 0


def describe(token: Token, expected: set[str]) -> tuple[str, str]:
    """What is wrong at a token, and what could be there instead."""
    shown = {"\x02": "$", "\x01": "${{"}.get(token[:1], str(token))
    what = "the text ends too early" if token.type == "$END" else f"unexpected {shown}"
    words = sorted(spelled(expected))
    some = ", ".join(words[:8]) + (", ..." if len(words) > 8 else "")
    return what, f"expected {some}" if words else ""


def spelled(kinds: set[str]) -> Iterator[str]:
    """How the kinds of tokens look in a program."""
    by_name = {terminal.name: terminal.pattern for terminal in lark_tables().terminals}
    others = {"ID": "a name", "INT": "a number", "REAL": "a number", "STRING": "a string", "FOREIGN": "${{",
              "COMPARE": "a comparison", "PRODUCT": "*", "$END": "the end"}  # fmt: skip
    for kind in kinds - {"ERROR", "UNKNOWN"}:
        yield others.get(kind) or by_name[kind].value
