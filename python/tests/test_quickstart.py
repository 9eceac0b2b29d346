# SPDX-License-Identifier: BSD-3-Clause
"""The quickstart's input must be a genuine k-Wave 1.2 input file with a sensible grid."""

import importlib.util
import tomllib
from pathlib import Path

import h5py
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "make_quickstart_input", EXAMPLES / "make_quickstart_input.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def coarse(script, tmp_path_factory):
    path = tmp_path_factory.mktemp("quickstart") / "quickstart.h5"
    script.write_input(path, scale=0.7)
    with h5py.File(path) as file:
        yield file


def number(file, name):
    return file[name][0, 0, 0]


def test_every_dataset_has_rank_3_and_a_k_wave_type(coarse):
    for name, dataset in coarse.items():
        assert dataset.ndim == 3, name
        kind = {"float32": b"float", "uint64": b"long"}[str(dataset.dtype)]
        assert dataset.attrs["data_type"] == kind, name
        assert dataset.attrs["domain_type"] == b"real", name


def test_string_attributes_are_null_terminated(coarse):
    for name in coarse.attrs:
        kind = coarse.attrs.get_id(name).get_type()
        assert kind.get_strpad() == h5py.h5t.STR_NULLTERM
        assert kind.get_size() == len(coarse.attrs[name]) + 1
    assert coarse.attrs["file_type"] == b"input"
    assert (coarse.attrs["major_version"], coarse.attrs["minor_version"]) == (b"1", b"2")


def test_fields_have_the_grid_shape(coarse):
    shape = tuple(int(number(coarse, name)) for name in ("Nz", "Ny", "Nx"))
    for name in ("c0", "rho0", "rho0_sgx", "rho0_sgy", "rho0_sgz", "alpha_coeff", "BonA"):
        assert coarse[name].shape == shape, name
    rho, staggered = coarse["rho0"][()], coarse["rho0_sgy"][()]
    assert np.allclose(staggered[:, :-1], 0.5 * (rho[:, 1:] + rho[:, :-1]))
    assert np.array_equal(staggered[:, -1], rho[:, -1])


def test_source_points_lie_in_the_gel_inside_the_absorbing_layer(script, coarse):
    shape = coarse["c0"].shape
    index = coarse["p_source_index"][0, 0].astype(int) - 1
    assert np.all(np.diff(index) > 0)
    z, y, x = np.unravel_index(index, shape)
    assert np.all(coarse["c0"][()].ravel()[index] == script.GEL.sound_speed)
    for position, size in ((z, shape[0]), (y, shape[1]), (x, shape[2])):
        assert position.min() >= 10 and position.max() < size - 10
    assert coarse["p_source_input"].shape == (1, number(coarse, "p_source_flag"), index.size)


def test_sensor_boxes_lie_inside_the_absorbing_layer(coarse):
    sizes = [int(number(coarse, name)) for name in ("Nx", "Ny", "Nz")]
    for corners in coarse["sensor_mask_corners"][0].astype(int):
        for axis, size in enumerate(sizes):
            assert 10 < corners[axis] <= corners[axis + 3] <= size - 10


def test_full_size_resolves_the_second_harmonic(script):
    grid = script.Grid.scaled(1.0)
    slowest, fastest = script.FAT.sound_speed, script.CARTILAGE.sound_speed
    assert slowest / (2 * script.FREQUENCY_HZ) / (grid.spacing * 1e-3) >= 4.0
    assert fastest * grid.dt_s / (grid.spacing * 1e-3) <= 0.31


def test_case_file_names_the_script():
    case = tomllib.loads((EXAMPLES / "quickstart.toml").read_text())
    assert case["case"]["simulation"] == "ultrasound"
    assert (EXAMPLES / case["input"]["script"]).exists()
    assert case["record"]["start"] <= 600
