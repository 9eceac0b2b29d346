# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench heat`: its documents, tables and verdicts. Nothing here asserts a time, and another program
represents NPB's.
"""

import json
import sys

import pytest

from native import needs
from tailrace.bench import stats
from tailrace.bench.programs import Runner
from tailrace.console import CommandError
from tailrace_bench import heat, heat_tables, npb_runs
from test_bench import command

# Represents NPB's UA of a class: twice as fast with two threads.
STAND_IN = """#!{python}
import os
threads = int(os.environ["OMP_NUM_THREADS"])
print(" UA Benchmark Completed.")
print(" Class           =                        {npb_class}")
print(" Iterations      =                       50")
print(" Time in seconds =                    ", 4.0 / threads)
print(" Mop/s total     =                    ", 3.0 * threads)
print(" Verification    =               SUCCESSFUL")
"""


def stand_in(directory, npb_class: str, name: str = "ua.S.x"):
    path = directory / name
    path.write_text(STAND_IN.format(python=sys.executable, npb_class=npb_class))
    path.chmod(0o755)
    return path


def test_programs_of_npb(tmp_path):
    program = stand_in(tmp_path, "S")
    for path in (tmp_path, program, tmp_path / "ua.{class}.x"):
        assert npb_runs.find(str(path), "S") == program
    with pytest.raises(CommandError, match="make ua CLASS=W in NPB"):
        npb_runs.find(str(tmp_path), "W")
    found = npb_runs.run(program, "S", 2, Runner())
    assert (found.steps, found.seconds, found.mops, found.verification) == (50, 2.0, 6.0, "SUCCESSFUL")
    with pytest.raises(CommandError, match="computes class A, not S"):
        npb_runs.run(stand_in(tmp_path, "A", "other"), "S", 1, Runner())
    with pytest.raises(CommandError, match="without the result lines"):
        npb_runs.read_outcome("Class = S\n", "ua.S.x")


def test_parts_add_up():
    phases = {"convection_s": 1.0, "diffusion_s": 6.0, "adaptation_s": 2.0}
    phases |= {"gather_s": 0.5, "scatter_s": 1.5, "reduction_s": 1.0}
    parts = heat.parts_of({"computed_s": 10.0, "phases": phases})
    expected = {"computing": 0.4, "exchange": 0.2, "reductions": 0.1, "adaptation": 0.2, "rest": 0.1}
    assert parts == pytest.approx(expected)


def test_compared_with_the_fastest_on_as_many_cores():
    def ran(*seconds: float) -> heat.Found:
        return heat.Found(step_s=list(seconds))

    found = {heat.Way(1, 1): ran(1.0, 1.2), heat.Way(2, 1): ran(0.5, 0.5)}
    # Locks may make two threads slower than one.
    found |= {heat.Way(1, 1, heat.NPB): ran(2.0, 2.0), heat.Way(1, 2, heat.NPB): ran(4.0, 3.0)}
    rows = heat.compare("A", found)
    assert [(row["name"], row["reference"]) for row in rows] == [
        ("A, 1 x 1", "NPB, 1 thread"),
        ("A, 2 x 1", "NPB, 1 thread"),
    ]
    assert rows[0]["time_ratio"]["samples"] == pytest.approx([0.5, 0.6])
    assert heat.worst_verification(["SUCCESSFUL", "UNSUCCESSFUL"]) == "UNSUCCESSFUL"


@needs("tailrace-heat")
def test_heat_benchmark(tmp_path):
    file = tmp_path / "heat.json"
    stand_in(tmp_path, "S")
    options = ["--class", "S", "--pairs", "1", "--layout", "1x1", "--layout", "2x1", "--no-ways"]
    options += ["--reference", str(tmp_path), "--dir", str(tmp_path), "--json", str(file)]
    done = command("bench", "heat", *options)
    assert done.returncode == 0, done.stderr
    assert "Where the time goes" in done.stdout and "time over NPB's, 2 x 1: geometric mean" in done.stdout
    found = json.loads(file.read_text())
    assert [row["name"] for row in found["rows"]] == [
        "S, 1 x 1",
        "S, 2 x 1",
        "S, NPB, 1 thread",
        "S, NPB, 2 threads",
    ]
    own = found["rows"][:2]
    # 9080 elements over all steps, a step and ten iterations, 125 points.
    for row in own:
        assert row["mops"]["median"] * row["step_s"]["median"] * 50 == pytest.approx(9080 * 11 * 125 / 1e6)
        assert row["verification"] == "SUCCESSFUL" and row["difference"] < 1e-8 and row["elements"] == 246
        shares = {name: part["median"] for name, part in row["parts"].items()}
        assert sum(shares.values()) == pytest.approx(1)
        assert abs(shares["rest"]) < 0.05 and min(shares["computing"], shares["adaptation"]) > 0
    assert own[0]["integral"] == own[1]["integral"]
    assert found["rows"][3]["step_s"]["samples"] == [2.0 / 50]
    ratio = own[1]["step_s"]["median"] / (2.0 / 50)
    assert found["comparisons"][1]["time_ratio"]["median"] == pytest.approx(ratio)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["heat.json", "ua.S.x"]


@needs("tailrace-heat")
def test_ways_of_two_ranks(tmp_path):
    file = tmp_path / "heat.json"
    options = ["--class", "S", "--pairs", "1", "--layout", "1x1", "--json", str(file)]
    done = command("bench", "heat", *options)
    assert done.returncode == 0, done.stderr
    rows = {row["name"].removeprefix("S, "): row for row in json.loads(file.read_text())["ways"]}
    usual = rows["auto, touching, exact"]
    assert usual["over_usual"]["samples"] == [1.0] and usual["sent_bytes"] > 0 and usual["chosen"]
    assert {"transport isend", "transport get", "distribution cyclic", "sum fast"} < set(rows)
    for name, row in rows.items():
        assert (row["ranks"], row["verification"]) == (2, "SUCCESSFUL")
        if "fast" not in name:
            assert row["integral"] == usual["integral"]
    # The same values travel by each transport; owners by number are elsewhere.
    assert rows["transport isend"]["sent_bytes"] == usual["sent_bytes"]
    assert rows["distribution cyclic"]["sent_bytes"] > 2 * usual["sent_bytes"]


def test_unknown_classes_and_programs(tmp_path):
    wrong = command("bench", "heat", "--class", "E")
    assert wrong.returncode == 2 and "--class E: unknown" in wrong.stderr


def test_verdicts():
    def row(npb_class: str, ranks: int, mops: float, exchange: float) -> dict:
        shares = {"exchange": exchange, "adaptation": 0.03}
        return {
            "name": f"{npb_class}, {ranks} x 1",
            "class": npb_class,
            "ranks": ranks,
            "threads": 1,
            "mops": stats.spread([mops]).as_dict(),
            "parts": {name: stats.spread([share]).as_dict() for name, share in shares.items()},
        }

    assert heat_tables.verdicts([row("W", 1, 9.0, 0.5), row("A", 1, 116.0, 0.5)]) == [
        "aim: 115 Mop/s, A, 1 x 1: 116, met",
        "aim: adaptation at most 2 % of the time, A, 1 x 1: 3.0 %, missed",
    ]
    assert heat_tables.verdicts([row("B", 2, 179.0, 0.04)]) == [
        "aim: 180 Mop/s, B, 2 x 1: 179, missed",
        "aim: adaptation at most 2 % of the time, B, 2 x 1: 3.0 %, missed",
        "aim: exchange at most 5 % of the time, B, 2 x 1: 4.0 %, met",
    ]
