# SPDX-License-Identifier: BSD-3-Clause
"""`tailrace bench seismic` and `tailrace bench study seismic`: counts, documents and pages. Nothing here
asserts a time, and another program represents Devito.
"""

import json
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from native import needs
from tailrace.bench import rehearsal, stats
from tailrace.console import CommandError
from tailrace_bench import (
    devito_runs,
    seismic_model,
    seismic_tables,
    study_page,
    study_seismic,
    study_seismic_findings,
)
from test_bench import command

# Represent a Python with Devito: it has the modules, and the result is the one that lies there already.
STAND_IN = """#!{python}
import json, pathlib, sys
if sys.argv[1] == "-c":
    sys.exit(0)
import h5py, numpy
directory = pathlib.Path(sys.argv[2])
settings = json.loads((directory / "settings.json").read_text())
shapes = {{numpy.load(path).shape for path in directory.glob("*.npy")}}
assert len(shapes) == 1 or (directory / "plane.npy").exists(), shapes
with h5py.File(directory / "run" / "output.h5") as file:
    numpy.save(directory / "plane.npy", file["end/values"][0].squeeze())
print("warming up")
print(json.dumps({{"seconds": 0.5 * (settings["steps"] - settings["warm_up"])}}))
"""


def test_bytes_of_a_sample():
    counted = {
        (equations, properties): seismic_model.bytes_per_sample(equations, properties)
        for equations in seismic_model.TAKES
        for properties in ("numbers", "arrays")
    }
    assert counted == {
        ("isotropic", "numbers"): 12,
        ("isotropic", "arrays"): 16,
        ("vti", "numbers"): 24,
        ("vti", "arrays"): 40,
        ("tti", "numbers"): 24,
        ("tti", "arrays"): 52,
    }


def test_coefficients_for_devito():
    values = seismic_model.property_values(12)
    found = seismic_model.coefficients(values)
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    assert {array.shape for array in found.values()} == {(12, 12, 12)}
    length = sum(found[f"axis_{name}"] ** 2 for name in "xyz")
    np.testing.assert_allclose(length, 1, rtol=1e-6)
    speed = values["vp_m_s"] * seismic_model.time_step_s(values)
    np.testing.assert_allclose(np.sqrt(found["speed"]), speed, rtol=1e-6)
    initial = seismic_model.initial_field(12)
    assert initial[6, 6, 6] == 1 and initial[5, 6, 6] == initial[6, 6, 5] < 1
    assert np.count_nonzero(initial) == 9**3


