# SPDX-License-Identifier: BSD-3-Clause
"""k-Wave's own OpenMP binary and ours take turns in one run. TAILRACE_KWAVE names it (release 1.3, public
sources); without it these tests are skipped.
"""

import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from kwave_input import small_input

KWAVE = os.environ.get("TAILRACE_KWAVE", "")
STEPS, FIRST = 40, 15
# Of the largest pressure, or component of the velocity, in any dataset.
LIMIT = 1e-5
# Not --p_final and --u_final: k-Wave wants to create their datasets itself; ours are there from the start.
RECORDED = ["--p_raw", "--p_rms", "--p_max", "--p_min", "--p_max_all", "--p_min_all"]
RECORDED += ["--u_raw", "--u_rms", "--u_max", "--u_max_all", "--u_non_staggered_raw"]

pytestmark = pytest.mark.skipif(not KWAVE, reason="TAILRACE_KWAVE names no binary of k-Wave's")


class Run:
    """One run's files, of which either program computes some steps."""

    def __init__(self, directory: Path, grid: tuple[int, int, int]) -> None:
        self.input, self.output, self.state = (directory / name for name in ("in.h5", "out.h5", "state.h5"))
        small_input(grid, STEPS).write(self.input)

    def words(self, output: Path, steps: int) -> list[str]:
        files = ["-i", str(self.input), "-o", str(output), "--checkpoint_file", str(self.state)]
        return [*files, "--checkpoint_timesteps", str(steps), *RECORDED]

    def kwave(self, output: Path, steps: int = STEPS) -> None:
        done = subprocess.run([KWAVE, "-t", "1", *self.words(output, steps)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr

    def ours(self, ranks: int, steps: int = STEPS) -> None:
        ended = jobs.Job([*self.words(self.output, steps), "--quiet"], ranks).wait()
        assert ended.status == 0, ended

    def leave_wisdom(self) -> None:
        """What FFTW measured for this grid, beside the checkpoint. Without it k-Wave 1.3 measures over the
        state that it has read.
        """
        other = self.output.with_name("other.h5")
        self.kwave(other, 1)
        self.state.unlink()
        assert self.state.with_suffix(".FFTW_Wisdom").exists()


def datasets(path: Path) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}

    def take(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()].astype(np.float64)

    with h5py.File(path) as file:
        file.visititems(take)
    return found


def assert_same(found: Path, expected: Path) -> None:
    ours, theirs = datasets(found), datasets(expected)
    assert set(theirs) <= set(ours)
    assert sum(values.size > 1 for values in theirs.values()) > len(RECORDED)
    for name, values in theirs.items():
        alike = [np.abs(other).max() for key, other in theirs.items() if other.size > 1 and key[0] == name[0]]
        limit = LIMIT * (np.abs(values).max() if values.size == 1 else max(alike))
        assert np.abs(ours[name] - values).max() <= limit, name


@pytest.fixture(params=[(24, 20, 18), (48, 40, 1)], ids=["3D", "2D"])
def run(request, tmp_path):
    return Run(tmp_path, request.param)


@pytest.fixture
def whole(run):
    path = run.output.with_name("whole.h5")
    run.kwave(path)
    return path


@pytest.mark.parametrize("ranks", [1, 2])
def test_kwave_resumes_from_our_checkpoint(run, whole, ranks):
    run.leave_wisdom()
    run.ours(ranks, FIRST)
    run.kwave(run.output)
    assert not run.state.exists()
    assert_same(run.output, whole)


@pytest.mark.parametrize("ranks", [1, 2])
def test_ours_resumes_from_a_checkpoint_of_kwave(run, whole, ranks):
    run.kwave(run.output, FIRST)
    run.ours(ranks)
    assert not run.state.exists()
    assert_same(run.output, whole)
