# SPDX-License-Identifier: BSD-3-Clause
"""Run times as the planner predicts them."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tailrace.bench.rehearsal import Rehearsal
from tailrace.console import EXIT_STOPPED
from tailrace.strategies import name_of


@dataclass(frozen=True)
class Forecast:
    """Run times as the planner predicts them, in seconds, by strategy with its numbers."""

    runs_s: dict[str, float]
    choice: str

    def of(self, strategy: str) -> float | None:
        """For a strategy as it was given, `auto` being what would be chosen. Without a number `leaders` has
        groups as large as a node, others the smallest number.
        """
        wanted = self.choice if strategy == "auto" else strategy
        if wanted in self.runs_s:
            return self.runs_s[wanted]
        if ":" in wanted:
            return None
        numbered = [name for name in self.runs_s if name_of(name) == wanted]
        if not numbered:
            return None
        numbered.sort(key=lambda name: int(re.split("[:,]", name)[1]))
        return self.runs_s[numbered[-1 if wanted == "leaders" else 0]]


def forecast(
    rehearsal: Rehearsal, arguments: list[str], ranks: int, prepare: Callable[[], None] | None = None
) -> Forecast:
    """What `tailrace plan` would say of a run with these arguments; empty if its outputs are too few."""
    plan = rehearsal.start([*arguments, "--plan"], ranks, prepare, EXIT_STOPPED)["plan"]
    runs_s = {entry["strategy"]: entry["run_s"] for entry in plan.get("predictions", [])}
    return Forecast(runs_s, plan["decisions"][-1]["strategy"])
