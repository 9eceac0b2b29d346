# SPDX-License-Identifier: BSD-3-Clause
"""What a start file says beside its molecules holds where the case says nothing; what is none is refused."""

import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from molecules_cases import output, table, writer

RANDOM = np.random.default_rng(1)
COUNT = 4
LENGTH = 8.0
PLACES = (np.indices((COUNT,) * 3).reshape(3, -1).T + 0.5) * (LENGTH / COUNT)
ROW = "{number} 1 {place} 0 0 0 {turn} 0 0 0"


def words(values) -> str:
    return " ".join(map(str, values))


def turns() -> list[str]:
    numbers = RANDOM.normal(size=(len(PLACES), 4))
    return [words(row / np.linalg.norm(row)) for row in numbers]


ROWS = [
    ROW.format(number=i + 1, place=words(place), turn=turn)
    for i, (place, turn) in enumerate(zip(PLACES, turns(), strict=True))
]
# Atoms with a dipole that turns.
HEADER = {
    "currentTime": "3.5",
    "Length": words([LENGTH] * 3),
    "Temperature": "1.2",
    "NumberOfComponents": "1\n1 0 1 0 0\n0 0 0  1 1 1  0 0\n0 0 0  0 0 1  1.5\n0.1 0.1 0\n{epsilon}",
    "NumberOfMolecules": str(len(ROWS)),
    "MoleculeFormat": "ICRVQD",
}
KILLED = -9
OBSERVED = output("obs", "observables", every=1, initial=True)


def start_file(path: Path, epsilon: object = 5.0, **header: str) -> Path:
    lines = [f"{key} {value}" for key, value in (HEADER | header).items()]
    text = "\n".join(["mardyn trunk 20160512", *lines, *ROWS, ""])
    path.write_text(text.format(epsilon=epsilon))
    return path


def case(*tables: str, time: dict | None = None, model: dict | None = None) -> str:
    time = {"dt": 0.001, "steps": 1} if time is None else time
    return "".join(
        [
            table("case", simulation="molecules"),
            table("time", **time),
            table("model", cutoff=2.5, **(model or {})),
            *tables,
        ]
    )


def run(text: str, directory: Path, *options, status: int = 0) -> jobs.Ended:
    directory.mkdir(exist_ok=True)
    (directory / "case.toml").write_text(text)
    options = ["--case", directory / "case.toml", "--out", directory / "run", "--quiet", *options]
    ended = jobs.Job(options, 0, command=[str(jobs.MOLECULES)]).wait()
    assert ended.status == status, ended
    return ended


def from_file(path: Path, **keys) -> str:
    return table("start", file=path, **keys)


def convert(source: Path, directory: Path, *options) -> jobs.Ended:
    words = [
        "--checkpoint-from",
        source,
        "--checkpoint-to",
        directory / "made",
        "--checkpoint-format",
        "binary",
    ]
    return jobs.Job([*words, *options], 0, command=[str(jobs.MOLECULES)]).wait()


def energies(directory: Path) -> np.ndarray:
    with h5py.File(directory / "run/output.h5") as file:
        return file["obs/potential_energy/values"][()]


def account(directory: Path) -> dict:
    return json.loads((directory / "run/run.json").read_text())


def test_the_dielectric_constant_of_the_file_holds_unless_the_case_has_one(tmp_path):
    found = {}
    for name, stated, model in (
        ("file", 5.0, {}),
        ("case", 1e10, {"reaction_field_epsilon": 5.0}),
        ("other", 1e10, {}),
        ("none", "nan", {"reaction_field_epsilon": 5.0}),
    ):
        directory = tmp_path / name
        directory.mkdir()
        path = start_file(directory / "start.inp", stated)
        run(case(from_file(path), OBSERVED, model=model), directory)
        found[name] = energies(directory)[0]
        assert account(directory)["config"]["model"]["reaction_field_epsilon"] == (
            1e10 if name == "other" else 5
        )
    assert found["file"] == found["case"] == found["none"]
    assert abs(found["file"] - found["other"]) > 1e-3


def test_the_end_is_a_time(tmp_path):
    """Of a run that begins at the time of its file, at another one, and at 0."""
    path = start_file(tmp_path / "start.inp")
    for name, end, keys, steps in (
        ("file", 3.6, {}, 100),
        ("stated", 3.6, {"time": 3.59}, 10),
        ("none", 0.02, {"keep_time": False}, 20),
    ):
        run(case(from_file(path, **keys), OBSERVED, time={"dt": 0.001, "end": end}), tmp_path / name)
        found = account(tmp_path / name)
        assert found["steps"] == found["config"]["time"]["steps"] == steps
        with h5py.File(tmp_path / name / "run/output.h5") as file:
            assert file["obs/potential_energy/time_s"][-1] == pytest.approx(end)


