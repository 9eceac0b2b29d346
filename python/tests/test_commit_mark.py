# SPDX-License-Identifier: BSD-3-Clause
"""What the commit mark of an output file says about its completeness."""

import h5py
import pytest

import run_dirs
from tailrace import commit_mark


def test_smallest_slot_counts(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5", recorded=40, closed=False)
    with h5py.File(tmp_path / "out.h5", "a") as file:
        file[commit_mark.NAME][0, 0, 1] = 37
    assert commit_mark.recorded_steps(tmp_path / "out.h5") == 37


@pytest.mark.parametrize(
    ("steps", "stored", "complete"),
    [(60, 50, 50), (40, 50, 30), (11, 50, 1), (10, 50, 0), (0, 50, 0), (40, 60, 40)],
)
def test_samples_of_series_that_start_late(steps, stored, complete):
    assert commit_mark.CommitMark((steps, 60), 60, 0).samples(stored) == complete


def test_complete_samples_of_series_reductions_and_settings(tmp_path):
    run_dirs.write_output(tmp_path / "killed.h5", recorded=40, closed=False)
    run_dirs.write_output(tmp_path / "stopped.h5", recorded=40)
    for name, reduced in (("killed.h5", 0), ("stopped.h5", 1)):
        with h5py.File(tmp_path / name) as file:
            found = commit_mark.read(file)
            assert commit_mark.complete_samples(file["p/1"], found) == 30
            assert commit_mark.complete_samples(file["p_max/1"], found) == reduced
            assert commit_mark.complete_samples(file["Nx"], found) == 1
            assert not found.finished


def test_files_without_a_commit_mark_fall_back_to_t_index(tmp_path):
    run_dirs.write_output(tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5", "a") as file:
        del file[commit_mark.NAME]
        assert commit_mark.read(file).finished
        assert commit_mark.complete_samples(file["p/1"], commit_mark.read(file)) == 50
        del file["t_index"]
        assert commit_mark.read(file).steps is None
        assert commit_mark.complete_samples(file["p/1"], commit_mark.read(file)) is None
