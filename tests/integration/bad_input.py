# SPDX-License-Identifier: BSD-3-Clause
"""Bad inputs for tests: ways to spoil one for k-Wave's binaries, and the form of the message about it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import jobs
from kwave_input import GRID, KwaveInput, with_index_mask, with_transducer, with_velocity_source
from tailrace.kwave_file import long

NX, NY, NZ = GRID
NAN, INF = float("nan"), float("inf")
Spoil = Callable[[KwaveInput], object]


def without(name: str) -> Spoil:
    return lambda case: case.datasets.pop(name)


def having(name: str, value: float) -> Spoil:
    return lambda case: case.set(name, value)


def as_type(name: str, dtype: str) -> Spoil:
    return lambda case: case.datasets.update({name: case.datasets[name].astype(dtype)})


def shaped(name: str, values: np.ndarray) -> Spoil:
    return lambda case: case.datasets.update({name: values})


def root_attribute(name: str, value: str | None) -> Spoil:
    if value is None:
        return lambda case: case.attributes.pop(name)
    return lambda case: case.attributes.update({name: value})


def dataset_attributes(name: str, **values: str) -> Spoil:
    return lambda case: case.dataset_attributes.update({name: values})


def poked(name: str, points: list[tuple[int, int, int]], value: float) -> Spoil:
    """Puts a value at points given as (x, y, z)."""

    def poke(case: KwaveInput) -> None:
        for x, y, z in points:
            case.datasets[name][z, y, x] = value

    return poke


def cuboid(*corners: int) -> Spoil:
    return shaped("sensor_mask_corners", np.array(corners, dtype="<u8").reshape(1, 1, -1))


def points(*indices: int) -> Spoil:
    return lambda case: with_index_mask(case, list(indices))


def sources_at(*indices: int) -> Spoil:
    return shaped("p_source_index", long(list(indices)))


def adding(**datasets: np.ndarray) -> Spoil:
    return lambda case: case.datasets.update(datasets)


def homogeneous(points: int) -> Spoil:
    """A cube of so many points along each axis that takes no room in the file."""

    def enlarge(case: KwaveInput) -> None:
        for name, values in case.datasets.items():
            if values.shape == (NZ, NY, NX):
                case.datasets[name] = values[:1, :1, :1]
        case.set("Nx", points).set("Ny", points).set("Nz", points)

    return enlarge


def changed(case: KwaveInput, datasets: dict[str, np.ndarray | None]) -> None:
    for name, values in datasets.items():
        if values is None:
            del case.datasets[name]
        else:
            case.datasets[name] = values


def velocity(many: bool = False, **datasets: np.ndarray | None) -> Spoil:
    """Velocity sources along x and y, then with other datasets."""
    return lambda case: changed(with_velocity_source(case, {"x": 20, "y": 4}, many=many), datasets)


def transducer(**datasets: np.ndarray | None) -> Spoil:
    """A transducer of 34 time points and delays up to 7, then with other datasets."""
    return lambda case: changed(with_transducer(case), datasets)


def refused(path: Path, tmp_path: Path) -> str:
    """Runs a bad input as k-Wave's binaries are run; returns the one message after checking its form."""
    output = tmp_path / "out.h5"
    ended = jobs.run("-i", path, "-o", output, "--quiet", limit_s=30)
    assert ended.status == 1, ended
    assert not output.exists()
    assert_clear(ended.err, path)
    return ended.err


def assert_clear(message: str, path: Path) -> None:
    """The message is once, names the file, and has a way out for every problem."""
    first, *rest = message.rstrip("\n").split("\n")
    assert first.startswith(f"tailrace-ultrasound: {path}: "), message
    assert message.count("tailrace-ultrasound: ") == 1, message
    problems = rest or [first]
    assert all(". Fix: " in problem for problem in problems), message
    if rest:
        assert first.endswith(f"{path}: {len(rest)} problems"), message
        assert len(set(rest)) == len(rest), message


def write_case(directory: Path, input_file: Path, text: str = "") -> Path:
    path = directory / "case.toml"
    path.write_text(f'[case]\nsimulation = "ultrasound"\n[input]\nfile = "{input_file}"\n{text}')
    return path
