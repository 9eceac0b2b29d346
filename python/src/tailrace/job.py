# SPDX-License-Identifier: BSD-3-Clause
"""A running job: its process, its signals, its progress and what it says."""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from tailrace.console import EXIT_RUN_FAILED, CommandError
from tailrace.launch import Launcher
from tailrace.run_files import PROGRESS, Progress, read_table

POLL_S = 0.2
# Ranks install their signal handlers before they report progress. An earlier signal would kill them: it
# waits, but no longer than this.
HANDLERS_READY_WITHIN_S = 5.0
# A launcher ends within moments after its last process. One that does not has missed their end: Open MPI's
# may when a rank is killed while it connects (4.1).
LAUNCHER_ENDS_WITHIN_S = 5.0
# One that has started none after so long will not, unless they are on other machines, where they report.
LAUNCHER_STARTS_WITHIN_S = 60.0
# Ranks notice that their launcher is gone, and end.
RANKS_END_WITHIN_S = 5.0
# A killed process is gone within moments, unless the kernel waits for a device on its behalf.
KILLED_END_WITHIN_S = 5.0
# A pipe is read on for so long after the end of a job.
PIPE_ENDS_WITHIN_S = 2.0
MESSAGES_KEPT = 200
PR_SET_PDEATHSIG = 1


class Display(Protocol):
    """Where a job shows itself: show gets what progress.json holds, say each line of the job."""

    def show(self, progress: Progress) -> None: ...

    def say(self, line: str) -> None: ...


@dataclass(frozen=True)
class JobResult:
    """How a job ended: its status as subprocess gives it, and the last lines it wrote."""

    returncode: int
    messages: list[str]


class Requests:
    """Signals that arrived and wait for the loop that watches the job."""

    def __init__(self) -> None:
        self.stops = 0
        self.checkpoints = 0
        self.previous: dict[int, Any] = {}

    def __enter__(self) -> "Requests":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            # nohup asks that SIGHUP stays ignored.
            if not (number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN):
                self.previous[number] = signal.signal(number, self.mark_signal)
        return self

    def mark_signal(self, number: int, _frame: Any) -> None:
        if number == signal.SIGUSR1:
            self.checkpoints += 1
        else:
            self.stops += 1

    def __exit__(self, *_: object) -> None:
        for number, handler in self.previous.items():
            signal.signal(number, handler)


