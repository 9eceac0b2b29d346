# SPDX-License-Identifier: BSD-3-Clause
"""Traces in the formats of other tools: Perfetto and chrome://tracing, and CSV."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.trace.export_records import record_events, write_records_csv
from tailrace.trace.format import KINDS
from tailrace.trace.read import RankTrace, RunTrace

CSV_COLUMNS = ("rank", "thread", "kind", "step", "start_s", "end_s", "bytes", "buffers", "memory_bytes")


def write_csv(run: RunTrace, path: Path) -> list[Path]:
    """One line per event, by rank and start, with the counters of the run as further columns. Records of
    fragments go into a file of their own beside it. Returns what was written.
    """
    names = tuple(dict.fromkeys(name for rank in run.ranks for name in rank.counters))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow((*CSV_COLUMNS, *names))
        for rank in run.ranks:
            places = [rank.counters.index(name) if name in rank.counters else None for name in names]
            for entry in rank.events:
                counts = ["" if place is None else entry["counters"][place] for place in places]
                writer.writerow(
                    (
                        rank.rank,
                        rank.threads[entry["thread"]],
                        KINDS[entry["kind"]],
                        entry["step"],
                        f"{entry['start_s']:.9f}",
                        f"{entry['end_s']:.9f}",
                        entry["bytes"],
                        entry["buffers"],
                        entry["memory_bytes"] or "",
                        *counts,
                    )
                )
    if not any(len(rank.records) for rank in run.ranks):
        return [path]
    write_records_csv(run, records_path(path))
    return [path, records_path(path)]


def records_path(path: Path) -> Path:
    """Where the records of a fragment program go, beside its spans."""
    return path.with_name(f"{path.stem}_fragments{path.suffix}")


def write_perfetto(run: RunTrace, path: Path) -> list[Path]:
    """The JSON of the Trace Event Format, which ui.perfetto.dev and chrome://tracing open. Event by event, so
    that a long run needs no more memory than its events.
    """
    with path.open("w", encoding="utf-8") as file:
        head = {"program": "tailrace", "clock_error_s": run.clock_error_s, "problems": run.problems}
        file.write(f'{{"displayTimeUnit": "ms", "otherData": {json.dumps(head)}, "traceEvents": [')
        for number, event in enumerate(_events(run)):
            file.write(",\n" if number else "\n")
            file.write(json.dumps(event, allow_nan=False))
        file.write("\n]}\n")
    return [path]


def _events(run: RunTrace) -> Iterator[dict[str, Any]]:
    for rank in run.ranks:
        yield from _names(rank)
        yield from _spans(rank)
        yield from _tracks(rank)
    yield from record_events(run)


def _names(rank: RankTrace) -> Iterator[dict[str, Any]]:
    """Metadata: what processes and threads are called, and their order."""
    title = f"rank {rank.rank} ({rank.role}, {rank.host})" if rank.host else f"rank {rank.rank}"
    yield _metadata(rank, "process_name", {"name": title})
    yield _metadata(rank, "process_sort_index", {"sort_index": rank.rank})
    for thread, name in enumerate(rank.threads):
        yield _metadata(rank, "thread_name", {"name": name}, thread)
        yield _metadata(rank, "thread_sort_index", {"sort_index": thread}, thread)


def _metadata(rank: RankTrace, name: str, args: dict[str, Any], thread: int = 0) -> dict[str, Any]:
    return {"name": name, "ph": "M", "pid": rank.rank, "tid": thread, "args": args}


def _spans(rank: RankTrace) -> Iterator[dict[str, Any]]:
    """Complete events, in microseconds; whole nanoseconds, so that spans within others stay within them."""
    starts, ends = (np.rint(1e9 * rank.events[name]) for name in ("start_s", "end_s"))
    for entry, start_ns, end_ns in zip(rank.events, starts, ends, strict=True):
        args = {"step": int(entry["step"]), "bytes": int(entry["bytes"]), "buffers": int(entry["buffers"])}
        args |= {name: int(count) for name, count in zip(rank.counters, entry["counters"], strict=False)}
        yield {
            "name": KINDS[entry["kind"]],
            "cat": "tailrace",
            "ph": "X",
            "ts": float(start_ns) / 1e3,
            "dur": float(end_ns - start_ns) / 1e3,
            "pid": rank.rank,
            "tid": int(entry["thread"]),
            "args": args,
        }


def _tracks(rank: RankTrace) -> Iterator[dict[str, Any]]:
    """Counter events where the values change: resident memory and staging buffers in use."""
    shown: dict[str, int] = {}
    for entry in rank.events[rank.events["end_s"].argsort(kind="stable")]:
        values = {"staging buffers": int(entry["buffers"])}
        if entry["memory_bytes"] > 0:
            values["resident memory"] = int(entry["memory_bytes"])
        for name, value in values.items():
            if shown.get(name) == value:
                continue
            shown[name] = value
            yield {
                "name": name,
                "cat": "tailrace",
                "ph": "C",
                "ts": float(np.rint(1e9 * entry["end_s"])) / 1e3,
                "pid": rank.rank,
                "tid": 0,
                "args": {"bytes" if name == "resident memory" else "buffers": value},
            }
