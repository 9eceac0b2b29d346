# SPDX-License-Identifier: BSD-3-Clause
"""The records of all ranks as tables: fragments, stays in stages, runs of bodies, idle times, arrivals."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from tailrace.trace import RECORD, STEPS, RunTrace, Summary, TypeName
from tailrace.trace.records import AT_THE_END

# One row per fragment. Times are NaN where that was not recorded.
FRAGMENT = np.dtype(
    [
        ("number", "u8"),
        ("type", "i4"),
        ("parent", "i8"),  # row of the fragment that created it, -1: none that is known
        ("creator", "i4"),
        ("rank", "i4"),  # where it was at last
        ("hops", "i4"),
        ("waited", "?"),
        ("created_s", "f8"),
        ("destroyed_s", "f8"),
        ("arrived_s", "f8"),  # on its last rank; where it was created there, as `created_s`
        ("lead_s", "f8"),  # from the last value that came to its being ready
        ("begin_s", "f8"),  # of its body, or of its first unfolding
        ("end_s", "f8"),
    ]
)
STAGE_NAMES = ("distribution", "wait", "ready")
# A stay of a fragment in a stage: the distribution ends on another rank.
STAY = np.dtype([("fragment", "i8"), ("stage", "u1"), ("rank", "i4"), ("start_s", "f8"), ("end_s", "f8")])
RUN = np.dtype([("fragment", "i8"), ("rank", "i4"), ("thread", "u1"), ("begin_s", "f8"), ("end_s", "f8")])
IDLE = np.dtype([("rank", "i4"), ("thread", "u1"), ("begin_s", "f8"), ("end_s", "f8")])
ARRIVAL = np.dtype(
    [("fragment", "i8"), ("key", "u8"), ("rank", "i4"), ("bytes", "i8"), ("time_s", "f8"), ("asked_s", "f8")]
)
# A value: who wrote it, and its life at its home.
VALUE = np.dtype(
    [
        ("key", "u8"),
        ("writer", "i8"),  # row of a fragment, -1: unknown
        ("writer_rank", "i4"),
        ("home", "i4"),
        ("bytes", "i8"),
        ("posted_s", "f8"),
        ("stored_s", "f8"),
        ("released_s", "f8"),
        ("left", "?"),  # it was there at the end of its program
        ("last_use_s", "f8"),
        ("transfers", "i4"),
        ("uses", "i4"),
    ]
)

_CODE = {name: number for number, name in enumerate(STEPS)}


@dataclass
class Recorded:
    """What is in the traces of a fragment program."""

    ranks: list[int]
    threads: dict[tuple[int, int], str]  # (rank, thread) -> its name, of threads of the runtime
    types: list[TypeName]
    summaries: dict[tuple[int, int], Summary]
    clock_error_s: float
    full_until_s: float  # each record of all ranks up to there is known; inf: all
    fragments: np.ndarray = field(default_factory=lambda: np.zeros(0, FRAGMENT))
    stays: np.ndarray = field(default_factory=lambda: np.zeros(0, STAY))
    runs: np.ndarray = field(default_factory=lambda: np.zeros(0, RUN))
    idles: np.ndarray = field(default_factory=lambda: np.zeros(0, IDLE))
    arrivals: np.ndarray = field(default_factory=lambda: np.zeros(0, ARRIVAL))
    values: np.ndarray = field(default_factory=lambda: np.zeros(0, VALUE))
    counts: dict[int, dict[str, int]] = field(default_factory=dict)  # rank -> step -> records
    problems: list[str] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return not np.isfinite(self.full_until_s)

    @property
    def first_s(self) -> float:
        starts = [summary.start_s for summary in self.summaries.values()]
        return min([*starts, *self._known("created_s", "begin_s")], default=0.0)

    @property
    def last_s(self) -> float:
        ends = [summary.end_s for summary in self.summaries.values()]
        return max([*ends, *self._known("destroyed_s", "end_s")], default=0.0)

    def _known(self, of_fragments: str, of_threads: str) -> list[float]:
        """The first and the last moment of each table; those of fragments are not known where records are
        missing.
        """
        tables = (self.fragments[of_fragments], self.runs[of_threads], self.idles[of_threads])
        known = [moments[np.isfinite(moments)] for moments in tables]
        return [float(edge) for moments in known if len(moments) for edge in (moments.min(), moments.max())]

    def type_names(self) -> list[str]:
        """A text of each type; with its place where the name alone could mean several."""
        times = Counter(one.name for one in self.types)
        return [
            one.name if times[one.name] == 1 else f"{one.name} ({one.place.rpartition('/')[2]}:{one.column})"
            for one in self.types
        ]


def is_recorded(trace: RunTrace) -> bool:
    """Whether a fragment program left records."""
    return any(len(rank.records) or rank.summaries for rank in trace.ranks)


def tabulate(trace: RunTrace) -> Recorded:
    """All tables of a run."""
    recorded = _frame(trace)
    records, ranks = _joined(trace, recorded)
    if not len(records):
        return recorded
    _count(records, ranks, recorded)
    _add_fragments(records, ranks, recorded)
    _add_stays(records, ranks, recorded)
    _add_runs(records, ranks, recorded)
    _add_values(records, ranks, recorded)
    return recorded


def _frame(trace: RunTrace) -> Recorded:
    known = [rank for rank in trace.ranks if len(rank.records) or rank.summaries]
    recorded = Recorded([rank.rank for rank in known], {}, [], {}, trace.clock_error_s, np.inf)
    recorded.problems += trace.problems
    for rank in known:
        used = {*rank.summaries, *np.unique(rank.records["thread"]).tolist()}
        recorded.threads |= {(rank.rank, thread): rank.threads[thread] for thread in sorted(used)}
        recorded.summaries |= {(rank.rank, thread): one for thread, one in rank.summaries.items()}
    ends = [one.full_until_s for one in recorded.summaries.values() if not one.full]
    recorded.full_until_s = min(ends, default=np.inf)
    return recorded


def _joined(trace: RunTrace, recorded: Recorded) -> tuple[np.ndarray, np.ndarray]:
    """The records of all ranks, with types as rows of `recorded.types`, and the rank of each."""
    numbers: dict[TypeName, int] = {}
    parts, ranks = [np.zeros(0, RECORD)], [np.zeros(0, "i4")]
    for rank in trace.ranks:
        records = rank.records
        if not len(records):
            continue
        used = np.union1d(np.array([*rank.types], "i8"), records["type"]).tolist()
        table = np.zeros(used[-1] + 1, "u2")
        for number in used:
            name = rank.types.get(number, TypeName(f"type {number}", "body"))
            table[number] = numbers.setdefault(name, len(numbers))
        records = records.copy()
        records["type"] = table[records["type"]]
        parts.append(records)
        ranks.append(np.full(len(records), rank.rank, "i4"))
    recorded.types = list(numbers)
    records, of_rank = np.concatenate(parts), np.concatenate(ranks)
    if not recorded.is_full:
        known = records["time_s"] <= recorded.full_until_s
        records, of_rank = records[known], of_rank[known]
    return records, of_rank


def _count(records: np.ndarray, ranks: np.ndarray, recorded: Recorded) -> None:
    for rank in recorded.ranks:
        found = np.bincount(records["event"][ranks == rank], minlength=len(STEPS))
        recorded.counts[rank] = dict(zip(STEPS, found.tolist(), strict=True))


def _of(records: np.ndarray, *names: str) -> np.ndarray:
    return np.isin(records["event"], [_CODE[name] for name in names])


def rows_of(numbers: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted number is among sorted ones; -1: nowhere."""
    if not len(numbers):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    return np.where(numbers[at] == wanted, at, -1)


