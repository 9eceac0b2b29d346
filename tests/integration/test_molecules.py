"""The molecules program against ls1 mardyn's observables, on any number of ranks, and what it writes."""

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from tailrace import record

pytestmark = pytest.mark.mpi

DATA = Path(__file__).resolve().parents[1] / "data" / "molecules"
MANY = [1, 2, 3] if jobs.waits_spin() else [1, 2, 3, 4, 7]
COLUMNS = {"U_pot": "potential_energy", "U_kin": "kinetic_energy", "p": "pressure", "virial_W": "virial"}

ARGON = f"""
[case]
simulation = "molecules"
[time]
dt = 0.004
steps = STEPS
[[component]]
name = "argon"
lj = [{{mass = 1.0, epsilon = 1.0, sigma = 1.0, shifted = SHIFTED}}]
[model]
cutoff = CUTOFF
long_range = "LONG"
[start]
file = "{DATA}/argon-1clj/start.inp"
[[output]]
name = "observables"
quantity = "observables"
every = 10
initial = true
"""

SHIFTED = {"CUTOFF": "2.5", "SHIFTED": "true", "LONG": "none"}
CORRECTED = {"CUTOFF": "4.0", "SHIFTED": "false", "LONG": "homogeneous"}

CO2 = f"""
[case]
simulation = "molecules"
[time]
dt = 0.001
steps = STEPS
[model]
cutoff = 3.2
[start]
file = "{DATA}/co2-3clj3c/start.inp"
[[output]]
name = "observables"
quantity = "observables"
every = 10
initial = true
"""


def case_text(text: str, steps: int, words: dict[str, str] | None = None) -> str:
    for name, value in ({"STEPS": str(steps)} | (words or {})).items():
        text = text.replace(name, value)
    return text


def run(text: str, directory: Path, *options, ranks: int = 1, status: int = 0) -> jobs.Ended:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "case.toml").write_text(text)
    words = ["--case", directory / "case.toml", "--out", directory / "run", "--quiet", *options]
    ended = jobs.Job(words, ranks, command=[str(jobs.MOLECULES)]).wait()
    assert ended.status == status, ended
    return ended


def reference(name: str) -> dict[str, np.ndarray]:
    with (DATA / name).open() as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def series(directory: Path, name: str) -> np.ndarray:
    with h5py.File(directory / "run" / "output.h5", "r") as file:
        return file[f"observables/{name}/values"][()]


def assert_follows(directory: Path, expected: dict[str, np.ndarray], limit: float = 1e-10) -> None:
    for column, name in COLUMNS.items():
        found = series(directory, name)
        scale = np.abs(expected[column][: len(found)])
        error = np.max(np.abs(found - expected[column][: len(found)]) / scale)
        assert error < (limit if column.startswith("U") else 10 * limit), (column, error)


@pytest.mark.parametrize("decomposition", ["regular", "kd"])
@pytest.mark.parametrize("ranks", MANY)
def test_argon_as_ls1_has_it(ranks, decomposition, tmp_path):
    steps = 500 if ranks <= 2 else 100
    text = case_text(ARGON, steps, SHIFTED)
    settings = ["--set", f"decomposition.kind={decomposition}"]
    if decomposition == "kd":
        settings += ["--set", "decomposition.every=20", "--set", "decomposition.limit=1"]
    run(text, tmp_path, *settings, ranks=ranks)
    assert_follows(tmp_path, reference("argon-1clj/ls1-ts-nve.csv"))


@pytest.mark.parametrize("threads", [1, 2])
def test_with_corrections_and_threads(threads, tmp_path):
    run(case_text(ARGON, 100, CORRECTED), tmp_path, "-t", threads, ranks=2)
    assert_follows(tmp_path, reference("argon-1clj/ls1-lrc-nve.csv"))