@dataclass
class Job:
    """A command under a launcher, with the directory its progress appears in."""

    command: list[str]
    environment: dict[str, str]
    launcher: Launcher
    run_dir: Path | None
    """None for a program without one: it reports no progress, its standard output becomes ours, unchanged,
    and a signal ends it, unless it stops in good order.
    """
    display: Display
    directory: Path | None = None
    """Where it is started, if not here."""
    output_to: int | None = None
    """The descriptor that gets the standard output of a program without a directory, if not that of ours."""
    lock: int | None = None
    """A descriptor by which it holds its run directory, also when we have been killed."""
    ready: Path | None = None
    """The file that a program without a directory makes when it listens to signals, if it ever does."""
    started: float = field(default_factory=time.time)
    stopping: bool = False
    killed: bool = False
    had_processes: bool = False
    alone_since: float | None = None
    output: "PassedOutput | None" = None

    def run(self) -> JobResult:
        """Runs to the end, shows progress, hands signals on. Ctrl-C stops the job and does not raise."""
        with Requests() as requests:
            process = self.start()
            messages: deque[str] = deque(maxlen=MESSAGES_KEPT)
            said = process.stderr or process.stdout
            reader = threading.Thread(target=relay, args=(said, messages, self.display.say), daemon=True)
            reader.start()
            if self.run_dir is None:
                self.output = PassedOutput(process, self.output_to)
                self.output.start()
            while process.poll() is None:
                self.follow(process, requests)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
            end_session(process.pid, RANKS_END_WITHIN_S)
            # A descendant on its own may hold the pipe open: do not wait for it.
            reader.join(timeout=PIPE_ENDS_WITHIN_S)
            if self.output is not None:
                self.output.finish(requests)
        return JobResult(process.returncode, list(messages))

    def start(self) -> subprocess.Popen[str]:
        """Starts in a session of its own, so that the terminal's Ctrl-C reaches only us."""
        return subprocess.Popen(
            self.command,
            env=self.environment,
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if self.run_dir is None else subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            pass_fds=() if self.lock is None else (self.lock,),
            preexec_fn=lambda: restore_signals(self.launcher),
        )

    def follow(self, process: subprocess.Popen[str], requests: Requests) -> None:
        """One turn of the loop."""
        progress = read_progress(self.run_dir, self.started) if self.run_dir else None
        if progress is not None:
            self.display.show(progress)
        listens = progress is not None or (self.ready is not None and self.ready.exists())
        stops = self.run_dir is not None or self.ready is not None
        if listens or (stops and time.time() - self.started > HANDLERS_READY_WITHIN_S):
            self.hand_on(process, requests)
        if requests.stops > (1 if stops else 0) and not self.killed:
            self.killed = True
            self.display.say("killing the run")
            kill_tree(process.pid)
        if self.launcher.kind in ("openmpi", "mpich") and self.is_stuck(process.pid, progress is not None):
            self.display.say(f"{self.launcher.path} did not notice that its processes have ended: ending it")
            kill_tree(process.pid)

    def is_stuck(self, pid: int, reports: bool) -> bool:
        """Whether the launcher has been without processes for too long. Those that ended between two looks,
        and so were never seen, make it wait as long as for slow ones; progress says that there are some.
        """
        handed_on = self.output is not None and self.output.busy
        if handed_on or any(is_alive(member) for member in descendants(pid)):
            self.had_processes, self.alone_since = True, None
        elif self.alone_since is None:
            self.alone_since = time.monotonic()
        if self.alone_since is None or (reports and not self.had_processes):
            return False
        limit_s = LAUNCHER_ENDS_WITHIN_S if self.had_processes else LAUNCHER_STARTS_WITHIN_S
        return time.monotonic() - self.alone_since > limit_s

    def hand_on(self, process: subprocess.Popen[str], requests: Requests) -> None:
        while requests.checkpoints > 0:
            requests.checkpoints -= 1
            process.send_signal(signal.SIGUSR1)
        if requests.stops > 0 and not self.stopping:
            self.stopping = True
            self.display.say("stopping in good order (a second Ctrl-C kills the run)")
            process.send_signal(self.launcher.stop_signal)


def read_progress(run_dir: Path, started: float) -> Progress | None:
    """progress.json of this run: one that an earlier run left behind is older than our start."""
    path = run_dir / "progress.json"
    try:
        # A file system's clock may lag a little behind ours.
        if path.stat().st_mtime < started - 2.0:
            return None
    except OSError:
        return None
    return read_table(path, PROGRESS).table or None


def run_to_end(
    command: list[str | Path], environment: dict[str, str], directory: Path | None
) -> subprocess.CompletedProcess[str]:
    """Runs a short command that asks nobody anything; its words are kept, whatever their encoding.

    They go to files: a pipe would be open, and waited for, as long as any process has it that the command
    started and that outlives it, as Open MPI's daemon of a process without launcher may.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            process.wait()
        finally:
            end_session(process.pid, 0.0)
        texts = [text_of(file) for file in (out, err)]
    return subprocess.CompletedProcess(command, process.returncode, *texts)


def text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def restore_signals(launcher: Launcher) -> None:
    """In the child: should we be killed, the job stops in good order and does not run on unseen (Linux).

    A batch system sends SIGTERM to every process at the time limit. Open MPI's mpirun would answer by killing
    the ranks within a second, in the middle of their checkpoint: it does not get to see it. Its ranks do.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(launcher.stop_signal))
    if launcher.kind == "openmpi":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])


def kill_tree(pid: int) -> None:
    """Kills a process and all its descendants on this machine: ranks have process groups of their own."""
    kill_all([pid, *descendants(pid)])


def kill_all(processes: list[int]) -> None:
    for member in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)


