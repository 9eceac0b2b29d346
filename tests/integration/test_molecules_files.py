# SPDX-License-Identifier: BSD-3-Clause
"""The files of molecules: each format becomes each other one, runs begin from them, and viewers open them."""

import importlib.util
import itertools
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import command
import jobs
import molecule_files
from matrix import each_value
from native import cannot

FORMATS = list(molecule_files.ENDINGS)
RANKS = [1, 2, 3]
STEPS = 30

CASE = """
[case]
simulation = "molecules"
[time]
dt = 0.002
steps = 30
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
[[output]]
name = "places"
quantity = "position"
every = 5
type = "float64"
[[output]]
name = "speeds"
quantity = "velocity"
every = 5
[[output]]
name = "energies"
quantity = "observables"
every = 10
"""
LATTICE = """
[domain]
length = [8.0, 9.0, 10.0]
[start]
kind = "lattice"
density = 0.4
temperature = 1.0
"""


def start(text: str, directory: Path, *options, ranks: int = 1) -> jobs.Ended:
    directory.mkdir()
    (directory / "case.toml").write_text(text)
    words = ["--case", directory / "case.toml", "--out", directory / "run", "--quiet", *options]
    return jobs.Job(words, ranks, command=[str(jobs.MOLECULES)]).wait()


def convert(source: Path, target: Path, to: str, *options) -> command.Answer:
    return command.tailrace("checkpoint", "convert", source, "-o", target, "--to", to, *options)


def converted(source: Path, target: Path, to: str, *options) -> list[Path]:
    ended = convert(source, target, to, *options)
    assert ended.status == 0 and f"in the format {to}" in ended.out, ended
    return [target] if target.exists() else molecule_files.files_of(to, target)


def last_places(run_dir: Path) -> np.ndarray:
    with h5py.File(run_dir / "output.h5") as file:
        assert file["places/step"][-1] == STEPS
        return file["places/values"][-1]


@pytest.fixture(scope="session")
def whole(once) -> Path:
    """A run to its end, with a checkpoint of step 20."""

    def make(directory: Path) -> Path:
        ended = start(CASE + LATTICE + "[checkpoint]\nevery = 20\n", directory / "gas", ranks=2)
        assert ended.status == 0, ended
        return directory / "gas/run"

    return once("gas", make)


@pytest.fixture(scope="session")
def states(whole, once) -> dict[str, list[Path]]:
    """Its state after step 20 in each format."""
    ours = whole / "checkpoints/step-000000000020"

    def make(directory: Path) -> dict[str, list[Path]]:
        return {
            name: converted(ours, directory / name, name, "-n", ranks)
            for name, ranks in zip(FORMATS, itertools.cycle(RANKS))
        }

    return once("gas in each format", make)


def test_from_ours_into_each_format(states):
    expected = molecule_files.read("binary", states["binary"][-1])
    assert len(np.unique(expected["id"])) == len(expected) > 200
    assert set(expected["component"]) == {0, 1} and expected["d"].any()
    for name in FORMATS:
        found = molecule_files.read(name, states[name][-1])
        assert found.tobytes() == expected.tobytes(), name


@each_value("source, target, ranks", FORMATS, FORMATS, RANKS)
def test_from_format_to_format(source, target, ranks, states, whole, tmp_path):
    """What a file does not state comes from the run."""
    options = ["-n", ranks]
    if source in ("binary", "mpi-restart"):
        options += ["--run", whole]
    made = converted(states[source][0], tmp_path / f"{source}-{target}", target, *options)
    expected = molecule_files.read("binary", states["binary"][-1]).tobytes()
    assert molecule_files.read(target, made[-1]).tobytes() == expected
    if target not in ("binary", "mpi-restart"):
        header = made[0].read_text(errors="replace")
        time = float(header.split("currentTime ")[1].split()[0])
        assert time == pytest.approx(0 if source == "mpi-restart" else 0.04)
        assert "Length 8 9 10\n" in header


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_begins_from_each_format(name, states, whole, tmp_path):
    text = CASE.replace("steps = 30", "steps = 10") + f'[start]\nfile = "{states[name][0]}"\n'
    if name == "mpi-restart":
        text += "[domain]\nlength = [8.0, 9.0, 10.0]\n"
    ended = start(text, tmp_path / "on", ranks=2)
    assert ended.status == 0, ended
    with h5py.File(tmp_path / "on/run/output.h5") as file, h5py.File(whole / "output.h5") as other:
        assert np.allclose(file["places/values"][-1], other["places/values"][-1], rtol=0, atol=1e-10)
        begin = 0 if name == "mpi-restart" else 0.04
        assert file["places/time_s"][0] == pytest.approx(begin + 0.01)


