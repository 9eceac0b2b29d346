# SPDX-License-Identifier: BSD-3-Clause
"""Traces of fragment programs written by hand, in the format of docs/formats/trace.md."""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import trace_files
from tailrace.trace import ACTIVITIES, RECORD, STEPS
from tailrace.trace import format as trace_format
from tailrace.trace.records import TYPE_KINDS


def number(rank: int, count: int) -> int:
    """Of a fragment that a rank created as its count-th."""
    return (rank << 40) | count


def type_block(type_number: int, name: str, kind: str = "body", file: str = "p.fa", line: int = 1) -> bytes:
    head = struct.pack("<HBxii", type_number, TYPE_KINDS.index(kind), line, 1)
    return trace_files.block(trace_format.TYPE_NAME, head + name.encode() + b"\0" + file.encode() + b"\0")


def records_block(rows: Iterable[Sequence], thread: int = 0) -> bytes:
    """Rows of time, step (its name), subject [, object, amount, type]."""
    rows = list(rows)
    stored = np.zeros(len(rows), RECORD)
    for record, row in zip(stored, rows, strict=True):
        time, step, subject, *rest = row
        record["time_s"], record["event"], record["subject"] = time, STEPS.index(step), subject
        for name, value in zip(("object", "amount", "type"), rest, strict=False):
            record[name] = value
    return trace_files.block(trace_format.RECORDS, stored.tobytes(), thread, RECORD.itemsize)


def summary_block(
    thread: int = 0,
    span: tuple[float, float] = (0.0, 10.0),
    full_until: float | None = None,
    seconds: dict[str, float] | None = None,
    counts: dict[str, int] | None = None,
    totals: Sequence[int] = (0, 0, 0, 0),
    left: tuple[int, int] = (0, 0),
    hops: Sequence[int] = (),
    bin_s: float = 1.0,
    stored: tuple[int, int] = (0, 0),
    cost_s: float = 5e-8,
    bins: dict[str, Sequence[float]] | None = None,
) -> bytes:
    """All of its time is in the first bins: `seconds` evenly in those of the span, or as `bins` says."""
    used = int(np.ceil((span[1] - span[0]) / bin_s))
    table = np.zeros(
        256, [("seconds", "<f8", len(ACTIVITIES)), ("counts", "<u8", len(STEPS)), ("bytes", "<u8", 2)]
    )
    for name, value in (seconds or {}).items():
        table["seconds"][:used, ACTIVITIES.index(name)] = value / used
    for name, values in (bins or {}).items():
        table["seconds"][: len(values), ACTIVITIES.index(name)] = values
    for name, value in (counts or {}).items():
        table["counts"][0, STEPS.index(name)] = value
    table["bytes"][0] = stored
    full = full_until is None
    head = struct.pack(
        "<ddddd8I", *span, span[1] if full else full_until, bin_s, cost_s,
        256, len(ACTIVITIES), len(STEPS), 0, 3, 40, 8, int(full),
    )  # fmt: skip
    body = head + struct.pack("<6Q8Q", *totals, *left, *(list(hops) + [0] * 8)[:8]) + table.tobytes()
    return trace_files.block(trace_format.SUMMARY, body, thread)


def write(
    directory: Path,
    rank: int,
    blocks: Sequence[bytes],
    ranks: int = 1,
    threads: Sequence[str] = ("fragments",),
    clock: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    host: str = "node-a",
) -> None:
    """The trace of a rank in a run directory."""
    parts = [trace_files.header(rank, ranks, host=host)]
    parts += [trace_files.block(trace_format.THREAD, name.encode(), at) for at, name in enumerate(threads)]
    parts += [trace_files.block(trace_format.CLOCK_POINT, struct.pack("<dddd", *clock))]
    parts += [*blocks, trace_files.block(trace_format.END, b"")]
    folder = directory / "trace"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"rank-{rank:05}.trace").write_bytes(b"".join(parts))
