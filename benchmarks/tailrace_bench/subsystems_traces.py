# SPDX-License-Identifier: BSD-3-Clause
"""Traces as a long run of many ranks leaves them, of the format of docs/formats/trace.md."""

import struct
import zlib
from pathlib import Path

import numpy as np

from tailrace.trace import RECORD, STEPS
from tailrace.trace import format as trace_format
from tailrace.trace.records import TYPE_KINDS

# What happens to each fragment: steps with the share of its time at which they are. It takes the value that
# the one before has written, on the next rank.
STORY = (
    ("create", 0.0), ("request", 0.05), ("wait", 0.06), ("data_arrived", 0.2), ("resume", 0.21),
    ("ready", 0.25), ("busy", 0.29), ("begin", 0.3), ("post", 0.9), ("store", 0.91), ("end", 0.92),
    ("destroy", 0.95), ("deliver", 0.96), ("idle", 0.97),
)  # fmt: skip
ABOUT_VALUES = ("request", "data_arrived", "post", "store", "deliver")
FRAGMENT_S = 1e-4
VALUE = 1 << 60


def write_traces(directory: Path, ranks: int, records: int) -> int:
    """Returns how many records there are: as many of each rank."""
    (directory / "trace").mkdir(parents=True, exist_ok=True)
    count = max(1, records // (ranks * len(STORY)))
    for rank in range(ranks):
        table = rank_records(rank, ranks, count)
        parts = [header(rank, ranks), block(trace_format.THREAD, b"fragments")]
        parts.append(
            block(trace_format.CLOCK_POINT, trace_format.CLOCK.pack(0.0, 0.0, 1e-6 * bool(rank), 0.0))
        )
        parts.append(
            block(
                trace_format.TYPE_NAME,
                struct.pack("<HBxii", 1, TYPE_KINDS.index("body"), 1, 1) + b"work\0p\0",
            )
        )
        most = trace_format.MAX_PAYLOAD // RECORD.itemsize
        parts += [
            block(trace_format.RECORDS, table[at : at + most].tobytes(), RECORD.itemsize)
            for at in range(0, len(table), most)
        ]
        path = directory / "trace" / f"rank-{rank:05}.trace"
        path.write_bytes(b"".join([*parts, block(trace_format.END, b"")]))
    return ranks * count * len(STORY)


def rank_records(rank: int, ranks: int, count: int) -> np.ndarray:
    """Fragment n of a rank takes value n - 1 of the rank before."""
    numbers = np.arange(1, count + 1, dtype="u8")
    own = (np.uint64(rank) << np.uint64(40)) | numbers
    table = np.zeros((count, len(STORY)), RECORD)
    for at, (step, share) in enumerate(STORY):
        column = table[:, at]
        column["time_s"] = (numbers.astype("f8") + share) * FRAGMENT_S
        column["event"], column["type"] = STEPS.index(step), 1
        column["subject"] = 0 if step in ("busy", "idle", "store", "deliver") else own
        if step in ABOUT_VALUES:
            writer, less = ((rank - 1) % ranks, 1) if step in ("request", "data_arrived") else (rank, 0)
            column["object"] = VALUE + np.uint64(writer << 40) + numbers - np.uint64(less)
            column["amount"] = 8 if step in ("data_arrived", "post", "store") else (rank - 1) % ranks
    return table.ravel()


def header(rank: int, ranks: int) -> bytes:
    raw = trace_format.HEADER.pack(
        trace_format.MAGIC,
        trace_format.VERSION,
        trace_format.HEADER.size,
        rank,
        ranks,
        0,
        0,
        b"node",
        b"boot",
        b"",
        0,
    )
    return raw[:-8] + zlib.crc32(raw[:-8]).to_bytes(4, "little") + bytes(4)


def block(kind: int, payload: bytes, event_bytes: int = 0) -> bytes:
    head = trace_format.BLOCK.pack(trace_format.BLOCK_MAGIC, kind, 0, event_bytes, len(payload), 0, 0, 0)[:-4]
    return head + zlib.crc32(payload, zlib.crc32(head)).to_bytes(4, "little") + payload