def test_a_run_resumes_from_a_state_that_another_program_left(states, whole, tmp_path):
    run_dir = tmp_path / "gas"
    ended = start(CASE + LATTICE + "[checkpoint]\nevery = 20\n", run_dir, "--fault", "kill:step=26", ranks=3)
    assert ended.status != 0, ended
    shutil.rmtree(run_dir / "run/checkpoints")
    made = converted(states["cells"][0], run_dir / "run/checkpoints", "tailrace", "-n", 2)
    assert (made[0] / "step-000000000020").is_dir()
    verdict = command.tailrace("checkpoint", "verify", run_dir / "run")
    assert verdict.status == 0, verdict
    ended = jobs.tailrace("resume", run_dir / "run", "-n", 2)
    assert ended.status == 0, ended
    assert jobs.account(run_dir / "run")["resumed_from"] == 20
    assert np.allclose(last_places(run_dir / "run"), last_places(whole), rtol=0, atol=1e-10)


@pytest.fixture
def odd_files(states, tmp_path):
    """Files that do not fit, by name: cases of other runs, a state that ends early, a text."""
    files = {name: tmp_path / name for name in ("sums.toml", "other.toml", "steps.toml", "notes.txt")}
    files["sums.toml"].write_text(
        CASE + LATTICE + '[[output]]\nname = "m"\nquantity = "temperature"\nreduce = "mean"\n'
    )
    files["other.toml"].write_text(CASE + LATTICE.replace("10.0", "11.0"))
    files["steps.toml"].write_text((CASE + LATTICE).replace("dt = 0.002", "dt = 0.003"))
    files["notes.txt"].write_text("these are notes\n")
    files["cut"] = tmp_path / "cut.MPIrestart.dat"
    files["cut"].write_bytes(states["mpi-restart"][0].read_bytes()[:-200])
    return files


def refused_conversions(states, whole, odd_files, tmp_path):
    """(source, target, format, options, words of the refusal) of conversions that cannot be."""
    target = tmp_path / "target"
    ours = whole / "checkpoints/step-000000000020"
    return [
        (states["binary"][0], target, "ascii", [], ["target", "components", "--case FILE"]),
        (
            states["mpi-restart"][0],
            target,
            "binary",
            [],
            ["mpi-restart: does not state the box", "--case FILE"],
        ),
        (states["ascii"][0], tmp_path / "taken", "cells", [], ["taken.restart.mpi: exists"]),
        (states["ascii"][0], target, "xyz", [], ["--to xyz: no simulation knows", "mpi-restart"]),
        (states["ascii"][0], target, "xyz", ["--run", whole], ["--checkpoint-format xyz: is not known"]),
        (states["ascii"][0], target, "tailrace", [], ["of which run?"]),
        (
            states["ascii"][0],
            target,
            "tailrace",
            ["--case", odd_files["sums.toml"]],
            ["output[3].reduce", "sums.toml"],
        ),
        (
            states["ascii"][0],
            target,
            "tailrace",
            ["--case", odd_files["steps.toml"]],
            ["after which step", "ascii"],
        ),
        (
            states["ascii"][0],
            target,
            "binary",
            ["--case", odd_files["other.toml"]],
            ["ascii", "has a box of 8 x 9 x 10, the case one of 8 x 9 x 11"],
        ),
        (odd_files["cut"], target, "binary", ["--run", whole], ["cut.MPIrestart.dat"]),
        (odd_files["notes.txt"], target, "binary", [], ["notes.txt"]),
        (ours, target, "tailrace", [], ["is a checkpoint of Tailrace already"]),
        (states["cells"][1].with_name("none"), target, "ascii", [], ["none"]),
    ]


def test_what_cannot_be_converted_is_refused(states, whole, odd_files, tmp_path):
    taken = tmp_path / "taken.restart.mpi"
    taken.write_text("mine")
    for source, goes_to, to, options, words in refused_conversions(states, whole, odd_files, tmp_path):
        ended = convert(source, goes_to, to, *options)
        assert ended.status == 2, (words, ended)
        for word in words:
            assert word in ended.err, ended
    assert taken.read_text() == "mine"
    assert not list(tmp_path.glob("target*")) and not list(tmp_path.glob("*.partial"))


