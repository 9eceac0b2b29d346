# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of a trace file (docs/formats/trace.md): header, blocks, events.

A file is taken apart as far as it goes. What is damaged or cut off is left out and reported; nothing in a
file can make the reader fail.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tailrace.trace.records import RECORD, Summary, TypeName, parse_records, parse_summary, parse_type

MAGIC = b"TRLTRACE"
VERSION = 1
HEADER = struct.Struct("<8s II ii II 64s 64s 128s I 4x")
BLOCK_MAGIC = b"TRBK"
BLOCK = struct.Struct("<4s BBH III I")
CLOCK = struct.Struct("<dddd")
MAX_PAYLOAD = 16 << 20  # no block is larger; a size beyond it is damage
MAX_COUNTERS = 4
NAME_BYTES = 32

THREAD, EVENTS, CLOCK_POINT, END, TYPE_NAME, RECORDS, SUMMARY = 1, 2, 3, 4, 5, 6, 7
ROLES = ("compute", "writer")
KINDS = (
    "setup",
    "compute",
    "exchange",
    "pack",
    "output_wait",
    "gather",
    "write",
    "sync",
    "checkpoint",
    "idle",
    "close",
)

# An event as readers see it: times in seconds since the zero that is common to all ranks.
EVENT = np.dtype(
    [
        ("thread", "u1"),  # index into the trace's `threads`
        ("kind", "u1"),  # index into KINDS
        ("step", "i8"),
        ("start_s", "f8"),
        ("end_s", "f8"),
        ("bytes", "i8"),
        ("buffers", "u2"),  # staging buffers in use when it ended
        ("memory_bytes", "i8"),  # resident memory of the process; 0 where it was not sampled
        ("counters", "i8", (MAX_COUNTERS,)),
    ]
)

_FIXED = [
    ("start_s", "<f8"),
    ("end_s", "<f8"),
    ("step", "<i8"),
    ("bytes", "<i8"),
    ("memory_bytes", "<i8"),
    ("thread", "u1"),
    ("kind", "u1"),
    ("buffers", "<u2"),
    ("reserved", "<u4"),
]
# As they lie in the file, by the number of counters.
STORED = tuple(
    np.dtype(_FIXED + ([("counters", "<i8", (count,))] if count else [])) for count in range(MAX_COUNTERS + 1)
)
_MAX_S = 1e12  # no clock shows more; also keeps out infinity and NaN
_BY_SIZE = {dtype.itemsize: dtype for dtype in STORED}


class FormatError(ValueError):
    """Not a trace, or of a version that this program does not know; the message says which."""


@dataclass(frozen=True)
class ClockPoint:
    """At `local_s` of the rank's clock, rank 0's showed `local_s + offset_s`, give or take `error_s`."""

    local_s: float
    offset_s: float
    error_s: float
    zero_s: float  # by rank 0's clock: the zero that is common to all ranks


@dataclass
class TraceFile:
    """What a file holds, by the clock of its own rank."""

    rank: int | None = None  # None: the header is damaged
    ranks: int = 0
    role: str = "compute"
    host: str = ""
    clock: str = ""  # processes with the same text read the same clock
    counters: tuple[str, ...] = ()
    threads: dict[int, str] = field(default_factory=dict)
    events: list[np.ndarray] = field(default_factory=list)  # of dtype EVENT
    records: list[np.ndarray] = field(default_factory=list)  # of dtype RECORD, of one thread each
    types: dict[int, TypeName] = field(default_factory=dict)
    summaries: dict[int, Summary] = field(default_factory=dict)  # by thread
    clock_points: list[ClockPoint] = field(default_factory=list)
    lost: int = 0
    ended: bool = False
    problems: list[str] = field(default_factory=list)


def parse(data: bytes) -> TraceFile:
    """Takes a file apart. Raises FormatError when it is no trace that this program can read."""
    if not data:
        raise FormatError("it is empty")
    if not MAGIC.startswith(data[: len(MAGIC)]) or (len(data) >= 8 and data[:8] != MAGIC):
        raise FormatError("it is no trace of Tailrace")
    if len(data) < HEADER.size:
        raise FormatError("it ends within its header")
    file = TraceFile()
    start = _parse_header(data, file)
    for block in _blocks(data, start, file):
        _take(block, file)
    return file


def _parse_header(data: bytes, file: TraceFile) -> int:
    """Fills in what the header says; returns where the blocks begin."""
    _, version, size, rank, ranks, role, counters, host, clock, names, checksum = HEADER.unpack_from(data)
    if zlib.crc32(data[: HEADER.size - 8]) != checksum:
        file.problems.append("the header is damaged: host, role and counters are unknown")
        return HEADER.size
    if version != VERSION:
        raise FormatError(f"it has version {version} of the format, this program reads version {VERSION}")
    file.rank, file.ranks = rank, ranks
    file.role = ROLES[role] if role < len(ROLES) else "writer"
    file.host, file.clock = _text(host), _text(clock)
    file.counters = tuple(
        _text(names[NAME_BYTES * i : NAME_BYTES * (i + 1)]) for i in range(min(counters, MAX_COUNTERS))
    )
    return max(size, HEADER.size)


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace")


