# SPDX-License-Identifier: BSD-3-Clause
"""The timeline: what every thread did, packed small for the page, which draws it and zooms into it."""

from dataclasses import dataclass

import numpy as np

from tailrace.figures import theme
from tailrace.report import intervals
from tailrace.report.analysis import Analysis
from tailrace.report.lanes import Lane
from tailrace.report.parts import packed
from tailrace.report.writers import Writer
from tailrace.trace import KINDS

SPANS = 250_000  # in the page; of threads with more than their part, spans of short intervals are summed
RANKS = 24  # that compute and are shown
SHOWN_KINDS = (*KINDS, "exposed")  # "exposed": writing that the computation waits for
IDLE, WRITE, EXPOSED = KINDS.index("idle"), KINDS.index("write"), len(KINDS)


@dataclass
class Row:
    """A line of the timeline: its segments, and the length of the intervals in which they are summed, 0 if
    they are as recorded.
    """

    name: str
    detail: str
    indent: bool
    start_s: np.ndarray
    end_s: np.ndarray
    kind: np.ndarray
    step: np.ndarray
    size_bytes: np.ndarray
    cell_s: float = 0.0


@dataclass
class Timeline:
    """Rows in order; `left_out` ranks of `ranks` are not shown."""

    rows: list[Row]
    end_s: float
    ranks: int
    left_out: int
    clock_error_s: float

    def payload(self) -> dict:
        """What the page's script needs, with the segments packed and compressed."""
        return {
            "end": self.end_s,
            "clockError": self.clock_error_s,
            "kinds": [
                {"label": theme.KIND_LABELS[kind], "color": theme.KIND_COLORS[kind]} for kind in SHOWN_KINDS
            ],
            "rows": [
                {
                    "name": row.name,
                    "detail": row.detail,
                    "indent": row.indent,
                    "count": len(row.kind),
                    "cell": row.cell_s,
                }
                for row in self.rows
            ],
            "quantum": self.quantum_s,
            "data": packed(self._packed()),
        }

    @property
    def quantum_s(self) -> float:
        """Times are whole multiples of this, which fit into 31 bits."""
        return max(1e-7, self.end_s / 2**31)

    def _packed(self) -> bytes:
        """Five columns over all rows: the gap before a segment, its length, step, bytes, kind."""
        gaps, lengths = [], []
        for row in self.rows:
            edges = np.stack([row.start_s, row.end_s], axis=1).ravel()
            ticks = np.maximum.accumulate(np.rint(np.maximum(edges, 0.0) / self.quantum_s).astype(np.int64))
            apart = np.diff(ticks, prepend=0)
            gaps.append(apart[0::2])
            lengths.append(apart[1::2])
        columns = [
            _joined(gaps, "<u4"),
            _joined(lengths, "<u4"),
            _joined([np.diff(row.step, prepend=0) for row in self.rows], "<i4"),
            _joined([row.size_bytes for row in self.rows], "<f4"),
            _joined([row.kind for row in self.rows], "u1"),
        ]
        return b"".join(column.tobytes() for column in columns)


def _joined(parts: list[np.ndarray], dtype: str) -> np.ndarray:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)


def build(analysis: Analysis, clock_error_s: float) -> Timeline | None:
    """The timeline of the most notable ranks, each group of ranks followed by its writer."""
    if not analysis.lanes:
        return None
    chosen = notable_ranks(analysis)
    lanes = _ordered(analysis, chosen)
    budget = SPANS // max(1, len(lanes))
    rows = [_row(analysis, lane, writer, budget) for lane, writer in lanes]
    end_s = max(lane.last_s for lane in analysis.lanes)
    return Timeline(rows, end_s, len(analysis.mains), len(analysis.mains) - len(chosen), clock_error_s)


def notable_ranks(analysis: Analysis, most: int = RANKS) -> list[int]:
    """Ranks to show: the first, those that differ, their group's first, the last, and others evenly."""
    mains = {lane.rank: lane for lane in analysis.mains}
    if len(mains) <= most:
        return list(mains)
    wanted = [min(mains), max(mains)]
    for kind in ("compute", "output_wait", "exchange"):
        wanted += sorted(mains, key=lambda rank: -mains[rank].seconds(kind))[:3]
    busiest = sorted(analysis.writers, key=lambda writer: -writer.busy_s)[:3]
    wanted += [rank for writer in busiest for rank in writer.members[:2]]
    ranks = list(mains)
    wanted += [ranks[round(index * (len(ranks) - 1) / (most - 1))] for index in range(most)]
    return sorted(list(dict.fromkeys(wanted))[:most])


