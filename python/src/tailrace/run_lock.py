# SPDX-License-Identifier: BSD-3-Clause
"""A run directory belongs to one command at a time, and to its job: by a lock that the system releases when
their processes have ended, in whatever way.
"""

import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tailrace.console import CommandError

LOCK = ".lock"
# What a killed command leaves of its job ends within moments, unless it stops in good order.
REST_ENDS_WITHIN_S = 15.0
POLL_S = 0.05


@contextmanager
def held(run_dir: Path) -> Iterator[int]:
    """Holds a run directory; a job that gets the descriptor holds it, too. Raises CommandError where a run is
    in progress.
    """
    path = run_dir / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except FileNotFoundError:
        raise CommandError(f"{run_dir}: there is no such run directory.") from None
    try:
        wait_for_lock(descriptor, path)
        note(descriptor, f"{socket.gethostname()} {os.getpid()}\n")
        try:
            yield descriptor
        finally:
            note(descriptor, "")
    finally:
        os.close(descriptor)


def note(descriptor: int, text: str) -> None:
    """Says in the file who holds it, which is only for messages."""
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


@contextmanager
def claimed(run_dir: Path, overwrite: bool) -> Iterator[int]:
    """Makes a run directory and holds it; it does not stay if nothing is written into it."""
    made = [path for path in (run_dir, *run_dir.parents) if not path.exists()]
    try:
        run_dir.mkdir(parents=True, exist_ok=overwrite)
    except FileExistsError:
        raise CommandError(f"{run_dir}: is there already. Fix: name another --out") from None
    with held(run_dir) as descriptor:
        try:
            yield descriptor
        finally:
            if made and is_unused(run_dir):
                (run_dir / LOCK).unlink(missing_ok=True)
                with suppress(OSError):
                    for path in made:
                        path.rmdir()


def is_unused(run_dir: Path) -> bool:
    """Whether nothing has been written into a run directory."""
    return not any(path.name != LOCK for path in run_dir.iterdir())


def is_held(run_dir: Path) -> bool | None:
    """Whether a run is in progress; None where it is not known: the run was started without the command, or
    the file system has no locks.
    """
    try:
        with (run_dir / LOCK).open() as file:
            got = try_lock(file.fileno(), fcntl.LOCK_SH)
    except OSError:
        return None
    return None if got is None else not got


def try_lock(descriptor: int, how: int) -> bool | None:
    """Whether it is ours now; None where the file system has no locks."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def wait_for_lock(descriptor: int, path: Path) -> None:
    """Waits for what is left of a killed run, but not for a run whose command lives."""
    until = None
    while try_lock(descriptor, fcntl.LOCK_EX) is False:
        command, processes = noted_in(path)[1], holders(path)
        if until is None and command not in processes:
            print(f"{path.parent}: waiting for the end of a run", file=sys.stderr)
            until = time.monotonic() + REST_ENDS_WITHIN_S
        if until is None or time.monotonic() > until:
            raise CommandError(refusal(path, processes))
        time.sleep(POLL_S)


def refusal(path: Path, processes: list[str]) -> str:
    """What is said where a run is in progress, of which this machine may not show any process."""
    host, command = noted_in(path)
    if command in processes:
        return (
            f"{path.parent}: a run is in progress there, process {command}. "
            f"Fix: wait until it has ended, or stop it in good order: kill {command}"
        )
    if rest := [process for process in processes if process != str(os.getpid())]:
        return (
            f"{path.parent}: the command of a run was killed, and the rest of it has not ended, processes "
            f"{', '.join(rest)}. Fix: wait until they have, or kill -9 {' '.join(rest)}"
        )
    return (
        f"{path.parent}: a run is in progress there, process {command} on {host}. Fix: wait until it has "
        f"ended, or stop it in good order there; if it does not exist any more, remove {path}"
    )


def noted_in(path: Path) -> tuple[str, str]:
    """Host and process of the command that has, or had, the run directory."""
    with suppress(OSError, ValueError):
        host, command = path.read_text().split()
        return host, command
    return "an unknown host", "unknown"


def holders(path: Path) -> list[str]:
    """The processes of this machine that have a file open."""
    sought = path.stat()
    found = set()
    for opened in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if os.path.samestat(opened.stat(), sought):
                found.add(opened.parts[2])
    return sorted(found, key=int)
