# SPDX-License-Identifier: BSD-3-Clause
"""Sizes beyond 32 bits, where public programs go wrong: elements of a field, bytes of a message."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from test_rehearse import world

pytestmark = pytest.mark.full

LIMIT_S = 900.0
GIB = 1 << 30


def needs(memory_gib: float, disk_gib: float, directory: Path) -> None:
    """Skips the test on a machine that is too small for it."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    available = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    disk = os.statvfs(directory)
    free = disk.f_bavail * disk.f_frsize
    if available < memory_gib * GIB or free < disk_gib * GIB:
        pytest.skip(
            f"wants {memory_gib} GiB of memory and {disk_gib} GiB of disk,"
            f" there are {available / GIB:.1f} and {free / GIB:.1f}"
        )


def near_the_corner(directory: Path, points: int, ranks: int) -> np.ndarray:
    """Waves of a source near the far corner of a cube of so many points per axis, as recorded around it."""
    source, low = points - 14, points - 24
    case = f"""
[case]
simulation = "seismic"
[domain]
cells = [{points}, {points}, {points}]
spacing_m = [10, 10, 10]
[time]
dt_s = 0.001
steps = 4
[model]
equations = "isotropic"
vp_m_s = 3000
[source]
wavelet = "ricker"
fcut_hz = 40
cell = [{source}, {source}, {source}]
[[output]]
name = "corner"
quantity = "p"
select = {{box = [[{low}, {low}, {low}], [{points - 1}, {points - 1}, {points - 1}]]}}
every = 1
"""
    directory.mkdir()
    (directory / "case.toml").write_text(case)
    words = ["--case", directory / "case.toml", "--out", directory / "run", "--quiet", "--write", "blocking"]
    ended = jobs.seismic(*words, ranks=ranks, limit_s=LIMIT_S)
    assert ended.status == 0, ended
    with h5py.File(directory / "run/output.h5") as file:
        return file["corner/values"][()]


@pytest.mark.parametrize("ranks", [1, 2])
def test_waves_beyond_the_two_thousand_millionth_point(tmp_path, ranks):
    points = 1300
    assert points**3 > 1 << 31
    needs(19.5, 1, tmp_path)
    small = near_the_corner(tmp_path / "small", 64, ranks)
    assert np.abs(small[-1]).max() > 0
    assert near_the_corner(tmp_path / "large", points, ranks).tobytes() == small.tobytes()


@pytest.mark.parametrize("strategy", ["blocking", "threads"])
def test_a_dataset_of_more_elements(tmp_path, strategy):
    """Its values are looked at one by one, all of them."""
    needs(20, 9, tmp_path)
    words = ["--cells", "1300", "--steps", "1", "--every", "1", "--write", strategy, "--sink", "hdf5"]
    words += ["--precision", "float32", "--compute", "none", "--select", "whole", "--verify"]
    ended = jobs.rehearse("-o", tmp_path / "out.h5", *words, ranks=2, limit_s=LIMIT_S)
    assert ended.status == 0, ended


@pytest.mark.parametrize("strategy", ["ranks:1,send", "ranks:1,isend", "leaders", "threads"])
def test_a_sample_of_more_bytes_from_one_rank(tmp_path, strategy):
    needs(14, 3, tmp_path)
    words = ["--cells", "820", "--steps", "1", "--every", "1", "--write", strategy, "--sink", "hdf5"]
    words += ["--precision", "float32", "--compute", "none", "--select", "whole", "--verify"]
    assert 4 * 820**3 > 1 << 31
    ended = jobs.rehearse("-o", tmp_path / "out.h5", *words, ranks=world(1, strategy), limit_s=LIMIT_S)
    assert ended.status == 0, ended