def _ordered(analysis: Analysis, ranks: list[int]) -> list[tuple[Lane, Writer | None]]:
    """Ranks that share a writer are together, and it below them; writers that serve none at the end."""
    mains = {lane.rank: lane for lane in analysis.mains}
    result: list[tuple[Lane, Writer | None]] = []
    placed: set[int] = set()
    for rank in ranks:
        if rank in placed:
            continue
        writer = analysis.writer_of(rank)
        group = [one for one in ranks if writer and one in writer.members] or [rank]
        for one in group:
            result.append((mains[one], None))
            result += [(lane, None) for lane in analysis.lanes if lane.rank == one and lane.of_device]
        result += [(lane, writer) for lane in writer.lanes] if writer else []
        placed |= set(group)
    idle = [writer for writer in analysis.writers if not writer.members]
    return result + [(lane, writer) for writer in idle for lane in writer.lanes]


def _row(analysis: Analysis, lane: Lane, writer: Writer | None, budget: int) -> Row:
    shown = lane.kind != IDLE
    kind, start, end = lane.kind[shown], lane.start_s[shown], lane.end_s[shown]
    step, size = lane.step[shown], _bytes_of_segments(lane)[shown]
    if writer is not None:
        start, end, source, exposed = _split_exposed(analysis, writer, start, end, kind)
        kind = np.where(exposed, EXPOSED, kind[source])
        size = size[source] * (end - start) / np.maximum((lane.end_s - lane.start_s)[shown][source], 1e-12)
        step = step[source]
    indent = writer is not None or lane.of_device
    row = Row(_name(lane, writer), _detail(lane, writer), indent, start, end, kind, step, size)
    return row if len(kind) <= budget else coarsened(row, budget)


def _bytes_of_segments(lane: Lane) -> np.ndarray:
    """Bytes of an event, shared by its segments according to their length."""
    length = lane.end_s - lane.start_s
    whole = np.bincount(lane.event, weights=length, minlength=len(lane.events))
    return lane.events["bytes"][lane.event] * length / whole[lane.event]


def _split_exposed(analysis: Analysis, writer: Writer, start, end, kind) -> tuple:
    """Cuts the writing at the times at which one of the members waits for output."""
    waits = intervals.merge(
        [lane.intervals("output_wait") for lane in analysis.mains if lane.rank in writer.members]
    )
    edges = np.unique(np.concatenate(waits))
    first, last = np.searchsorted(edges, start, side="right"), np.searchsorted(edges, end, side="left")
    cuts = np.where(kind == WRITE, last - first, 0)
    source = np.repeat(np.arange(len(start)), cuts + 1)
    position = np.arange(len(source)) - np.repeat(np.cumsum(cuts + 1) - cuts - 1, cuts + 1)
    edges = np.append(edges, np.inf)
    new_start = np.where(
        position == 0, start[source], edges[np.minimum(first[source] + position - 1, len(edges) - 1)]
    )
    new_end = np.where(
        position == cuts[source], end[source], edges[np.minimum(first[source] + position, len(edges) - 1)]
    )
    exposed = intervals.contains(waits, (new_start + new_end) / 2) & (kind[source] == WRITE)
    return new_start, new_end, source, exposed


def _name(lane: Lane, writer: Writer | None) -> str:
    if lane.of_device:
        return lane.thread
    if writer is None:
        return f"rank {lane.rank}"
    if lane.role == "writer":
        return f"writer process {lane.rank}" + ("" if lane.thread == "main" else f", {lane.thread}")
    return "leader" if len(writer.members) > 1 else lane.thread


def _detail(lane: Lane, writer: Writer | None) -> str:
    place = f" on {lane.host}" if lane.host else ""
    return f"{lane.name}{place}" + (f", writes for {writer.serves}" if writer else "")


def coarsened(row: Row, budget: int) -> Row:
    """Few segments that keep the time of every kind in each of many short intervals: within an interval the
    kinds follow one another, each once.
    """
    kinds = np.unique(row.kind)
    cells = max(1, budget // len(kinds))
    begin, end = float(row.start_s[0]), float(row.end_s[-1])
    grid = np.linspace(begin, end, cells + 1)
    seconds = np.stack(
        [
            intervals.overlap_s((row.start_s[row.kind == kind], row.end_s[row.kind == kind]), grid)
            for kind in kinds
        ]
    )
    amounts = np.stack(
        [
            np.diff(
                intervals.amount_before(
                    *(part[row.kind == kind] for part in (row.start_s, row.end_s, row.size_bytes)), grid
                )
            )
            for kind in kinds
        ]
    )
    reach = grid[:-1] + np.cumsum(seconds, axis=0)
    step = row.step[np.minimum(np.searchsorted(row.start_s, grid[:-1]), len(row.step) - 1)]
    there = (seconds > 1e-9).T.ravel()
    return Row(
        row.name, row.detail, row.indent,
        (reach - seconds).T.ravel()[there], reach.T.ravel()[there], np.tile(kinds, cells)[there],
        np.repeat(step, len(kinds))[there], amounts.T.ravel()[there], (end - begin) / cells,
    )  # fmt: skip
