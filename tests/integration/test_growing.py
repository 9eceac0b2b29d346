# SPDX-License-Identifier: BSD-3-Clause
"""Samples of open number and of any size, through the program and in Python."""

from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
import tailrace
from tailrace.inspect import inspect_file

CELLS, STEPS = (9, 8, 5), 12
SIZE = ["--cells", ",".join(map(str, CELLS)), "--steps", STEPS, "--quiet", "--select", "varying"]
PLACED = ["--write", "threads", "--sink", "hdf5", "--flush", "sample"]
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


@pytest.mark.parametrize("sink", [CHUNKED, PLACED], ids=["chunked", "placed"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_records_of_any_number(tmp_path, ranks, sink):
    path = tmp_path / "out.h5"
    ended = jobs.rehearse("-o", path, *SIZE, *sink, "--verify", ranks=ranks)
    assert ended.status == 0, ended
    check(path, STEPS)
    held = {entry.path: entry for entry in inspect_file(path, verify=True).datasets}
    assert held["varying/values"].samples == sum(len(expected(step)) for step in range(1, STEPS + 1))


@pytest.mark.parametrize("sink", [CHUNKED, PLACED], ids=["chunked", "placed"])
def test_killed_run_leaves_whole_samples(tmp_path, sink):
    path = tmp_path / "out.h5"
    ended = jobs.rehearse("-o", path, *SIZE, "--select", "whole", *sink, "--fault", "kill:step=7", ranks=2)
    assert ended.status != 0, ended
    found = jobs.rehearse("--verify", path)
    with h5py.File(path) as file:
        recorded = int(file["tailrace_record"][()].min())
    assert 0 < recorded < 7 and found.status == 0, (recorded, found)
    assert "did not end in good order" in found.out
    check(path, recorded)


def test_refused_by_sinks_of_fixed_size(tmp_path):
    ended = jobs.rehearse("-o", tmp_path / "out.rsf", *SIZE, "--sink", "rsf")
    assert ended.status == 2, ended
    assert "varying: the size of its samples is not known beforehand, which --sink rsf needs" in str(ended)
    assert "Fix: --sink hdf5 or hdf5-chunked" in str(ended) and not (tmp_path / "out.rsf").exists()
    ended = jobs.rehearse("-o", tmp_path / "out.h5", *SIZE, "--write", "spawn-each", ranks=2)
    assert ended.status == 2 and "--sink hdf5 needs with --write spawn-each" in str(ended), ended


def test_each_rank_writes_its_own_rows_whoever_writes(tmp_path):
    """The file of the rows is a file of HDF5 in itself, and the same from every strategy and any ranks."""
    files = {}
    for strategy, ranks in [
        ("blocking", 1),
        ("threads:3", 3),
        ("leaders", 3),
        ("ranks:1", 4),
        ("uring", 2),
        ("spawn:1", 2),
    ]:
        path = tmp_path / f"{strategy.replace(':', '-')}.h5"
        ended = jobs.rehearse(
            "-o", path, *SIZE, "--select", "whole", "--write", strategy, "--verify", ranks=ranks
        )
        assert ended.status == 0, (strategy, ended)
        check(path, STEPS)
        files[strategy] = Path(f"{path}.rows", "varying.h5").read_bytes()
    assert len(set(files.values())) == 1, {name: len(content) for name, content in files.items()}
    with h5py.File(Path(f"{path}.rows", "varying.h5")) as file:
        assert file["values"].shape == (sum(len(expected(step)) for step in range(1, STEPS + 1)), 2)


def test_output_and_rows_move_together(tmp_path):
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / "out.h5"
    assert jobs.rehearse("-o", path, *SIZE, *PLACED, ranks=2).status == 0
    (tmp_path / "a").rename(tmp_path / "b")
    path = tmp_path / "b" / "out.h5"
    check(path, STEPS)
    assert not inspect_file(path).problems
    rows = Path(f"{path}.rows")
    rows.rename(tmp_path / "elsewhere")
    (problem,) = inspect_file(path).problems
    assert "out.h5.rows/varying.h5" in problem, problem
    again = jobs.rehearse("-o", path, *SIZE, "--sink", "hdf5-chunked", "--overwrite", ranks=2)
    assert again.status == 0 and not rows.exists(), again
