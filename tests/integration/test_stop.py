# SPDX-License-Identifier: BSD-3-Clause
"""Stopping in good order: signals and the wall-clock limit leave a complete file of the steps done."""

import contextlib
import os
import signal
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

import jobs
from kwave_input import STEPS, small_input
from matrix import each_value
from test_faults import write_case

pytestmark = pytest.mark.usefixtures("launcher_waits")

SLOW = ["--pace", "latency=20ms"]
LAUNCHER_WAITS_S = 1.0
"""Between Open MPI's SIGTERM to the ranks and its SIGKILL."""


@pytest.fixture
def case(small, tmp_path) -> Path:
    return write_case(tmp_path, small)


def assert_stopped(run_dir: Path, clean: Path, reason: str) -> int:
    """The file is complete up to the last step, reductions included; returns that step."""
    reported = jobs.account(run_dir)
    assert reported["status"] == "stopped" and reason in reported["reason"], reported
    assert "error" not in reported
    steps = reported["steps"]
    assert 0 < steps < STEPS
    output = run_dir / "output.h5"
    assert jobs.assert_recorded_samples_equal(output, clean) == steps
    found, whole = jobs.read_datasets(output), jobs.read_datasets(clean)
    assert found["t_index"].item() == steps
    for box in ("1", "2"):
        series = whole[f"p/{box}"][:steps]
        assert np.array_equal(found[f"p_max/{box}"], series.max(axis=0))
        assert np.array_equal(found[f"ux_min/{box}"], whole[f"ux/{box}"][:steps].min(axis=0))
        rms = np.sqrt(np.mean(series.astype("f8") ** 2, axis=0))
        assert np.allclose(found[f"p_rms/{box}"], rms, rtol=1e-5, atol=0)
        assert not found[f"p/{box}"][steps:].any()
    z, y, x = slice(1, 15), slice(3, 17), slice(2, 22)  # box 1
    assert np.array_equal(found["p_final"][z, y, x], whole["p/1"][steps - 1])
    assert np.array_equal(found["p_max_all"][z, y, x], whole["p/1"][:steps].max(axis=0))
    assert not (run_dir / "progress.json").exists()
    return steps


def wait_for_steps(job: jobs.Job, run_dir: Path, steps: int) -> None:
    job.wait_for(lambda: jobs.recorded_steps(run_dir / "output.h5") >= steps, "recorded step")


@each_value("number, ranks", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR2], [2, 3])
def test_signal_to_one_rank(number, ranks, case, clean, tmp_path):
    """Whichever rank is asked, all stop after the same step."""
    run_dir = tmp_path / "run"
    job = jobs.Job(["--case", case, "--out", run_dir, "--quiet", *SLOW], ranks)
    wait_for_steps(job, run_dir, 5)
    job.send(number, rank=ranks - 1)
    ended = job.wait()
    assert ended.status == 4, ended
    assert ended.seconds < jobs.ENDS_WITHIN_S
    assert jobs.messages(ended) == []
    reason = "another rank" if ranks > 1 else ""
    assert_stopped(run_dir, clean(ranks), reason)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_to_the_command(number, case, clean, tmp_path):
    run_dir = tmp_path / "run"
    command = ["run", case, "--out", run_dir, "-n", "2", "-t", "1", "--no-report", *SLOW]
    job = jobs.Job(command, command=jobs.TAILRACE)
    wait_for_steps(job, run_dir, 5)
    job.send(number)
    ended = job.wait()
    assert ended.status == 4, ended
    assert ended.seconds < jobs.ENDS_WITHIN_S
    assert_stopped(run_dir, clean(2), "")


def test_the_ranks_end_with_a_killed_command(case, tmp_path):
    """Nobody can catch SIGKILL: the launcher hears of it, and stops the ranks in good order."""
    run_dir = tmp_path / "run"
    command = ["run", case, "--out", run_dir, "-n", "2", "-t", "1", "--no-report", *SLOW]
    job = jobs.Job(command, command=jobs.TAILRACE)
    wait_for_steps(job, run_dir, 5)
    assert len(job.rank_processes()) == 2
    job.send(signal.SIGKILL)
    job.wait()  # until no process of it is left
    assert jobs.account(run_dir)["status"] == "stopped"


def test_signal_to_every_process(case, clean, tmp_path):
    """As a batch system does at its time limit; stopping in good order takes longer than a launcher waits."""
    if jobs.waits_spin():
        pytest.skip("Hydra passes SIGTERM on, and ends the job at the second one")
    run_dir = tmp_path / "run"
    words = ["run", case, "--out", run_dir, "-n", "2", "--no-report", "--write", "blocking"]
    job = jobs.Job([*words, "--pace", "latency=50ms"], command=jobs.TAILRACE)
    wait_for_steps(job, run_dir, 1)
    asked = time.monotonic()
    for pid in job.processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    ended = job.wait()
    assert time.monotonic() - asked > LAUNCHER_WAITS_S, "nothing here takes longer than the launcher waits"
    assert ended.status == 4, ended
    reported = assert_stopped(run_dir, clean(2), "")
    assert [path.name for path in (run_dir / "checkpoints").iterdir()] == [f"step-{reported:012d}"]


def test_signal_to_one_process_without_a_launcher(small, clean, tmp_path):
    """k-Wave's habits know no status for a stop: 1, but the file is complete."""
    output = tmp_path / "out.h5"
    job = jobs.Job(["-i", small, "-o", output, "-p", "--p_max", "--quiet", "--pace", "latency=100ms"])
    job.wait_for(lambda: jobs.recorded_steps(output) >= 5, "recorded step")
    job.send(signal.SIGTERM, rank=0)
    ended = job.wait()
    assert ended.status == 1, ended
    with h5py.File(output) as file, h5py.File(clean(1)) as whole:
        steps = file["t_index"][0, 0, 0]
        assert 5 <= steps < STEPS
        assert np.array_equal(file["p/1"][:steps], whole["p/1"][:steps])
        assert np.array_equal(file["p_max/1"][()], whole["p/1"][:steps].max(axis=0))


def test_wall_clock_limit(case, clean, tmp_path):
    run_dir = tmp_path / "run"
    ended = jobs.run("--case", case, "--out", run_dir, "--quiet", *SLOW, "--wall-limit", "0.6s", ranks=2)
    assert ended.status == 4, ended
    assert_stopped(run_dir, clean(2), "wall-clock limit of 0.6 s")


def test_signal_before_the_first_step(tmp_path):
    """A stop that is asked for while the input is read takes effect after the first step."""
    path = small_input(steps=STEPS).write(tmp_path / "in.h5")
    run_dir = tmp_path / "run"
    ended = jobs.run("--case", path, "--out", run_dir, "--quiet", "--wall-limit", "0s", ranks=2)
    assert ended.status == 4, ended
    assert 1 <= jobs.account(run_dir)["steps"] <= 3
