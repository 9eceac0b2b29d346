# SPDX-License-Identifier: BSD-3-Clause
"""Errors and warnings of a program, collected by all passes and shown together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from tailrace.fragments.source import Place

MAX_SHOWN = 20
# Passes go through a program in several orders; what is shown is among so many errors.
MAX_SUGGESTED = 10 * MAX_SHOWN
# Of a long line only what is around the place is shown.
SHOWN_COLUMNS = 100


@dataclass(frozen=True)
class Problem:
    """One message: where, what, under which code, what to do, and what else is to be known, line by line."""

    place: Place
    text: str
    code: str
    fix: str = ""
    notes: Sequence[str] = ()
    severity: str = "error"

    def as_text(self) -> str:
        line, column = self.place.line_and_column
        code = f" [{self.code}]" if self.code else ""
        start = max(0, column - SHOWN_COLUMNS)
        source = self.place.file.line_text(line)[start : start + 2 * SHOWN_COLUMNS]
        indent = "".join(c if c == "\t" else " " for c in source[: column - 1 - start])
        lines = [f"{self.place}: {self.severity}: {self.text}{code}", source, f"{indent}^"]
        lines += [f"  {note}" for note in (*self.notes, *self.place.context)]
        return "\n".join([*lines, f"  Fix: {self.fix}"] if self.fix else lines)

    def as_dict(self) -> dict:
        line, column = self.place.line_and_column
        return {
            "file": self.place.file.name,
            "line": line,
            "column": column,
            "severity": self.severity,
            "code": self.code,
            "text": self.text,
            "fix": self.fix,
            "notes": [*self.notes, *self.place.context],
        }

    @property
    def order(self) -> tuple[str, int]:
        return self.place.file.name, self.place.offset


@dataclass
class Problems:
    """What was found so far."""

    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def error(
        self, place: Place, text: str, code: str = "", fix: str = "", notes: Sequence[str] = ()
    ) -> None:
        self.errors.append(Problem(place, text, code, fix, notes))

    def warn(self, place: Place, text: str, code: str, fix: str = "", notes: Sequence[str] = ()) -> None:
        self.warnings.append(Problem(place, text, code, fix, notes, "warning"))

    def nearest(self, name: str, known: Sequence[str]) -> str:
        """'; there is powers' when a known name resembles this one; nothing for errors that nobody sees."""
        close = get_close_matches(name, known, 1) if len(self.errors) < MAX_SUGGESTED else []
        return f"; there is {close[0]}" if close else ""

    def steered(self, how: str) -> "Problems":
        """The same with warnings as `--warnings` wants them: on, off, error, or the codes that are shown.

        A code means all that begin with it: SYN5 is SYN5.1 to SYN5.8.
        """
        if how == "error":
            return Problems(self.errors + self.warnings)
        codes = {"on": ("",), "off": ()}.get(how, tuple(how.split(",")))
        shown = [one for one in self.warnings if any(_covers(code, one.code) for code in codes)]
        return Problems(self.errors, shown)

    def shown(self) -> list[Problem]:
        """At most 20 errors and 20 warnings, each in the order of the text."""
        lists = (sorted(some, key=lambda one: one.order)[:MAX_SHOWN] for some in (self.errors, self.warnings))
        return [problem for some in lists for problem in some]

    def as_text(self) -> str:
        lines = [problem.as_text() for problem in self.shown()]
        for some, noun in ((self.errors, "errors"), (self.warnings, "warnings")):
            if len(some) > MAX_SHOWN:
                lines.append(f"... and {len(some) - MAX_SHOWN} more {noun}")
        return "\n".join(lines)


def _covers(code: str, found: str) -> bool:
    behind = found[len(code) : len(code) + 1]
    return found.startswith(code) and not (code[-1:].isdigit() and behind.isdigit())
