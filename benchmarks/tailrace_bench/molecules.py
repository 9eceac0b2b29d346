# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of the molecules program for a molecule, and LAMMPS beside it."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import h5py

from tailrace import trace
from tailrace.bench.document import make_document, say
from tailrace.bench.host import Watch
from tailrace.bench.programs import Runner, native_program, on_ranks
from tailrace.bench.stats import Spread, ratios, spread
from tailrace_bench import lammps_runs
from tailrace_bench.lammps_runs import Lammps
from tailrace_bench.molecules_case import FLUIDS, Case, empty_case, make_case, output_table, write_case
from tailrace_bench.stepping import seconds_after, working_directory

PROGRAM, PARTS = "tailrace-molecules", "tailrace-bench-molecules"


@dataclass(frozen=True)
class Request:
    """What to measure; without molecules, what suits each fluid, and with steps 0, too."""

    fluids: tuple[str, ...]
    molecules: tuple[int, ...]
    layouts: tuple[tuple[int, int], ...]
    pairs: int
    steps: int = 0
    reference: str = ""
    """The program of LAMMPS."""
    directory: Path | None = None


@dataclass(frozen=True)
class Way:
    """A program on ranks x threads."""

    ranks: int
    threads: int
    program: str = PROGRAM

    @property
    def name(self) -> str:
        layout = f"{self.ranks} rank{'s' * (self.ranks > 1)}"
        if self.program != PROGRAM:
            return f"{self.program}, {layout}"
        return f"{layout} x {self.threads} thread{'s' * (self.threads > 1)}"

    @property
    def workers(self) -> int:
        return self.ranks * self.threads


@dataclass
class Found:
    """Of a way: seconds per step, the energy after the last, and of our own program the memory of all ranks,
    without molecules and with them: resident in the steps and at most, and what the run said beforehand.
    """

    step_s: list[float] = field(default_factory=list)
    energy: float = 0.0
    empty: dict[str, int] = field(default_factory=dict)
    full: dict[str, int] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)


def measure(request: Request) -> dict[str, Any]:
    """The whole benchmark as a document."""
    native_program(PROGRAM)
    native_program(PARTS)
    lammps = lammps_runs.find(request.reference) if request.reference else None
    watch, runner = Watch(), Runner()
    rows: list[dict[str, Any]] = []
    comparisons: list[dict[str, Any]] = []
    for wanted in make_cases(request):
        with working_directory(request.directory) as directory:
            case = counted(wanted, directory, runner)
            found = measure_case(case, lammps, request, directory, runner)
            rows += [make_row(case, way, one) for way, one in found.items()]
            comparisons += compare(case, found)
    settings = asdict(request) | {"directory": str(request.directory or "")}
    document = make_document("molecules", settings, watch, runner.commands)
    return document | {"rows": rows, "comparisons": comparisons}


def make_cases(request: Request) -> list[Case]:
    return [
        make_case(FLUIDS[name], molecules, request.steps)
        for name in request.fluids
        for molecules in request.molecules or FLUIDS[name].sizes
    ]


def counted(case: Case, directory: Path, runner: Runner) -> Case:
    """The case with the number of molecules that it has: a droplet is cut out of a lattice."""
    if case.fluid.vapour_density is None:
        return case
    short = replace(case, steps=case.fluid.warm_up + 1)
    case_file = write_case(directory / "count.toml", short, "")
    return replace(case, molecules=run_parts(case_file, short, Way(1, 1), runner)["molecules"])


def measure_case(
    case: Case, lammps: Lammps | None, request: Request, directory: Path, runner: Runner
) -> dict[Way, Found]:
    """All ways one after the other, repetition by repetition; what does not change from one to the next,
    before.
    """
    case_file = write_case(
        directory / "case.toml", case, output_table("potential_energy", f"at = [{case.steps}]")
    )
    empty_file = write_case(directory / "empty.toml", empty_case(case), "")
    found = {Way(ranks, threads): Found() for ranks, threads in request.layouts}
    for way, one in found.items():
        say(f"{case.name}, {way.name}: its parts, and a run without molecules")
        one.parts = run_parts(case_file, case, way, runner)
        one.empty = memory_of(run(empty_file, way, directory, runner), way.ranks)
    if lammps is not None and lammps_runs.solves(case):
        write_start(case, lammps, directory, runner)
        found |= {way: Found() for way in reference_ways(lammps, request)}
    for repetition in range(request.pairs):
        say(f"{case.name}: repetition {repetition + 1} of {request.pairs}")
        for way, one in found.items():
            if way.program == PROGRAM:
                measure_run(case, run(case_file, way, directory, runner), way, one)
            elif lammps is not None:
                opt = way.program.endswith("opt")
                outcome = lammps_runs.run(lammps, case, way.ranks, opt, directory, runner)
                one.step_s.append(outcome.step_s)
                one.energy = outcome.energy
    return found


