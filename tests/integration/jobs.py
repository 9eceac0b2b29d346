# SPDX-License-Identifier: BSD-3-Clause
"""Starts the native program and the `tailrace` command as a user would, with a hard limit on their time."""

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import h5py
import numpy as np
import pytest

from command import SOURCE, TAILRACE
from native import cannot
from tailrace.job import kill_tree
from tailrace.launch import Launcher, Layout, Machine, find_launcher, launch_command, root_permission
from tailrace.programs import find_program, launch_info

T = TypeVar("T")
PROGRAM = find_program("tailrace-ultrasound")
REHEARSE = find_program("tailrace-rehearse")
SEISMIC = find_program("tailrace-seismic")
MOLECULES = find_program("tailrace-molecules")
POISSON = find_program("tailrace-poisson")
HEAT = find_program("tailrace-heat")
if HEAT is not None and PROGRAM is not None and HEAT.parent != PROGRAM.parent:
    HEAT = None  # that of another build: where p4est is missing for an MPI, its build has none
# A job that should end by itself does so within this time after a rank died.
ENDS_WITHIN_S = 10.0
# What a healthy run of a small case may take on a busy machine: never a measure, only an end to hangs.
LIMIT_S = 120.0
MARK = "TAILRACE_TEST_JOB"


class Launches:
    """Counts the launchers, and the `tailrace` commands as processes, that this process starts: each takes
    about half a second, or a second. Those of runs that tests share are in `shared` as well.
    """

    def __init__(self) -> None:
        self.count = self.shared = 0
        sys.addaudithook(self.hear)

    def hear(self, event: str, details: tuple) -> None:
        if event == "subprocess.Popen":
            words = details[1] if isinstance(details[1], list | tuple) else [details[1]]
            self.count += bool({launcher().path, "tailrace"} & {str(word) for word in words})


@dataclass(frozen=True)
class Ended:
    """A job that ended."""

    status: int
    out: str
    err: str
    seconds: float
    """From the start, or from the blow that a test dealt, to the end."""

    def __str__(self) -> str:
        return f"status {self.status} after {self.seconds:.1f} s\n{self.out}\n{self.err}"


@cache
def launcher() -> Launcher:
    return find_launcher(launch_info(PROGRAM), None, 1) if PROGRAM else Launcher("none")


LAUNCHES = Launches()


def environment(mark: str) -> dict[str, str]:
    settings = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", MARK: mark}
    settings["PYTHONPATH"] = str(SOURCE)
    return os.environ | root_permission() | settings


def has_ended(pid: int) -> bool:
    """Whether a process is over and has been left to the system's first process, which may take seconds to
    notice it.
    """
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:2]
        return state == "Z" and parent == "1"
    except OSError:
        return True