@needs("tailrace-bench-kernels", "tailrace-seismic")
def test_seismic_benchmark(tmp_path):
    file, python = tmp_path / "seismic.json", tmp_path / "python"
    python.write_text(STAND_IN.format(python=sys.executable))
    python.chmod(0o755)
    options = ["--grid", "24", "--steps", "4", "--pairs", "2", "--layout", "1x1", "--equations", "tti"]
    options += ["--devito", str(python), "--dir", str(tmp_path), "--json", str(file)]
    done = command("bench", "seismic", *options)
    assert done.returncode == 0, done.stderr
    assert "Against Devito, pair by pair" in done.stdout and "aim: memory" in done.stdout
    found = json.loads(file.read_text())
    rows = [(row["properties"], row["variant"], row.get("bytes_per_sample")) for row in found["rows"]]
    assert rows == [
        ("numbers", "1 rank x 1 thread", 24),
        ("arrays", "1 rank x 1 thread", 52),
        ("arrays", "Devito, 1 thread", None),
    ]
    assert found["rows"][2]["samples_s"]["samples"] == [24**3 / 0.5] * 2
    assert found["rows"][1]["predicted_memory_bytes"] > 24**3 * 4 * 11
    (comparison,) = found["comparisons"]
    assert comparison["result_difference"] == 0.0
    assert len(comparison["speed_ratio"]["samples"]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["python", "seismic.json"]


def test_bad_options(tmp_path):
    for options, said in (
        (["--equations", "orthorhombic"], "Choose one of isotropic, vti, tti"),
        (["--properties", "random"], "Choose one of numbers, arrays"),
    ):
        done = command("bench", "seismic", *options)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    with pytest.raises(CommandError, match="name a Python that has Devito"):
        devito_runs.check(tmp_path / "none")
    bare = tmp_path / "bare"
    bare.write_text("#!/bin/sh\necho 'no module' >&2\nexit 1\n")
    bare.chmod(0o755)
    with pytest.raises(CommandError, match=r"no module\. Fix: .*bare -m pip install devito"):
        devito_runs.check(bare)
    assert command("bench", "study", "seismic", "--html", str(tmp_path)).returncode == 2


def test_verdicts_on_aims():
    def row(grid: int, ranks: int, rate: float, peak: float = 105.0) -> dict:
        return {
            "grid": grid,
            "equations": "tti",
            "properties": "arrays",
            "variant": f"{ranks} ranks",
            "ranks": ranks,
            "threads": 1,
            "samples_s": stats.spread([rate]).as_dict(),
            "bytes_per_sample": 52,
            "peak_memory_bytes": peak,
            "predicted_memory_bytes": 100.0,
        }

    rows = [row(152, 1, 400e6), row(152, 2, 230e6), row(248, 2, 500e6)]
    assert seismic_tables.verdicts(rows) == [
        "aim: 225 Msamples/s, 152^3, tti, arrays, 2 ranks: 230.0, met",
        "aim: memory within 10 % of the prediction, worst 152^3, tti, arrays, 1 ranks: 5.0 %, met",
    ]
    assert seismic_tables.verdicts([row(152, 2, 224e6, 50.0)]) == [
        "aim: 225 Msamples/s, 152^3, tti, arrays, 2 ranks: 224.0, missed",
        "aim: memory within 10 % of the prediction, worst 152^3, tti, arrays, 2 ranks: 50.0 %, missed",
    ]
    assert len(seismic_tables.verdicts([row(40, 2, 1e6)])) == 1


def test_strategies_of_commands():
    assert rehearsal.strategy_of(["-a", "--write", "spawn:2", "-b"]) == "spawn:2"
    assert rehearsal.strategy_of(["-a"]) == "auto"


def test_speed_ups_of_the_study():
    def point(grid: int, blocking_s: float, threads_s: float) -> dict:
        times = {"compute alone": 2.0, "blocking": blocking_s, "ranks:1,isend": 2.0, "threads": threads_s}
        return {
            "label": f"n = {grid}",
            "sample_bytes": 10,
            "snapshots": 10,
            "ways": {way: {"mean_s": mean_s} for way, mean_s in times.items()},
        }

    points = [point(120, 4.0, 2.5), point(152, 3.0, 2.5)]
    found = study_seismic_findings.summary(study_seismic_findings.FAST, points, 50.0, "mpich")
    assert found["columns"][-2:] == ["n = 120", "n = 152"]
    assert found["rows"] == [
        ["ranks:1,isend", "isend_recv", "1.14", "1.18 (n = 472)", "1.75", "2.00 (n = 120)", "2.00", "1.50"],
        ["threads", "", "", "", "1.40", "1.60 (n = 120)", "1.60", "1.20"],
        ["perfect overlap", "", "", "", "2.00", "2.00 (n = 120)", "2.00", "2.00"],
    ]
    assert len(study_seismic_findings.ways()) == 14


class Program:
    """Represent the program: leaves what a run would, at once."""

    spoiled = ""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def run(self, command: list[str], threads: int, prepare=None) -> None:
        self.commands.append(" ".join(command))
        run_dir = Path(command[command.index("--out") + 1])
        strategy = command[command.index("--write") + 1]
        run_dir.mkdir()
        stands_in = strategy == "spawn:8"
        account = {
            "wall_s": 3.0 if strategy == "blocking" else 2.5,
            "setup_s": 0.5,
            "compute_s": 1.5,
            "config": {},
            "per_rank": [{"write_s": 1.0, "output_wait_s": 0.25}],
            "strategy": "threads:2" if stands_in else "uring:2" if strategy == "auto" else strategy,
            "writers": [{}] * {"ranks:1,send": 1, "spawn:1": 1, "spawn:2": 1}.get(strategy, 0),
            "warnings": ["--write spawn:8 cannot be done here: no places"] if stands_in else [],
        }
        (run_dir / "run.json").write_text(json.dumps(account))
        with h5py.File(run_dir / "output.h5", "w") as file:
            file["snapshots/values"] = np.full((3, 2, 2, 2), float(strategy == self.spoiled), np.float32)


@pytest.fixture
def program(monkeypatch) -> Program:
    stand_in = Program()
    chosen = ("blocking", "ranks:1,send", "spawn:1", "spawn:2", "spawn:8", "auto")
    for name, value in {
        "Runner": lambda: stand_in,
        "native_program": Path,
        "on_ranks": lambda program, ranks, threads, words, spawned: [f"{ranks}+{spawned}", *words],
        "find_throttle": lambda _: "no throttle here",
        "warm_page_cache": lambda *_: None,
        "ways": lambda: chosen,
    }.items():
        monkeypatch.setattr(study_seismic, name, value)
    return stand_in


def test_study_of_seismic(program, tmp_path):
    request = study_seismic.Request(
        grids=(16, 48), outputs=2, pairs=2, ranks=1, threads=1, directory=tmp_path
    )
    found = study_seismic.measure(request)
    assert found["left_out"] == {
        "spawn:2": "1 of 2 writers: at most one for each rank that computes",
        "spawn:8": "--write spawn:8 cannot be done here: no places",
    }
    assert [experiment["key"] for experiment in found["experiments"]] == ["slow", "fast"]
    # The smaller grid with its layers, 20 steps in 2.5 seconds.
    assert found["samples_s"] == 48**3 * 20 / 2.5
    slow, fast = found["experiments"]
    assert slow["bytes_s"] == pytest.approx(136e6 * found["samples_s"] / 800e6)
    assert fast["bytes_s"] / slow["bytes_s"] == pytest.approx(520 / 136)
    ways = slow["points"][1]["ways"]
    assert list(ways) == ["compute alone", "blocking", "ranks:1,send", "spawn:1", "auto"]
    assert (ways["auto"]["mean_s"], ways["auto"]["deviation_s"]) == (2.0, 0.0)
    assert ways["blocking"]["hidden_fraction"]["median"] == 0.75
    assert slow["summary"]["rows"][0][4:] == ["1.25", "1.25 (n = 16)", "1.25", "1.25"]
    paces = {line.split()[0]: float(line.split("bandwidth=")[1]) for line in program.commands if "=" in line}
    assert paces["1+2"] == pytest.approx(slow["bytes_s"] / 2, abs=1)
    assert paces["2+0"] == pytest.approx(fast["bytes_s"], abs=1)
    assert all("--flush sample" in line for line in program.commands)
    study_page.write_page(found, tmp_path / "study.html")
    page = (tmp_path / "study.html").read_text()
    assert "hard disk" in page and "no throttle here" in page and "spawn:8 left out" in page
    assert page.count("<table") == 4 and "2.000 ± 0.000" in page and "send_recv" in page
    assert [path.name for path in tmp_path.iterdir()] == ["study.html"]


def test_study_finds_wrong_snapshots(program, tmp_path):
    program.spoiled = "ranks:1,send"
    request = study_seismic.Request(grids=(16,), outputs=2, pairs=1, ranks=1, threads=1, directory=tmp_path)
    with pytest.raises(CommandError, match="--write ranks:1,send differ from those of blocking"):
        study_seismic.measure(request)
    assert list(tmp_path.iterdir()) == []
