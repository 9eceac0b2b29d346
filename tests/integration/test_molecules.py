# SPDX-License-Identifier: BSD-3-Clause
"""The molecules program against ls1 mardyn's observables, on any number of ranks, and what it writes."""

import csv
import json
import signal
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from matrix import each_value, pairwise
from molecules_cases import (
    DATA,
    KINDS,
    MANY,
    argon,
    carbon_dioxide,
    datasets,
    mixture,
    output,
    run,
    run_in_segments,
    table,
    writer,
)
from tailrace import commit_mark

COLUMNS = {"U_pot": "potential_energy", "U_kin": "kinetic_energy", "p": "pressure", "virial_W": "virial"}
# Of each series the case, what ls1 mardyn computed, its steps, and twice what the energy deviates there.
SERIES = {
    "argon": (argon, "argon-1clj/ls1-ts-nve.csv", 500, 2 * 0.259),
    "co2": (carbon_dioxide, "co2-3clj3c/ls1-lrc-nve.csv", 300, 2 * 2.272),
}
FEW_STEPS = 30


def reference(name: str) -> dict[str, np.ndarray]:
    with (DATA / name).open() as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def series(directory: Path, name: str) -> np.ndarray:
    with h5py.File(directory / "run" / "output.h5", "r") as file:
        return file[f"observables/{name}/values"][()]


def assert_follows(directory: Path, expected: dict[str, np.ndarray], limit: float = 1e-10) -> None:
    """Within what the series allow, and at step 0, where only the order of sums differs, closer."""
    at_start = {"U_pot": 1e-12, "U_kin": 1e-13, "virial_W": 1e-10, "p": 1e-10}
    for column, name in COLUMNS.items():
        found = series(directory, name)
        wanted = expected[column][: len(found)]
        errors = np.abs(found - wanted) / np.abs(wanted)
        assert errors.max() < (limit if column.startswith("U") else 10 * limit), (column, errors)
        assert errors[0] < at_start[column], (column, errors[0])


def follow(system: str, steps: int, ranks: int, kind: str, threads: int, directory: Path) -> None:
    make, file, _, deviation = SERIES[system]
    tree = {"every": 20, "limit": 1} if kind == "kd" else {}
    text = make(steps, table("decomposition", kind=kind, **tree))
    run(text, directory, "-t", threads, ranks=ranks)
    assert_follows(directory, reference(file))
    energy = series(directory, "total_energy")
    assert len(energy) == steps // 10 + 1 and np.abs(energy - energy[0]).max() < deviation


@pairwise("system, ranks, kind, threads", list(SERIES), MANY, KINDS, [1, 2])
def test_series_of_ls1(system, ranks, kind, threads, tmp_path):
    follow(system, FEW_STEPS, ranks, kind, threads, tmp_path)


@each_value("system, ranks, kind, threads", list(SERIES), MANY, KINDS, [1, 2])
def test_series_of_ls1_to_their_ends(system, ranks, kind, threads, tmp_path):
    follow(system, SERIES[system][2], ranks, kind, threads, tmp_path)


@pytest.mark.parametrize(("threads", "steps"), [(1, 500), (2, 100)])
def test_with_corrections(threads, steps, tmp_path):
    run(argon(steps, cutoff=4.0, corrected=True), tmp_path, "-t", threads, ranks=2)
    assert_follows(tmp_path, reference("argon-1clj/ls1-lrc-nve.csv"))
    energy = series(tmp_path, "total_energy")
    assert np.abs(energy - energy[0]).max() < 2 * 1.203


def test_thermostat(tmp_path):
    run(argon(200, table("thermostat", temperature=1.8), cutoff=4.0, corrected=True), tmp_path, ranks=2)
    expected = reference("argon-1clj/ls1-lrc-nvt.csv")
    assert_follows(tmp_path, expected)
    beta = series(tmp_path, "beta_trans")
    assert np.max(np.abs(beta - expected["beta_trans"][: len(beta)])) < 1e-10


# Means over steps 1010 to 10000 of ls1 mardyn, and how far off a mean may be, relative.
MEANS = {
    "argon-1clj": {"potential_energy": (-4697.7, 0.005), "pressure": (0.4530, 0.02)},
    "co2-3clj3c": {"potential_energy": (-12456.0, 0.01), "pressure": (0.956, 0.03)},
}


@pytest.mark.full
@pytest.mark.parametrize("system", MEANS)
def test_means_of_long_runs(system, tmp_path):
    words = ["--case", DATA / system / "ls1-lrc-nvt.xml", "--out", tmp_path / "run", "--quiet"]
    words += ["--set", "decomposition.kind=kd"]
    ended = jobs.Job(words, 2, command=[str(jobs.MOLECULES)], limit_s=20 * jobs.LIMIT_S).wait()
    assert ended.status == 0, ended
    for name, (mean, error) in MEANS[system].items():
        assert np.isclose(series(tmp_path, name)[101:].mean(), mean, rtol=error), name


