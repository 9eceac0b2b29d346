# SPDX-License-Identifier: BSD-3-Clause
"""Runs that end with the time limit of their job and continue in the next, under a Slurm of one node."""

import os
import shutil
import sys
from pathlib import Path

import pytest

import jobs
import slurm
from computations import assert_same
from native import cannot

pytestmark = pytest.mark.full
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RUN = Path("runs/shot")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if os.geteuid() != 0:
        cannot("Slurm's daemons start jobs as root only")
    slurm.install()
    with slurm.Slurm(tmp_path_factory.mktemp("slurm")) as running:
        yield running
    assert not running.processes()


@pytest.fixture
def checkout(tmp_path):
    """What the job script expects around it."""
    (tmp_path / "examples").mkdir()
    for name in ("seismic.toml", "make_seismic_model.py", "slurm.sh"):
        shutil.copy(EXAMPLES / name, tmp_path / "examples")
    command = tmp_path / "tailrace"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m tailrace "$@"\n')
    command.chmod(0o755)
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The same without a limit."""
    run_dir = tmp_path_factory.mktemp("whole") / "run"
    ended = jobs.tailrace("run", EXAMPLES / "seismic.toml", "-n", "2", "--out", run_dir, "--no-report")
    assert ended.status == 0, ended
    return jobs.read_datasets(run_dir / "output.h5")


def script(latency_ms: int, *options: str) -> list[str]:
    """The job script and its arguments: a run whose every write takes so long, while the cores are idle."""
    pace = ["--write", "blocking", "--pace", f"latency={latency_ms}ms"]
    return ["examples/slurm.sh", "examples/seismic.toml", str(RUN), *pace, *options]


def output_of(job: int, directory: Path) -> str:
    return (directory / f"job-{job}.out").read_text()


def assert_stopped(cluster, job: int, directory: Path, reason: str) -> int:
    """In good order, with a checkpoint; returns its step."""
    said = output_of(job, directory)
    reported = jobs.account(directory / RUN)
    assert reported["status"] == "stopped" and reason in reported["reason"], said
    assert 0 < reported["steps"] < reported["steps_planned"] and reported["checkpoints"] == 1, said
    assert cluster.field(job, "ExitCode") == "4:0", said
    saved = sorted((directory / RUN / "checkpoints").glob("step-*"))
    assert [path.name for path in saved] == [f"step-{reported['steps']:012d}"]
    return reported["steps"]


def resume(cluster, directory: Path, step: int, whole, *options: str) -> None:
    """Submits the script again, with three tasks, and looks at the one result and at the report."""
    job = cluster.submit(directory, *options, "--ntasks=3", *script(0))
    state = cluster.wait_until_ended(job, 300)
    said = output_of(job, directory)
    assert state == "COMPLETED" and cluster.field(job, "ExitCode") == "0:0", said
    reported = jobs.account(directory / RUN)
    assert reported["status"] == "finished" and reported["resumed_from"] == step and reported["ranks"] == 3
    assert jobs.account(directory / RUN / "legs/1")["ranks"] == 2
    assert_same(jobs.read_datasets(directory / RUN / "output.h5"), whole)
    page = (directory / RUN / "report.html").read_text()
    assert "One computation, in the segments below" in page


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_the_time_limit(launcher, cluster, checkout, whole):
    """Slurm's shortest limit is a minute. Its SIGTERM reaches every process of the job, the launcher too."""
    harmless = "--signal=CONT"  # instead of the script's
    job = cluster.submit(checkout, "--time=1", harmless, *script(400, "--launcher", launcher))
    assert cluster.wait_until_ended(job, 200) == "TIMEOUT", output_of(job, checkout)
    resume(cluster, checkout, assert_stopped(cluster, job, checkout, "SIG"), whole)


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_the_signal_before_the_limit(launcher, cluster, checkout, whole):
    """What --signal=B:TERM@300 of the script sends: SIGTERM to `tailrace` alone."""
    job = cluster.submit(checkout, *script(50, "--launcher", launcher))
    progress = checkout / RUN / "progress.json"
    cluster.wait_for(progress.exists, 60, "progress")
    cluster.ask("scancel", "--signal=TERM", "--batch", job)
    assert cluster.wait_until_ended(job, 60) == "FAILED", output_of(job, checkout)
    resume(cluster, checkout, assert_stopped(cluster, job, checkout, "SIG"), whole)
