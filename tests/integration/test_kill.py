# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of any rank at any moment: the job ends by itself and the file is right up to its record."""

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

import jobs
from conftest import SENSOR_DATA
from matrix import pairwise
from test_faults import SINKS, write_case

pytestmark = pytest.mark.usefixtures("launcher_waits")


@pytest.fixture
def case(small, tmp_path) -> Path:
    return write_case(tmp_path, small)


def assert_ended_by_itself(ended: jobs.Ended) -> None:
    assert ended.status != 0, ended
    assert ended.seconds < jobs.ENDS_WITHIN_S, ended


def writes(sink: str, strategy: str, ranks: int, kill_target: int) -> bool:
    """Whether a rank writes. A sink that takes the samples of each rank from it alone serves no leaders."""
    if sink == "hdf5":
        return kill_target < ranks and (strategy != "leaders:2" or kill_target % 2 == 0)
    return kill_target == 0 and strategy != "leaders:2"


@pairwise(
    "sink, strategy, ranks, kill_target",
    list(SINKS), ["threads", "blocking", "leaders:2"], [2, 3], [0, 1, 2],
    allowed=writes,
)  # fmt: skip
def test_in_the_middle_of_a_write(sink, strategy, ranks, kill_target, small, clean, tmp_path):
    """The first half of a write is in the file when the process dies."""
    output = tmp_path / "out.h5"
    options = ["--quiet", "--write", strategy, "--fault", f"kill:rank={kill_target},step=20", *SINKS[sink]]
    ended = jobs.run("-i", small, "-o", output, *SENSOR_DATA, *options, ranks=ranks)
    assert_ended_by_itself(ended)  # set-up and twenty steps included
    assert 1 <= jobs.assert_recorded_samples_equal(output, clean(ranks)) < 20


def test_a_rank_that_never_writes_is_not_killed(small, clean, tmp_path):
    """Its leader writes for it, and the run says so."""
    output = tmp_path / "out.h5"
    options = ["--quiet", "--write", "leaders", "--fault", "kill:rank=1,step=20"]
    ended = jobs.run("-i", small, "-o", output, *SENSOR_DATA, *options, ranks=2)
    assert ended.status == 0, ended
    assert "nothing was killed: rank 1 has made no such write (--write leaders" in ended.err, ended
    jobs.assert_equal_files(output, clean(1))


@pairwise(
    "sink, ranks, kill_target",
    list(SINKS),
    [2, 3],
    [0, 1, 2],
    allowed=lambda _, ranks, kill_target: kill_target < ranks,
)
def test_while_computing(sink, ranks, kill_target, case, clean, tmp_path):
    run_dir = tmp_path / "run"
    options = ["--quiet", "--pace", "latency=20ms", *SINKS[sink]]
    job = jobs.Job(["--case", case, "--out", run_dir, *options], ranks)
    job.wait_for(lambda: jobs.recorded_steps(run_dir / "output.h5") >= 3, "recorded step")
    job.send(signal.SIGKILL, rank=kill_target)
    assert_ended_by_itself(job.wait())
    jobs.assert_recorded_samples_equal(run_dir / "output.h5", clean(ranks), least=3)
    assert not (run_dir / "run.json").exists()


# What says how far a run has come that has no step yet.
SIGNS = {"first line": "", "directory": ".", "output": "output.h5", "first step": "progress.json"}


@pairwise("sink, ranks, sign", list(SINKS), [2, 3], list(SIGNS))
def test_during_set_up(sink, ranks, sign, case, clean, tmp_path):
    """From our own first line on, further and further: there may be no file yet, but never a broken one."""
    run_dir = tmp_path / "run"
    options = ["--quiet", "--pace", "latency=50ms", *SINKS[sink]]
    job = jobs.Job(["--case", case, "--out", run_dir, *options], ranks)
    job.wait_for(lambda: ranks_under_way(job) == ranks, "rank")
    if SIGNS[sign]:
        job.wait_for((run_dir / SIGNS[sign]).exists, sign)
    job.send(signal.SIGKILL, rank=list(SIGNS).index(sign) % ranks)
    assert_ended_by_itself(job.wait())
    if (run_dir / "output.h5").exists():
        jobs.assert_recorded_samples_equal(run_dir / "output.h5", clean(ranks))


def ranks_under_way(job: jobs.Job) -> int:
    """Ranks that have MPI behind them and install the handlers of their signals."""
    return sum(catches(pid, signal.SIGUSR2) for pid in job.rank_processes())


def catches(pid: int, number: int) -> bool:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
    return bool(caught >> (number - 1) & 1)


@pytest.mark.parametrize("kill_target", [0, 1])
def test_while_mpi_starts(kill_target, case, tmp_path):
    """Open MPI's launcher may miss the end of its processes then; the command does not."""
    job = jobs.Job(["run", case, "--out", tmp_path / "run", "-n", "2", "-t", "1"], command=jobs.TAILRACE)
    job.wait_for(lambda: len(job.rank_processes()) == 2, "rank")
    job.send(signal.SIGKILL, rank=kill_target)
    ended = job.wait()
    assert_ended_by_itself(ended)
    assert ended.status == 3, ended


