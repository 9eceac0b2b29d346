# SPDX-License-Identifier: BSD-3-Clause
"""A model of the time of NPB's UA on many ranks: messages, words and elements of the busiest rank, times what
each costs. Nothing is hidden behind computing in it. docs/explain/heat.md derives it.
"""

from dataclasses import dataclass
from math import ceil, log2
from typing import Any

from tailrace_bench.network_fit import Range

# Of class C: steps, changes of the mesh, and the work that NPB counts, in millions of points advanced.
STEPS, CHANGES, WORK_MOP = 200, 39, 8780.4
# A step brings values to elements, and their contributions back, so often each; sums over all ranks.
GATHERS, SCATTERS, SUMS = 12, 12, 20
NUMBER_BYTES = 8
# What an exact sum sends: its digits and a word for what is no number.
SUM_BYTES = 69 * NUMBER_BYTES
# Collective operations of a change of the mesh, from the text of the program: two barriers for each of six
# deliveries, verdicts and sums, and p4est's, which are two for each of eight levels and some for the balance.
COLLECTIVES = 12 + 14 + 2 * 8 + 6


@dataclass(frozen=True)
class Costs:
    """Of messages: seconds to the first byte by ranges of sizes, and from one to the next."""

    ranges: tuple[Range, ...]
    gap_s: float

    @classmethod
    def of(cls, loggp: dict[str, Any]) -> "Costs":
        ranges = tuple(
            Range(one["first"], one["last"], one["latency_s"], one["per_byte_s"]) for one in loggp["ranges"]
        )
        return cls(ranges, loggp["gap_s"])

    def range_of(self, size: float) -> Range:
        return next((one for one in self.ranges if size <= one.last), self.ranges[-1])

    def message_s(self, size: float) -> float:
        """One message, from its start to its end."""
        return self.range_of(size).seconds(size)

    def messages_s(self, count: float, size: float) -> float:
        """So many messages of as many bytes together at the busiest rank, where one follows the other as soon
        as the gap between messages and its bytes allow.
        """
        if count == 0:
            return 0.0
        mean = size / count
        next_s = max(self.gap_s, self.range_of(mean).per_byte_s * mean)
        return self.message_s(mean) + (count - 1) * next_s

    def collective_s(self, ranks: int, size: float = 0) -> float:
        """As many messages one after the other as ranks have binary digits."""
        return ceil(log2(ranks)) * self.message_s(size)


@dataclass(frozen=True)
class Parts:
    """Seconds of a whole run of class C."""

    computing_s: float
    exchange_s: float
    sums_s: float
    changes_s: float

    @property
    def total_s(self) -> float:
        return self.computing_s + self.exchange_s + self.sums_s + self.changes_s

    @property
    def mops(self) -> float:
        return WORK_MOP / self.total_s


def ours_here(
    counts: dict[str, Any],
    change: dict[str, Any],
    elements: int,
    element_s: float,
    change_s: float,
    costs: Costs,
) -> Parts:
    """Our program with this machine's costs: `element_s` and `change_s` are those of an element in a step and
    in a change of the mesh.
    """
    ranks, messages = counts["ranks"], counts["messages"]["most"]
    share = ceil(elements / ranks)
    read_s = costs.messages_s(messages, NUMBER_BYTES * counts["reads"]["most"])
    sent_s = costs.messages_s(messages, NUMBER_BYTES * counts["contributions"]["most"])
    parts = [change[part] for part in ("transfer", "surroundings", "numbering")] + [counts["map"]]
    delivered_s = sum(costs.messages_s(part["max_messages"], part["max_bytes"]) for part in parts)
    return Parts(
        computing_s=STEPS * share * element_s,
        exchange_s=STEPS * (GATHERS * read_s + SCATTERS * sent_s),
        sums_s=STEPS * SUMS * costs.collective_s(ranks, SUM_BYTES),
        changes_s=CHANGES * (share * change_s + delivered_s + COLLECTIVES * costs.collective_s(ranks)),
    )


# The study's machine: a core's rate in all, words put per second by a process, and the adaptation that every
# process repeats.
STUDY_SERIAL_S, STUDY_PUT_S, STUDY_CHANGES_S = 3400.0, 1e-6, 14.0


def on_study_machine(counts: dict[str, Any], elements: int, shared_changes: bool) -> Parts:
    """A rule on the study's machine, every word put by itself; the adaptation repeated by every process, or
    shared out evenly among them. The owner puts what is read of it, a reader puts back what it read.
    """
    ranks = counts["ranks"]
    share = ceil(elements / ranks) / elements
    reads = counts["reads"]["most"]
    read_of = counts["read_max_over_mean"] * counts["reads"]["total"] / ranks
    words = STEPS * (GATHERS * read_of + SCATTERS * reads)
    return Parts(
        computing_s=(STUDY_SERIAL_S - STUDY_CHANGES_S) * share,
        exchange_s=words * STUDY_PUT_S,
        sums_s=0.0,
        changes_s=STUDY_CHANGES_S * (share if shared_changes else 1),
    )