@dataclass(frozen=True)
class _Block:
    type: int
    thread: int
    event_bytes: int
    number: int
    lost: int
    payload: bytes


def _blocks(data: bytes, start: int, file: TraceFile) -> Iterator[_Block]:
    """The sound blocks in their order, and what there is of the last one when the file ends within it."""
    position, damaged = start, 0
    while position < len(data):
        block = _block_at(data, position)
        if block is not None:
            yield block
            position += BLOCK.size + len(block.payload)
            continue
        following = _next_block(data, position + 1)
        if following is None:
            cut = _cut_block(data, position)
            if cut is not None:
                yield cut
            elif not _is_cut_header(data[position:]):
                damaged += 1
            break
        damaged += 1
        position = following
    if damaged:
        file.problems.append(f"damaged in {damaged} places: what was recorded there is left out")
    if not file.ended:
        file.problems.append("it has no end: the program was killed, or is still running")


def _head(data: bytes, position: int) -> tuple | None:
    if data[position : position + 4] != BLOCK_MAGIC or len(data) - position < BLOCK.size:
        return None
    head = BLOCK.unpack_from(data, position)
    return head if head[4] <= MAX_PAYLOAD else None


def _block_at(data: bytes, position: int) -> _Block | None:
    """The block at a place, None unless it is whole and its checksum holds."""
    head = _head(data, position)
    if head is None:
        return None
    _, kind, thread, event_bytes, size, number, lost, checksum = head
    payload = data[position + BLOCK.size : position + BLOCK.size + size]
    if len(payload) < size:
        return None
    if zlib.crc32(payload, zlib.crc32(data[position : position + BLOCK.size - 4])) != checksum:
        return None
    return _Block(kind, thread, event_bytes, number, lost, payload)


def _next_block(data: bytes, position: int) -> int | None:
    """Where the next sound block begins."""
    while (position := data.find(BLOCK_MAGIC, position)) >= 0:
        if _block_at(data, position) is not None:
            return position
        position += 1
    return None


def _cut_block(data: bytes, position: int) -> _Block | None:
    """The complete events or records of a block that the end of the file cuts off."""
    head = _head(data, position)
    if head is None or head[1] not in (EVENTS, RECORDS) or len(data) - position - BLOCK.size >= head[4]:
        return None
    _, kind, thread, event_bytes, _, number, lost, _ = head
    if event_bytes not in (_BY_SIZE if kind == EVENTS else (RECORD.itemsize,)):
        return None
    rest = data[position + BLOCK.size :]
    return _Block(kind, thread, event_bytes, number, lost, rest[: len(rest) // event_bytes * event_bytes])


def _is_cut_header(rest: bytes) -> bool:
    """Whether only the beginning of a block's head is there, or a short block is cut off."""
    if len(rest) < BLOCK.size:
        return rest[:4] == BLOCK_MAGIC[: len(rest)]
    head = _head(rest, 0)
    return head is not None and len(rest) - BLOCK.size < head[4]


def _take(block: _Block, file: TraceFile) -> None:
    file.lost += block.lost
    if block.type == THREAD:
        file.threads[block.thread] = _text(block.payload)
    elif block.type == CLOCK_POINT and len(block.payload) >= CLOCK.size:
        point = ClockPoint(*CLOCK.unpack_from(block.payload))
        if np.isfinite([point.local_s, point.offset_s, point.error_s, point.zero_s]).all():
            file.clock_points.append(point)
    elif block.type == EVENTS and block.event_bytes in _BY_SIZE:
        file.events.append(_events(block))
    elif block.type == RECORDS and block.event_bytes == RECORD.itemsize:
        file.records.append(parse_records(block.payload, block.thread))
    elif block.type == TYPE_NAME and (entry := parse_type(block.payload)) is not None:
        file.types[entry[0]] = entry[1]
    elif block.type == SUMMARY and (summary := parse_summary(block.payload)) is not None:
        file.summaries[block.thread] = summary
    elif block.type == END:
        file.ended = True


def _events(block: _Block) -> np.ndarray:
    stored = np.frombuffer(
        block.payload, _BY_SIZE[block.event_bytes], len(block.payload) // block.event_bytes
    )
    events = np.zeros(len(stored), EVENT)
    for name in EVENT.names[:-1]:
        events[name] = stored[name]
    if "counters" in stored.dtype.names:
        events["counters"][:, : stored.dtype["counters"].shape[0]] = stored["counters"]
    start, end = events["start_s"], events["end_s"]
    return events[(start > -_MAX_S) & (end >= start) & (end < _MAX_S) & (events["kind"] < len(KINDS))]