MIXED = mixture(
    output("obs", "observables", every=4, initial=True),
    output("places", "position", every=10, initial=True, type="float64"),
    output("turns", "orientation", every=20),
    output("slabs", "density", bins=[1, 1, 8], reduce="mean"),
    output("last", "velocity", reduce="final", type="float64"),
    writer("ResultWriter", 5, "result"),
    writer("VISWriter", 5, "frames"),
    table("checkpoint", every=7),
)


@pytest.fixture(scope="session")
def mixed(once) -> Path:
    """The mixture on two ranks."""

    def make(directory: Path) -> Path:
        run(MIXED, directory, ranks=2)
        return directory

    return once("mixture of molecules", make)


def assert_close(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], limit: float) -> None:
    assert set(found) == set(expected)
    for name, values in expected.items():
        if name == "tailrace_record" or name.startswith("obs/imbalance"):
            continue
        assert np.allclose(found[name], values, rtol=limit, atol=limit), name


@pytest.mark.parametrize("second", [2, 3])
def test_writers_resume(second, mixed, tmp_path):
    """Their files have each step once, with the same bytes if as many ranks continue."""
    segment = tmp_path / "segment"
    run_in_segments(MIXED, segment, 2, second, "kill:step=26")
    results = [(directory / "run/result.res").read_text() for directory in (segment, mixed)]
    assert len(results[0].splitlines()) == len(results[1].splitlines()) == 10
    frames = [(directory / "run/frames.vis").read_text() for directory in (segment, mixed)]
    assert frames[0].count("#") == frames[1].count("#") == 8
    if second == 2:
        assert results[0] == results[1] and frames[0] == frames[1]


def test_h5md(mixed):
    """As the specification of H5MD 1.1 has it (https://www.nongnu.org/h5md/h5md.html)."""
    with h5py.File(mixed / "run" / "output.h5", "r") as file:
        assert file["h5md"].attrs["version"].tolist() == [1, 1]
        assert file["h5md/creator"].attrs["name"].decode() == "tailrace-molecules"
        assert "name" in file["h5md/author"].attrs
        molecules = file["particles/all"]
        box = molecules["box"]
        assert box.attrs["dimension"] == 3 and box.attrs["boundary"].tolist() == [b"periodic"] * 3
        edges = box["edges/value"][()]
        assert edges.tolist() == [[10.0, 11.0, 12.0]] * 5
        assert box["edges/step"][()].tolist() == [0, 10, 20, 30, 40] and "time" in box["edges"]
        count = len(molecules["id"])
        assert len(np.unique(molecules["id"])) == count and set(molecules["species"][()]) == {0, 1}
        position = molecules["position"]
        assert position["value"].shape == (5, count, 3)
        assert position["step"][()].tolist() == [0, 10, 20, 30, 40]
        assert np.allclose(position["time"], 0.002 * position["step"][()])
        assert (position["value"][()] >= 0).all() and (position["value"][()] < edges[0]).all()
        assert molecules["orientation/value"].shape == (2, count, 4)
        energy = file["observables/total_energy"]
        assert energy["value"].shape == energy["step"].shape == (11,)
        assert "slabs" not in file["observables"]
        slabs = file["slabs/values"][()]
        assert slabs.shape == (1, 8, 1, 1) and np.isclose(slabs.mean(), count / 1320)


def test_the_order_of_molecules_is_that_of_their_ids(tmp_path):
    """The same on any number of ranks, up to rounding."""
    found = []
    for ranks in MANY[:3]:
        run(MIXED, tmp_path / str(ranks), "--set", "decomposition.kind=kd", ranks=ranks)
        found.append(datasets(tmp_path / str(ranks)))
    for other in found[1:]:
        assert_close(other, found[0], 1e-9)


def test_writers_of_the_reference(tmp_path):
    names = ["XyzWriter", "PovWriter", "VTKMoleculeWriter", "CheckpointWriter", "BinaryCheckpointWriter"]
    run(MIXED + "".join(writer(name, 20, name) for name in names), tmp_path, ranks=3)
    directory = tmp_path / "run"
    with h5py.File(directory / "output.h5", "r") as file:
        places = file["particles/all/position/value"][2]
        ids = file["particles/all/id"][()]
    lines = (directory / "XyzWriter-1.xyz").read_text().splitlines()
    assert int(lines[0]) == len(lines) - 2 == len(ids) and 'Lattice="10' in lines[1]
    rows = np.array([line.split()[1:] for line in lines[2:]], dtype=float)
    assert np.allclose(rows[:, :3], places, atol=1e-7) and (rows[:, 3] == ids).all()
    tree = ElementTree.parse(directory / "VTKMoleculeWriter-1.vtu")
    points = np.array(tree.find(".//Points/DataArray").text.split(), dtype=float).reshape(-1, 3)
    assert np.allclose(points, places, atol=1e-7)
    assert (directory / "PovWriter-1.pov").read_text().count("object {") == len(ids)
    frames = (directory / "frames.vis").read_text()
    assert frames.count("#") == 8 and len(frames.splitlines()) == 9 * (len(ids) + 1)
    columns = (directory / "result.res").read_text().splitlines()[0].split()[1:]
    names = "step time U_pot U_pot_avg U_kin U_kin_avg p p_avg beta_trans beta_rot c_v N"
    assert " ".join(columns) == names
    raw = np.fromfile(directory / "BinaryCheckpointWriter-1.restart.dat", np.uint8)
    assert len(raw) == 116 * len(ids)


