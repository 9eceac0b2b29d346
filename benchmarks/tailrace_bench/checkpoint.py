# SPDX-License-Identifier: BSD-3-Clause
"""What checkpoints cost, and restarts: beside a plain write and read of as many bytes, one after the
other.
"""

import json
import os
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.console import CommandError
from tailrace_bench.checkpoint_cost import measure_cost
from tailrace_bench.warm import MIB

PROGRAM = "tailrace-bench-checkpoint"
PARTICLE_BYTES = 116
# A file system in memory, where flushing costs nothing.
MEMORY = Path("/dev/shm")
# Files at a time: a checkpoint, the plain one, and room.
FILES = 3
HEADER_BYTES = (4 << 10, 256 << 10, 16 << 20)


@dataclass(frozen=True)
class State:
    """What is saved: so many particles, spread as it says, or a field of so many MiB."""

    particles: int = 0
    spread: str = "uniform"
    field_mib: int = 0

    @property
    def name(self) -> str:
        return (
            f"{self.particles} particles, {self.spread}" if self.particles else f"field, {self.field_mib} MiB"
        )

    @property
    def bytes(self) -> int:
        return self.particles * PARTICLE_BYTES + self.field_mib * MIB

    def words(self) -> list[str]:
        if not self.particles:
            return ["--field", str(self.field_mib)]
        return ["--particles", str(self.particles), *(["--clustered"] if self.spread == "clustered" else [])]


@dataclass(frozen=True)
class Request:
    """What to measure: states, saved and restored by these numbers of ranks."""

    states: tuple[State, ...]
    ranks: tuple[int, ...]
    strategies: tuple[str, ...]
    pairs: int
    compress: str = "none"
    cold: bool = False
    headers: bool = True
    cost: bool = True
    directory: Path | None = None


@dataclass(frozen=True)
class Place:
    """Where files are made, and whether a write to it ends on a device."""

    directory: Path
    flushed: bool


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    watch = Watch()
    runner = Runner()
    program = native_program(PROGRAM)
    with ExitStack() as stack:
        places = [
            Place(
                Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=parent))),
                flushed,
            )
            for parent, flushed in parents_of(request.directory, request.cold)
        ]
        rows = [
            row
            for state in request.states
            for place in places
            if has_room(place, state)
            for row in measure_state(runner, program, request, state, place)
        ]
        headers = (
            measure_headers(runner, request.ranks, request.pairs, places[0].directory)
            if request.headers
            else []
        )
        costs = (
            [measure_cost(runner, places[0].directory, ranks, request.pairs) for ranks in request.ranks]
            if request.cost
            else []
        )
    settings = asdict(request) | {"directory": str(request.directory or tempfile.gettempdir())}
    return make_document("checkpoint", settings, watch, runner.commands) | {
        "rows": rows,
        "headers": headers,
        "costs": costs,
    }


def parents_of(directory: Path | None, cold: bool = False) -> list[tuple[Path | None, bool]]:
    """The directory, and memory where there is such a file system; from memory nothing is read cold."""
    in_memory = not cold and os.access(MEMORY, os.W_OK)
    return [(directory, True), *([(MEMORY, False)] if in_memory else [])]


def has_room(place: Place, state: State) -> bool:
    free = shutil.disk_usage(place.directory).free
    if free >= FILES * state.bytes:
        return True
    if place.flushed:
        raise CommandError(
            f"{place.directory}: {free >> 20} MiB are free, {state.name} needs "
            f"{FILES * state.bytes >> 20} MiB. Fix: give another --dir, or smaller states."
        )
    return False


def measure_state(
    runner: Runner, program: Path, request: Request, state: State, place: Place
) -> list[dict[str, Any]]:
    """All strategies and numbers of ranks for one state at one place: one launch, everything one after the
    other.
    """
    where = "flushed" if place.flushed else "in memory"
    say(f"{state.name}, {where}: {', '.join(request.strategies)} on {request.ranks} ranks")
    counts = [str(count) for count in request.ranks]
    words = ["--dir", str(place.directory), "--rounds", str(request.pairs), *state.words()]
    words += ["--write", *request.strategies, "--ranks", *counts, "--restart", *counts]
    words += ["--compress", request.compress, *(["--cold"] if request.cold else [])]
    found = json.loads(runner.run(on_ranks(program, max(request.ranks), 1, words)).output)
    return [
        make_row(found, state, place, request, strategy, ranks)
        for strategy in request.strategies
        for ranks in request.ranks
    ]


def make_row(
    found: dict[str, Any], state: State, place: Place, request: Request, strategy: str, ranks: int
) -> dict[str, Any]:
    """One number of ranks that save with a strategy, and restarts on all numbers."""
    samples = found["samples"]
    name = f"{strategy}/{ranks}"

    def restart(writers: int, readers: int) -> list[float]:
        return samples[f"{strategy}/{writers}/restart/{readers}"]

    return {
        "state": state.name,
        "bytes": found["bytes"],
        "state_bytes": found["state_bytes"],
        "flushed": place.flushed,
        "cold": request.cold,
        "compress": request.compress,
        "strategy": strategy,
        "ranks": ranks,
        "seconds": {
            key: spread(samples[full]).as_dict()
            for key, full in (
                ("plain_write", "plain/durable"),
                ("plain_read", "plain/read"),
                ("handed", f"{name}/handed"),
                ("durable", f"{name}/durable"),
                ("complete", f"{name}/complete"),
            )
        },
        "plain_over_write": ratios(samples["plain/durable"], samples[f"{name}/complete"]).as_dict(),
        "save_extra_bytes": found["extra_bytes"][f"{name}/save"],
        "restarts": {
            str(readers): {
                "seconds": spread(restart(ranks, readers)).as_dict(),
                "plain_over_restart": ratios(samples["plain/read"], restart(ranks, readers)).as_dict(),
                # Against a restart on the same ranks of what these ranks saved themselves.
                "over_own": ratios(restart(ranks, readers), restart(readers, readers)).as_dict(),
                "read_over_needed": max(samples[f"{name}/restart/{readers}/read_over_needed"]),
                "extra_bytes": found["extra_bytes"][f"{name}/restart/{readers}"],
            }
            for readers in request.ranks
        },
    }


def measure_headers(
    runner: Runner, counts: tuple[int, ...], pairs: int, directory: Path
) -> list[dict[str, Any]]:
    """How ranks best learn what describes a checkpoint: one reads and says, each reads, or all together."""
    rows = []
    for ranks in counts:
        say(f"headers on {ranks} ranks")
        words = ["--dir", str(directory), "--rounds", str(pairs)]
        words += ["--headers", *(str(size) for size in HEADER_BYTES)]
        command = on_ranks(native_program(PROGRAM), ranks, 1, words)
        for row in json.loads(runner.run(command).output):
            seconds = {name: spread(values).as_dict() for name, values in row["samples"].items()}
            over = {
                name: ratios(row["samples"][name], row["samples"]["broadcast"]).as_dict()
                for name in ("each", "collective")
            }
            rows.append({"bytes": row["bytes"], "ranks": ranks, "seconds": seconds, "over_broadcast": over})
    return rows
