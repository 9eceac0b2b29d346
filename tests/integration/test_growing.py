# SPDX-License-Identifier: BSD-3-Clause
"""Samples of open number and of any size, through the program and in Python."""

import h5py
import numpy as np
import pytest

import jobs
import tailrace
from tailrace.inspect import inspect_file

CELLS, STEPS = (9, 8, 5), 12
SIZE = ["--cells", ",".join(map(str, CELLS)), "--steps", STEPS, "--quiet", "--select", "varying"]
CHUNKED = ["--write", "threads", "--sink", "hdf5-chunked", "--flush", "sample"]


def expected(step: int) -> np.ndarray:
    """The rows of a step: number and value of every s-th point, s = step mod 5, none for 0."""
    numbers = np.arange(np.prod(CELLS))
    stride = step % 5
    numbers = numbers[numbers % stride == 0] if stride else numbers[:0]
    return np.stack([numbers, numbers + step * np.prod(CELLS)], axis=1).astype(float)


def check(path, last: int) -> None:
    """Compares what `tailrace.open` says with the formula, up to and with step `last`."""
    run = tailrace.open(path)
    node = run.datasets["varying"]
    assert node["step"].values.tolist() == list(range(1, last + 1))
    ends = np.cumsum(node["count"].values)
    parts = np.split(run["varying"].values, ends[:-1])
    for step, part in zip(range(1, last + 1), parts, strict=True):
        assert np.array_equal(part, expected(step)), step


@pytest.mark.parametrize("ranks", [1, 3])
def test_records_of_any_number(tmp_path, ranks):
    path = tmp_path / "out.h5"
    ended = jobs.rehearse("-o", path, *SIZE, *CHUNKED, "--verify", ranks=ranks)
    assert ended.status == 0, ended
    check(path, STEPS)
    held = {entry.path: entry for entry in inspect_file(path, verify=True).datasets}
    assert held["varying/values"].samples == sum(len(expected(step)) for step in range(1, STEPS + 1))


def test_killed_run_leaves_whole_samples(tmp_path):
    path = tmp_path / "out.h5"
    ended = jobs.rehearse("-o", path, *SIZE, "--select", "whole", *CHUNKED, "--fault", "kill:step=7", ranks=2)
    assert ended.status != 0, ended
    found = jobs.rehearse("--verify", path)
    with h5py.File(path) as file:
        recorded = int(file["tailrace_record"][()].min())
    assert 0 < recorded < 7 and found.status == 0, (recorded, found)
    assert "did not end in good order" in found.out
    check(path, recorded)


def test_refused_by_sinks_of_fixed_size(tmp_path):
    ended = jobs.rehearse("-o", tmp_path / "out.h5", *SIZE, "--sink", "hdf5")
    assert ended.status == 2, ended
    assert "varying: the size of its samples is not known beforehand, which --sink hdf5 needs" in str(ended)
    assert "Fix: --sink hdf5-chunked" in str(ended) and not (tmp_path / "out.h5").exists()