# Of the command, from its start: the check of the case, the launcher, MPI's start and the first steps.
MOMENTS = 10
LAST_S = 1.5


def moments(first: int, count: int, all_of_them: int) -> list[float]:
    """Some of so many moments, spread over the start."""
    return [LAST_S * number / all_of_them for number in range(first, first + count)]


def end_all_ranks_at(moment_s: float, case: Path, run_dir: Path) -> None:
    """Kills what there is of the native program, whoever has started it; the command ends, whatever that
    was.
    """
    words = ["run", case, "--out", run_dir, "-n", "2", "-t", "1", "--no-report"]
    job = jobs.Job(words, command=jobs.TAILRACE)
    time.sleep(moment_s)
    for pid in job.rank_processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    job.blow = time.monotonic()
    ended = job.wait()
    assert ended.status in (0, 3), ended
    assert "Traceback" not in ended.err, ended


@pytest.mark.parametrize("first", range(0, MOMENTS, 5))
def test_all_ranks_die_while_the_command_starts_them(first, case, tmp_path):
    for number, moment_s in enumerate(moments(first, 5, MOMENTS)):
        end_all_ranks_at(moment_s, case, tmp_path / f"run{number}")


@pytest.mark.full
@pytest.mark.parametrize("first", range(0, 500, 10))
def test_all_ranks_die_at_any_moment_of_the_start(first, case, tmp_path):
    for number, moment_s in enumerate(moments(first, 10, 500)):
        end_all_ranks_at(moment_s, case, tmp_path / f"run{number}")


@pytest.mark.parametrize(("ranks", "kill_target"), [(2, 0), (3, 2)])
def test_while_closing(ranks, kill_target, case, clean, tmp_path):
    """All steps are done, the last writes are slow."""
    run_dir = tmp_path / "run"
    # Of the last step's writes only, so that the run is waiting for its writers when the blow comes.
    options = ["--quiet", "--fault", "stall:step=60,s=0.3s"]
    job = jobs.Job(["--case", case, "--out", run_dir, *options], ranks)
    progress = run_dir / "progress.json"
    job.wait_for(lambda: is_closing(progress), "phase of closing")
    job.send(signal.SIGKILL, rank=kill_target)
    assert_ended_by_itself(job.wait())
    jobs.assert_recorded_samples_equal(run_dir / "output.h5", clean(ranks), least=40)


def is_closing(progress: Path) -> bool:
    try:
        return '"closing"' in progress.read_text()
    except OSError:
        return False


def test_command_tells_of_a_killed_rank(case, clean, tmp_path):
    """`tailrace run` writes the account that the ranks could not write, and exits with 3."""
    run_dir = tmp_path / "run"
    options = ["-n", "2", "-t", "1", "--write", "threads", "--fault", "kill:rank=1,step=30"]
    ended = jobs.tailrace("run", case, "--out", run_dir, *options)
    assert ended.status == 3, ended
    assert "Traceback" not in ended.err
    reported = jobs.assert_failed(run_dir, "killed")
    assert "SIGKILL" in reported["reason"]
    recorded = jobs.assert_recorded_samples_equal(run_dir / "output.h5", clean(2), least=1)
    assert reported["steps_recorded"] == recorded
    assert f"up to step {recorded}" in ended.out


def test_launcher_is_killed(case, clean, tmp_path):
    """The ranks notice that their launcher is gone and do not stay."""
    run_dir = tmp_path / "run"
    job = jobs.Job(["--case", case, "--out", run_dir, "--quiet", "--pace", "latency=50ms"], 2)
    job.wait_for(lambda: jobs.recorded_steps(run_dir / "output.h5") >= 3, "recorded step")
    job.send(signal.SIGKILL)
    job.process.wait()
    assert not job.wait_until_gone(jobs.ENDS_WITHIN_S)
    jobs.assert_recorded_samples_equal(run_dir / "output.h5", clean(2), least=3)


@pytest.mark.full
@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("ranks", [2, 3])
def test_at_many_moments(sink, ranks, case, clean, tmp_path):
    """Killed at points all over a run, by the clock."""
    for number in range(40):
        run_dir = tmp_path / f"run{number}"
        options = ["--quiet", "--pace", "latency=2ms", *SINKS[sink]]
        job = jobs.Job(["--case", case, "--out", run_dir, *options], ranks)
        job.wait_for(lambda started=job: ranks_under_way(started) == ranks, "rank")
        time.sleep(0.02 * number)
        if job.process.poll() is None and len(pids := job.rank_processes()) == ranks:
            job.blow = time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[number % ranks], signal.SIGKILL)
        assert job.wait().seconds < jobs.ENDS_WITHIN_S
        output = run_dir / "output.h5"
        if output.exists():
            jobs.assert_recorded_samples_equal(output, clean(ranks))
