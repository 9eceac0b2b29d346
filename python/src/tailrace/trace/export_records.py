# SPDX-License-Identifier: BSD-3-Clause
"""Records of fragment programs in the formats of other tools."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tailrace.trace.read import RankTrace, RunTrace
from tailrace.trace.records import STEPS, TypeName

CSV_COLUMNS = ("rank", "thread", "time_s", "event", "fragment", "type", "object", "amount")
_BEGIN, _END, _WAIT, _RESUME, _IDLE, _BUSY, _POST, _ARRIVED = (
    STEPS.index(name) for name in ("begin", "end", "wait", "resume", "idle", "busy", "post", "data_arrived")
)


def write_records_csv(run: RunTrace, path: Path) -> None:
    """One line per record, by rank and time."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(CSV_COLUMNS)
        for rank in run.ranks:
            for record in rank.records:
                writer.writerow(
                    (
                        rank.rank,
                        rank.threads[record["thread"]],
                        f"{record['time_s']:.9f}",
                        STEPS[record["event"]],
                        f"{record['subject']:#x}",
                        _name(rank, record),
                        f"{record['object']:#x}",
                        record["amount"],
                    )
                )


def _name(rank: RankTrace, record: np.void) -> str:
    number = int(record["type"])
    return rank.types.get(number, TypeName(f"type {number}", "body")).name


def record_events(run: RunTrace) -> Iterator[dict[str, Any]]:
    """Of the Trace Event Format: bodies and idle times as complete events, waiting fragments on tracks of
    their own, and a flow from who wrote a value to each fragment that it came to.
    """
    written = _writers(run)
    for rank in run.ranks:
        yield from _complete(rank)
        yield from _waiting(rank)
        yield from _flows(rank, written)


def _us(time_s: float) -> float:
    """Whole nanoseconds, in microseconds."""
    return float(np.rint(1e9 * time_s)) / 1e3


def _event(rank: RankTrace, record: np.void, phase: str, name: str, **more: Any) -> dict[str, Any]:
    ends = {"ph": phase, "ts": _us(record["time_s"]), "pid": rank.rank, "tid": int(record["thread"])}
    return {"name": name, "cat": "fragments", **ends, **more}


def _complete(rank: RankTrace) -> Iterator[dict[str, Any]]:
    for opens, closes in ((_BEGIN, _END), (_IDLE, _BUSY)):
        begun: dict[int, np.void] = {}
        for record in rank.records[np.isin(rank.records["event"], [opens, closes])]:
            if record["event"] == opens:
                begun[int(record["thread"])] = record
            elif (first := begun.pop(int(record["thread"]), None)) is not None:
                name = _name(rank, first) if opens == _BEGIN else "idle"
                args = {"fragment": f"{first['subject']:#x}"} if opens == _BEGIN else {}
                length = _us(record["time_s"]) - _us(first["time_s"])
                yield _event(rank, first, "X", name, dur=round(length, 3), args=args)


def _waiting(rank: RankTrace) -> Iterator[dict[str, Any]]:
    """Each wait begins and ends on the track of its fragment."""
    waits: set[int] = set()
    for record in rank.records[np.isin(rank.records["event"], [_WAIT, _RESUME])]:
        number = int(record["subject"])
        if record["event"] == _WAIT and number not in waits:
            waits.add(number)
            yield _event(rank, record, "b", f"wait: {_name(rank, record)}", id=f"{number:#x}", args={})
        elif record["event"] == _RESUME and number in waits:
            waits.remove(number)
            yield _event(rank, record, "e", f"wait: {_name(rank, record)}", id=f"{number:#x}", args={})
    last_s = float(rank.records["time_s"][-1]) if waits else 0.0
    names = (
        {int(one["subject"]): one for one in rank.records[rank.records["event"] == _WAIT]} if waits else {}
    )
    for number in sorted(waits):  # those that wait to the end
        end = names[number].copy()
        end["time_s"] = last_s
        yield _event(rank, end, "e", f"wait: {_name(rank, end)}", id=f"{number:#x}", args={})


def _writers(run: RunTrace) -> dict[int, tuple[RankTrace, np.void]]:
    """Who wrote each value."""
    return {
        int(record["object"]): (rank, record)
        for rank in run.ranks
        for record in rank.records[rank.records["event"] == _POST]
    }


def _flows(rank: RankTrace, written: dict[int, tuple[RankTrace, np.void]]) -> Iterator[dict[str, Any]]:
    """Values from another rank: a start and a finish with the same number, in this order of time."""
    arrived = rank.records[rank.records["event"] == _ARRIVED]
    for turn, record in enumerate(arrived):
        known = written.get(int(record["object"]))
        if known is None or known[0].rank == rank.rank or known[1]["time_s"] > record["time_s"]:
            continue
        flow = f"{rank.rank}.{turn}"
        yield _event(known[0], known[1], "s", "value", id=flow, args={"bytes": int(record["amount"])})
        yield _event(rank, record, "f", "value", id=flow, bp="e", args={})