def test_what_other_commands_say_of_such_files(states):
    for words in (["inspect"], ["checkpoint", "list"], ["checkpoint", "verify"]):
        ended = command.tailrace(*words, states["ascii"][0])
        assert ended.status == 2 and "checkpoint convert" in ended.err, ended


def test_a_trajectory_is_read_by_vtk(whole):
    """The companion file as ParaView opens it, without a value of its own."""
    if importlib.util.find_spec("vtkmodules") is None:
        cannot("vtk is not installed")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader

    with h5py.File(whole / "output.h5") as file:
        places, speeds = file["places/values"][()], file["speeds/values"][()]
        ids, species = (file[f"particles/all/{name}"][()] for name in ("id", "species"))
        times = file["places/time_s"][()]
    reader = vtkHDFReader()
    reader.SetFileName(str(whole / "output.vtkhdf"))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == len(times) == 6
    for sample in (5, 0, 3):
        reader.SetStep(sample)
        reader.Update()
        data = reader.GetOutput()
        assert reader.GetTimeValue() == times[sample]
        assert np.array_equal(vtk_to_numpy(data.GetPoints().GetData()), places[sample])
        arrays = {
            name: vtk_to_numpy(data.GetPointData().GetArray(name)) for name in ("velocity", "id", "species")
        }
        assert np.array_equal(arrays["velocity"], speeds[sample])
        assert np.array_equal(arrays["id"], ids) and np.array_equal(arrays["species"], species)
        assert data.GetNumberOfVerts() == 1 and data.GetVerts().GetNumberOfConnectivityIds() == len(ids)


def test_a_trajectory_is_read_by_mdanalysis(tmp_path):
    """Positions, velocities, box and times, through a reader of H5MD that other people wrote."""
    if importlib.util.find_spec("MDAnalysis") is None:
        cannot("MDAnalysis is not installed")
    from MDAnalysis.coordinates.H5MD import H5MDReader

    ended = start((CASE + LATTICE).replace("every = 10", "every = 5"), tmp_path / "gas", ranks=2)
    assert ended.status == 0, ended
    path = tmp_path / "gas/run/output.h5"
    with h5py.File(path) as file:
        places, speeds = file["places/values"][()], file["speeds/values"][()]
        times, energies = file["places/time_s"][()], file["energies/total_energy/values"][()]
    with H5MDReader(str(path), convert_units=False) as reader:
        assert (reader.n_frames, reader.n_atoms) == places.shape[:2]
        for sample, frame in enumerate(reader):
            assert frame.time == times[sample] and frame.dimensions.tolist() == [8, 9, 10, 90, 90, 90]
            assert np.array_equal(frame.positions, places[sample].astype(np.float32))
            assert np.array_equal(frame.velocities, speeds[sample])
            assert frame.data["total_energy"] == energies[sample]


def edited(number: int, column: int, word: str):
    """A line of a molecule with another word."""

    def edit(lines: list[str]) -> None:
        first = next(i for i, line in enumerate(lines) if line.startswith("MoleculeFormat")) + 1
        words = lines[first + number].split()
        words[column] = word or lines[first].split()[column]
        lines[first + number] = " ".join(words)

    return edit


def same_place(lines: list[str]) -> None:
    for column in (2, 3, 4):
        edited(7, column, "")(lines)


def replaced(old: str, new: str):
    def edit(lines: list[str]) -> None:
        at = next(i for i, line in enumerate(lines) if line.startswith(old))
        lines[at] = lines[at].replace(old, new)

    return edit


BAD_STATES = {
    "more than there are": (replaced("NumberOfMolecules ", "NumberOfMolecules 1"), ["truncated"]),
    "less than there are": (replaced("NumberOfMolecules 3", "NumberOfMolecules "), ["more than"]),
    "a component": (edited(5, 1, "3"), ["is of component 3, of 2"]),
    "outside": (edited(5, 3, "9"), ["outside of the box (8, 9, 10)"]),
    "below": (edited(5, 2, "-1e-9"), ["outside of the box"]),
    "NaN": (edited(5, 6, "nan"), ["NaN"]),
    "no number": (edited(5, 6, "fast"), ["fast"]),
    "one point": (same_place, ["at the same point"]),
    "an id twice": (edited(5, 0, ""), ["two molecules have the id"]),
    "no rotation": (edited(5, 8, "7"), ["no rotation"]),
    "an unknown word": (replaced("Length", "Lenght"), ["line 4: unknown word Lenght"]),
    "an unknown format": (replaced("MoleculeFormat ICRVQD", "MoleculeFormat IDRV"), ["IDRV"]),
    "another state": (edited(5, 5, "0.125"), ["others than its header states"]),
    "another program": (replaced("mardyn trunk", "moldyn trunk"), ["does not begin as"]),
    "an older version": (replaced("mardyn trunk 2016", "mardyn trunk 2006"), ["too old"]),
}


