# SPDX-License-Identifier: BSD-3-Clause
"""A replay in the best order that is known: of the bodies that are ready, a thread takes the one behind which
most has to be done by some thread. Each body stays on its thread, and what lies between two bodies stays
before the same body.
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
    """The nodes from `begin` to before `end`, none of which begins before `start`. `finish`: of all nodes."""

    def __init__(self, graph: Graph, begin: int, end: int, start: float, finish: list[float]) -> None:
        self.begin, self.start, self.finish = begin, start, finish
        self.useful, self.lane = graph.useful_s[begin:end].tolist(), graph.lane[begin:end].tolist()
        self.before, self.lead = graph.overhead_s[begin:end].tolist(), graph.lead_s[begin:end].tolist()
        bounds = np.searchsorted(graph.edge_to, np.arange(begin, end + 1))
        low, high = int(bounds[0]), int(bounds[-1])
        self.bounds = (bounds - low).tolist()
        self.starts, self.seconds = graph.edge_from[low:high].tolist(), graph.edge_s[low:high].tolist()
        self.asked = graph.edge_asked[low:high].tolist()
        self.out: list[list[int]] = [[] for _ in range(end - begin)]
        self.missing = [0] * (end - begin)
        self.free = [start] * graph.lanes
        self.urgency = self._urgency()
        self.waiting: list[list[tuple[float, int]]] = [[] for _ in range(graph.lanes)]

    def _urgency(self) -> list[float]:
        """Seconds from the beginning of each node to the end if threads did what follows from it in the order
        in which they did; notes what waits for what. Edges lead to later nodes.
        """
        behind = [0.0] * len(self.useful)  # what follows from a node
        of_lane = [0.0] * len(self.free)  # what a thread does from the node on that was looked at last
        for node in range(len(behind) - 1, -1, -1):
            lane, length = self.lane[node], behind[node]
            if lane >= 0:
                length = of_lane[lane] = max(length, of_lane[lane]) + self.useful[node]
            for edge in range(self.bounds[node], self.bounds[node + 1]):
                before = self.starts[edge] - self.begin
                if before >= 0:
                    self.out[before].append(node)
                    self.missing[node] += 1
                    behind[before] = max(behind[before], self.seconds[edge] + length)
        return [after + own for after, own in zip(behind, self.useful, strict=True)]

    def _ready(self, node: int) -> float:
        """When all that a node waits for has come."""
        ready = self.start
        for edge in range(self.bounds[node], self.bounds[node + 1]):
            come = self.finish[self.starts[edge]]
            ready = max(ready, (max(come, ready) if self.asked[edge] else come) + self.seconds[edge])
        return ready + self.lead[node]

    def latest(self) -> float:
        """Runs all of them in the order of events: nodes are ready, behind these threads look for one."""
        events = [(self._ready(node), node) for node, missing in enumerate(self.missing) if not missing]
        heapq.heapify(events)
        nodes, latest = len(self.useful), self.start
        while events:
            now, what = heapq.heappop(events)
            if what >= nodes:
                latest = max(latest, self._take(what - nodes, now, events))
            elif self.lane[what] < 0:
                latest = max(latest, self._over(what, now, events))
            else:
                lane = self.lane[what]
                heapq.heappush(self.waiting[lane], (-self.urgency[what], what))
                heapq.heappush(events, (max(now, self.free[lane]), nodes + lane))
        return latest

    def _take(self, lane: int, now: float, events: list[tuple[float, int]]) -> float:
        """A thread that is free takes what is most urgent. Returns when that ends."""
        if not self.waiting[lane] or self.free[lane] > now:
            return self.start
        node = heapq.heappop(self.waiting[lane])[1]
        end = max(now, self.free[lane] + self.before[node]) + self.useful[node]
        self.free[lane] = end
        heapq.heappush(events, (end, len(self.useful) + lane))
        return self._over(node, end, events)

    def _over(self, node: int, end: float, events: list[tuple[float, int]]) -> float:
        """A node ends at a time: what waits for it may be ready."""
        self.finish[self.begin + node] = end
        for to in self.out[node]:
            self.missing[to] -= 1
            if not self.missing[to]:
                heapq.heappush(events, (self._ready(to), to))
        return end
