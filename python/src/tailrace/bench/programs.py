# SPDX-License-Identifier: BSD-3-Clause
"""Starting programs to measure them: the whole process, its CPU time and its memory."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tailrace.console import EXIT_RUN_FAILED, CommandError
from tailrace.job import kill_tree
from tailrace.launch import Launcher, Layout, child_environment, find_launcher, launch_command
from tailrace.programs import find_program, launch_info

LIMIT_S = 600.0


@dataclass(frozen=True)
class Finished:
    """A program that ended well: what it printed, and the CPU seconds of it and its descendants."""

    output: str
    cpu_s: float


@dataclass
class Runner:
    """Runs commands, remembers the different ones for the results."""

    commands: list[str] = field(default_factory=list)
    limit_s: float = LIMIT_S

    def run(
        self,
        command: list[str],
        threads: int = 1,
        prepare: Callable[[], None] | None = None,
        allowed: int = 0,
    ) -> Finished:
        """Runs to the end, with the status allowed or that of success. `prepare` is called in the child
        before the program starts.
        """
        self.remember(command, threads)
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                command,
                env=child_environment(threads),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                preexec_fn=prepare,
            )
            guard = threading.Timer(self.limit_s, kill_tree, [process.pid])
            guard.start()
            _, status, usage = os.wait4(process.pid, 0)
            guard.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            texts = [read_back(file) for file in (output, errors)]
        if process.returncode not in (0, allowed):
            said = "".join(texts).strip()[-2000:]
            how = f"ended with status {process.returncode}: {said}"
            raise CommandError(f"{' '.join(command)} {how}", EXIT_RUN_FAILED)
        return Finished(texts[0], usage.ru_utime + usage.ru_stime)

    def remember(self, command: list[str], threads: int) -> None:
        line = f"OMP_NUM_THREADS={threads} {' '.join(command)}"
        if line not in self.commands:
            self.commands.append(line)


def read_back(file) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def native_program(name: str) -> Path:
    program = find_program(name)
    if program is None:
        raise CommandError(f"{name} is not there. Fix: build it, or set TAILRACE_BIN_DIR to where it is.")
    return program


def on_ranks(program: Path, ranks: int, threads: int, arguments: list[str], spawned: int = 0) -> list[str]:
    """The command that starts a program as `tailrace run` does; one rank that starts no processes needs no
    launcher.
    """
    launcher = Launcher("none")
    if ranks + spawned > 1:
        launcher = find_launcher(launch_info(program), None, ranks)
    return launch_command(launcher, Layout(ranks, threads, spawned=spawned), [str(program), *arguments])
