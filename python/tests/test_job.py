# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose processes end in odd ways: nothing is waited for that will not come, nothing stays behind."""

import os
import time
from pathlib import Path

import pytest

from tailrace import job
from tailrace.console import EXIT_OK, EXIT_RUN_FAILED, EXIT_STOPPED
from tailrace.job import Job, JobResult, run_to_end
from tailrace.launch import Launcher
from tailrace.run import exit_status

SOON_S = 10.0
LONG = "sleep 60"


class Said:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def show(self, progress: dict) -> None: ...

    def say(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def quick(monkeypatch):
    for name in ("LAUNCHER_ENDS_WITHIN_S", "LAUNCHER_STARTS_WITHIN_S", "RANKS_END_WITHIN_S"):
        monkeypatch.setattr(job, name, 0.5)


def launched(script: str, run_dir: Path, kind: str = "openmpi") -> tuple[JobResult, list[str], float]:
    """A shell script in a launcher's place."""
    said, started = Said(), time.monotonic()
    result = Job(["sh", "-c", script], dict(os.environ), Launcher(kind), run_dir, said).run()
    return result, said.lines, time.monotonic() - started


@pytest.mark.parametrize("orphan", [LONG, f"setsid {LONG}"])
def test_a_short_command_is_not_waited_for_beyond_its_end(orphan):
    """What it started may hold its output open, as the daemon of a killed process without launcher did."""
    started = time.monotonic()
    done = run_to_end(["sh", "-c", f"{orphan} & echo out; echo err >&2; exit 2"], dict(os.environ), None)
    assert (done.returncode, done.stdout, done.stderr) == (2, "out\n", "err\n")
    assert time.monotonic() - started < SOON_S


@pytest.mark.parametrize("script", [f"exec {LONG}", f"true & exec {LONG}", f"sleep 1 & exec {LONG}"])
def test_a_launcher_without_processes_is_ended(script, quick, tmp_path):
    """Also where nobody has seen any: all died between two looks."""
    result, lines, seconds = launched(script, tmp_path)
    assert result.returncode != 0 and seconds < SOON_S
    assert any("did not notice" in line for line in lines)


def test_a_launcher_without_processes_here_is_left_alone_while_the_run_reports(quick, tmp_path):
    """They may be on other machines."""
    report = f'echo \'{{"step": 1, "steps": 2}}\' > {tmp_path}/progress.json'
    result, lines, _ = launched(f"{report}; exec sleep 2", tmp_path)
    assert result.returncode == 0 and not lines


def test_ranks_do_not_outlive_their_launcher(quick, tmp_path):
    pid_file = tmp_path / "rank"
    launched(f"{LONG} & echo $! > {pid_file}; kill -9 $$", tmp_path)
    assert not job.is_alive(int(pid_file.read_text()))


@pytest.mark.parametrize(
    ("returncode", "status", "expected"),
    [
        (-9, "finished", EXIT_OK),
        (137, "finished", EXIT_OK),
        (137, "stopped", EXIT_STOPPED),
        (137, "failed", EXIT_RUN_FAILED),
        (137, None, EXIT_RUN_FAILED),
        (1, "finished", EXIT_RUN_FAILED),
        (0, "finished", EXIT_OK),
        (0, None, EXIT_RUN_FAILED),
    ],
)
def test_a_complete_run_is_complete_whatever_its_launcher_died_of(returncode, status, expected):
    """The verdict that `tailrace resume` has too."""
    account = None if status is None else {"status": status}
    assert exit_status(JobResult(returncode, []), account) == expected


def test_a_process_that_ends_while_its_children_are_listed_has_none(monkeypatch):
    def vanished(self, pattern):
        raise FileNotFoundError(f"{self}/{pattern}")

    monkeypatch.setattr(Path, "glob", vanished)
    assert job.descendants(os.getpid()) == []
