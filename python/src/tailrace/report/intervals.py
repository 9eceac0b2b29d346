# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic with sets of times: pairs of arrays (starts, ends) of intervals that are disjoint and sorted."""

import numpy as np

Intervals = tuple[np.ndarray, np.ndarray]

NONE: Intervals = (np.zeros(0), np.zeros(0))


def union(starts: np.ndarray, ends: np.ndarray) -> Intervals:
    """Disjoint intervals that cover the same times; `starts` is sorted."""
    if not len(starts):
        return NONE
    reach = np.maximum.accumulate(ends)
    first = np.concatenate([[True], starts[1:] > reach[:-1]])
    last = np.concatenate([first[1:], [True]])
    return starts[first], reach[last]


def merge(sets: list[Intervals]) -> Intervals:
    """The times that lie in any of several sets."""
    starts = np.concatenate([one[0] for one in sets]) if sets else NONE[0]
    ends = np.concatenate([one[1] for one in sets]) if sets else NONE[1]
    order = np.argsort(starts, kind="stable")
    return union(starts[order], ends[order])


def intersection(one: Intervals, other: Intervals) -> Intervals:
    """The times that lie in both of two sets."""
    return _where(one, other, lambda a, b: a & b)


def difference(one: Intervals, other: Intervals) -> Intervals:
    """The times of the first set that do not lie in the second."""
    return _where(one, other, lambda a, b: a & ~b)


def _where(one: Intervals, other: Intervals, wanted) -> Intervals:
    edges = np.unique(np.concatenate([*one, *other]))
    if len(edges) < 2:
        return NONE
    middle = (edges[1:] + edges[:-1]) / 2
    chosen = wanted(contains(one, middle), contains(other, middle))
    return union(edges[:-1][chosen], edges[1:][chosen])


def contains(cover: Intervals, times: np.ndarray) -> np.ndarray:
    """Whether each of the times lies in a set."""
    starts, ends = cover
    if not len(starts):
        return np.zeros(len(times), dtype=bool)
    index = np.searchsorted(starts, times, side="right") - 1
    return (index >= 0) & (times < ends[np.maximum(index, 0)])


def total_s(cover: Intervals) -> float:
    """How long a set is."""
    return float((cover[1] - cover[0]).sum())


def overlap_s(cover: Intervals, grid: np.ndarray) -> np.ndarray:
    """Seconds of a set in each cell of an ascending grid."""
    return np.diff(covered_before(cover, grid))


def covered_before(cover: Intervals, times: np.ndarray) -> np.ndarray:
    """Seconds of a set before each of the times."""
    starts, ends = cover
    if not len(starts):
        return np.zeros(len(times))
    done = np.concatenate([[0.0], np.cumsum(ends - starts)])
    index = np.searchsorted(starts, times, side="right")
    current = np.minimum(times, ends[index - 1]) - starts[index - 1]
    return np.where(index > 0, done[index - 1] + current, 0.0)


def amount_before(starts: np.ndarray, ends: np.ndarray, amounts: np.ndarray, times: np.ndarray) -> np.ndarray:
    """How much of the amounts came before each of the times, if each comes evenly between its start and end.

    These intervals may overlap and need no order.
    """
    length = np.maximum(ends - starts, 1e-9)
    edges = np.concatenate([starts, starts + length])
    slopes = np.concatenate([amounts / length, -amounts / length])
    order = np.argsort(edges, kind="stable")
    edges, rate = edges[order], np.cumsum(slopes[order])
    if not len(edges):
        return np.zeros(len(times))
    reached = np.concatenate([[0.0], np.cumsum(rate[:-1] * np.diff(edges))])
    return np.interp(times, edges, reached, left=0.0, right=reached[-1])
