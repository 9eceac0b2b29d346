# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench molecules`: cases, documents and verdicts. Nothing here asserts a time, and another program
represents LAMMPS.
"""

import json
import sys
import tomllib

import h5py
import numpy as np
import pytest

from native import needs
from tailrace.bench import stats
from tailrace.bench.programs import Runner
from tailrace.console import CommandError
from tailrace_bench import lammps_runs, molecules, molecules_case, molecules_tables
from test_bench import command

# Represent LAMMPS: reads what it is given, and states times.
STAND_IN = """#!{python}
import os, pathlib, sys
if sys.argv[1] == "-h":
    print("Large-scale Atomic/Molecular Massively Parallel Simulator, LAMMPS\\n\\nKSPACE OPT")
    sys.exit(0)
script = pathlib.Path(sys.argv[sys.argv.index("-in") + 1]).read_text()
start = pathlib.Path(script.split("read_data ")[1].split()[0]).read_text()
assert start.count("\\n1 1 ") == 1 and "Velocities" in start
if any(os.environ.get(name, "0") != "0" for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK")):
    sys.exit(0)
steps = [int(line.split()[1]) for line in script.splitlines() if line.startswith("run ")]
for count in steps:
    print(f"Loop time of {{0.25 * count}} on 1 procs for {{count}} steps with 108 atoms")
print("potential energy -540.5")
"""


def program(path, text: str):
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    return path


def test_cases(tmp_path):
    case = molecules_case.make_case(molecules_case.LJ, 32000, 0)
    assert (case.molecules, case.timed_steps, case.name) == (32000, 200, "Lennard-Jones, 32000")
    assert case.length**3 * 0.8442 == pytest.approx(32000)
    assert molecules_case.make_case(molecules_case.LJ, 10**6, 0).timed_steps == 20
    assert molecules_case.make_case(molecules_case.CO2, 1, 7).timed_steps == 7
    for fluid in molecules_case.FLUIDS.values():
        empty = molecules_case.empty_case(molecules_case.make_case(fluid, 32000, 0))
        assert empty.molecules == 108 and empty.length > 2 * fluid.cutoff
    outputs = molecules_case.output_table("potential_energy", "at = [60]")
    case_file = molecules_case.write_case(tmp_path / "case.toml", empty, outputs)
    read = tomllib.loads(case_file.read_text())
    assert len(read["component"][0]["charge"]) == 3 and read["output"][0]["at"] == [60]


def test_cases_that_are_asked_for():
    request = molecules.Request(("lj", "co2"), (), ((1, 1),), 1)
    names = [case.name for case in molecules.make_cases(request)]
    sizes = (2048, 32000, 108000, 1000188)
    assert names == [*(f"Lennard-Jones, {size}" for size in sizes), "CO2, 32000"]
    request = molecules.Request(("co2",), (500, 4000), ((1, 1),), 1)
    assert [case.molecules for case in molecules.make_cases(request)] == [500, 4000]


def test_ways_of_the_reference():
    lammps = lammps_runs.Lammps(None, has_opt=True)
    request = molecules.Request(("lj",), (), ((1, 1), (1, 2), (2, 1)), 1)
    names = [way.name for way in molecules.reference_ways(lammps, request)]
    assert names == ["LAMMPS, 1 rank", "LAMMPS opt, 1 rank", "LAMMPS, 2 ranks", "LAMMPS opt, 2 ranks"]
    assert molecules.Way(1, 2).name == "1 rank x 2 threads"


def test_input_for_lammps(tmp_path):
    case = molecules_case.make_case(molecules_case.LJ, 108, 5)
    rng = np.random.default_rng(1)
    places, velocities = rng.random((2, 1, 108, 3))
    with h5py.File(tmp_path / "output.h5", "w") as file:
        file["position/values"], file["velocity/values"] = places, velocities
    lammps_runs.write_input(tmp_path, case, tmp_path / "output.h5")
    lines = (tmp_path / lammps_runs.START).read_text().splitlines()
    atoms = lines.index("Atoms # atomic") + 2
    read = np.array([line.split() for line in lines[atoms : atoms + 108]], float)
    np.testing.assert_array_equal(read[:, 2:], places[0])
    np.testing.assert_array_equal(np.loadtxt(lines[-108:])[:, 1:], velocities[0])
    script = (tmp_path / lammps_runs.INPUT).read_text()
    assert "run 20\nrun 5\n" in script and "lj/cut 2.5" in script and "shift yes" in script


def test_lammps_must_be_there(tmp_path):
    with pytest.raises(CommandError, match="there is no such program"):
        lammps_runs.find(str(tmp_path / "lmp"))
    with pytest.raises(CommandError, match="is not LAMMPS"):
        lammps_runs.find(str(program(tmp_path / "other", "#!/bin/sh\necho hello\n")))
    silent = program(tmp_path / "lmp", "#!/bin/sh\necho LAMMPS\n")
    found = lammps_runs.find(str(silent))
    assert not found.has_opt
    with pytest.raises(CommandError, match="ended without stating its times: LAMMPS"):
        case = molecules_case.make_case(molecules_case.LJ, 108, 5)
        lammps_runs.run(found, case, 1, False, tmp_path, Runner())


@needs("tailrace-molecules", "tailrace-bench-molecules")
def test_molecules_benchmark(tmp_path):
    file, lmp = tmp_path / "molecules.json", program(tmp_path / "lmp", STAND_IN)
    options = ["--molecules", "500", "--steps", "4", "--pairs", "2", "--layout", "1x1", "--layout", "2x1"]
    options += ["--fluid", "lj", "--fluid", "co2", "--reference", str(lmp)]
    options += ["--dir", str(tmp_path), "--json", str(file)]
    done = command("bench", "molecules", *options)
    assert done.returncode == 0, done.stderr
    assert "Time over that of LAMMPS" in done.stdout and "aim: at most 200 B/molecule" in done.stdout
    found = json.loads(file.read_text())
    assert [(row["fluid"], row["program"], row["ranks"]) for row in found["rows"]] == [
        ("lj", "tailrace-molecules", 1),
        ("lj", "tailrace-molecules", 2),
        ("lj", "LAMMPS", 1),
        ("lj", "LAMMPS opt", 1),
        ("lj", "LAMMPS", 2),
        ("lj", "LAMMPS opt", 2),
        ("co2", "tailrace-molecules", 1),
        ("co2", "tailrace-molecules", 2),
    ]
    for row in found["rows"]:
        assert (row["molecules"], row["steps"], len(row["us"]["samples"])) == (500, 4, 2)
        if row["program"] == "tailrace-molecules":
            parts = row["parts"]
            assert (parts["molecules"], parts["ranks"], parts["steps"]) == (500, row["ranks"], 4)
            assert {"forces", "halo", "sort"} < set(parts["parts_us"])
            assert row["peak_memory_bytes"] > 0 and row["empty_bytes"] > 0
    # On two ranks the same, but for rounding; pairs between them are computed by both.
    one, two = (row["parts"] for row in found["rows"][:2])
    assert one["pair_energy_per_molecule"] == pytest.approx(two["pair_energy_per_molecule"], rel=1e-9)
    assert two["pairs_per_molecule"] > one["pairs_per_molecule"] > 20
    assert found["rows"][2]["us"]["samples"] == [250_000 / 500] * 2
    energy = found["rows"][0]["energy_per_molecule"] * 500
    assert energy / 500 == pytest.approx(one["pair_energy_per_molecule"], rel=1e-9)
    difference = found["comparisons"][0]["energy_difference"]
    assert difference == pytest.approx(abs(energy / -540.5 - 1))
    assert len(found["comparisons"]) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lmp", "molecules.json"]


@needs("tailrace-molecules", "tailrace-bench-molecules")
def test_a_droplet_is_counted(tmp_path):
    file = tmp_path / "molecules.json"
    options = ["--molecules", "500", "--steps", "2", "--pairs", "1", "--layout", "1x1", "--fluid", "droplet"]
    done = command("bench", "molecules", *options, "--json", str(file))
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(file.read_text())["rows"]
    assert row["molecules"] == row["parts"]["molecules"] != 500
    assert row["molecules"] == pytest.approx(500, rel=0.2)
    assert row["parts"]["pairs_per_molecule"] > 10


def test_verdicts():
    def row(molecules: int, threads: int, time_us: float, memory: float) -> dict:
        return {
            "name": f"{molecules} on {threads}",
            "fluid": "lj",
            "molecules": molecules,
            "ranks": 1,
            "threads": threads,
            "us": stats.spread([time_us]).as_dict(),
            "resident_bytes_per_molecule": memory,
            "memory_aim": 110,
            "parts": {},
        }

    rows = [row(32000, 1, 0.28, 120.0), row(32000, 2, 0.16, 100.0), row(108000, 1, 0.30, 90.0)]
    reference = {"name": "LAMMPS", "us": stats.spread([0.1]).as_dict(), "ranks": 1, "threads": 1}
    assert molecules_tables.verdicts([*rows, reference]) == [
        "aim: 0.29 us, 32000 on 1: 0.280, met",
        "aim: 0.29 us, 108000 on 1: 0.300, missed",
        "aim: 0.15 us, 32000 on 2: 0.160, missed",
        "aim: at most 110 B/molecule in the steps, 32000 on 1: 120, missed",
    ]