def test_thermostat(tmp_path):
    text = case_text(ARGON, 200, CORRECTED) + "[thermostat]\ntemperature = 1.8\n"
    run(text, tmp_path, ranks=2)
    expected = reference("argon-1clj/ls1-lrc-nvt.csv")
    assert_follows(tmp_path, expected)
    beta = series(tmp_path, "beta_trans")
    assert np.max(np.abs(beta - expected["beta_trans"][: len(beta)])) < 1e-10


@pytest.mark.parametrize("ranks", [rank for rank in (1, 3, 7) if rank in MANY])
def test_carbon_dioxide(ranks, tmp_path):
    run(case_text(CO2, 50), tmp_path, ranks=ranks)
    assert_follows(tmp_path, reference("co2-3clj3c/ls1-lrc-nve.csv"))


MIXED = """
[case]
simulation = "molecules"
[domain]
length = [10.0, 11.0, 12.0]
[time]
dt = 0.002
steps = 40
[[component]]
lj = [{mass = 1.0, epsilon = 1.0, sigma = 1.0}]
[[component]]
lj = [
  {place = [0, 0, 0.3], mass = 0.5, epsilon = 1.0, sigma = 0.9},
  {place = [0, 0, -0.3], mass = 0.5, epsilon = 1.0, sigma = 0.9},
]
dipole = [{moment = 0.5}]
[model]
cutoff = 2.5
[start]
kind = "lattice"
density = 0.4
temperature = 1.0
[thermostat]
temperature = 1.2
[decomposition]
kind = "KIND"
[[output]]
name = "obs"
quantity = "observables"
every = 4
initial = true
[[output]]
name = "places"
quantity = "position"
every = 10
initial = true
type = "float64"
[[output]]
name = "turns"
quantity = "orientation"
every = 20
[[output]]
name = "slabs"
quantity = "density"
bins = [1, 1, 8]
reduce = "mean"
[[output]]
name = "last"
quantity = "velocity"
reduce = "final"
type = "float64"
[[writer]]
name = "ResultWriter"
every = 5
prefix = "result"
[[writer]]
name = "VISWriter"
every = 5
prefix = "frames"
[checkpoint]
every = 7
"""


def datasets(directory: Path) -> dict[str, np.ndarray]:
    return jobs.read_datasets(directory / "run" / "output.h5")


def assert_close(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], limit: float) -> None:
    assert set(found) == set(expected)
    for name, values in expected.items():
        if name == "tailrace_record" or name.startswith("obs/imbalance"):
            continue
        assert np.allclose(found[name], values, rtol=limit, atol=limit), name


@pytest.mark.parametrize("kind", ["regular", "kd"])
def test_legs_on_any_numbers_of_ranks(kind, tmp_path):
    """Killed after a while and gone on with: the same bits by as many ranks, the same numbers by others."""
    text = MIXED.replace("KIND", kind)
    for first in MANY:
        whole = tmp_path / f"{first}"
        run(text, whole, ranks=first)
        for second in MANY if first in (2, 3) else [first, 2]:
            leg = tmp_path / f"{first}-{second}"
            leg.mkdir()
            (leg / "case.toml").write_text(text)
            words = ["--case", leg / "case.toml", "--out", leg / "run", "--quiet"]
            command = [str(jobs.MOLECULES)]
            killed = jobs.Job([*words, "--fault", "kill:step=26"], first, command=command).wait()
            assert killed.status != 0, killed
            ended = jobs.Job([*words, "--resume"], second, command=command).wait()
            assert ended.status == 0, ended
            assert jobs.account(leg / "run")["resumed_from"] in (14, 21)
            assert_close(datasets(leg), datasets(whole), 0 if first == second else 1e-9)
            results = [(directory / "run/result.res").read_text() for directory in (leg, whole)]
            assert len(results[0].splitlines()) == len(results[1].splitlines()) == 10
            if first == second:
                assert results[0] == results[1]
                assert (leg / "run/frames.vis").read_bytes() == (whole / "run/frames.vis").read_bytes()


