# SPDX-License-Identifier: BSD-3-Clause
"""A replay in the best order: of the bodies that are ready, a thread takes the one with the longest chain
behind it. Each body stays on its thread, and what lies between two bodies stays before the same body.
"""

import heapq

import numpy as np

from tailrace.fragment_profile.graph import Graph


def replay_in_best_order(graph: Graph) -> float:
    """Seconds from the start to the last end."""
    first = np.flatnonzero(graph.barrier).tolist()
    finish, latest = [0.0] * graph.nodes, 0.0
    for begin, end in zip([0, *first], [*first, graph.nodes], strict=True):
        latest = _Order(graph, begin, end, latest, finish).latest()
    return latest


class _Order:
    """The nodes from `begin` to before `end`, none of which begins before `start`."""

    def __init__(self, graph: Graph, begin: int, end: int, start: float, finish: list[float]) -> None:
        self.begin, self.start, self.finish = begin, start, finish
        self.useful, self.lane = graph.useful_s[begin:end].tolist(), graph.lane[begin:end].tolist()
        self.before, self.lead = graph.overhead_s[begin:end].tolist(), graph.lead_s[begin:end].tolist()
        low, high = np.searchsorted(graph.edge_to, [begin, end])
        self.starts, self.ends = graph.edge_from[low:high].tolist(), graph.edge_to[low:high].tolist()
        self.seconds = graph.edge_s[low:high].tolist()
        self.out: list[list[int]] = [[] for _ in range(end - begin)]
        self.missing = [0] * (end - begin)
        self.ready = [start] * (end - begin)
        self.tail = self._chains()
        self.free = [start] * graph.lanes
        self.waiting: list[list[tuple[float, int]]] = [[] for _ in range(graph.lanes)]

    def _chains(self) -> list[float]:
        """The longest chain from the beginning of each node to the end; fills what depends on what."""
        chain = list(self.useful)
        for edge in range(len(self.ends) - 1, -1, -1):
            node, before = self.ends[edge] - self.begin, self.starts[edge] - self.begin
            if before < 0:
                self.ready[node] = max(self.ready[node], self.finish[self.starts[edge]] + self.seconds[edge])
                continue
            self.out[before].append(edge)
            self.missing[node] += 1
            # All edges to a later node were seen before those to this one, so its chain is complete.
            chain[before] = max(chain[before], self.useful[before] + self.seconds[edge] + chain[node])
        return chain

    def latest(self) -> float:
        """Runs all of them in the order of events: a body is ready, a thread is free."""
        events = [(self.ready[node], node) for node, missing in enumerate(self.missing) if not missing]
        heapq.heapify(events)
        latest = self.start
        while events:
            now, what = heapq.heappop(events)
            if what >= 0:
                lane = self.lane[what]
                if lane < 0:
                    latest = max(latest, self._over(what, now + self.lead[what], events))
                    continue
                heapq.heappush(self.waiting[lane], (-self.tail[what], what))
            else:
                lane = -1 - what
            if self.waiting[lane] and self.free[lane] <= now:
                node = heapq.heappop(self.waiting[lane])[1]
                end = max(now, self.free[lane] + self.before[node]) + self.useful[node]
                self.free[lane] = end
                heapq.heappush(events, (end, -1 - lane))
                latest = max(latest, self._over(node, end, events))
        return latest

    def _over(self, node: int, end: float, events: list[tuple[float, int]]) -> float:
        """A node ends at a time: what waits for it may be ready."""
        self.finish[self.begin + node] = end
        for edge in self.out[node]:
            to = self.ends[edge] - self.begin
            self.ready[to] = max(self.ready[to], end + self.seconds[edge])
            self.missing[to] -= 1
            if not self.missing[to]:
                heapq.heappush(events, (self.ready[to], to))
        return end