def _add_fragments(records: np.ndarray, ranks: np.ndarray, recorded: Recorded) -> None:
    about = _of(
        records, "create", "forward", "arrive", "wait", "resume", "ready", "begin", "end", "unfold", "destroy"
    )
    about &= records["subject"] > 0
    records, ranks = records[about], ranks[about]
    numbers = np.unique(records["subject"])
    table = np.zeros(len(numbers), FRAGMENT)
    table["number"] = numbers
    rows = rows_of(numbers, records["subject"])
    for name in ("created_s", "destroyed_s", "arrived_s", "lead_s", "begin_s", "end_s"):
        table[name] = np.nan
    table["parent"], table["creator"], table["rank"] = -1, -1, -1

    def take(step: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        mask = _of(records, step)
        return rows[mask], records[mask], ranks[mask]

    table["type"][rows] = records["type"]
    table["rank"][rows] = ranks
    at, found, where = take("create")
    table["created_s"][at], table["arrived_s"][at], table["creator"][at] = (
        found["time_s"],
        found["time_s"],
        where,
    )
    table["parent"][at] = rows_of(numbers, found["object"])
    table["rank"][at] = where
    at, found, where = take("arrive")
    table["arrived_s"][at], table["rank"][at] = found["time_s"], where
    at, found, _ = take("wait")
    table["waited"][at] = True
    at, found, _ = take("forward")
    np.add.at(table["hops"], at, 1)
    at, found, where = take("unfold")
    table["begin_s"][at[::-1]] = found["time_s"][::-1]  # the first one stays
    table["rank"][at] = where
    at, found, where = take("begin")
    table["begin_s"][at], table["rank"][at] = found["time_s"], where
    at, found, _ = take("end")
    table["end_s"][at] = found["time_s"]
    at, found, _ = take("destroy")
    table["destroyed_s"][at] = found["time_s"]
    recorded.fragments = table
    _check_fragments(records, ranks, rows, recorded)


def _check_fragments(records: np.ndarray, ranks: np.ndarray, rows: np.ndarray, recorded: Recorded) -> None:
    """Numbers that are created twice, or never; ends before beginnings. The first of each kind is named."""
    table = recorded.fragments
    created = _of(records, "create")
    times = np.bincount(rows[created], minlength=len(table))

    def name(what: str, bad: np.ndarray) -> None:
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            first = int(np.flatnonzero(rows == row)[0])
            recorded.problems.append(
                f"rank {ranks[first]}, record {first} of the program: fragment {table['number'][row]:#x} "
                f"{what} ({int(bad.sum())} like it)"
            )

    name("was created twice", times > 1)
    name("was never created", times == 0)
    with np.errstate(invalid="ignore"):
        name("ends before it begins", table["end_s"] < table["begin_s"])


def _pairs(records: np.ndarray, ranks: np.ndarray, opens: str, closes: str) -> tuple[np.ndarray, np.ndarray]:
    """Indices of records that open something and of those that close it, on one rank: the next one of the
    same fragment. What is not closed is left out.
    """
    about = np.flatnonzero(_of(records, opens, closes))
    order = about[np.lexsort((about, records["time_s"][about], records["subject"][about], ranks[about]))]
    first, second = order[:-1], order[1:]
    fits = (records["event"][first] == _CODE[opens]) & (records["event"][second] == _CODE[closes])
    fits &= (records["subject"][first] == records["subject"][second]) & (ranks[first] == ranks[second])
    return first[fits], second[fits]


def _add_stays(records: np.ndarray, ranks: np.ndarray, recorded: Recorded) -> None:
    numbers = recorded.fragments["number"]
    parts = []

    def add(stage: int, starts: np.ndarray, ends: np.ndarray) -> None:
        part = np.zeros(len(starts), STAY)
        part["fragment"] = rows_of(numbers, records["subject"][starts])
        part["stage"], part["rank"] = stage, ranks[ends]
        part["start_s"], part["end_s"] = records["time_s"][starts], records["time_s"][ends]
        parts.append(part[part["fragment"] >= 0])

    add(0, *_hops(records))
    add(1, *_pairs(records, ranks, "wait", "resume"))
    starts, ends = _pairs(records, ranks, "ready", "begin")
    add(2, starts, ends)
    add(2, *_pairs(records, ranks, "ready", "unfold"))
    recorded.stays = np.concatenate(parts)
    resumed, ready = _pairs(records, ranks, "resume", "ready")
    rows = rows_of(numbers, records["subject"][resumed])
    known = rows >= 0
    recorded.fragments["lead_s"][rows[known]] = (records["time_s"][ready] - records["time_s"][resumed])[known]


def _hops(records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each departure of a fragment with its arrival: the first with the first, and so on."""
    sides = []
    for step in ("forward", "arrive"):
        about = np.flatnonzero(_of(records, step))
        about = about[np.lexsort((records["time_s"][about], records["subject"][about]))]
        subjects = records["subject"][about]
        first = np.r_[True, subjects[1:] != subjects[:-1]] if len(subjects) else np.zeros(0, bool)
        starts = np.maximum.accumulate(np.where(first, np.arange(len(about)), 0)) if len(about) else about
        sides.append((about, _together(subjects, (np.arange(len(about)) - starts).astype("u8"))))
    (left, left_keys), (right, right_keys) = sides
    _, at, other = np.intersect1d(left_keys, right_keys, assume_unique=True, return_indices=True)
    return left[at], right[other]


def _add_runs(records: np.ndarray, ranks: np.ndarray, recorded: Recorded) -> None:
    """Runs of bodies and idle intervals: on a thread, a beginning and the next end."""

    def intervals(opens: str, closes: str) -> tuple[np.ndarray, np.ndarray]:
        about = np.flatnonzero(_of(records, opens, closes))
        order = about[np.lexsort((about, records["time_s"][about], records["thread"][about], ranks[about]))]
        first, second = order[:-1], order[1:]
        fits = (records["event"][first] == _CODE[opens]) & (records["event"][second] == _CODE[closes])
        fits &= (records["thread"][first] == records["thread"][second]) & (ranks[first] == ranks[second])
        return first[fits], second[fits]

    begins, ends = intervals("begin", "end")
    runs = np.zeros(len(begins), RUN)
    runs["fragment"] = rows_of(recorded.fragments["number"], records["subject"][begins])
    begun, ended = intervals("idle", "busy")
    idles = np.zeros(len(begun), IDLE)
    for table, starts, stops in ((runs, begins, ends), (idles, begun, ended)):
        table["rank"], table["thread"] = ranks[starts], records["thread"][starts]
        table["begin_s"], table["end_s"] = records["time_s"][starts], records["time_s"][stops]
    recorded.runs, recorded.idles = runs, idles


def _add_values(records: np.ndarray, ranks: np.ndarray, recorded: Recorded) -> None:
    numbers = recorded.fragments["number"]
    mask = _of(records, "data_arrived")
    found, where = records[mask], ranks[mask]
    arrivals = np.zeros(len(found), ARRIVAL)
    arrivals["fragment"] = rows_of(numbers, found["subject"])
    arrivals["key"], arrivals["rank"], arrivals["bytes"] = found["object"], where, found["amount"]
    arrivals["time_s"], arrivals["asked_s"] = found["time_s"], _asked(records, ranks, found)
    recorded.arrivals = arrivals
    home = records[_of(records, "store", "post")]
    keys = np.unique(home["object"])
    table = np.zeros(len(keys), VALUE)
    table["key"], table["writer"], table["home"], table["writer_rank"] = keys, -1, -1, -1
    for name in ("posted_s", "stored_s", "released_s", "last_use_s"):
        table[name] = np.nan
    for step, name in (("post", "posted_s"), ("store", "stored_s"), ("release", "released_s")):
        mask = _of(records, step)
        one, on = records[mask], ranks[mask]
        at = rows_of(keys, one["object"])
        known = at >= 0
        at, one, on = at[known], one[known], on[known]
        table[name][at] = one["time_s"]
        if step == "post":
            table["writer"][at], table["writer_rank"][at] = rows_of(numbers, one["subject"]), on
        if step == "release":
            table["left"][at] = one["subject"] == AT_THE_END
        if step == "store":
            table["home"][at], table["bytes"][at] = on, one["amount"]
    at = rows_of(keys, records["object"][_of(records, "deliver")])
    np.add.at(table["transfers"], at[at >= 0], 1)
    at = rows_of(keys, arrivals["key"])
    known = at >= 0
    np.add.at(table["uses"], at[known], 1)
    last = np.full(len(keys), -np.inf)
    np.maximum.at(last, at[known], arrivals["time_s"][known])
    table["last_use_s"] = np.where(np.isfinite(last), last, np.nan)
    recorded.values = table


def _asked(records: np.ndarray, ranks: np.ndarray, arrived: np.ndarray) -> np.ndarray:
    """When each value that arrived was asked for at another rank; NaN: it was not."""
    asked = records[_of(records, "request")]
    keys, first = np.unique(_together(asked["subject"], asked["object"]), return_index=True)
    at = rows_of(keys, _together(arrived["subject"], arrived["object"]))
    result = np.full(len(arrived), np.nan)
    result[at >= 0] = asked["time_s"][first[at[at >= 0]]]
    return result


def _together(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A number of 64 bits for each pair; that two pairs have the same is as improbable as for any hash."""
    mixed = (left ^ np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    return (mixed + right) * np.uint64(0x94D049BB133111EB) ^ (right >> np.uint64(31))
