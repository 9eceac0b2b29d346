# SPDX-License-Identifier: BSD-3-Clause
"""Rules that say what to change. A rule is a condition over numbers of the profile (`facts.py`), and two
expressions over them for the gain that it predicts: all of it can be recomputed by hand from the numbers that
a finding names, and `--explain RULE` shows.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

from tailrace.fragment_profile.facts import Facts
from tailrace.fragment_profile.profile import Profile
from tailrace.fragment_profile.rule_table import EXPLAINED_BY, TABLE

# What a gain is of, in words.
GAINS = {
    "time": "times as fast",
    "transfers": "times fewer transfers of values",
    "hops": "times fewer moves of a fragment that moves",
    "bytes": "times less memory for values",
    "body": "times as fast a body, on average",
}


FUNCTIONS = {"min": min, "max": max}  # that expressions may use


@dataclass(frozen=True)
class Finding:
    """That a rule speaks. `gain`: by what factor what it is `of` can become less, at least and at most, and
    `expected`. `numbers`: all that the rule has used, by name.
    """

    rule: str
    text: str
    numbers: dict[str, float]
    gain: tuple[float, float]
    expected: float
    of: str = "time"

    @property
    def rank(self) -> tuple[bool, float]:
        """Advice with larger ones comes first: on time before all else, and by what is expected."""
        return self.of == "time", self.expected

    def evidence(self) -> str:
        found = ", ".join(f"{name} = {_number(value)}" for name, value in self.numbers.items())
        return f"{found}; predicted gain: {self.gain_text()}"

    def gain_text(self) -> str:
        return f"{self.expected:.2f} ({self.gain[0]:.2f} to {self.gain[1]:.2f}) {GAINS[self.of]}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "text": self.text,
            "numbers": self.numbers,
            "gain": list(self.gain),
            "expected": self.expected,
            "gain_of": self.of,
        }


class _Looked(Mapping):
    """Numbers by name for an expression, and which of them it has looked at."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.numbers: dict[str, float] = {}

    def __getitem__(self, name: str) -> float:
        if name in FUNCTIONS:
            raise KeyError(name)
        if name not in self.numbers:
            self.numbers[name] = getattr(self.facts, name)
        return self.numbers[name]

    def __iter__(self):
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True)
class Rule:
    """It speaks where its `condition` is true and a gain is expected. This, `low`, `expected` and `high` of
    the gain are expressions over numbers; `text`: what to change, with numbers in braces. `excluded_by`:
    rules that, where they speak, explain the same better.
    """

    name: str
    why: str
    condition: str
    low: str
    expected: str
    high: str
    text: str
    of: str = "time"

    @property
    def excluded_by(self) -> tuple[str, ...]:
        return EXPLAINED_BY.get(self.name, ())

    @cached_property
    def _code(self) -> tuple[CodeType, ...]:
        sources = self.condition, self.low, self.expected, self.high
        return tuple(compile(source, f"<{self.name}>", "eval") for source in sources)

    @property
    def names(self) -> set[str]:
        """The numbers that its expressions may look at."""
        return {name for code in self._code for name in code.co_names} - FUNCTIONS.keys()

    def look(self, facts: Facts) -> tuple[Finding | None, dict[str, float]]:
        """What it finds, and the numbers that it has looked at."""
        looked = _Looked(facts)
        condition, *gains = self._code
        if not _value(condition, looked):
            return None, looked.numbers
        low, expected, high = (float(_value(code, looked)) for code in gains)
        if not expected > 1 or math.isnan(low + high):
            return None, looked.numbers
        low, high = max(low, 1.0), max(expected, high)
        text = self.text.format_map(_Looked(facts))
        return Finding(self.name, text, dict(looked.numbers), (low, high), expected, self.of), looked.numbers


def _value(code: CodeType, looked: Mapping) -> Any:
    try:
        return eval(code, {"__builtins__": {}, **FUNCTIONS}, looked)
    except ZeroDivisionError:
        return math.nan


def _number(value: float) -> str:
    if math.isnan(value):
        return "not known"
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g}"


RULES = tuple(Rule(*row) for row in TABLE)


def findings(profile: Profile) -> list[Finding]:
    """What the rules say, the largest gain first; of two that exclude each other the more exact one."""
    return said_of(Facts(profile))


def said_of(facts: Facts) -> list[Finding]:
    found = {rule.name: finding for rule in RULES if (finding := rule.look(facts)[0]) is not None}
    kept = [
        finding
        for rule in RULES
        if (finding := found.get(rule.name)) and not any(name in found for name in rule.excluded_by)
    ]
    return sorted(kept, key=lambda one: one.rank, reverse=True)


def explain(name: str, profile: Profile) -> str:
    """What a rule looks at, and what it found. Raises KeyError for a rule that there is not."""
    rule, facts = {one.name: one for one in RULES}[name], Facts(profile)
    finding, numbers = rule.look(facts)
    lines = [f"{rule.name}: {rule.why}", f"speaks if {rule.condition}"]
    lines.append(f"here: {finding.text if finding else 'it does not'}")
    lines += [f"  {key} = {_number(value)}" for key, value in numbers.items()]
    lines += [f"predicts {rule.expected}", f"  from {rule.low}", f"  to {rule.high}"]
    if finding is not None:
        lines.append(f"here: {finding.gain_text()}")
    others = [one for one in RULES if one.name in rule.excluded_by] if finding else []
    speaking = sorted(one.name for one in others if one.look(facts)[0] is not None)
    lines += [f"  not shown among the advice: {other} explains it better" for other in speaking]
    return "\n".join(lines)
