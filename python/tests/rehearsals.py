# SPDX-License-Identifier: BSD-3-Clause
"""Run directories of imitated runs: ranks in lockstep, writers with queues and rates, no program involved."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import trace_files

OUTPUT_BYTES = 4_000_000
EXCHANGE_S, PACK_S, SETUP_S = 0.002, 0.0005, 0.1


@dataclass
class Rehearsal:
    """What is imitated. Writers: one per `group` ranks, the group's first; `dedicated`: processes that write
    for all; `blocking`: ranks write by themselves.
    """

    ranks: int = 4
    steps: int = 60
    every: int = 1
    burst: int = 1  # outputs come in bursts of as many steps
    compute_s: float = 0.03
    slow: dict[int, float] = field(default_factory=dict)  # factor of a rank's compute time
    group: int = 1
    dedicated: int = 0
    blocking: bool = False
    buffers: int = 2
    rate: float = 1e9  # bytes per second of one writer
    slow_writers: dict[int, float] = field(default_factory=dict)  # rate of a writer's rank
    share: dict[int, float] = field(default_factory=dict)  # factor of a rank's output
    ranks_per_host: int = 64
    writes_per_output: int = 1

    @property
    def strategy(self) -> str:
        if self.blocking:
            return "blocking"
        if self.dedicated:
            return f"ranks:{self.dedicated}"
        return f"leaders:{self.group}" if self.group > 1 else f"threads:{self.buffers}"

    def host(self, rank: int) -> str:
        return f"node-{rank // self.ranks_per_host}"

    def writer(self, rank: int) -> int:
        """The rank of the process that writes for a rank."""
        if self.dedicated:
            return self.ranks + rank * self.dedicated // self.ranks
        return rank - rank % self.group

    def due(self, step: int) -> bool:
        period = self.every * self.burst
        return step % period < self.burst


class _Imitation:
    def __init__(self, wanted: Rehearsal):
        self.wanted = wanted
        self.rows: dict[int, list[tuple]] = {rank: [] for rank in range(wanted.ranks + wanted.dedicated)}
        self.free: dict[int, float] = {}  # when a writer has done all it has
        self.jobs: dict[int, list[float]] = {
            rank: [] for rank in range(wanted.ranks)
        }  # when they are written

    def run(self) -> dict[int, list[tuple]]:
        wanted = self.wanted
        clock = [SETUP_S] * wanted.ranks
        for rank in range(wanted.ranks):
            self.add(rank, "main", "setup", 0, 0.0, SETUP_S)
        for step in range(1, wanted.steps + 1):
            ready = [now + wanted.compute_s * wanted.slow.get(rank, 1.0) for rank, now in enumerate(clock)]
            met = max(ready) + EXCHANGE_S
            for rank, now in enumerate(clock):
                self.add(rank, "main", "compute", step, now, met)  # the exchange lies inside
                self.add(rank, "main", "exchange", step, ready[rank], met)
            clock = [
                self.output(rank, step, met) if wanted.due(step) else met for rank in range(wanted.ranks)
            ]
        for rank, now in enumerate(clock):
            done = max([now, *self.jobs[rank]])
            self.add(rank, "main", "output_wait", wanted.steps, now, done)
            self.add(rank, "main", "close", wanted.steps, done, done + 0.01)
        return self.rows

    def output(self, rank: int, step: int, now: float) -> float:
        wanted = self.wanted
        size = int(OUTPUT_BYTES * wanted.share.get(rank, 1.0))
        writer = wanted.writer(rank)
        length = size / wanted.slow_writers.get(writer, wanted.rate)
        if wanted.blocking:
            self.add(rank, "main", "pack", step, now, now + PACK_S)
            self.write(rank, "main", step, now + PACK_S, length, size)
            return now + PACK_S + length
        if sum(done > now for done in self.jobs[rank]) >= wanted.buffers:
            until = sorted(self.jobs[rank])[-wanted.buffers]
            self.add(rank, "main", "output_wait", step, now, until)
            now = until
        self.add(rank, "main", "pack", step, now, now + PACK_S)
        now += PACK_S
        begin = max(now, self.free.get(writer, 0.0))
        self.free[writer] = begin + length
        self.jobs[rank].append(begin + length)
        self.write(writer, "writer", step, begin, length, size)
        return now

    def write(self, rank: int, thread: str, step: int, begin: float, length: float, size: int) -> None:
        parts = self.wanted.writes_per_output
        for part in range(parts):
            at = begin + part * length / parts
            self.add(rank, thread, "write", step, at, at + length / parts, size // parts)

    def add(
        self, rank: int, thread: str, kind: str, step: int, start: float, end: float, size: int = 0
    ) -> None:
        busy = sum(done > end for done in self.jobs.get(rank, []))
        if end > start:
            self.rows[rank].append((thread, kind, step, start, end, size, busy, 200_000_000 + 10_000 * step))


def _totals(rank: int, rows: list[tuple], host: str) -> dict:
    def seconds(kind: str) -> float:
        return sum(row[4] - row[3] for row in rows if row[1] == kind)

    writes = [row for row in rows if row[1] == "write"]
    blocking = sum(row[4] - row[3] for row in writes if row[0] == "main")
    return {
        "rank": rank, "host": host, "cells": 1000, "setup_s": SETUP_S,
        "compute_s": seconds("compute") - seconds("exchange"),
        "exchange_s": seconds("exchange"), "output_wait_s": seconds("output_wait") + blocking,
        "write_s": seconds("write"),
        "write_cpu_s": 0.01 * seconds("write"), "write_bytes": sum(row[5] for row in writes),
        "writes": len(writes),
        "waits": sum(row[1] == "output_wait" for row in rows), "peak_memory_bytes": 201_000_000,
        "predicted_memory_bytes": 200_000_000,
    }  # fmt: skip


def write_run(directory: Path, clock_error_s: float = 0.0, changes: dict | None = None, **wanted) -> Path:
    """A run directory; `wanted` are fields of Rehearsal, `changes` replace entries of run.json."""
    settings = Rehearsal(**wanted)
    rows = _Imitation(settings).run()
    wall_s = max(row[4] for own in rows.values() for row in own)
    for rank, own in rows.items():
        trace_files.write(
            directory / "trace" / f"rank-{rank:05d}.trace", rank, ["main", "writer"], own,
            clock=((0.0, 0.0, clock_error_s, 0.0), (wall_s, 0.0, clock_error_s, 0.0)),
            host=settings.host(rank), role=int(rank >= settings.ranks),
        )  # fmt: skip
    per_rank = [_totals(rank, rows[rank], settings.host(rank)) for rank in range(settings.ranks)]
    account = {
        "format": "tailrace-run", "format_version": 1, "status": "finished", "title": "An imitated run",
        "simulation": "rehearse", "ranks": settings.ranks, "threads": 1,
        "strategy": settings.strategy, "sink": "hdf5",
        "steps": settings.steps, "steps_planned": settings.steps,
        "wall_s": wall_s, "per_rank": per_rank,
        "output_bytes": sum(row[5] for own in rows.values() for row in own),
        "hidden_fraction": _hidden(per_rank, rows), "config": {},
        "hosts": sorted({entry["host"] for entry in per_rank}),
    } | (changes or {})  # fmt: skip
    (directory / "run.json").write_text(json.dumps(account))
    return directory


def _hidden(per_rank: list[dict], rows: dict[int, list[tuple]]) -> float | None:
    write = sum(row[4] - row[3] for own in rows.values() for row in own if row[1] == "write")
    wait = sum(entry["output_wait_s"] for entry in per_rank)
    return max(0.0, 1 - wait / write) if write else None
