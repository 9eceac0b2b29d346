"""What checkpoints cost, and restarts: beside a plain write and read of as many bytes, in turn."""

import json
import os
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import ratios, spread
from tailrace.bench.warm import BLOCK_BYTES, MIB, warm_page_cache

VALUE_BYTES = 8
# A computation between checkpoints, for what they cost a run: steps, of which one in so many has one.
STEPS, BETWEEN, STEP_MS = 150, 50, 20.0


@dataclass(frozen=True)
class Request:
    """What to measure: fields of so many MiB in all, written by some ranks and read by others."""

    sizes_mib: tuple[int, ...]
    ranks: tuple[int, ...]
    strategies: tuple[str, ...]
    pairs: int
    directory: Path | None = None


@dataclass(frozen=True)
class Bench:
    """A request under way."""

    program: Path
    runner: Runner
    request: Request
    directory: Path

    def run(self, cells: int, ranks: int, *words: str) -> dict[str, Any]:
        """A rehearsal without outputs; returns its account."""
        run_dir = self.directory / "run"
        common = [
            "--cells",
            str(cells),
            "--select",
            "none",
            "--out",
            str(run_dir),
            "--trace",
            "off",
            "--quiet",
        ]
        self.runner.run(on_ranks(self.program, ranks, 1, [*common, *words]))
        return json.loads((run_dir / "run.json").read_text())


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-", dir=request.directory) as name:
        bench = Bench(native_program("tailrace-rehearse"), Runner(), request, Path(name))
        rows = [
            measure_row(bench, size, ranks, strategy)
            for size in request.sizes_mib
            for ranks in request.ranks
            for strategy in request.strategies
        ]
        costs = [measure_cost(bench, ranks) for ranks in request.ranks]
    settings = asdict(request) | {"directory": str(request.directory or tempfile.gettempdir())}
    return make_document("checkpoint", settings, watch, bench.runner.commands) | {
        "rows": rows,
        "costs": costs,
    }


def measure_row(bench: Bench, size_mib: int, ranks: int, strategy: str) -> dict[str, Any]:
    """A checkpoint of a field, and restarts on as many and on other ranks, each beside plain bytes."""
    cells = round((size_mib * MIB / VALUE_BYTES) ** (1 / 3))
    size = VALUE_BYTES * cells**3
    others = [count for count in bench.request.ranks if count != ranks]
    times: dict[str, list[float]] = {"plain_write": [], "plain_read": [], "write": []}
    times |= {f"restart_on_{count}": [] for count in (ranks, *others)}
    for repetition in range(bench.request.pairs + 1):
        say(f"{size_mib} MiB, {ranks} ranks, {strategy}: repetition {repetition} of {bench.request.pairs}")
        found = dict(zip(("plain_write", "plain_read"), plain(bench.directory, size), strict=True))
        warm_page_cache(bench.directory, 1, size_mib)
        taken = take(bench, cells, ranks, strategy)
        if taken["checkpoint_bytes"] < size:
            raise AssertionError("the checkpoint holds less than the field")
        found["write"] = taken["checkpoint_s"]
        for count in (ranks, *others):
            found[f"restart_on_{count}"] = bench.run(cells, count, "--steps", "2", "--resume")["restore_s"]
        if repetition > 0:
            for key, value in found.items():
                times[key].append(value)
    return {
        "bytes": size,
        "ranks": ranks,
        "strategy": strategy,
        "seconds": {key: spread(values).as_dict() for key, values in times.items()},
        "plain_over_write": ratios(times["plain_write"], times["write"]).as_dict(),
        "plain_over_restart": {
            str(count): ratios(times["plain_read"], times[f"restart_on_{count}"]).as_dict()
            for count in (ranks, *others)
        },
    }


def take(bench: Bench, cells: int, ranks: int, strategy: str) -> dict[str, Any]:
    """One checkpoint after the first of two steps; its time is all that the run waits for, flush included."""
    words = ["--steps", "2", "--overwrite", "--write", strategy, "--set", "checkpoint.every=1"]
    return bench.run(cells, ranks, *words, "--set", "checkpoint.on_failure=stop")


def plain(directory: Path, size: int) -> tuple[float, float]:
    """Seconds of writing so many bytes with one stream, on the device in the end, and of reading them."""
    block = os.urandom(BLOCK_BYTES)
    path = directory / "plain"
    start_s = time.monotonic()
    with path.open("wb", buffering=0) as file:
        for left in range(size, 0, -BLOCK_BYTES):
            file.write(block[:left])
        os.fsync(file.fileno())
    written_s = time.monotonic()
    room = bytearray(BLOCK_BYTES)
    with path.open("rb", buffering=0) as file:
        while file.readinto(room):
            pass
    read_s = time.monotonic()
    path.unlink()
    return written_s - start_s, read_s - written_s


def measure_cost(bench: Bench, ranks: int) -> dict[str, Any]:
    """A run with a checkpoint every 50 steps against the same without, in turn, and what it says itself."""
    cells = round((16 * MIB / VALUE_BYTES) ** (1 / 3))
    ratio: dict[str, list[float]] = {"with": [], "without": []}
    told: list[float] = []
    units = ""
    for repetition in range(bench.request.pairs + 1):
        say(f"cost for a run, {ranks} ranks: repetition {repetition} of {bench.request.pairs}")
        for kind, every in (("with", BETWEEN), ("without", 10 * STEPS)):
            words = ["--steps", str(STEPS), "--overwrite", "--write", "threads"]
            words += ["--compute-units", units] if units else ["--compute-ms", str(STEP_MS)]
            account = bench.run(cells, ranks, *words, "--set", f"checkpoint.every={every}")
            units = str(account["config"]["rehearse"]["compute_units"])
            if repetition > 0:
                ratio[kind].append(account["wall_s"] - account["setup_s"])
                if kind == "with":
                    told.append(account["checkpoint_s"] / (account["wall_s"] - account["setup_s"]))
    return {
        "ranks": ranks,
        "bytes": VALUE_BYTES * cells**3,
        "steps": STEPS,
        "between": BETWEEN,
        "with_over_without": ratios(ratio["with"], ratio["without"]).as_dict(),
        "held_up_share": spread(told).as_dict(),
    }
