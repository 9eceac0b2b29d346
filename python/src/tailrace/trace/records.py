# SPDX-License-Identifier: BSD-3-Clause
"""Records of 32 bytes, their table of names, and what threads say of all of them in constant space
(docs/formats/trace.md).
"""

import struct
from dataclasses import dataclass

import numpy as np

# As it lies in the file; the last byte, 0 there, is the thread for readers.
RECORD = np.dtype(
    [
        ("time_s", "<f8"),
        ("subject", "<u8"),
        ("object", "<u8"),
        ("amount", "<u4"),
        ("type", "<u2"),
        ("event", "u1"),
        ("thread", "u1"),
    ]
)
STEPS = (
    "create",
    "forward",
    "arrive",
    "wait",
    "request",
    "data_arrived",
    "resume",
    "ready",
    "begin",
    "end",
    "unfold",
    "post",
    "store",
    "deliver",
    "release",
    "destroy",
    "idle",
    "busy",
)
ACTIVITIES = (
    "useful",
    "distribution",
    "dependencies",
    "unfolding",
    "messages",
    "ending",
    "checkpoint",
    "idle",
    "outside",
)
STAGES = ("waiting", "ready", "useful")
TYPE_KINDS = ("body", "call", "for", "while", "if")
AT_THE_END = (1 << 64) - 1  # the subject of a release: the value was there at the end of its program
MANY_HOPS = 7  # the last count of `by_hops` is of so many or more

_TYPE = struct.Struct("<HBxii")
_HEAD = struct.Struct("<ddddd8I")
_TOTALS = struct.Struct("<6Q8Q")
_MOST = 1 << 16  # of anything that a summary has
_MOST_COUNTED = 1 << 48  # sums of several ranks stay below 2^63
_MOST_S = 1e12  # no clock shows more; also keeps out infinity and NaN


@dataclass(frozen=True)
class TypeName:
    """What a type of records is: a fragment's body or statement, and where it is in a source."""

    name: str
    kind: str
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""


@dataclass
class Summary:
    """All that one thread did. Bins begin at `start_s` and are `bin_s` wide; classes of lengths are powers of
    two of nanoseconds: class k holds those below 2^k that are in no lower one.
    """

    start_s: float
    end_s: float
    full_until_s: float  # each record up to there is in the file
    bin_s: float
    record_cost_s: float  # of a record and its look at the clock, as measured at the start
    full: bool
    created: int
    ended: int
    waited: int
    forwarded: int
    left: int  # values at the end of programs
    left_bytes: int
    by_hops: tuple[int, ...]
    seconds: np.ndarray  # bins x ACTIVITIES
    counts: np.ndarray  # bins x STEPS
    stored_bytes: np.ndarray  # by bin
    released_bytes: np.ndarray
    stage_s: np.ndarray  # types x STAGES
    classes: np.ndarray  # types x STAGES x classes


def parse_type(payload: bytes) -> tuple[int, TypeName] | None:
    """The number and the entry of a block of the table of names; None for damage."""
    if len(payload) < _TYPE.size:
        return None
    number, kind, line, column = _TYPE.unpack_from(payload)
    texts = payload[_TYPE.size :].split(b"\0")
    if len(texts) < 2 or kind >= len(TYPE_KINDS):
        return None
    name, file = (text.decode("utf-8", "replace") for text in texts[:2])
    return number, TypeName(name, TYPE_KINDS[kind], file, line, column)


def parse_records(payload: bytes, thread: int) -> np.ndarray:
    """The records of a block that have a sound time and a known event."""
    records = np.frombuffer(payload, RECORD, len(payload) // RECORD.itemsize).copy()
    records["thread"] = thread
    sound = np.abs(records["time_s"]) < _MOST_S
    return records[sound & (records["event"] < len(STEPS))]


def _are_times(*times: float) -> bool:
    return all(abs(time) < _MOST_S for time in times)


def _are_spent(seconds: np.ndarray) -> bool:
    return bool(((seconds >= 0) & (seconds < _MOST_S)).all())


def parse_summary(payload: bytes) -> Summary | None:
    """What a block says; None if it is not of the form that this program knows."""
    if len(payload) < _HEAD.size + _TOTALS.size:
        return None
    start, end, full_until, bin_s, cost, *sizes = _HEAD.unpack_from(payload)
    bins, activities, steps, types, stages, classes, hops, full = sizes
    known = (activities, steps, stages, hops) == (len(ACTIVITIES), len(STEPS), len(STAGES), MANY_HOPS + 1)
    if not known or max(bins, types, classes) > _MOST or not _are_times(start, end, full_until, bin_s, cost):
        return None
    totals = _TOTALS.unpack_from(payload, _HEAD.size)
    if end < start or cost < 0 or max(totals) >= _MOST_COUNTED:
        return None
    bin_type = np.dtype(
        [("seconds", "<f8", (activities,)), ("counts", "<u8", (steps,)), ("bytes", "<u8", (2,))]
    )
    of_type = np.dtype([("seconds", "<f8", (stages,)), ("classes", "<u4", (stages, classes))])
    at = _HEAD.size + _TOTALS.size
    if len(payload) < at + bins * bin_type.itemsize + types * of_type.itemsize or bin_s <= 0:
        return None
    of_bins = np.frombuffer(payload, bin_type, bins, at)
    of_types = np.frombuffer(payload, of_type, types, at + bins * bin_type.itemsize)
    counted = max(int(of_bins[name].max(initial=0)) for name in ("counts", "bytes"))
    if counted >= _MOST_COUNTED or not all(_are_spent(part["seconds"]) for part in (of_bins, of_types)):
        return None
    return Summary(
        start, end, full_until, bin_s, cost, bool(full), *totals[:6], totals[6:],
        of_bins["seconds"], of_bins["counts"].astype(np.int64),
        of_bins["bytes"][:, 0].astype(np.int64), of_bins["bytes"][:, 1].astype(np.int64),
        of_types["seconds"], of_types["classes"].astype(np.int64),
    )  # fmt: skip
