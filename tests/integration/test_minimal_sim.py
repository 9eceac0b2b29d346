# SPDX-License-Identifier: BSD-3-Clause
"""examples/minimal_sim: a simulation of one's own on the installed library, built, run and resumed."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
import tailrace
from built_examples import EXAMPLES
from tailrace.inspect import inspect_file

SOURCE = EXAMPLES / "minimal_sim"


@pytest.fixture(scope="module")
def program(build_example) -> Path:
    return build_example("minimal_sim", "tailrace-minimal")


def start(program: Path, run_dir: Path, *options, ranks: int) -> jobs.Ended:
    words = ["--case", SOURCE / "case.toml", "--out", run_dir, *options]
    return jobs.Job(words, ranks, command=[str(program)]).wait()


def reference() -> tuple[np.ndarray, np.ndarray]:
    """The same scheme in NumPy: the slices, and the largest temperatures."""
    now = np.zeros((26, 26, 26))
    now[13, 13, 13] = 1000
    slices, hottest = [], np.full((24, 24, 24), -np.inf)
    for step in range(1, 61):
        inner = now[1:-1, 1:-1, 1:-1]
        around = now[1:-1, 1:-1, :-2] + now[1:-1, 1:-1, 2:] + now[1:-1, :-2, 1:-1] + now[1:-1, 2:, 1:-1]
        around = around + now[:-2, 1:-1, 1:-1] + now[2:, 1:-1, 1:-1]
        after = np.zeros_like(now)
        after[1:-1, 1:-1, 1:-1] = inner + 0.1 * (around - 6 * inner)
        now = after
        hottest = np.maximum(hottest, now[1:-1, 1:-1, 1:-1])
        if step % 5 == 0:
            slices.append(now[13, 1:-1, 1:-1])
    return np.array(slices), hottest


def test_less_than_100_lines_and_no_call_of_mpi():
    text = (SOURCE / "minimal_sim.cpp").read_text()
    assert len(text.splitlines()) < 100 and "MPI_" not in text


@pytest.mark.parametrize(("first", "second"), [(2, 3), (3, 1)])
def test_it_runs_and_resumes(program, first, second, tmp_path):
    whole = tmp_path / "whole"
    ended = start(program, whole, ranks=first)
    assert ended.status == 0, ended
    with h5py.File(whole / "output.h5") as file:
        slices, hottest = reference()
        assert np.allclose(file["slices/values"][()].reshape(slices.shape), slices, rtol=1e-5, atol=1e-9)
        assert np.allclose(file["hottest/values"][()].reshape(hottest.shape), hottest, rtol=1e-5, atol=1e-9)
    again = start(program, whole, ranks=first)
    assert again.status == 2 and "the run directory exists" in again.err, again
    segments = tmp_path / "legs"
    shutil.copytree(whole, segments)
    for step in (40, 60):  # as if it had been killed after step 20
        shutil.rmtree(segments / f"checkpoints/step-{step:012d}", ignore_errors=True)
    left = sorted(path.name for path in (segments / "checkpoints").iterdir())
    assert left == ["step-000000000020"], left
    ended = start(program, segments, "--resume", ranks=second)
    assert ended.status == 0, ended
    assert jobs.account(segments)["resumed_from"] == 20
    expected, found = jobs.read_datasets(whole / "output.h5"), jobs.read_datasets(segments / "output.h5")
    for name in ("slices/values", "hottest/values", "slices/step"):
        assert found[name].tobytes() == expected[name].tobytes(), name


def test_bad_input(program, tmp_path):
    case = tmp_path / "case.toml"
    case.write_text('[case]\nsimulation = "minimal"\n[heat]\ncels = 3\n')
    words = ["--case", case, "--out", tmp_path / "run"]
    ended = jobs.Job(words, 2, command=[str(program)]).wait()
    assert ended.status == 2 and "did you mean heat.cells?" in ended.err, ended


def test_a_loop_of_its_own_writes_the_same_file(program, build_example, tmp_path):
    plain = build_example("plain_mpi", "plain_mpi")
    assert start(program, tmp_path / "run", ranks=2).status == 0
    ended = jobs.Job([tmp_path / "out.h5"], 3, command=[str(plain)]).wait()
    assert ended.status == 0, ended
    expected, found = jobs.read_datasets(tmp_path / "run/output.h5"), jobs.read_datasets(tmp_path / "out.h5")
    assert len(found) > 6  # values, step and time_s of both groups, and the commit mark
    for group in ("slices", "hottest"):
        for name in ("values", "step", "time_s"):
            path = f"{group}/{name}"
            assert found[path].dtype == expected[path].dtype, path
            assert found[path].tobytes() == expected[path].tobytes(), path
    info = inspect_file(tmp_path / "out.h5")
    assert info.closed and info.steps_planned == info.steps_recorded == 60 and not info.notes, info
    hottest = tailrace.open(tmp_path / "out.h5")["hottest"]
    assert hottest.values.tobytes() == found["hottest/values"].tobytes()


def test_the_plain_program_names_what_is_wrong(build_example, tmp_path):
    ended = jobs.Job(
        [tmp_path / "missing/out.h5"], 2, command=[str(build_example("plain_mpi", "plain_mpi"))]
    ).wait()
    assert ended.status == 3 and "missing/out.h5" in ended.err, ended
