# SPDX-License-Identifier: BSD-3-Clause
"""The LALR tables that lark makes of `language.lark`, and the machine that runs them over tokens.

lark's own machine takes three times as long: it calls functions for rules that only hand their part on,
and its tokens hold much more.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lark import Lark
from lark.grammar import Rule

from tailrace.fragments.build_tree import BuildTree
from tailrace.fragments.folders import cache_folder

GRAMMAR = Path(__file__).with_name("language.lark")
END = "$END"


class Token(NamedTuple):
    """A token of the expanded text, which begins at the offset `at`."""

    kind: str
    text: str
    at: int


class Reduction(NamedTuple):
    """A rule has the last `size` parts, of which `build` makes a node; None: its only part is the node."""

    size: int
    rule: str
    build: Callable[[list], object] | None


class Tables(NamedTuple):
    """For each state, the state that follows a kind of token or a rule, or what a kind of token completes."""

    states: list[dict[str, int | Reduction]]
    start: int


@cache
def lark_of_grammar() -> Lark:
    """The grammar as lark sees it, from the cache of the user where it is there already."""
    folder = cache_folder("grammar")
    kept = str(folder / f"language-{sys.version_info.major}.{sys.version_info.minor}") if folder else False
    return Lark(GRAMMAR.read_text(), parser="lalr", start="program", cache=kept, transformer=BuildTree())


@cache
def tables() -> Tables:
    found = lark_of_grammar().parse_interactive("").parser_state.parse_conf
    builders = {rule: Reduction(len(rule.expansion), rule.origin.name, builder(rule, made))
                for rule, made in found.callbacks.items() if isinstance(rule, Rule)}  # fmt: skip
    states = [
        {kind: builders[to] if isinstance(to, Rule) else to for kind, (_, to) in found.states[number].items()}
        for number in range(len(found.states))
    ]
    states[found.end_state][END] = found.end_state
    return Tables(states, found.start_state)


def builder(rule: Rule, made: Callable[[list], object]) -> Callable[[list], object] | None:
    """What builds a rule's node; None if it hands its only part on."""
    hands_on = rule.options.expand1 and rule.alias is None and len(rule.expansion) == 1
    return None if hands_on else made


class Machine:
    """A run of the tables: the open states, and what was made of the tokens so far."""

    def __init__(self) -> None:
        self.table, start = tables()
        self.states, self.values = [start], []
        # What `hand_on` says, by what it was asked: expressions ask it for the same again and again.
        self.handed_on: dict[tuple[int, int, str], int] = {}

    def feed(self, tokens: Sequence[Token], first: int = 0) -> int:
        """Takes tokens from `first` on. Returns the index of one that fits nowhere, or their number."""
        table, states, values = self.table, self.states, self.values
        handed_on = self.handed_on
        for index in range(first, len(tokens)):
            token = tokens[index]
            kind = token.kind
            while (step := table[states[-1]].get(kind)).__class__ is not int:
                if step is None:
                    return index
                size, rule, build = step
                if build is None:
                    handed = (states[-2], states[-1], kind)
                    top = handed_on.get(handed)
                    states[-1] = handed_on.setdefault(handed, self.hand_on(*handed)) if top is None else top
                    continue
                behind = len(values) - size
                made = build(values[behind:])
                del values[behind:], states[behind + 1 :]
                values.append(made)
                states.append(table[states[-1]][rule])
            states.append(step)
            values.append(token)
        return len(tokens)

    def hand_on(self, below: int, top: int, kind: str) -> int:
        """The state on top once all rules that only hand their part on are complete, before a token."""
        while (step := self.table[top].get(kind)).__class__ is Reduction and step.build is None:
            top = self.table[below][step.rule]
        return top

    def keep(self, count: int) -> None:
        """Forgets all parts but the first ones."""
        del self.states[count + 1 :], self.values[count:]

    def takes(self, kind: str, at: int) -> bool:
        """Gives the state on top a token, which may complete what is open before it is refused."""
        return self.feed([Token(kind, "", at)]) == 1

    @property
    def expected(self) -> set[str]:
        return {kind for kind in self.table[self.states[-1]] if kind.isupper()}
