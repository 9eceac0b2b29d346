# SPDX-License-Identifier: BSD-3-Clause
"""The recorded dependencies of a program: its critical path, and what would be if something were different.

A program is replayed: bodies in the order in which they began, each on its thread, when this thread is free
and all that the body needs has come. What a thread does between two bodies other than waiting is its
overhead, which stays. Replayed as it was, the program takes about as long as it did; by how much this is off
is the error of what the other replays say.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tailrace.fragment_profile.tables import Recorded, rows_of

MAX_FRAGMENTS = 400_000  # that are replayed; of more, the first ones


@dataclass
class Graph:
    """Nodes are fragments in the order in which they began; edges go from earlier to later ones."""

    types: np.ndarray
    rank: np.ndarray
    lane: np.ndarray  # thread on which it ran, -1: unfolded
    useful_s: np.ndarray
    overhead_s: np.ndarray  # of its thread before it
    lead_s: np.ndarray  # from its last input to its being ready, with workers
    edge_from: np.ndarray
    edge_to: np.ndarray  # sorted
    edge_s: np.ndarray  # transfer between ranks
    edge_behind_s: np.ndarray  # of it, while the rank that has the value was in a body and looked for nothing
    edge_asked: np.ndarray  # whether the value was asked for only when those before it had come
    begin_s: np.ndarray
    barrier: np.ndarray  # whether all before it were over: the first of a further program of the process
    lanes: int
    complete: bool = True

    @property
    def nodes(self) -> int:
        return len(self.types)


@dataclass
class CriticalPath:
    """The longest chain of useful work and transfers."""

    length_s: float = 0.0
    fragments: int = 0
    transfer_s: float = 0.0
    by_type: dict[int, tuple[int, float]] = field(default_factory=dict)  # type -> fragments, seconds

    def as_dict(self, names: list[str]) -> dict[str, Any]:
        return {
            "length_s": self.length_s,
            "fragments": self.fragments,
            "transfer_s": self.transfer_s,
            "types": [
                {"type": names[number], "fragments": count, "seconds": seconds}
                for number, (count, seconds) in self.by_type.items()
            ],
        }


@dataclass
class WhatIf:
    """Times of replays. `error`: that of the replay as it was, as a share of the time between the first and
    the last moment of bodies.
    """

    measured_s: float
    as_it_was_s: float
    error: float
    cases: dict[str, float]  # what is different -> seconds

    def gain(self, name: str) -> tuple[float, float]:
        """By what factor the program would be faster, from and to."""
        ratio = self.as_it_was_s / self.cases[name] if self.cases[name] else 1.0
        doubt = abs(self.error)
        return max(ratio / (1 + doubt), 1.0), max(ratio * (1 + doubt), 1.0)

    def as_dict(self) -> dict[str, Any]:
        return {
            "measured_s": self.measured_s,
            "replayed_s": self.as_it_was_s,
            "error": self.error,
            "cases": [
                {"case": name, "seconds": seconds, "faster": list(self.gain(name))}
                for name, seconds in self.cases.items()
            ],
        }


def graph_of(recorded: Recorded) -> Graph | None:
    """The graph of the fragments that have begun; None if there is none."""
    table = recorded.fragments
    begun = np.flatnonzero(np.isfinite(table["begin_s"]))
    if not len(begun):
        return None
    order = begun[np.argsort(table["begin_s"][begun], kind="stable")]
    complete = len(order) <= MAX_FRAGMENTS and recorded.is_full
    order = order[:MAX_FRAGMENTS]
    place = np.full(len(table), -1)
    place[order] = np.arange(len(order))
    found = table[order]
    lane, overhead = _lanes(recorded, place, len(order))
    ended = np.where(np.isfinite(found["end_s"]), found["end_s"], found["begin_s"])
    useful = np.where(lane >= 0, np.maximum(ended - found["begin_s"], 0.0), 0.0)
    workers = {name.startswith("worker") for name in recorded.threads.values()} == {True, False}
    lead = np.where(np.isfinite(found["lead_s"]), found["lead_s"], 0.0) if workers else np.zeros(len(order))
    edges = _edges(recorded, place)
    number = int(lane.max(initial=-1)) + 1
    over = np.maximum.accumulate(np.r_[-np.inf, ended[:-1]])
    barrier = (found["parent"] < 0) & (found["created_s"] >= over) & np.isfinite(over)
    return Graph(
        found["type"], found["rank"], lane, useful, overhead, lead, *edges, found["begin_s"], barrier, number,
        complete,
    )  # fmt: skip


def _lanes(recorded: Recorded, place: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The thread of each node that ran a body, and what it did before but for waiting."""
    runs = recorded.runs[recorded.runs["fragment"] >= 0]
    runs = runs[place[runs["fragment"]] >= 0]
    lane, overhead = np.full(nodes, -1), np.zeros(nodes)
    threads = np.stack([runs["rank"], runs["thread"].astype("i4")], axis=1)
    for number, (rank, thread) in enumerate(np.unique(threads, axis=0) if len(runs) else []):
        here = runs[(runs["rank"] == rank) & (runs["thread"] == thread)]
        here = here[np.argsort(here["begin_s"], kind="stable")]
        at = place[here["fragment"]]
        lane[at] = number
        before = np.r_[recorded.first_s, here["end_s"][:-1]]
        gaps = np.maximum(here["begin_s"] - before, 0.0)
        overhead[at] = np.maximum(gaps - _idle_between(recorded, rank, thread, before, here["begin_s"]), 0.0)
        if recorded.threads.get((int(rank), int(thread)), "").startswith("worker"):
            overhead[at] = 0.0  # a worker waits for the rank's own thread
    return lane, overhead