def end_session(leader: int, patience_s: float) -> None:
    """Kills what is left of a session that we started, whoever its processes' parents are by now, after they
    had some time to end by themselves, and returns when they are gone.
    """
    if left := wait_for_end(leader, patience_s):
        kill_all(left)
        wait_for_end(leader, KILLED_END_WITHIN_S)


def wait_for_end(leader: int, limit_s: float) -> list[int]:
    """Waits until no process of a session is left, but no longer than limit_s; returns those that are."""
    until = time.monotonic() + limit_s
    while (left := session_members(leader)) and time.monotonic() < until:
        time.sleep(POLL_S / 10)
    return left


def session_members(leader: int) -> list[int]:
    """The living processes of a session on this machine."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, session = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:4]
            if int(session) == leader and state not in "ZX":
                found.append(int(entry.name))
    return found


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def descendants(pid: int) -> list[int]:
    """All children of a process, and theirs."""
    try:
        listings = list(Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:  # it ended meanwhile
        return []
    found: list[int] = []
    for listing in listings:
        try:
            children = [int(word) for word in listing.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


class PassedOutput(threading.Thread):
    """Hands the standard output of a job on to ours, or to a descriptor, byte for byte and whole lines at a
    time.
    """

    def __init__(self, process: subprocess.Popen[str], target: int | None) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.target = sys.stdout.fileno() if target is None else target
        self.busy = False
        """It has something to write: whoever reads may be slow."""
        self.failure: OSError | None = None

    def run(self) -> None:
        try:
            self.copy()
        except OSError as failure:  # whoever reads has seen enough, or a disk is full
            self.failure = failure
            if self.process.poll() is None:
                kill_tree(self.process.pid)
        self.busy = False

    def copy(self) -> None:
        assert self.process.stdout is not None
        rest = b""
        while chunk := os.read(self.process.stdout.fileno(), 1 << 16):
            self.busy = True
            lines, newline, rest = (rest + chunk).rpartition(b"\n")
            write_all(self.target, lines + newline)
            self.busy = False
        self.busy = True
        write_all(self.target, rest)

    def finish(self, requests: Requests) -> None:
        """Waits until all is written, unless a descendant on its own holds the pipe open, or the user does
        not want to wait. Raises CommandError if it could not be.
        """
        stops, until = requests.stops, time.monotonic() + PIPE_ENDS_WITHIN_S
        while self.is_alive() and requests.stops == stops and time.monotonic() < until:
            self.join(POLL_S / 10)
            if self.busy:
                until = time.monotonic() + PIPE_ENDS_WITHIN_S
        if self.failure is not None:
            raise CommandError(f"standard output: {self.failure.strerror}.", EXIT_RUN_FAILED)


def write_all(target: int, data: bytes) -> None:
    """Writes to a descriptor, without the buffer of Python, which a thread may not hold at the end."""
    while data:
        data = data[os.write(target, data) :]


def relay(stream: IO[str], messages: deque[str], say: Callable[[str], None]) -> None:
    """Passes the job's lines on, without the launcher's notes on exit statuses, which we report ourselves."""
    quiet = QuietLauncher()
    for line in stream:
        line = line.rstrip("\n")
        messages.append(line)
        for kept in quiet.filter(line):
            say(kept)
    for kept in quiet.rest():
        say(kept)


class QuietLauncher:
    """Drops Open MPI's framed notes on ranks that ended with a status, and those on forwarded signals."""

    NOISE = re.compile(
        r"Primary job\s+terminated normally|detected that one or more processes exited with non-zero status"
    )
    RULE = "-" * 74

    def __init__(self) -> None:
        self.frame: list[str] | None = None

    def filter(self, line: str) -> list[str]:
        if re.search(r": Forwarding signal \d+ to job", line):
            return []
        if self.frame is None:
            if line == self.RULE:
                self.frame = [line]
                return []
            return [line]
        self.frame.append(line)
        if line != self.RULE:
            return []
        whole, self.frame = self.frame, None
        return [] if any(self.NOISE.search(text) for text in whole) else whole

    def rest(self) -> list[str]:
        return self.frame or []