def test_h5md(tmp_path):
    """As the specification of H5MD 1.1 has it (https://www.nongnu.org/h5md/h5md.html)."""
    run(MIXED.replace("KIND", "regular"), tmp_path, ranks=2)
    with h5py.File(tmp_path / "run" / "output.h5", "r") as file:
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
    text = MIXED.replace("KIND", "kd")
    found = []
    for ranks in MANY[:3]:
        run(text, tmp_path / str(ranks), ranks=ranks)
        found.append(datasets(tmp_path / str(ranks)))
    for other in found[1:]:
        assert_close(other, found[0], 1e-9)


def test_writers_of_the_reference(tmp_path):
    text = MIXED.replace("KIND", "regular")
    names = ["XyzWriter", "PovWriter", "VTKMoleculeWriter", "CheckpointWriter", "BinaryCheckpointWriter"]
    for name in names:
        text += f'[[writer]]\nname = "{name}"\nevery = 20\nprefix = "{name}"\n'
    run(text, tmp_path, ranks=3)
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
    ("dt = 0.002", "dt = 2.0", "", ""),
]


@pytest.mark.parametrize(("old", "new", "key", "fix"), BAD[:-1])
def test_bad_cases(old, new, key, fix, tmp_path):
    ended = run(MIXED.replace("KIND", "regular").replace(old, new, 1), tmp_path, ranks=2, status=2)
    assert key in ended.err and fix in ended.err, ended


def test_a_step_too_long(tmp_path):
    """A molecule that flies further than the cutoff ends the run on all ranks, with its id."""
    text = MIXED.replace("KIND", "regular").replace("dt = 0.002", "dt = 2.0", 1)
    ended = run(text, tmp_path, ranks=3, status=3)
    assert "molecule" in ended.err and "dt" in ended.err, ended


DROPLET = """
[case]
simulation = "molecules"
[domain]
length = [24.0, 24.0, 24.0]
[time]
dt = 0.004
steps = 20
[[component]]
lj = [{mass = 1.0, epsilon = 1.0, sigma = 1.0, shifted = true}]
[model]
cutoff = 2.5
long_range = "none"
[start]
kind = "droplet"
centre = [6.0, 7.0, 8.0]
radius = 6.0
density = 0.75
vapour_density = 0.01
temperature = 0.8
[[output]]
name = "imbalance"
quantity = "imbalance"
every = 10
initial = true
"""


@pytest.mark.parametrize("ranks", [rank for rank in (4, 7) if rank in MANY])
def test_a_tree_balances_a_droplet(ranks, tmp_path):
    found = {}
    for kind in ("regular", "kd"):
        run(DROPLET + f'[decomposition]\nkind = "{kind}"\n', tmp_path / kind, ranks=ranks)
        with h5py.File(tmp_path / kind / "run/output.h5", "r") as file:
            found[kind] = file["imbalance/values"][()]
    assert (found["regular"] > 2).all() and (found["kd"] < 1.15).all(), found


def test_the_command_stops_and_goes_on(tmp_path):
    """tailrace run, SIGTERM, tailrace resume on other ranks, report."""
    text = (
        DROPLET.replace("steps = 20", "steps = 300")
        + '[[output]]\nname = "p"\nquantity = "position"\nevery = 50\n'
    )
    case = tmp_path / "case.toml"
    case.write_text(text)
    ended = jobs.tailrace(
        "run",
        case,
        "--out",
        tmp_path / "run",
        "-n",
        2,
        "--fault",
        "kill:step=190",
        "--set",
        "checkpoint.every=60",
    )
    assert ended.status == 3, ended
    ended = jobs.tailrace("resume", tmp_path / "run", "-n", 3)
    assert ended.status == 0, ended
    page = (tmp_path / "run/report.html").read_text()
    assert "The box" in page and "Observables" in page
    account = json.loads((tmp_path / "run/run.json").read_text())
    assert account["simulation"] == "molecules" and account["resumed_from"] in (120, 180)
    with h5py.File(tmp_path / "run/output.h5", "r") as file:
        assert record.read(file).steps == 300
        assert file["p/values"].shape[0] == 6


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