def reference_ways(lammps: Lammps, request: Request) -> list[Way]:
    """LAMMPS on as many ranks as we use cores, with its plain styles and those for one core."""
    counts = sorted({ranks * threads for ranks, threads in request.layouts})
    names = ["LAMMPS", *(["LAMMPS opt"] if lammps.has_opt else [])]
    return [Way(ranks, 1, name) for ranks in counts for name in names]


def run(case_file: Path, way: Way, directory: Path, runner: Runner) -> Path:
    """A run of the program; returns its directory."""
    run_dir = directory / "run"
    words = ["--case", str(case_file), "--out", str(run_dir), "--overwrite", "--quiet"]
    words += ["-t", str(way.threads), "--write", "blocking"]
    runner.run(on_ranks(native_program(PROGRAM), way.ranks, way.threads, words), way.threads)
    return run_dir


def run_parts(case_file: Path, case: Case, way: Way, runner: Runner) -> dict[str, Any]:
    words = [str(case_file), "--warm-up", str(case.fluid.warm_up)]
    command = on_ranks(native_program(PARTS), way.ranks, way.threads, words)
    return json.loads(runner.run(command, way.threads).output)


def write_start(case: Case, lammps: Lammps, directory: Path, runner: Runner) -> None:
    """What LAMMPS begins with: the state that our program begins with."""
    first = replace(case, steps=1)
    outputs = "".join(output_table(name, "every = 1\ninitial = true") for name in ("position", "velocity"))
    case_file = write_case(directory / "start.toml", first, outputs)
    lammps_runs.write_input(directory, case, run(case_file, Way(1, 1), directory, runner) / "output.h5")


def measure_run(case: Case, run_dir: Path, way: Way, found: Found) -> None:
    """Time per step from the trace, after the steps that warm up; memory and the energy at the end."""
    found.step_s.append(seconds_after(run_dir, case.fluid.warm_up) / case.timed_steps)
    found.full = memory_of(run_dir, way.ranks)
    with h5py.File(run_dir / "output.h5") as file:
        found.energy = float(file["potential_energy/values"][-1].item())


def memory_of(run_dir: Path, ranks: int) -> dict[str, int]:
    """Bytes of all ranks: resident when the steps ended, the most ever, and the prediction."""
    account = json.loads((run_dir / "run.json").read_text())
    resident = 0
    for rank in trace.read_run(run_dir, range(ranks)).ranks:
        reported = rank.events["memory_bytes"]
        resident += int(reported[reported > 0][-1])
    return {
        "resident": resident,
        "peak": sum(account["peak_memory_bytes"]),
        "predicted": sum(account["predicted_memory_bytes"]),
    }


def make_row(case: Case, way: Way, found: Found) -> dict[str, Any]:
    row = describe(case, way) | {
        "us": microseconds(case, found.step_s).as_dict(),
        "energy_per_molecule": found.energy / case.molecules,
    }
    if way.program != PROGRAM:
        return row
    memory = {
        f"{key}_bytes_per_molecule": (found.full[key] - found.empty[key]) / case.molecules
        for key in ("resident", "peak")
    }
    return (
        row
        | memory
        | {
            "memory_aim": case.fluid.memory_aim,
            "empty_bytes": found.empty["resident"],
            "peak_memory_bytes": found.full["peak"],
            "predicted_memory_bytes": found.full["predicted"],
            "parts": found.parts,
        }
    )


def describe(case: Case, way: Way) -> dict[str, Any]:
    return {
        "fluid": case.fluid.name,
        "molecules": case.molecules,
        "steps": case.timed_steps,
        "program": way.program,
        "ranks": way.ranks,
        "threads": way.threads,
        "name": f"{case.name}, {way.name}",
    }


def microseconds(case: Case, step_s: list[float]) -> Spread:
    """Per molecule and step."""
    return spread([1e6 * seconds / case.molecules for seconds in step_s])


def compare(case: Case, found: dict[Way, Found]) -> list[dict[str, Any]]:
    """Our ways against those of LAMMPS on as many cores, pair by pair."""
    return [
        describe(case, way)
        | {
            "reference": other.program,
            "time_ratio": ratios(one.step_s, theirs.step_s).as_dict(),
            "energy_difference": abs(one.energy / theirs.energy - 1),
        }
        for way, one in found.items()
        if way.program == PROGRAM
        for other, theirs in found.items()
        if other.program != PROGRAM and other.workers == way.workers
    ]
