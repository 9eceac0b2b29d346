# SPDX-License-Identifier: BSD-3-Clause
"""All that is known of a run of a fragment program, put together from its traces."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.casefile import FRAGMENTS
from tailrace.fragment_profile.graph import CriticalPath, Graph, WhatIf, critical_path, graph_of, what_if
from tailrace.fragment_profile.shares import Shares, shares_of
from tailrace.fragment_profile.tables import STAGE_NAMES, Recorded, is_recorded, tabulate
from tailrace.fragment_profile.totals import Totals, totals_of
from tailrace.fragment_profile.values import Values, values_of
from tailrace.trace import RunTrace, read_run


class NoRecordsError(ValueError):
    """The traces hold no records of a fragment program."""


@dataclass
class StageTimes:
    """Stays of fragments in one stage, of those recorded in full."""

    stage: str
    count: int
    median_s: float
    p99_s: float
    longest_s: float
    total_s: float
    max_at_once: int
    uncertain: int  # stays between ranks that are not longer than the error of the clocks


@dataclass
class Profile:
    """Of one run. `program_over`: it has come to its end, and no fragment was left."""

    recorded: Recorded
    program_over: bool = True

    @cached_property
    def totals(self) -> Totals:
        return totals_of(self.recorded, self.program_over)

    @cached_property
    def shares(self) -> Shares:
        shares = shares_of(self.recorded, self.totals.created)
        if self.graph is not None and self.graph.complete and self.what_if is not None:
            shares.ideal_s = self.what_if.cases["zero latency"]
        return shares

    @cached_property
    def graph(self) -> Graph | None:
        return graph_of(self.recorded)

    @cached_property
    def path(self) -> CriticalPath | None:
        return critical_path(self.graph) if self.graph is not None else None

    @cached_property
    def what_if(self) -> WhatIf | None:
        if self.graph is None or not self.graph.lanes:
            return None
        return what_if(self.graph, self.recorded.type_names(), self.recorded.first_s)

    @cached_property
    def values(self) -> Values:
        return values_of(self.recorded)

    @cached_property
    def stages(self) -> list[StageTimes]:
        return [_stage(self.recorded, number) for number in range(len(STAGE_NAMES))]

    @cached_property
    def types(self) -> list[dict[str, Any]]:
        """Fragments and useful seconds by type, most useful first."""
        names = self.recorded.type_names()
        table, runs = self.recorded.fragments, self.recorded.runs
        runs = runs[runs["fragment"] >= 0]
        spent = np.bincount(
            table["type"][runs["fragment"]], runs["end_s"] - runs["begin_s"], minlength=len(names)
        )
        counts = np.bincount(table["type"], minlength=len(names))
        order = np.argsort(-spent, kind="stable")
        return [
            {
                "type": names[number],
                "kind": self.recorded.types[number].kind,
                "place": self.recorded.types[number].place,
                "file": self.recorded.types[number].file,
                "line": self.recorded.types[number].line,
                "fragments": int(counts[number]),
                "useful_s": float(spent[number]),
            }
            for number in order
            if counts[number]
        ]

    @property
    def errors(self) -> list[str]:
        return [*self.totals.errors, *self.shares.errors]

    def as_dict(self) -> dict[str, Any]:
        names = self.recorded.type_names()
        return {
            **self.totals.as_dict(),
            "ranks": self.recorded.ranks,
            "clock_error_s": self.recorded.clock_error_s,
            "recorded_in_full": self.recorded.is_full,
            "full_until_s": None if self.recorded.is_full else self.recorded.full_until_s,
            "problems": self.recorded.problems,
            "stages": [vars(one) for one in self.stages],
            "types": self.types,
            "shares": self.shares.as_dict(),
            "critical_path": self.path.as_dict(names) if self.path else None,
            "what_if": self.what_if.as_dict() if self.what_if else None,
            "values": self.values.as_dict(),
            "errors": self.errors,
        }


def _stage(recorded: Recorded, number: int) -> StageTimes:
    stays = recorded.stays[recorded.stays["stage"] == number]
    lengths = stays["end_s"] - stays["start_s"]
    uncertain = int((lengths <= recorded.clock_error_s).sum()) if number == 0 else 0
    if not len(stays):
        return StageTimes(STAGE_NAMES[number], 0, 0.0, 0.0, 0.0, 0.0, 0, 0)
    median, p99 = np.quantile(lengths, [0.5, 0.99])
    return StageTimes(
        STAGE_NAMES[number],
        len(stays),
        float(median),
        float(p99),
        float(lengths.max()),
        float(lengths.sum()),
        int(population(stays)[1].max(initial=0)),
        uncertain,
    )


def population(stays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times, and how many fragments are in the stage from each on."""
    times = np.r_[stays["start_s"], stays["end_s"]]
    change = np.r_[np.ones(len(stays)), -np.ones(len(stays))]
    order = np.lexsort((-change, times))
    return times[order], np.cumsum(change[order])


def profile_of(trace: RunTrace, account: dict[str, Any]) -> Profile:
    """Raises NoRecordsError where there is nothing of a fragment program."""
    if not is_recorded(trace):
        raise NoRecordsError("its traces hold no records of a fragment program")
    # A simulation abandons what it has computed beyond its end; a fragment program leaves nothing.
    is_program = account.get("simulation", FRAGMENTS) == FRAGMENTS
    over = is_program and account.get("status", "finished") == "finished"
    return Profile(tabulate(trace), over)


def read_profile(directory: Path) -> Profile:
    """The profile of a run directory. Raises NoRecordsError."""
    trace = read_run(directory)
    if not trace.ranks:
        raise NoRecordsError("; ".join(trace.problems) or "there is no trace")
    return profile_of(trace, read_account(directory))


def read_account(directory: Path) -> dict[str, Any]:
    """run.json, empty where there is none that can be read."""
    try:
        found = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
