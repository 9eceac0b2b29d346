# SPDX-License-Identifier: BSD-3-Clause
"""The `tailrace` command as tests call it: in this process, unless the process itself is what is tested."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from unittest import mock

from tailrace.__main__ import main
from tailrace.launch import root_permission

SOURCE = Path(__file__).resolve().parents[1] / "src"
TAILRACE = [sys.executable, "-m", "tailrace"]
# Standard output and the arguments belong to the whole process.
ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Answer:
    """The exit status of a command, and what it and the programs that it started said."""

    status: int
    out: str
    err: str


def environment() -> dict[str, str]:
    """The environment in which a process finds this package."""
    return os.environ | root_permission() | {"PYTHONPATH": str(SOURCE)}


def tailrace(*words: object) -> Answer:
    """Runs the command to its end in this process, through the entry that a process would take."""
    arguments = mock.patch.object(sys, "argv", ["tailrace", *map(str, words)])
    with ONE_AT_A_TIME, arguments, caught(1) as out, caught(2) as err:
        with redirect_stdout(out), redirect_stderr(err):
            status = status_of_main()
        return Answer(status, text_of(out), text_of(err))


def status_of_main() -> int:
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@contextmanager
def caught(descriptor: int) -> Iterator[IO[str]]:
    """Has a file take what comes to a descriptor, from here and from programs that are started meanwhile."""
    before = os.dup(descriptor)
    with tempfile.TemporaryFile("w+", buffering=1) as file:
        os.dup2(file.fileno(), descriptor)
        try:
            yield file
        finally:
            os.dup2(before, descriptor)
            os.close(before)


def text_of(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def process(*words: object, directory: Path | None = None, limit_s: float = 120.0) -> Answer:
    """Runs the command to its end as a process."""
    done = subprocess.run(
        [*TAILRACE, *map(str, words)],
        capture_output=True, text=True, check=False, timeout=limit_s, cwd=directory, env=environment(),
    )  # fmt: skip
    return Answer(done.returncode, done.stdout, done.stderr)