def _idle_between(
    recorded: Recorded, rank: int, thread: int, starts: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """Idle seconds of a thread in each of some intervals."""
    idles = recorded.idles[(recorded.idles["rank"] == rank) & (recorded.idles["thread"] == thread)]
    return _between(idles, starts, ends)


def _between(spans: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Seconds of the spans, which do not overlap, in each of some intervals."""
    if not len(spans):
        return np.zeros(len(starts))
    spans = spans[np.argsort(spans["begin_s"])]
    times = np.stack([spans["begin_s"], spans["end_s"]], axis=1).ravel()
    lengths = np.stack([np.zeros(len(spans)), spans["end_s"] - spans["begin_s"]], axis=1).ravel()
    cumulated = np.cumsum(lengths)
    return np.interp(ends, times, cumulated, left=0.0) - np.interp(starts, times, cumulated, left=0.0)


def _edges(recorded: Recorded, place: np.ndarray) -> tuple[np.ndarray, ...]:
    """From who wrote a value to who took it, and from who created a fragment to this, as `Graph` has them:
    sorted by who takes, and by when.
    """
    table, arrivals, values = recorded.fragments, recorded.arrivals, recorded.values
    arrivals = arrivals[arrivals["fragment"] >= 0]
    at = rows_of(values["key"], arrivals["key"])
    known = at >= 0
    known[known] &= values["writer"][at[known]] >= 0
    arrivals, written = arrivals[known], values[at[known]]
    asked = np.where(np.isfinite(arrivals["asked_s"]), arrivals["asked_s"], -np.inf)
    begun = np.maximum(written["posted_s"], asked)
    away = np.where(
        written["writer_rank"] == arrivals["rank"], 0.0, np.maximum(arrivals["time_s"] - begun, 0.0)
    )
    behind = np.minimum(_inside_bodies(recorded, written["home"], begun, arrivals["time_s"]), away)
    children = np.flatnonzero(table["parent"] >= 0)
    moved = np.where(
        table["hops"][children] > 0, table["arrived_s"][children] - table["created_s"][children], 0.0
    )
    none = np.zeros(len(children))
    starts = np.r_[place[table["parent"][children]], place[written["writer"]]]
    ends = np.r_[place[children], place[arrivals["fragment"]]]
    columns = [starts, ends, np.r_[np.maximum(moved, 0.0), away], np.r_[none, behind]]
    times = np.r_[none - np.inf, arrivals["time_s"]]
    forward = (starts >= 0) & (starts < ends)
    order = np.flatnonzero(forward)[np.lexsort((times[forward], ends[forward]))]
    starts, ends, seconds, behind = (column[order] for column in columns)
    asked, times = np.r_[none - np.inf, asked][order], times[order]
    same = np.r_[False, ends[1:] == ends[:-1]] & np.isfinite(np.r_[-np.inf, times[:-1]])
    return starts, ends, seconds, behind, same & (asked >= np.r_[-np.inf, times[:-1]])


def _inside_bodies(recorded: Recorded, homes: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Seconds of intervals during which a rank's only thread was in bodies."""
    inside = np.zeros(len(starts))
    has_workers = {rank for (rank, _), name in recorded.threads.items() if name.startswith("worker")}
    for rank in np.unique(homes).tolist():
        if rank not in has_workers:
            here = homes == rank
            inside[here] = _between(recorded.runs[recorded.runs["rank"] == rank], starts[here], ends[here])
    return inside


def critical_path(graph: Graph) -> CriticalPath:
    """The longest chain; of several, the one that ends last."""
    useful, barrier = graph.useful_s.tolist(), graph.barrier.tolist()
    starts, seconds = graph.edge_from.tolist(), graph.edge_s.tolist()
    bounds = np.searchsorted(graph.edge_to, np.arange(graph.nodes + 1)).tolist()
    finish, cause, transfer = [0.0] * graph.nodes, [-1] * graph.nodes, [0.0] * graph.nodes
    last = 0
    for node in range(graph.nodes):
        begin = finish[last] if barrier[node] else 0.0
        cause[node] = last if barrier[node] else -1
        for edge in range(bounds[node], bounds[node + 1]):
            chain = finish[starts[edge]] + seconds[edge]
            if chain > begin or cause[node] < 0:
                begin, cause[node], transfer[node] = chain, starts[edge], seconds[edge]
        finish[node] = begin + useful[node]
        last = node if finish[node] >= finish[last] else last
    path = CriticalPath(length_s=finish[last])
    node = last
    while node >= 0:
        count, spent = path.by_type.get(int(graph.types[node]), (0, 0.0))
        path.by_type[int(graph.types[node])] = (count + 1, spent + useful[node])
        path.fragments += 1
        path.transfer_s += transfer[node]
        node = cause[node]
    path.by_type = dict(sorted(path.by_type.items(), key=lambda one: -one[1][1]))
    return path


def replay(
    graph: Graph,
    useful_s: np.ndarray | None = None,
    transfer: float = 1.0,
    lanes: bool = True,
    overhead: float = 1.0,
    edge_s: np.ndarray | None = None,
) -> float:
    """Seconds from the start to the last end. `useful_s`, `edge_s`: times of bodies and transfers that are
    not those that were; `transfer`, `overhead`: factors; without `lanes` there is a thread for every body.
    """
    useful = (graph.useful_s if useful_s is None else useful_s).tolist()
    before, lead = (overhead * graph.overhead_s).tolist(), (overhead * graph.lead_s).tolist()
    lane = graph.lane.tolist() if lanes else [-1] * graph.nodes
    starts, after = graph.edge_from.tolist(), graph.edge_asked.tolist()
    seconds = (transfer * (graph.edge_s if edge_s is None else edge_s)).tolist()
    bounds = np.searchsorted(graph.edge_to, np.arange(1, graph.nodes + 1)).tolist()
    free, finish = [0.0] * graph.lanes, [0.0] * graph.nodes
    latest, edge = 0.0, 0
    for node, (end, whole, body, where) in enumerate(
        zip(bounds, graph.barrier.tolist(), useful, lane, strict=True)
    ):
        ready = latest if whole else 0.0
        while edge < end:
            come = finish[starts[edge]]
            if after[edge] and ready > come:
                come = ready
            come += seconds[edge]
            if come > ready:
                ready = come
            edge += 1
        ready += lead[node]
        if where >= 0:
            begin = free[where] + before[node]
            if begin > ready:
                ready = begin
            free[where] = ready + body
        finish[node] = ready = ready + body
        if ready > latest:
            latest = ready
    return latest


def what_if(graph: Graph, names: list[str], first_s: float, types: int = 3) -> WhatIf:
    """Replays as it was, with infinite workers, without latency, without overhead, and with each of the types
    with the most useful time twice as fast.
    """
    ends = graph.begin_s + graph.useful_s
    measured = float(ends.max()) - first_s
    was = replay(graph)
    spent = np.bincount(graph.types, graph.useful_s)
    cases: dict[str, Callable[[], float]] = {
        "infinite workers": lambda: replay(graph, lanes=False),
        "zero latency": lambda: replay(graph, transfer=0.0),
        "no overhead": lambda: replay(graph, overhead=0.0),
    }
    for number in np.argsort(-spent)[:types]:
        if spent[number] > 0:
            faster = np.where(graph.types == number, 0.5, 1.0) * graph.useful_s
            cases[f"{names[number]} twice as fast"] = lambda faster=faster: replay(graph, faster)
    error = was / measured - 1 if measured > 0 else 0.0
    return WhatIf(measured, was, error, {name: run() for name, run in cases.items()})