REFUSED = {
    "an end before the start": (
        {},
        {"time": {"dt": 0.001, "end": 3.5}},
        ["time.end: 3.5 is not after 3.5, the time at which the run begins"],
    ),
    "a dielectric constant": ({"epsilon": "nan"}, {}, ["start.inp states a dielectric constant of nan"]),
    "no dielectric constant": ({"epsilon": 0}, {}, ["start.inp states a dielectric constant of 0"]),
    "a temperature of NaN": ({"Temperature": "nan"}, {}, ["start.inp", "Temperature: nan is no temperature"]),
    "a temperature below 0": ({"Temperature": "-3"}, {}, ["start.inp", "Temperature: -3 is no temperature"]),
    "a time": ({"currentTime": "inf"}, {}, ["start.inp", "currentTime: inf is no time"]),
    "an epsilon": (
        {"NumberOfComponents": "1\n1 0 0 0 0\n0 0 0  1 -1 1  0 0\n0 0 0\n1"},
        {},
        ["start.inp: component 1, Lennard-Jones centre 1: epsilon = -1 is not accepted"],
    ),
    "no mass": (
        {"NumberOfComponents": "1\n1 0 0 0 0\n0 0 0  0 1 1  0 0\n0 0 0\n1"},
        {},
        ["start.inp: component 1 has no mass"],
    ),
    "another box": (
        {"Length": words([LENGTH * (1 + 1e-7)] * 3)},
        {"domain": [LENGTH] * 3},
        ["domain.length", "start.inp has a box of"],
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what, tmp_path):
    header, keys, expected = REFUSED[what]
    keys = dict(keys)
    tables = [table("domain", length=keys.pop("domain"))] if "domain" in keys else []
    path = start_file(tmp_path / "start.inp", **header)
    ended = run(case(from_file(path), *tables, **keys), tmp_path, "--check", status=2)
    for text in [*expected, "Fix: "]:
        assert text in ended.err, ended


def test_a_box_of_nine_digits(tmp_path):
    """As ls1 mardyn writes it: that of the case holds."""
    length = LENGTH * (1 + 4e-9)
    path = start_file(tmp_path / "start.inp")
    run(case(from_file(path), OBSERVED, table("domain", length=[length] * 3)), tmp_path)
    with h5py.File(tmp_path / "run/output.h5") as file:
        assert file["particles/all/box/edges"][()].tolist() == [length] * 3


@pytest.mark.parametrize(
    ("lj", "words_of_it"),
    [
        ([{"place": [0, 0, 0]}, {"place": [0, 0, 0.6]}], ["centre of mass is at (0, 0, 0.3)"]),
        ([{"place": [0.2, 0, 0.2]}, {"place": [-0.2, 0, -0.2]}], ["principal axes"]),
    ],
)
def test_odd_frames_of_cases_are_refused(lj, words_of_it, tmp_path):
    lj = [{"mass": 1.0, "epsilon": 1.0, "sigma": 1.0} | site for site in lj]
    lattice = table("domain", length=[LENGTH] * 3) + table("start", kind="lattice", density=0.1)
    ended = run(case(table("[component]", lj=lj), lattice), tmp_path, "--check", status=2)
    for text in ["component[0]: its ", *words_of_it]:
        assert text in ended.err, ended


def test_odd_frames_and_molecules_that_never_turn_in_files_are_warned_of(tmp_path):
    component = "1\n1 1 1 0 0\n0 0 0.2  1 1 1  0 0\n0 0 0  0 1\n0 0 0  1 0 0  1.5\n0 0 0\n1e10"
    path = start_file(tmp_path / "start.inp", NumberOfComponents=component)
    ended = run(case(from_file(path)), tmp_path, "--check")
    for text in [
        "start.inp: component 1: its centre of mass is at (0, 0, 0.2) of its frame; it is computed as it is",
        "start.inp: component 1 has no moment of inertia about z and never turns there",
        "start.inp: component 1 has a net charge of 1",
    ]:
        assert ended.err.count(text) == 1, ended


def test_a_second_file_that_is_missing_and_an_empty_one(tmp_path):
    header = start_file(tmp_path / "state.restart")
    header.write_text(header.read_text().split(ROWS[0])[0])
    ended = run(case(from_file(header)), tmp_path / "cells", "--check", status=2)
    assert "state.restart.mpi or " in ended.err and "that is not there" in ended.err, ended
    (tmp_path / "empty.inp").touch()
    ended = run(case(from_file(tmp_path / "empty.inp")), tmp_path / "empty", "--check", status=2)
    assert "empty.inp: is empty" in ended.err, ended


@pytest.mark.parametrize(
    ("header", "status", "said"),
    [
        ({"Length": words([LENGTH * (1 + 4e-9)] * 3)}, 0, "in the format binary"),
        ({"Length": words([LENGTH * (1 + 1e-7)] * 3)}, 2, "has a box of"),
    ],
)
def test_a_state_of_another_box_is_not_converted(header, status, said, tmp_path):
    """Nine digits of it count, as ls1 mardyn writes them."""
    (tmp_path / "case.toml").write_text(
        case(from_file(start_file(tmp_path / "start.inp")), table("domain", length=[LENGTH] * 3))
    )
    ended = convert(start_file(tmp_path / "other.inp", **header), tmp_path, "--case", tmp_path / "case.toml")
    assert ended.status == status and said in ended.out + ended.err, ended


def test_a_state_of_components_that_are_none_is_not_converted(tmp_path):
    component = "1\n1 0 0 0 0\n0 0 0  1 nan 1  0 0\n0 0 0\n1"
    ended = convert(start_file(tmp_path / "start.inp", NumberOfComponents=component), tmp_path)
    assert ended.status == 2 and "component 1, Lennard-Jones centre 1: epsilon = nan" in ended.err, ended


def test_directories_of_writers_are_made(tmp_path):
    path = start_file(tmp_path / "start.inp")
    run(
        case(from_file(path), writer("XyzWriter", 1, "below/it/q"), writer("ResultWriter", 1, "r/s")),
        tmp_path,
    )
    assert (tmp_path / "run/below/it/q-1.xyz").exists() and (tmp_path / "run/r/s.res").exists()


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        (1, "63 molecules, and the start of the run has 64"),
        (3, "molecules of other ids than the start of the run has"),
    ],
)
def test_a_state_of_another_system_is_not_resumed(ranks, said, tmp_path):
    """One message of all ranks."""
    path = start_file(tmp_path / "start.inp")
    text = case(from_file(path), OBSERVED, table("checkpoint", every=10), time={"dt": 0.001, "steps": 30})
    run(text, tmp_path, "--fault", "kill:step=20", status=KILLED)
    rows = ROWS[:-1] if ranks == 1 else [*ROWS[:-1], ROWS[-1].replace("64", "99", 1)]
    header = path.read_text().split(ROWS[0])[0].replace("currentTime 3.5", "currentTime 3.51")
    other = tmp_path / "other.inp"
    other.write_text(header.replace("Molecules 64", f"Molecules {len(rows)}") + "\n".join([*rows, ""]))
    checkpoints = tmp_path / "run/checkpoints"
    shutil.rmtree(checkpoints)
    convert = ["--case", tmp_path / "case.toml", "--checkpoint-format", "tailrace"]
    convert += ["--checkpoint-from", other, "--checkpoint-to", checkpoints]
    assert jobs.Job(convert, 0, command=[str(jobs.MOLECULES)]).wait().status == 0
    words = ["--case", tmp_path / "case.toml", "--out", tmp_path / "run", "--quiet", "--resume"]
    ended = jobs.Job(words, ranks, command=[str(jobs.MOLECULES)]).wait()
    assert ended.status == 2 and ended.err.count(f"the checkpoint has {said}") == 1, ended


def test_molecules_with_a_dipole_start_turned_any_way(tmp_path):
    """Also those that never turn."""
    atom = {"mass": 1.0, "epsilon": 1.0, "sigma": 1.0}
    component = table("[component]", lj=[atom], dipole=[{"moment": 1.0}])
    lattice = table("domain", length=[LENGTH] * 3) + table("start", kind="lattice", density=0.3)
    run(case(component, lattice, output("turns", "orientation", every=1, initial=True)), tmp_path)
    with h5py.File(tmp_path / "run/output.h5") as file:
        turned = file["turns/values"][0]
    assert np.abs(turned.mean(axis=0)).max() < 0.3 and np.allclose((turned**2).sum(axis=1), 1)
