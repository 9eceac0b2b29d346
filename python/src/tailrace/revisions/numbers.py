# SPDX-License-Identifier: BSD-3-Clause
"""Runs a test once, and takes its numbers."""

import functools
import json
import math
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tailrace.console import CommandError
from tailrace.messages.counts import read_profile
from tailrace.messages.preload import preload
from tailrace.revisions.definition import Definition, Number
from tailrace.revisions.documents import measured_numbers


class RunFailedError(Exception):
    """The test ended badly, or has not the number; the text says why, with the last lines of its output."""


def run_once(test: Definition, directory: Path) -> dict[str, float]:
    """All numbers of one run. What is counted by a tool gets a run of its own: tools are not timed."""
    found: dict[str, float] = {}
    plain = [one for one in test.numbers if one.source not in COUNTERS]
    if plain:
        found |= numbers_of(plain, *measured(test, directory, test.run, {}), directory)
    for one in test.numbers:
        if one.source in COUNTERS:
            found[one.name] = COUNTERS[one.source](test, directory)
    return {one.name: found[one.name] for one in test.numbers if one.name in found} | found


def measured(
    test: Definition, directory: Path, command: str, more: dict[str, str]
) -> tuple[str, dict[str, float]]:
    """Standard output, and wall time, processor time and memory."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, shell=True, cwd=directory, env=dict(os.environ) | test.environment | more,
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
        )  # fmt: skip
        usage, status = wait(process, test.limit_s)
        wall_s = time.perf_counter() - started
        text, errors = (read(file) for file in (out, err))
    if status != 0:
        raise RunFailedError(f"`{command}` ended with status {status}:\n{last_lines(text + errors)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return text, {"wall": wall_s, "cpu": cpu_s, "memory": 1024.0 * usage.ru_maxrss}


def wait(process: subprocess.Popen, limit_s: float) -> tuple[Any, int]:
    """Resources and status; a process that takes too long, or is waited for no more, is killed with its
    session.
    """
    ended = False
    try:
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                ended = True
                process.returncode = os.waitstatus_to_exitcode(status)
                return usage, process.returncode
            time.sleep(0.0005)
        raise RunFailedError(f"it did not end within {limit_s:g} s")
    finally:
        if not ended:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def read(file: Any) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def last_lines(text: str, count: int = 8) -> str:
    return "\n".join(text.strip().splitlines()[-count:]) or "it says nothing"


def numbers_of(wanted: list[Number], text: str, used: dict[str, float], directory: Path) -> dict[str, float]:
    """Of one run: its output, and what it used."""
    found: dict[str, float] = {}
    for one in wanted:
        if one.source in used:
            found[one.name] = used[one.source]
        else:
            found |= numbers_in(one, read_source(one, text, directory))
    if wrong := [name for name, value in found.items() if not math.isfinite(value)]:
        raise RunFailedError(f"{wrong[0]} is {found[wrong[0]]}")
    return found


def read_source(number: Number, text: str, directory: Path) -> str:
    try:
        return (directory / number.file).read_text(errors="replace") if number.file else text
    except OSError as error:
        raise RunFailedError(f"{number.name}: {number.file}: {error.strerror}") from None


def numbers_in(number: Number, text: str) -> dict[str, float]:
    """Several where a JSON has several, named after its entries."""
    if number.source == "regex":
        return {number.name: match_of(number, text)}
    try:
        found = dict(READERS[number.source](json.loads(text)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunFailedError(
            f"{number.name}: no JSON of {number.source}: {type(error).__name__}: {error}"
        ) from None
    wanted = {name: value for name, value in found.items() if re.search(number.pattern, name)}
    if not wanted:
        which = f", of {len(found)}, whose name has {number.pattern!r}" if found else ""
        raise RunFailedError(f"{number.name}: the JSON of {number.source} has no entries{which}")
    return {f"{number.name} {name}": value for name, value in wanted.items()}


def match_of(number: Number, text: str) -> float:
    found = re.findall(number.pattern, text)
    if len(found) != 1:
        raise RunFailedError(
            f"{number.name}: {number.pattern!r} is {len(found)} times in the standard output, not once:\n"
            f"{last_lines(text)}\nFix: the pattern, or 2>&1 behind the command if it is in its standard error"
        )
    try:
        return float(found[0])
    except ValueError:
        raise RunFailedError(f"{number.name}: {found[0]!r} is no number") from None


def google_benchmark(document: Any) -> list[tuple[str, float]]:
    """Real time of each benchmark in seconds; medians where there are repetitions."""
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    entries = document["benchmarks"]
    medians = [one for one in entries if one.get("aggregate_name") == "median"]
    single = [one for one in entries if one.get("run_type", "iteration") == "iteration"]
    return [
        (one.get("run_name", one["name"]), one["real_time"] * units[one["time_unit"]])
        for one in medians or single
    ]


def hyperfine(document: Any) -> list[tuple[str, float]]:
    return [(one["command"], float(one["median"])) for one in document["results"]]


def pytest_benchmark(document: Any) -> list[tuple[str, float]]:
    return [(one["fullname"], float(one["stats"]["median"])) for one in document["benchmarks"]]


READERS: dict[str, Callable[[Any], list[tuple[str, float]]]] = {
    "google-benchmark": google_benchmark,
    "hyperfine": hyperfine,
    "pytest-benchmark": pytest_benchmark,
    "tailrace": measured_numbers,
}


def count_instructions(test: Definition, directory: Path) -> float:
    """In user mode, of the run and of all that it starts."""
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "log"
        if counts_by_perf():
            options, pattern = f"perf stat -x, -e instructions:u -o {log}", r"(?m)^(\d+),[^,]*,instructions"
        elif shutil.which("valgrind"):
            options = "valgrind --tool=callgrind --trace-children=yes --callgrind-out-file=/dev/null"
            options += f" --log-file={log}.%p"
            pattern = r"Collected : (\d+)"
        else:
            raise CommandError(
                "instructions: neither perf, allowed to count, nor valgrind is there. Install one"
            )
        measured(test, directory, f"{options} sh -c {shlex.quote(test.run)}", {})
        found = [int(n) for path in Path(name).iterdir() for n in re.findall(pattern, path.read_text())]
    if not found:
        raise RunFailedError("instructions: the tool has counted none")
    return float(sum(found))


@functools.cache
def counts_by_perf() -> bool:
    """Whether perf is there and the machine lets it count."""
    if shutil.which("perf") is None:
        return False
    words = ["perf", "stat", "-x,", "-e", "instructions:u", "true"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode == 0 and re.match(r"\d+,", done.stderr) is not None


def count_messages(test: Definition, directory: Path) -> float:
    """Messages and accesses to windows of all ranks."""
    with tempfile.TemporaryDirectory() as name:
        measured(test, directory, test.run, preload(Path(name)))
        profile = read_profile(Path(name))
    if not profile.processes:
        raise RunFailedError("messages: no process has counted any; is it an MPI program of this MPI?")
    return float(profile.sizes("sent", "one_sided").total.messages)


COUNTERS = {"instructions": count_instructions, "messages": count_messages}