def describe_process(pid: int) -> str:
    """Its name, its state, and what it waits for in the system."""
    try:
        about = Path(f"/proc/{pid}")
        name, state = (about / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        return f"{pid} {name} {state.split()[0]} {(about / 'wchan').read_text()}"
    except OSError as error:
        return f"{pid} {error.strerror}"


@dataclass
class Job:
    """A running job: the program on `ranks` ranks, or as one plain process when that is 0."""

    arguments: list[Any]
    ranks: int = 0
    command: list[str] = field(default_factory=lambda: [str(PROGRAM)])
    prefix: list[str] = field(default_factory=list)
    limit_s: float = LIMIT_S

    def __post_init__(self) -> None:
        words = [*self.command, *(str(argument) for argument in self.arguments)]
        if self.ranks > 0:
            layout = Layout(self.ranks, 1, "none", Machine(cores=1, physical_cores=1))
            words = launch_command(launcher(), layout, words)
        self.mark = uuid.uuid4().hex
        self.files = [tempfile.TemporaryFile("w+") for _ in range(2)]  # noqa: SIM115 (as long as the job)
        self.started = self.blow = time.monotonic()
        self.process = subprocess.Popen(
            [*self.prefix, *words],
            env=environment(self.mark),
            stdin=subprocess.DEVNULL,
            stdout=self.files[0],
            stderr=self.files[1],
            start_new_session=True,
        )

    def wait(self) -> Ended:
        """Waits for the end; nothing of the job may be left afterwards."""
        try:
            self.process.wait(self.limit_s)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise AssertionError(f"the job did not end in {self.limit_s} s\n{self.texts()}") from None
        seconds = time.monotonic() - self.blow
        if left := self.wait_until_gone():
            described = [describe_process(pid) for pid in left]
            self.kill_all()
            raise AssertionError(f"processes {described} outlived their job\n{self.texts()}")
        out, err = self.texts()
        return Ended(self.process.returncode, out, err, seconds)

    def texts(self) -> tuple[str, str]:
        """What the job has written. Its place in the files is ours too, and stays."""
        raw = (os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in self.files)
        out, err = (io.TextIOWrapper(io.BytesIO(each), "utf-8", "replace").read() for each in raw)
        return out, err

    def processes(self) -> list[int]:
        """The processes of this job, zombies included: known by their session, or by a mark in their
        environment should they have left it.
        """
        wanted = f"{MARK}={self.mark}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                session = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[3])
                if session == self.process.pid or wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return sorted(found)

    def rank_processes(self) -> list[int]:
        """The process of each rank, in the order of the ranks, as far as they have started; not the copies of
        themselves that ranks make for a moment.
        """
        ranks, parents = {}, {}
        for pid in self.processes():
            try:
                if Path(f"/proc/{pid}/exe").resolve() not in {
                    program.resolve()
                    for program in (PROGRAM, REHEARSE, SEISMIC, MOLECULES, POISSON, HEAT)
                    if program
                }:
                    continue
                variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                parents[pid] = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            table = dict(item.split(b"=", 1) for item in variables if b"=" in item)
            rank = table.get(b"OMPI_COMM_WORLD_RANK", table.get(b"PMI_RANK", b"0"))
            ranks[pid] = int(rank)
        own = [pid for pid in ranks if parents[pid] not in ranks]
        return sorted(own, key=lambda pid: ranks[pid])

    def processes_of(self, program: str) -> list[int]:
        """The processes of this job that run a program of this name, such as those that ranks start."""
        found = []
        for pid in self.processes():
            try:
                if Path(f"/proc/{pid}/exe").resolve().name == program:
                    found.append(pid)
            except OSError:
                continue
        return found

    def wait_until_gone(self, limit_s: float = 30.0) -> list[int]:
        """Those that are left after a while: the system may take seconds to end one that waits for a busy
        disk.
        """
        end = time.monotonic() + limit_s
        while (left := self.unended()) and time.monotonic() < end:
            time.sleep(0.05)
        return left

    def unended(self) -> list[int]:
        return [pid for pid in self.processes() if not has_ended(pid)]

    def kill_all(self) -> None:
        kill_tree(self.process.pid)
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()

    def send(self, number: int, rank: int | None = None) -> None:
        """A signal to one rank, or to the launcher."""
        self.blow = time.monotonic()
        os.kill(self.process.pid if rank is None else self.rank_processes()[rank], number)

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Waits until something has come about while the job runs."""
        end = time.monotonic() + self.limit_s
        while not condition():
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill_all()
                raise AssertionError(f"no {what} before the job ended\n{self.texts()}")
            time.sleep(0.01)


def run(*arguments: Any, ranks: int = 0, limit_s: float = LIMIT_S, prefix: list[str] | None = None) -> Ended:
    """Runs the native program to its end."""
    return Job(list(arguments), ranks, prefix=prefix or [], limit_s=limit_s).wait()


def tailrace(*arguments: Any, limit_s: float = LIMIT_S) -> Ended:
    """Runs the `tailrace` command to its end as a process: what starts a job is looked after as a job is."""
    return Job(list(arguments), command=TAILRACE, limit_s=limit_s).wait()


def waits_spin() -> bool:
    """Whether ranks that wait never let go of their core: with more ranks than cores, a collective call then
    takes tens of milliseconds.
    """
    return launcher().kind != "openmpi"


def no_process_was_started() -> NoReturn:
    """Leaves the running test out. Only MPICH may refuse: as root it cannot start processes."""
    reason = "no process can be started here, and threads write"
    if launcher().kind == "openmpi":
        cannot(reason)
    pytest.skip(reason)


@cache
def knows_zstd() -> bool:
    """Whether the programs were built with it."""
    words = ["--check", "--cells", 2, "--out", "unused", "--set", 'checkpoint.compress="zstd"']
    return rehearse(*words).status == 0


def needs_zstd() -> None:
    """Leaves the running test out where the programs were built without zstd."""
    if not knows_zstd():
        cannot("the programs were built without zstd")


def in_parallel(tasks: Iterable[Callable[[], T]], at_once: int | None = None) -> list[T]:
    """Runs tasks side by side where ranks wait in peace: Open MPI's launcher sleeps for most of a short job's
    time.
    """
    with ThreadPoolExecutor(at_once or (1 if waits_spin() else 3)) as pool:
        return [done.result() for done in [pool.submit(task) for task in tasks]]


def account(run_dir: Path) -> dict[str, Any]:
    return json.loads((run_dir / "run.json").read_text())


def recorded_steps(path: Path) -> int:
    """What the commit mark of a file says, 0 where the file does not state yet."""
    try:
        with h5py.File(path, "r", locking=False) as file:
            return int(file["tailrace_record"][()].min())
    except (OSError, KeyError):
        return 0


def read_datasets(path: Path) -> dict[str, np.ndarray]:
    """Every dataset of a file by its path."""
    found: dict[str, np.ndarray] = {}

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]

    with h5py.File(path, "r", locking=False) as file:
        file.visititems(keep)
    return found


def time_axis(values: np.ndarray, name: str) -> int | None:
    """The axis of a raw series along time: boxes have it first, points second."""
    if name.split("/")[0] not in ("p", "ux", "uy", "uz"):
        return None
    return 0 if values.ndim == 4 else 1


def assert_recorded_samples_equal(path: Path, clean: Path, least: int = 0) -> int:
    """The samples that the commit mark of `path` vouches for equal those of a clean run; returns their
    number.
    """
    found, expected = read_datasets(path), read_datasets(clean)
    steps = int(found["tailrace_record"].min())
    assert steps >= least, f"{path}: {steps} recorded steps, at least {least} expected"
    assert set(found) == set(expected)
    for name, values in found.items():
        if (axis := time_axis(values, name)) is None:
            continue
        first_step = int(expected["Nt"].item()) - values.shape[axis] + 1
        complete = max(0, steps - first_step + 1)
        part = [slice(None)] * values.ndim
        part[axis] = slice(0, complete)
        assert values[tuple(part)].tobytes() == expected[name][tuple(part)].tobytes(), f"{name} differs"
    return steps


def assert_equal_files(path: Path, clean: Path, but: tuple[str, ...] = ("tailrace_record",)) -> None:
    found, expected = read_datasets(path), read_datasets(clean)
    assert set(found) == set(expected)
    different = [
        name for name in found if name not in but and found[name].tobytes() != expected[name].tobytes()
    ]
    assert not different


def assert_failed(run_dir: Path, kind: str = "io") -> dict[str, Any]:
    """The account of a failed run, whose error is of this kind."""
    reported = account(run_dir)
    assert reported["status"] == "failed", reported
    assert reported["error"]["kind"] == kind, reported["error"]
    return reported


def rehearse(*arguments: Any, ranks: int = 0, limit_s: float = LIMIT_S) -> Ended:
    """Runs a rehearsal to its end."""
    return rehearsal(*arguments, ranks=ranks, limit_s=limit_s).wait()


def rehearsal(*arguments: Any, ranks: int = 0, limit_s: float = LIMIT_S) -> Job:
    """Starts a rehearsal."""
    return Job(list(arguments), ranks, command=[str(REHEARSE)], limit_s=limit_s)


def seismic(*arguments: Any, ranks: int = 0, limit_s: float = LIMIT_S) -> Ended:
    """Runs the seismic program to its end."""
    return Job(list(arguments), ranks, command=[str(SEISMIC)], limit_s=limit_s).wait()


def messages(ended: Ended, program: str = "tailrace-ultrasound") -> list[str]:
    """What the program said on standard error, apart from warnings."""
    lines = [line for line in ended.err.splitlines() if line.startswith(f"{program}: ")]
    return [line for line in lines if ": warning: " not in line]