BAD = [
    ("cutoff = 2.5", "cutoff = 6.0", "model.cutoff", "half the box"),
    ("density = 0.4", "density = 0.4\nfractions = [1]", "start.fractions", "one for each"),
    ('name = "VISWriter"', 'name = "VizWriter"', "VizWriter", "VISWriter"),
    ('kind = "lattice"', 'kind = "droplet"\ncentre = [5, 5, 5]\nradius = 8', "start.radius", "at most 5"),
]


@pytest.mark.parametrize(("old", "new", "key", "fix"), BAD)
def test_bad_cases(old, new, key, fix, tmp_path):
    ended = run(MIXED.replace(old, new, 1), tmp_path, ranks=2, status=2)
    assert key in ended.err and fix in ended.err, ended


def test_a_step_too_long(tmp_path):
    """A molecule that flies further than the cutoff ends the run on all ranks, with its id."""
    ended = run(MIXED, tmp_path, "--set", "time.dt=0.9", ranks=3, status=3)
    assert "molecule" in ended.err and "dt" in ended.err, ended


EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "argon.toml"
# A smaller droplet in a smaller box.
SMALL = {"domain.length": [22.0] * 3, "start.centre": [8.0, 9.0, 11.0], "start.radius": 5.5}
# From the second segment on other ranks sum up in another order, and what differs by rounding grows with
# time.
AFTER_STEPS, LIMIT_AFTER = 100, 1e-6


def test_the_example_stops_and_resumes(tmp_path):
    """tailrace run, SIGTERM, tailrace resume on other ranks: one series and one trajectory."""
    smaller = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    settings = ["--set", "time.steps=1200", *smaller, "--no-report"]
    whole, run_dir = tmp_path / "whole", tmp_path / "run"
    assert jobs.tailrace("run", EXAMPLE, "--out", whole, "-n", 2, *settings).status == 0
    words = ["run", EXAMPLE, "--out", run_dir, "-n", 2, *settings, "--pace", "latency=5ms"]
    job = jobs.Job(words, command=jobs.TAILRACE)
    job.wait_for(lambda: jobs.recorded_steps(run_dir / "output.h5") >= 150, "recorded step")
    job.send(signal.SIGTERM)
    ended = job.wait()
    assert ended.status == 4, ended
    stopped = json.loads((run_dir / "run.json").read_text())["steps"]
    assert 150 <= stopped < 1200
    ended = jobs.tailrace("resume", run_dir, "-n", 3)
    assert ended.status == 0, ended
    account = json.loads((run_dir / "run.json").read_text())
    assert account["status"] == "finished" and account["resumed_from"] == stopped
    page = (run_dir / "report.html").read_text()
    assert "The box" in page and "Observables" in page
    with h5py.File(run_dir / "output.h5") as file, h5py.File(whole / "output.h5") as expected:
        assert commit_mark.read(file).steps == 1200
        for name in ("observables/total_energy", "observables/pressure", "positions"):
            steps, values = file[f"{name}/step"][()], file[f"{name}/values"][()]
            wanted = expected[f"{name}/values"][()]
            assert np.array_equal(steps, expected[f"{name}/step"]), name
            before, soon = steps <= stopped, steps <= stopped + AFTER_STEPS
            assert np.array_equal(values[before], wanted[before]), name
            assert np.allclose(values[soon], wanted[soon], rtol=LIMIT_AFTER, atol=LIMIT_AFTER), name
        places = file["positions/values"][()]
        assert (places >= 0).all() and (places <= 22).all() and np.ptp(places, axis=1).min() > 0


@pytest.mark.parametrize(
    ("name", "csv_file"),
    [
        ("argon-1clj/ls1-ts-nve.xml", "argon-1clj/ls1-ts-nve.csv"),
        ("argon-1clj/ls1-lrc-nvt.xml", "argon-1clj/ls1-lrc-nvt.csv"),
        ("co2-3clj3c/ls1-lrc-nve.xml", "co2-3clj3c/ls1-lrc-nve.csv"),
    ],
)
def test_configurations_of_ls1(name, csv_file, tmp_path):
    words = ["--case", DATA / name, "--out", tmp_path / "run", "--quiet", "--set", "time.steps=50"]
    ended = jobs.Job(words, 2, command=[str(jobs.MOLECULES)]).wait()
    assert ended.status == 0, ended
    assert_follows(tmp_path, reference(csv_file))
    rows = (tmp_path / "run/result.res").read_text().splitlines()[1:]
    assert [int(row.split()[0]) for row in rows] == [0, 10, 20, 30, 40, 50]
    assert np.allclose([float(row.split()[2]) for row in rows], reference(csv_file)["U_pot"][:6], rtol=1e-10)
