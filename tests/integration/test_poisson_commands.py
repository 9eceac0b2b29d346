# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation as users run it: the example through `tailrace`, stopped and resumed on other ranks, its
report, and every strategy that writes its outputs.
"""

import signal
from pathlib import Path

import h5py
import pytest

import jobs
from computations import STEPS, Computation
from native import needs
from test_rehearse import world

pytestmark = needs("tailrace-poisson")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "poisson.toml"
LIMIT_S = 600.0  # of the whole example on a busy machine
SMALL = ["domain.cells=[127,95]", "solver.blocks=[32,32]"]


def stop_and_resume(directory: Path, settings: list[str], *slow: str) -> Path:
    """The example on two ranks, SIGTERM among its sweeps, the rest on three: as a run without a stop."""
    words = [word for setting in settings for word in ("--set", setting)]
    whole, run_dir = directory / "whole", directory / "run"
    ended = jobs.tailrace("run", EXAMPLE, "-n", 3, "--out", whole, *words, "--no-report", limit_s=LIMIT_S)
    assert ended.status == 0, ended
    start = ["run", EXAMPLE, "-n", 2, "--out", run_dir, *words, *slow]
    job = jobs.Job(start, command=jobs.TAILRACE, limit_s=LIMIT_S)
    job.wait_for(lambda: jobs.recorded_steps(run_dir / "output.h5") >= 25, "recorded step")
    job.send(signal.SIGTERM)
    ended = job.wait()
    assert ended.status == 4, ended
    stopped = jobs.account(run_dir)
    assert 25 <= stopped["steps"] < jobs.account(whole)["steps"] and stopped["ranks"] == 2
    ended = jobs.tailrace("resume", run_dir, "-n", 3, limit_s=LIMIT_S)
    assert ended.status == 0, ended
    account = jobs.account(run_dir)
    assert account["status"] == "finished" and account["resumed_from"] == stopped["steps"]
    assert account["ranks"] == 3 and account["results"]["converged"]
    jobs.assert_equal_files(run_dir / "output.h5", whole / "output.h5")
    return run_dir


def test_the_example_stops_and_resumes(tmp_path):
    slow = ["--no-report", "--write", "blocking", "--pace", "latency=100ms"]
    stop_and_resume(tmp_path, SMALL, *slow)


@pytest.mark.full
def test_the_example_as_it_is(tmp_path):
    """Nothing added; the report has a picture of the solution, and of the residual over sweeps."""
    run_dir = stop_and_resume(tmp_path, [])
    page = (run_dir / "report.html").read_text()
    for part in ("Fields: output solution", "Residual over the sweeps", "Checkpoints and segments"):
        assert f">{part}<" in page, part
    with h5py.File(run_dir / "output.h5") as file:
        assert file["solution/values"].shape[-2:] == (767, 1023)


@pytest.mark.parametrize("strategy", ["leaders", "uring", "spawn:1", "spawn-each:1"])
def test_every_strategy_writes_the_same_bytes(strategy, tmp_path, whole):
    """Those that `test_each_program.py` leaves out."""
    computation = Computation("poisson", tmp_path)
    ended = computation.start("--write", strategy, ranks=world(2, strategy)).wait()
    assert ended.status == 0, ended
    reported = jobs.account(computation.run_dir)
    if strategy.startswith("spawn") and reported["strategy"].startswith("threads"):
        jobs.no_process_was_started()
    assert reported["strategy"].split(":")[0] == strategy.split(":")[0]
    assert jobs.recorded_steps(computation.run_dir / "output.h5") == STEPS
    whole.assert_reached("poisson", computation.datasets())
