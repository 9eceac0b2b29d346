# SPDX-License-Identifier: BSD-3-Clause
"""Rehearsals as benchmarks run them: `tailrace-rehearse` started, its account read."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.console import EXIT_OK, CommandError
from tailrace.strategies import name_of, spawned_processes
from tailrace.time_parts import PARTS, hidden_fraction, part_s

PROGRAM = "tailrace-rehearse"
VALUE_BYTES = 8
# Points of a plane of the cube, so that samples have sizes in MiB.
EDGE = 128
MIB = 1 << 20


@dataclass(frozen=True)
class Account:
    """What a run did, from its run.json; times in seconds."""

    run_s: float
    """From the first step to the closed file."""
    compute_s: float
    units: int
    ranks: list[dict[str, float]]
    writers: list[dict[str, Any]]
    """Processes that only write."""
    setup_s: float

    @staticmethod
    def of(reported: dict[str, Any]) -> "Account":
        """From what run.json says; other programs than the rehearsal count no units."""
        units = reported["config"].get("rehearse", {}).get("compute_units", 0)
        setup_s = reported["setup_s"]
        run_s = reported["wall_s"] - setup_s
        ranks, writers = reported["per_rank"], reported["writers"]
        return Account(run_s, reported["compute_s"], units, ranks, writers, setup_s)

    def total(self, name: str) -> float:
        return sum(rank.get(name, 0) for rank in self.ranks)

    def idle_share(self) -> float | None:
        """What a process that only writes takes of a core while it waits, the largest; None without such."""
        shares = [writer["idle_cpu_s"] / writer["idle_s"] for writer in self.writers if writer["idle_s"] > 0]
        return max(shares, default=None)

    def hidden(self) -> float:
        """Share of copying and writing that did not hold the computation up."""
        return hidden_fraction(self.ranks) or 0.0

    def unexplained_s(self) -> float:
        """What is in no part of the time of the computing ranks: the rest of the run, of several ranks the
        mean.
        """
        parts = [part for part in PARTS if part != "set-up"]
        return self.run_s - fmean(sum(part_s(rank, part) for part in parts) for rank in self.ranks)

    def as_dict(self) -> dict[str, Any]:
        names = ("output_wait_s", "write_s", "write_cpu_s", "write_bytes", "writes", "waits", "pack_s")
        return {
            "run_s": self.run_s,
            "compute_s": self.compute_s,
            "units": self.units,
            "unexplained_s": self.unexplained_s(),
            "ranks": [{name: rank.get(name, 0) for name in names} for rank in self.ranks],
        }


class Rehearsal:
    """Starts the program, or another with the same options; its run directories are thrown away."""

    def __init__(self, scratch: Path, program: str = PROGRAM) -> None:
        self.program = native_program(program)
        self.runner = Runner()
        self.run_dir = scratch / "run"

    def run(self, arguments: list[str], ranks: int, prepare: Callable[[], None] | None = None) -> Account:
        return Account.of(self.start(arguments, ranks, prepare))

    def start(
        self,
        arguments: list[str],
        ranks: int,
        prepare: Callable[[], None] | None = None,
        status: int = EXIT_OK,
        threads: int = 1,
    ) -> dict[str, Any]:
        """One run, which may end with this status; returns its run.json."""
        words = ["--out", str(self.run_dir), "--overwrite", "--quiet", *arguments]
        try:
            command = on_ranks(self.program, ranks, threads, words, spawned_processes(strategy_of(arguments)))
            self.runner.run(command, threads, prepare, status)
            return read_run(self.run_dir)
        finally:
            shutil.rmtree(self.run_dir, ignore_errors=True)

    def services(self) -> dict[str, list[str]]:
        """The strategies of this build, with the sinks that each serves, by name."""
        listed = subprocess.run(
            [self.program, "--list"], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        if listed.returncode != 0:
            raise CommandError(f"{self.program} --list failed: {listed.stderr.strip()}")
        found = {}
        for line in listed.stdout.splitlines():
            form, _, sinks = line.split("\t")
            found[name_of(form)] = [name_of(sink) for sink in sinks.split()]
        return found


def cube(sample_mib: int, outputs: int) -> list[str]:
    """128 x 128 points per plane, as many planes as the sample needs."""
    planes = sample_mib * MIB // (EDGE * EDGE * VALUE_BYTES)
    return ["--cells", f"{EDGE},{EDGE},{planes}", "--steps", str(outputs)]


def strategy_of(arguments: list[str]) -> str:
    return arguments[arguments.index("--write") + 1] if "--write" in arguments else "auto"


def read_run(run_dir: Path) -> dict[str, Any]:
    """The run.json of a run directory."""
    return json.loads((run_dir / "run.json").read_text())
