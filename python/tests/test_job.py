# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose processes end in odd ways: nothing is waited for that will not come, nothing stays behind."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from tailrace import job
from tailrace.console import EXIT_NO, EXIT_OK, EXIT_RUN_FAILED, EXIT_STOPPED, CommandError
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
    for name in (
        "LAUNCHER_ENDS_WITHIN_S",
        "LAUNCHER_STARTS_WITHIN_S",
        "RANKS_END_WITHIN_S",
        "PIPE_ENDS_WITHIN_S",
    ):
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
        (1, "finished", EXIT_NO),
        (0, "finished", EXIT_OK),
        (0, None, EXIT_RUN_FAILED),
    ],
)
def test_a_complete_run_is_complete_whatever_its_launcher_died_of(returncode, status, expected):
    """The verdict that `tailrace resume` has too. Status 1 is the program's own: its verification failed."""
    account = None if status is None else {"status": status}
    assert exit_status(JobResult(returncode, []), account) == expected


def test_a_process_that_ends_while_its_children_are_listed_has_none(monkeypatch):
    def vanished(self, pattern):
        raise FileNotFoundError(f"{self}/{pattern}")

    monkeypatch.setattr(Path, "glob", vanished)
    assert job.descendants(os.getpid()) == []


class SlowReader:
    """A standard output whose reader begins late, and takes `limit` bytes."""

    def __init__(self, delay_s: float, limit: int = 1 << 30) -> None:
        self.read_end, self.write_end = os.pipe()
        self.delay_s, self.limit, self.got = delay_s, limit, b""
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def fileno(self) -> int:
        return self.write_end

    def flush(self) -> None: ...

    def write(self, text: str) -> int:
        return os.write(self.write_end, text.encode())

    def read(self) -> None:
        time.sleep(self.delay_s)
        while len(self.got) < self.limit and (chunk := os.read(self.read_end, 1 << 16)):
            self.got += chunk
        os.close(self.read_end)

    def end(self) -> bytes:
        os.close(self.write_end)
        self.thread.join()
        return self.got


def run_without_directory(script: str) -> tuple[JobResult, list[str]]:
    said = Said()
    return Job(["sh", "-c", script], dict(os.environ), Launcher("openmpi"), None, said).run(), said.lines


def test_output_is_passed_on_whole_however_late_it_is_read(quick, monkeypatch):
    """Also what the launcher holds when its processes have ended."""
    reader = SlowReader(2.0)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", reader)
        result, lines = run_without_directory(r"echo words >&2; seq 1 20000; printf 'a\tb\r\n\377 end'")
    numbers = "".join(f"{i}\n" for i in range(1, 20001))
    assert reader.end() == numbers.encode() + b"a\tb\r\n\xff end"
    assert (result.returncode, lines) == (0, ["words"])


def test_a_program_ends_when_nobody_reads_its_output(quick, monkeypatch):
    reader = SlowReader(0.0, limit=1)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", reader)
        with pytest.raises(CommandError, match="standard output: Broken pipe") as error:
            run_without_directory("while true; do echo line; sleep 0.01; done")
    reader.end()
    assert error.value.exit_code == EXIT_RUN_FAILED


def test_a_process_that_holds_the_output_is_not_waited_for(quick, monkeypatch):
    started = time.monotonic()
    reader = SlowReader(0.0)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", reader)
        run_without_directory(f"setsid {LONG} & echo out")
    assert reader.end() == b"out\n"
    assert time.monotonic() - started < SOON_S