@pytest.mark.parametrize("what", BAD_STATES)
def test_bad_states_are_refused(what, states, tmp_path):
    """By one message, before anything is made."""
    edit, words = BAD_STATES[what]
    lines = states["ascii"][0].read_text().splitlines()
    edit(lines)
    bad = tmp_path / "bad.inp"
    bad.write_text("\n".join(lines) + "\n")
    ended = start(CASE + f'[start]\nfile = "{bad}"\n', tmp_path / "gas", ranks=0)
    assert ended.status == 2, ended
    for word in ["bad.inp", "Fix: ", *words]:
        assert word in ended.err, ended
    assert len(jobs.messages(ended, "tailrace-molecules")) == 1
    assert not (tmp_path / "gas/run").exists() and bad.read_text() == "\n".join(lines) + "\n"


# A netCDF file may be longer than its variables.
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        (name, damage)
        for name in ("binary", "cells", "netcdf", "mpi-restart")
        for damage in ("cut", "cut a little", "longer", "other byte order")
        if (name, damage) != ("netcdf", "longer")
    ],
)
def test_damaged_files_are_refused(name, damage, states, tmp_path):
    paths = [shutil.copy(path, tmp_path) for path in states[name]]
    data = Path(paths[-1])
    content = data.read_bytes()
    swapped = np.frombuffer(content[: len(content) // 4 * 4], ">u4").astype("<u4").tobytes()
    data.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "cut a little": content[:-9],
            "longer": content + bytes(500),
            "other byte order": swapped,
        }[damage]
    )
    text = CASE + f'[start]\nfile = "{paths[0]}"\n'
    if name == "mpi-restart":
        text += "[domain]\nlength = [8.0, 9.0, 10.0]\n"
    ended = start(text, tmp_path / "gas", ranks=2 if damage == "cut a little" else 0)
    assert ended.status == 2 and data.name.split(".")[0] in ended.err and "Fix: " in ended.err, ended
    assert not (tmp_path / "gas/run").exists()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cutoff = 2.5", "cutoff = 4.5", ["model.cutoff", "4.5", "half the box", "at most 4"]),
        ("[model]", "[model]\ncutof = 2", ["model.cutof", "unknown"]),
        ("[model]", "[modell]\na = 1\n[model]", ["modell"]),
        ("dipole = [", "dipoles = [", ["component[1].dipoles", "unknown"]),
        ("dt = 0.002", 'dt = "short"', ["time.dt"]),
        ("mass = 1.0, ", "mass = -1.0, ", ["component[0].lj[0].mass", "-1"]),
        ("sigma = 1.0", "sigma = nan", ["component[0].lj[0].sigma"]),
    ],
)
def test_bad_cases_are_refused(old, new, words, tmp_path):
    ended = start((CASE + LATTICE).replace(old, new, 1), tmp_path / "gas", ranks=0)
    assert ended.status == 2 and "case.toml" in ended.err and "Fix: " in ended.err, ended
    for word in words:
        assert word in ended.err, ended
    assert not (tmp_path / "gas/run").exists()


def test_a_file_without_components_needs_those_of_the_case(states, tmp_path):
    text = CASE[: CASE.index("[[component]]")] + CASE[CASE.index("[model]") :]
    ended = start(text + f'[start]\nfile = "{states["binary"][0]}"\n', tmp_path / "gas")
    assert ended.status == 2, ended
    for word in ["component: is missing", str(states["binary"][0]), "[[component]]"]:
        assert word in ended.err, ended


def test_configurations_of_words_that_are_not_known(states, tmp_path):
    """The old style with its line; of XML, physics that there is not."""
    old = tmp_path / "gas.cfg"
    old.write_text(
        "MDProjectConfig\ntimestepLength 0.002\ncutoffRadius 2.5\nwarpDrive 9\n"
        f"phaseSpaceFile OldStyle {states['ascii'][0]}\n"
    )
    words = ["--out", tmp_path / "run", "--set", "time.steps=5", "--quiet"]
    ended = jobs.Job(["--case", old, *words], 2, command=[str(jobs.MOLECULES)]).wait()
    assert ended.status == 2 and "gas.cfg" in ended.err and "line 4: unknown word warpDrive" in ended.err, (
        ended
    )
    assert not (tmp_path / "run").exists()
