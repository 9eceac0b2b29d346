# SPDX-License-Identifier: BSD-3-Clause
"""The replay in the best order, on graphs written by hand."""

import numpy as np
import pytest

from tailrace.fragment_profile.graph import Graph, replay
from tailrace.fragment_profile.order import replay_in_best_order


def graph(nodes: list[tuple], edges: list[tuple] = ()) -> Graph:
    """Nodes of thread, useful time and what it does before, as they began; edges of from, to, seconds and
    whether it was asked for late, sorted by `to`.
    """
    count = len(nodes)
    lane, useful, before, *more = (np.array(column) for column in zip(*nodes, strict=True))
    columns = [np.array(column) for column in zip(*edges, strict=True)] if edges else [np.zeros(0, int)] * 4
    starts, ends, seconds, asked = columns
    return Graph(
        types=np.zeros(count, int), rank=np.zeros(count, int), lane=lane, useful_s=useful.astype(float),
        overhead_s=before.astype(float), lead_s=np.zeros(count), edge_from=starts, edge_to=ends,
        edge_s=seconds.astype(float), edge_behind_s=np.zeros(len(starts)), edge_asked=asked.astype(bool),
        begin_s=np.arange(count, dtype=float), barrier=more[0] if more else np.zeros(count, bool),
        lanes=int(lane.max()) + 1,
    )  # fmt: skip


def test_what_others_wait_for_comes_first():
    """Thread 1 waits for the last of three bodies of thread 0, and then has 5 s to do."""
    found = graph([(0, 2, 0), (0, 2, 0), (0, 1, 0), (1, 3, 0), (1, 2, 0)], [(2, 3, 0.5, 0), (2, 4, 0.5, 0)])
    assert replay(found) == 5.0 + 0.5 + 5.0
    assert replay_in_best_order(found) == 1.0 + 0.5 + 5.0


def test_the_work_behind_counts_and_not_only_the_longest_chain():
    """Two bodies of 1 s wait for the second one, a single one of 1.5 s for the first one."""
    found = graph(
        [(0, 1, 0), (0, 1, 0), (1, 1.5, 0), (2, 1, 0), (2, 1, 0)],
        [(0, 2, 0.0, 0), (1, 3, 0.0, 0), (1, 4, 0.0, 0)],
    )
    assert replay(found) == 4.0
    assert replay_in_best_order(found) == 3.5


def test_overhead_stays_before_its_body_and_unfolding_takes_no_thread():
    found = graph([(-1, 0, 0), (0, 1, 0.25), (0, 1, 0.25)], [(0, 1, 0.0, 0), (0, 2, 0.0, 0)])
    assert replay_in_best_order(found) == replay(found) == 2.5


def test_a_value_that_was_asked_for_late_is_asked_for_late_in_each_order():
    """The second value was there for long, and took 1 s from when the first one had come."""
    found = graph([(0, 1, 0), (1, 3, 0), (0, 1, 0)], [(0, 2, 1.0, 0), (1, 2, 1.0, 1)])
    assert replay(found) == replay_in_best_order(found) == 3.0 + 1.0 + 1.0
    found = graph([(1, 0, 0), (0, 2, 0), (2, 1, 0)], [(1, 2, 0.0, 0), (0, 2, 1.0, 1)])
    assert replay(found) == replay_in_best_order(found) == 2.0 + 1.0 + 1.0


def test_a_further_program_begins_after_all_of_the_one_before():
    nodes = [(0, 1, 0, False), (1, 3, 0, False), (0, 2, 0, True), (1, 2, 0, False)]
    found = graph(nodes, [(2, 3, 0.0, 0)])
    assert replay(found) == replay_in_best_order(found) == 3.0 + 2.0 + 2.0


@pytest.mark.parametrize("seed", range(20))
def test_no_order_is_faster_than_its_busiest_thread_and_its_longest_chain(seed):
    chance = np.random.default_rng(seed)
    count = 60
    nodes = [(int(chance.integers(3)), float(chance.uniform(0.1, 1.0)), 0.0) for _ in range(count)]
    edges = [(int(chance.integers(to)), to, float(chance.uniform(0, 0.2)), 0) for to in range(1, count)]
    found = graph(nodes, edges)
    busiest = np.bincount(found.lane, found.useful_s).max()
    best = replay_in_best_order(found)
    assert best >= max(busiest, replay(found, lanes=False)) - 1e-9
    assert best <= found.useful_s.sum() + found.edge_s.sum()
