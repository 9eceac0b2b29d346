"""Traces of the ranks: which thread did what, and when."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MAIN, WRITER = 0, 1
THREADS = {"main": MAIN, "writer": WRITER}
KINDS = ("setup", "compute", "exchange", "pack", "output_wait", "write", "close")

# Spans of the main thread may lie inside others; the later in this list wins where they overlap.
_PRIORITY = {
    name: rank for rank, name in enumerate(("setup", "compute", "close", "pack", "exchange", "output_wait"))
}


@dataclass
class RankTrace:
    """The spans of one rank, in order of their start. Times are seconds since a zero common to all ranks."""

    rank: int
    thread: np.ndarray
    kind: np.ndarray  # index into KINDS
    step: np.ndarray
    start_s: np.ndarray
    end_s: np.ndarray
    size_bytes: np.ndarray

    @property
    def last_s(self) -> float:
        return float(self.end_s.max(initial=0.0))

    def select(self, thread: int, *kinds: str) -> np.ndarray:
        """Mask of the spans of a thread that are of one of the kinds (all kinds when none is named)."""
        mask = self.thread == thread
        return mask & np.isin(self.kind, [KINDS.index(kind) for kind in kinds]) if kinds else mask

    def seconds(self, thread: int, kind: str) -> float:
        mask = self.select(thread, kind)
        return float((self.end_s[mask] - self.start_s[mask]).sum())

    def totals(self) -> dict:
        """The same sums that run.json holds per rank; time inside a nested span counts for that span only."""
        main = strips(self, MAIN, np.array([0.0, self.last_s]))[:, 0]
        kinds = ("setup", "compute", "exchange", "output_wait")
        return {
            "rank": self.rank,
            **{f"{kind}_s": float(main[KINDS.index(kind)]) for kind in kinds},
            "write_s": self.seconds(WRITER, "write") + self.seconds(MAIN, "write"),
            "write_bytes": int(self.size_bytes[self.kind == KINDS.index("write")].sum()),
        }


def read_traces(paths: list[Path]) -> list[RankTrace]:
    """Reads the given files; lines that are cut off or odd are left out."""
    traces = [_read_trace(path) for path in paths]
    return [trace for trace in traces if len(trace.kind)]


def _read_trace(path: Path) -> RankTrace:
    rows = []
    with path.open(newline="") as file:
        for line in csv.reader(file):
            row = _parse(line)
            if row is not None:
                rows.append(row)
    rows.sort(key=lambda row: row[3])
    columns = np.array(rows, dtype=np.float64).reshape(-1, 6).T
    rank = int(path.stem.removeprefix("rank-"))
    thread, kind, step, start, end, size = columns
    return RankTrace(rank, thread.astype(int), kind.astype(int), step.astype(int), start, end, size)


def _parse(line: list[str]) -> tuple | None:
    """A row as numbers; None for the header, for a line cut off by a kill, or for kinds of later versions."""
    if len(line) != 6 or line[0] not in THREADS or line[1] not in KINDS:
        return None
    try:
        step, start, end, size = (float(cell) for cell in line[2:])
    except ValueError:
        return None
    return (THREADS[line[0]], KINDS.index(line[1]), step, start, end, size) if end >= start else None


def overlap_s(starts: np.ndarray, ends: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Seconds that intervals, disjoint and sorted, spend in each cell of an ascending grid."""
    return np.diff(covered_before(starts, ends, grid))


def covered_before(starts: np.ndarray, ends: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Seconds covered by intervals, disjoint and sorted, before each of the times."""
    if not len(starts):
        return np.zeros(len(times))
    done = np.concatenate([[0.0], np.cumsum(ends - starts)])
    index = np.searchsorted(starts, times, side="right")
    current = np.minimum(times, ends[index - 1]) - starts[index - 1]
    return np.where(index > 0, done[index - 1] + current, 0.0)


def union(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Disjoint intervals that cover the same times; `starts` is sorted."""
    if not len(starts):
        return starts, ends
    reach = np.maximum.accumulate(ends)
    first = np.concatenate([[True], starts[1:] > reach[:-1]])
    last = np.concatenate([first[1:], [True]])
    return starts[first], reach[last]


def intervals(trace: RankTrace, thread: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The times, as disjoint intervals, that a thread spent in spans of one kind."""
    mask = trace.select(thread, kind)
    return union(trace.start_s[mask], trace.end_s[mask])


def intersection(one: tuple, other: tuple) -> tuple[np.ndarray, np.ndarray]:
    """The times that lie in both of two sets of disjoint, sorted intervals."""
    edges = np.unique(np.concatenate([*one, *other]))
    if len(edges) < 2:
        return np.zeros(0), np.zeros(0)
    middle = (edges[1:] + edges[:-1]) / 2
    both = _inside(one, middle) & _inside(other, middle)
    return union(edges[:-1][both], edges[1:][both])


def _inside(cover: tuple, times: np.ndarray) -> np.ndarray:
    starts, ends = cover
    if not len(starts):
        return np.zeros(len(times), dtype=bool)
    index = np.searchsorted(starts, times, side="right") - 1
    return (index >= 0) & (times < ends[np.maximum(index, 0)])


def strips(trace: RankTrace, thread: int, grid: np.ndarray) -> np.ndarray:
    """Seconds per kind (rows) and cell of the grid (columns) that one thread spent."""
    result = np.zeros((len(KINDS), len(grid) - 1))
    order = sorted(KINDS, key=lambda kind: _PRIORITY.get(kind, len(_PRIORITY)), reverse=True)
    taken = (np.zeros(0), np.zeros(0))
    before = np.zeros(len(grid) - 1)
    for kind in order:
        mask = trace.select(thread, kind)
        taken = _merge(taken, (trace.start_s[mask], trace.end_s[mask]))
        covered = overlap_s(*taken, grid)
        result[KINDS.index(kind)] = covered - before
        before = covered
    return np.maximum(result, 0.0)


def _merge(one: tuple, other: tuple) -> tuple[np.ndarray, np.ndarray]:
    starts, ends = np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])
    order = np.argsort(starts, kind="stable")
    return union(starts[order], ends[order])
