# SPDX-License-Identifier: BSD-3-Clause
"""The numbers that rules look at, each by its name. Those that cannot be had of a run, as its records or a
replay are missing, are NaN, and nothing is true of them.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tailrace.fragment_profile.graph import replay
from tailrace.fragment_profile.order import replay_in_best_order
from tailrace.fragment_profile.profile import Profile
from tailrace.fragment_profile.shares import ThreadShare, over_time
from tailrace.fragment_profile.values import peak_if_released
from tailrace.trace import ACTIVITIES, STEPS

NO = math.nan
_LEAST = 10  # bodies of a rank that a median is taken of


class _MainType(NamedTuple):
    """The type of body that took most of the time."""

    name: str
    lengths: np.ndarray
    ranks: np.ndarray
    nodes: np.ndarray  # rows of the fragments


class Facts:
    """Of one run. Numbers are computed when a rule asks for them."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    # How the time of threads was spent

    @cached_property
    def ranks(self) -> int:
        return len(self.profile.recorded.ranks)

    @cached_property
    def executing_threads(self) -> int:
        return len(self._executing)

    @cached_property
    def wall_s(self) -> float:
        return self.profile.shares.wall_s

    @cached_property
    def useful_s(self) -> float:
        return self.profile.shares.useful_s

    @cached_property
    def busy_s(self) -> float:
        """Useful time and overhead of all threads."""
        return self.useful_s + self.profile.shares.overhead_s

    @cached_property
    def idle_share(self) -> float:
        """Of the threads that run bodies."""
        return _ratio(sum(one.idle_s for one in self._executing), sum(one.wall_s for one in self._executing))

    @cached_property
    def granularity_s(self) -> float:
        return self.profile.shares.granularity_s or NO

    @cached_property
    def runtime_per_body_s(self) -> float:
        """What threads do for a body besides messages, without what recording takes."""
        spent = self._overhead("distribution", "dependencies", "unfolding", "ending")
        return max(_ratio(spent - self.recording_s, self.profile.shares.bodies), 0.0)

    @cached_property
    def runtime_share(self) -> float:
        """Of the busy time: what threads do besides bodies and messages."""
        return _ratio(self._overhead("distribution", "dependencies", "unfolding", "ending"), self.busy_s)

    @cached_property
    def recording_s(self) -> float:
        """Records times the cost of one, as the run measured it at its beginning."""
        summaries = self.profile.recorded.summaries.values()
        return float(sum(one.counts.sum() * one.record_cost_s for one in summaries))

    @cached_property
    def messages_s(self) -> float:
        return self._overhead("messages")

    @cached_property
    def messages(self) -> int:
        """Fragments, requests and values that were sent."""
        return sum(self._count(name) for name in ("forward", "request", "deliver"))

    @cached_property
    def bodies(self) -> int:
        return self.profile.shares.bodies

    @cached_property
    def messages_of_busiest_s(self) -> float:
        """Of the thread with the least idle time."""
        return self._busiest.overhead_s["messages"] if self._busiest else NO

    @cached_property
    def values_of_busiest_s(self) -> float:
        """What this thread does with values that come."""
        return self._busiest.overhead_s["dependencies"] if self._busiest else NO

    @cached_property
    def busy_of_busiest_s(self) -> float:
        return self._busiest.wall_s - self._busiest.idle_s if self._busiest else NO

    # What the replay says

    @cached_property
    def replayed_s(self) -> float:
        return self.profile.what_if.as_it_was_s if self.profile.what_if else NO

    @cached_property
    def replay_error(self) -> float:
        return abs(self.profile.what_if.error) if self.profile.what_if else NO

    @cached_property
    def measured_s(self) -> float:
        return self.profile.what_if.measured_s if self.profile.what_if else NO

    @cached_property
    def without_latency_s(self) -> float:
        return self._case("zero latency")

    @cached_property
    def with_any_workers_s(self) -> float:
        """0 where there is no replay that could bound anything."""
        return self.profile.what_if.cases["infinite workers"] if self.profile.what_if else 0.0

    @cached_property
    def answered_at_once_s(self) -> float:
        """If no request waited for a body of the rank that has the value."""
        return self._replay(lambda graph: replay(graph, edge_s=graph.edge_s - graph.edge_behind_s))

    @cached_property
    def answered_by_workers_s(self) -> float:
        """The same with any number of workers."""
        return self._replay(
            lambda graph: replay(graph, lanes=False, edge_s=graph.edge_s - graph.edge_behind_s)
        )

    @cached_property
    def in_best_order_s(self) -> float:
        return self._replay(replay_in_best_order)

    @cached_property
    def behind_share(self) -> float:
        """Of the time that values took from one rank to another, that in which their rank was in a body."""
        graph = self.profile.graph
        return _ratio(graph.edge_behind_s.sum(), graph.edge_s.sum()) if graph is not None else NO

    @cached_property
    def chain_s(self) -> float:
        """Bodies of the critical path."""
        return self.profile.path.length_s - self.profile.path.transfer_s if self.profile.path else NO

    @cached_property
    def longest_type_s(self) -> float:
        """Of the critical path, the type of body with most of it."""
        path = self.profile.path
        return next(iter(path.by_type.values()))[1] if path and path.by_type else NO

    @cached_property
    def longest_type(self) -> str:
        path = self.profile.path
        return self.profile.recorded.type_names()[next(iter(path.by_type))] if path and path.by_type else ""

    @cached_property
    def with_longest_type_faster_s(self) -> float:
        """With bodies of that type twice as fast."""
        return self._case(f"{self.longest_type} twice as fast")

    # Ranks beside each other

    @cached_property
    def load_balance(self) -> float:
        useful = [*self._useful_by_rank.values()]
        return _ratio(sum(useful) / len(useful), max(useful)) if len(useful) > 1 else NO

    @cached_property
    def busiest_rank(self) -> int:
        return max(self._useful_by_rank, key=lambda rank: self._useful_by_rank[rank])

    @cached_property
    def useful_share_of_busiest(self) -> float:
        """Of the time of the threads of the rank with the most useful time."""
        return _ratio(
            self._useful_by_rank[self.busiest_rank],
            sum(one.wall_s for one in self._executing if one.rank == self.busiest_rank),
        )

    @cached_property
    def slow_rank(self) -> int:
        return max(self._medians, key=lambda rank: self._medians[rank], default=-1)

    @cached_property
    def median_s(self) -> float:
        """Of the bodies of the main type on the slowest rank."""
        return self._medians.get(self.slow_rank, NO) if len(self._medians) > 1 else NO

    @cached_property
    def median_elsewhere_s(self) -> float:
        others = [value for rank, value in self._medians.items() if rank != self.slow_rank]
        return float(np.median(others)) if others else NO

    @cached_property
    def at_same_speed_s(self) -> float:
        """If the bodies of the main type were as fast on the slowest rank as elsewhere."""
        return self._replay(lambda graph: replay(graph, self._at_same_speed(graph)))

    @cached_property
    def work_at_same_speed_s(self) -> float:
        """Useful seconds of all ranks, those of the slow one at the others' speed."""
        speed = self.median_elsewhere_s / self.median_s
        slow = self._useful_by_rank.get(self.slow_rank, 0.0)
        return self.useful_s - slow + slow * speed

    # Where fragments come from

    @cached_property
    def creating_rank(self) -> int:
        return max(self._created, key=lambda rank: self._created[rank], default=-1)

    @cached_property
    def created_share(self) -> float:
        """Of all fragments, those that this rank created."""
        return _ratio(self._created.get(self.creating_rank, 0), sum(self._created.values()))

    @cached_property
    def creating_s(self) -> float:
        """What this rank does to create fragments and to send them away."""
        sent = {name: self._count(name, self.creating_rank) for name in ("forward", "request", "deliver")}
        share = _ratio(sent["forward"], sum(sent.values()))
        return sum(
            one.overhead_s["unfolding"]
            + one.overhead_s["distribution"]
            + (one.overhead_s["messages"] * share if sent["forward"] else 0.0)
            for one in self.profile.shares.threads
            if one.rank == self.creating_rank
        )

    @cached_property
    def idle_elsewhere_share(self) -> float:
        """Of the threads of other ranks that run bodies."""
        others = [one for one in self._executing if one.rank != self.creating_rank]
        return _ratio(sum(one.idle_s for one in others), sum(one.wall_s for one in others))

    @cached_property
    def start_s(self) -> float:
        """Until half of the most useful share of a hundredth of the run is reached."""
        return self._start[0]

    @cached_property
    def useful_in_start_s(self) -> float:
        return self._start[1]

    @cached_property
    def idle_in_start_share(self) -> float:
        """Of all idle time."""
        return self._start[2]

    @cached_property
    def created(self) -> int:
        return self.profile.totals.created

    @cached_property
    def moves(self) -> int:
        return sum(times * count for times, count in enumerate(self.profile.totals.distribs))

    @cached_property
    def moved(self) -> int:
        """Fragments that went to another rank."""
        return sum(self.profile.totals.distribs[1:])

    @cached_property
    def moved_twice_or_more(self) -> int:
        return sum(self.profile.totals.distribs[2:])

    # Values

    @cached_property
    def values_written(self) -> int:
        return self._count("store")

    @cached_property
    def values_left(self) -> int:
        return self.profile.values.live_at_end

    @cached_property
    def peak_bytes(self) -> float:
        """The most bytes of values at a time."""
        return self.profile.values.peak_bytes or self._peak_of_bins

    @cached_property
    def peak_if_released_bytes(self) -> float:
        """If each value went with its last use; without records, if none had been left at the end."""
        if self.profile.values.peak_bytes:
            return float(peak_if_released(self.profile.recorded))
        one = _ratio(sum(self._stored), self.values_written)
        return max(self.peak_bytes - self.profile.values.live_bytes_at_end, one)

    @cached_property
    def fetches(self) -> int:
        """Values that came to another rank by a request."""
        return len(self.profile.values.latency_s)

    @cached_property
    def further_fetches(self) -> int:
        """Those of a value that was fetched by the same rank before."""
        return self.profile.values.further_fetches

    # Single bodies

    @cached_property
    def main_type(self) -> str:
        return self._main.name if self._main else ""

    @cached_property
    def bodies_of_main_type(self) -> int:
        return len(self._main.lengths) if self._main else 0

    @cached_property
    def body_median_s(self) -> float:
        return float(np.median(self._main.lengths)) if self._main else NO

    @cached_property
    def body_least_s(self) -> float:
        """Without records 0."""
        return float(self._main.lengths.min()) if self._main else 0.0

    @cached_property
    def body_mean_s(self) -> float:
        return float(np.mean(self._main.lengths)) if self._main else NO

    @cached_property
    def body_95_s(self) -> float:
        return float(np.quantile(self._main.lengths, 0.95)) if self._main else NO

    # What the numbers are made of

    @property
    def _executing(self) -> list[ThreadShare]:
        return self.profile.shares.executing

    @cached_property
    def _busiest(self) -> ThreadShare | None:
        return min(self.profile.shares.threads, key=lambda one: one.idle_s - one.wall_s, default=None)

    @cached_property
    def _useful_by_rank(self) -> dict[int, float]:
        found: dict[int, float] = {}
        for one in self._executing:
            found[one.rank] = found.get(one.rank, 0.0) + one.useful_s
        return found

    @cached_property
    def _stored(self) -> list[int]:
        """Bytes of values that were written, by rank and thread."""
        return [int(one.stored_bytes.sum()) for one in self.profile.recorded.summaries.values()]

    @cached_property
    def _peak_of_bins(self) -> float:
        """Of the sums over time, each rank at its own."""
        summaries = self.profile.recorded.summaries.values()
        live = [np.cumsum(one.stored_bytes.astype(float) - one.released_bytes) for one in summaries]
        return float(sum(one.max(initial=0) for one in live)) or NO

    @cached_property
    def _created(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for (rank, _), one in self.profile.recorded.summaries.items():
            found[rank] = found.get(rank, 0) + one.created
        return found

    @cached_property
    def _main(self) -> _MainType | None:
        recorded = self.profile.recorded
        runs = recorded.runs[recorded.runs["fragment"] >= 0]
        if not len(runs):
            return None
        types = recorded.fragments["type"][runs["fragment"]]
        lengths = runs["end_s"] - runs["begin_s"]
        known = np.unique(types)  # a clock that jumped leaves bodies less than no time
        main = int(known[np.bincount(types, lengths)[known].argmax()])
        own = types == main
        return _MainType(recorded.type_names()[main], lengths[own], runs["rank"][own], runs["fragment"][own])

    @cached_property
    def _medians(self) -> dict[int, float]:
        """The median of the main type by rank."""
        if self._main is None:
            return {}
        lengths = {rank: self._main.lengths[self._main.ranks == rank] for rank in self.profile.recorded.ranks}
        return {rank: float(np.median(own)) for rank, own in lengths.items() if len(own) >= _LEAST}

    @cached_property
    def _start(self) -> tuple[float, float, float]:
        """Seconds until it has begun; useful seconds in there; its share of all idle time."""
        if self.executing_threads < 2 or not self.profile.recorded.summaries:
            return NO, NO, NO
        edges, seconds = over_time(self.profile.recorded, 100)
        useful, idle = (seconds[:, ACTIVITIES.index(name)] for name in ("useful", "idle"))
        share = useful / np.maximum(seconds.sum(axis=1), 1e-300)
        begun = int(np.flatnonzero(share >= 0.5 * share.max())[0])
        return (
            float(edges[begun] - edges[0]),
            float(useful[:begun].sum()),
            _ratio(idle[:begun].sum(), idle.sum()),
        )

    def _overhead(self, *names: str) -> float:
        return sum(one.overhead_s[name] for one in self.profile.shares.threads for name in names)

    def _count(self, step: str, rank: int | None = None) -> int:
        """How often there was such a step, on a rank or on all."""
        found = self.profile.recorded.summaries.items()
        column = STEPS.index(step)
        return int(sum(one.counts[:, column].sum() for (of, _), one in found if rank in (None, of)))

    def _case(self, name: str) -> float:
        found = self.profile.what_if
        return found.cases.get(name, NO) if found else NO

    def _replay(self, how: Callable) -> float:
        graph = self.profile.graph
        return how(graph) if graph is not None and graph.lanes else NO

    def _at_same_speed(self, graph) -> np.ndarray:
        """Useful times of nodes with those of the slow rank scaled."""
        assert self._main is not None
        of_type = graph.types == self.profile.recorded.fragments["type"][self._main.nodes[0]]
        slow = of_type & (graph.rank == self.slow_rank)
        return np.where(slow, self.median_elsewhere_s / self.median_s, 1.0) * graph.useful_s


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else NO
