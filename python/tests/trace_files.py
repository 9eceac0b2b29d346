# SPDX-License-Identifier: BSD-3-Clause
"""Writes trace files in the format of docs/formats/trace.md, as the native programs do."""

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tailrace.trace import KINDS
from tailrace.trace import format as trace_format


def block(kind: int, payload: bytes, thread: int = 0, event_bytes: int = 0, number: int = 0, lost: int = 0):
    head = trace_format.BLOCK.pack(
        trace_format.BLOCK_MAGIC, kind, thread, event_bytes, len(payload), number, lost, 0
    )[:-4]
    return head + zlib.crc32(payload, zlib.crc32(head)).to_bytes(4, "little") + payload


def header(rank: int, ranks: int = 1, role: int = 0, host: str = "node-a", counters: Sequence[str] = ()):
    names = b"".join(name.encode().ljust(trace_format.NAME_BYTES, b"\0") for name in counters)
    raw = trace_format.HEADER.pack(
        trace_format.MAGIC, trace_format.VERSION, trace_format.HEADER.size,
        rank, ranks, role, len(counters), host.encode(), f"boot {host}".encode(), names, 0,
    )  # fmt: skip
    return raw[:-8] + zlib.crc32(raw[:-8]).to_bytes(4, "little") + bytes(4)


def events(rows: Iterable[Sequence], counters: int = 0) -> bytes:
    """Rows of thread, kind (its name), step, start_s, end_s, bytes [, buffers, memory, counters]."""
    rows = list(rows)
    stored = np.zeros(len(rows), trace_format.STORED[counters])
    for event, row in zip(stored, rows, strict=True):
        thread, kind, step, start, end, size, *rest = row
        event["thread"], event["kind"], event["step"] = thread, KINDS.index(kind), step
        event["start_s"], event["end_s"], event["bytes"] = start, end, size
        for name, value in zip(("buffers", "memory_bytes", "counters"), rest, strict=False):
            event[name] = value
    return stored.tobytes()


def events_block(rows: Iterable[Sequence], thread: int = 0, counters: int = 0, **more) -> bytes:
    size = trace_format.STORED[counters].itemsize
    return block(trace_format.EVENTS, events(rows, counters), thread, size, **more)


def write(
    path: Path,
    rank: int,
    threads: Sequence[str],
    rows: Iterable[Sequence],
    clock: Sequence[tuple[float, float, float, float]] = ((0.0, 0.0, 0.0, 0.0),),
    ended: bool = True,
    **head,
) -> None:
    """One file; `rows` as for `events`, with the thread as an index or a name."""
    rows = [(threads.index(row[0]) if isinstance(row[0], str) else row[0], *row[1:]) for row in rows]
    parts = [header(rank, **head)]
    parts += [block(trace_format.THREAD, name.encode(), index) for index, name in enumerate(threads)]
    points = [block(trace_format.CLOCK_POINT, trace_format.CLOCK.pack(*point)) for point in clock]
    parts += points[:1]
    count = len(head.get("counters", ()))
    for thread in range(len(threads)):
        parts.append(events_block([row for row in rows if row[0] == thread], thread, count))
    parts += points[1:]
    if ended:
        parts.append(block(trace_format.END, b""))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(parts))
