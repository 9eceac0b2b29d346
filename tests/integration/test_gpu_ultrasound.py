# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs of ultrasound on a device, as test_gpu.py has them of seismic waves."""

from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from device_runs import DEVICE, STOPS, assert_same, computed, stop_and_resume
from kwave_input import GRID, GRID_2D, STEPS, small_input
from shared import Shared
from tailrace.doctor import devices_here
from tailrace.trace import read_run

RECORDED = (
    "p_raw",
    "u_raw",
    "u_non_staggered_raw",
    "p_rms",
    "p_max_all",
    "p_final",
    "u_final",
    "I_avg",
    "Q_term",
)


def start(directory: Path, *options, ranks: int = 0, grid=GRID) -> jobs.Job:
    source = small_input(grid).write(directory / "input.h5")
    recorded = [f"--{name}" for name in RECORDED]
    words = ["--case", source, "--out", directory / "run", "--quiet", "-t", "1", *recorded, *options]
    return jobs.Job(words, ranks, [str(jobs.PROGRAM)])


def run(directory: Path, *options, **how) -> jobs.Ended:
    return start(directory, *options, **how).wait()


def values(run_dir: Path) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}

    def add(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype == np.float32 and item.size > 1:
            found[name] = item[()]

    with h5py.File(run_dir / "output.h5") as file:
        file.visititems(add)
    return found


def assert_near(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """Within rounding; of velocities and intensities, that of the largest component."""
    assert found.keys() == expected.keys() and len(found) > 15
    for name, known in expected.items():
        kind = name[0]
        largest = max(np.abs(other).max() for key, other in expected.items() if key[0] == kind)
        assert np.isfinite(found[name]).all(), name
        assert np.abs(found[name] - known).max() <= 1e-5 * largest, name


@pytest.fixture
def processor(once: Shared) -> Path:
    return once("ultrasound for devices by the processor", computed(start))


@pytest.fixture
def device(once: Shared) -> Path:
    return once("ultrasound by a device", computed(start, "--device", DEVICE))


def test_a_run_on_a_device_is_that_of_the_processor(processor, device):
    assert_near(values(device), values(processor))
    [rank] = jobs.account(device)["per_rank"]
    assert rank["device"]["index"] == 0
    arrays = rank["predicted_device_memory_bytes"] / (4 * np.prod(GRID))
    assert arrays > 7 + 4 + 8 + 3  # fields, spectra, medium, velocities at the grid points
    assert "device" not in jobs.account(processor)["per_rank"][0]


def test_two_dimensions_on_two_ranks_and_the_trace_of_their_device(tmp_path):
    ended = run(tmp_path, "--device", DEVICE, "--write", "threads", ranks=2, grid=GRID_2D)
    assert ended.status == 0, ended
    trace = read_run(tmp_path / "run")
    assert not trace.problems
    for rank in trace.ranks:
        kernels, copies, transposes = (
            rank.select(thread, kind)
            for thread, kind in (
                ("device", "compute"),
                ("device copies", "pack"),
                ("device transposes", "exchange"),
            )
        )
        assert list(kernels["step"]) == list(range(1, STEPS + 1))
        assert sorted(set(copies["step"])) == list(range(1, STEPS + 1))
        assert (transposes["bytes"] > 0).all() and set(transposes["step"]) >= set(range(1, STEPS + 1))


@pytest.mark.parametrize("stop", STOPS)
def test_a_run_that_is_stopped_on_one_continues_on_the_other(stop, processor, tmp_path):
    stop_and_resume(start, tmp_path, stop, STEPS, latency="4ms")
    assert_near(values(tmp_path / "run"), values(processor))


def test_a_device_that_is_lost_leaves_the_last_checkpoint_from_which_it_resumes(device, tmp_path):
    often = ("--set", "checkpoint.every=7")
    ended = run(tmp_path, *often, "--device", "emulated:failing_copy=1000", ranks=2)
    assert ended.status == 3, ended
    assert "the emulated device failed in a copy" in ended.err
    assert ended.seconds < jobs.LIMIT_S / 2
    ended = run(tmp_path, *often, "--device", DEVICE, "--resume")
    assert ended.status == 0, ended
    assert jobs.account(tmp_path / "run")["resumed_from"] > 0
    if DEVICE == "emulated":  # other devices' transforms may round otherwise where a rank has other planes
        assert_same(values(tmp_path / "run"), values(device))
    assert_near(values(tmp_path / "run"), values(device))


def kwave(directory: Path, *options) -> jobs.Ended:
    source = small_input(GRID_2D, steps=9).write(directory / "input.h5")
    return jobs.Job(["-i", source, "-o", directory / "out.h5", *options], 0, [str(jobs.PROGRAM)]).wait()


def test_k_waves_option_names_the_device(tmp_path):
    ended = kwave(tmp_path, "--device", DEVICE)
    assert ended.status == 0, ended
    assert "Selected GPU device id:" in ended.out and "GPU device name:" in ended.out, ended
    if devices_here()[0]:
        ended = kwave(tmp_path, "-g", "0")
        assert ended.status == 0 and "Selected GPU device id:" in ended.out, ended
        ended = kwave(tmp_path, "-g", "1000")
        assert ended.status == 1 and "-g 1000: there is no device 1000 here" in ended.err, ended
    else:
        ended = kwave(tmp_path, "-g", "0")
        assert ended.status == 0 and "GPU device" not in ended.out, ended
        assert "warning: -g 0: the processor computes: " in ended.err


def test_a_device_that_is_too_small_is_refused_before_anything_is_made(tmp_path):
    ended = run(tmp_path, "--device", "emulated:memory=5MB")
    assert ended.status == 2, ended
    for words in (
        "Nx = 24, Ny = 20, Nz = 18",
        "of the memory of device 0 (emulated device)",
        "--device none",
    ):
        assert words in ended.err, ended
    assert not (tmp_path / "run").exists()
