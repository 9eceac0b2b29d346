# SPDX-License-Identifier: BSD-3-Clause
"""Where threads run, looked at from outside."""

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

import jobs


def allowed_cores(pid: int, thread: str = "*") -> list[str]:
    """The cores that each thread of a process may use, or one of them."""
    found = []
    for status in Path(f"/proc/{pid}/task").glob(f"{thread}/status"):
        lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        found.append(lines["Cpus_allowed_list"])
    return found


def is_one_core(cores: str) -> bool:
    return "-" not in cores and "," not in cores


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
@pytest.mark.parametrize("strategy", ["threads", "uring"])
def test_writer_is_not_bound_to_a_core_of_the_computation(small, tmp_path, strategy):
    settings = {"OMP_NUM_THREADS": "2", "OMP_PLACES": "cores", "OMP_PROC_BIND": "SPREAD"}
    command = [jobs.PROGRAM, "-i", small, "-o", tmp_path / "out.h5", "--quiet"]
    command += ["--write", strategy, "--pace", "latency=50ms"]
    with subprocess.Popen(
        [str(word) for word in command], env=jobs.environment("binding") | settings
    ) as process:
        cores: list[str] = []
        bound = free = False
        deadline = time.monotonic() + jobs.LIMIT_S
        while time.monotonic() < deadline and process.poll() is None and not (bound and free):
            cores = allowed_cores(process.pid)
            bound = len({text for text in cores if is_one_core(text)}) >= 2
            free = any(not is_one_core(text) for text in cores)
            time.sleep(0.005)
        process.kill()
    assert bound, f"the computation's threads are not bound: {cores}"
    assert free, f"no thread may run on any core: {cores}"


def observe(tmp_path: Path, *options: str, **settings: str) -> tuple[set[str], set[str], dict]:
    """Where the simulation's thread and the others of a rehearsal with one computing thread may run, seen
    from outside while it writes, and what its account says of that.
    """
    command = [jobs.REHEARSE, "--out", tmp_path / "run", "--cells", "16,16,16", "--steps", "40"]
    command += ["--compute-ms", "1", "--select", "whole", "--pace", "latency=20ms", *options]
    simulation: set[str] = set()
    others: set[str] = set()
    process = subprocess.Popen(
        [str(word) for word in command],
        env=jobs.environment("binding") | settings,
        stdout=subprocess.DEVNULL,
    )
    with process:
        deadline = time.monotonic() + jobs.LIMIT_S
        while process.poll() is None and time.monotonic() < deadline:
            # It ends while we look, and kernel workers come and go.
            with contextlib.suppress(OSError):
                if (tmp_path / "run" / "output.h5").exists():
                    simulation = set(allowed_cores(process.pid, str(process.pid)))
                    others |= set(allowed_cores(process.pid)) - simulation
            time.sleep(0.005)
        process.kill()
    account = json.loads((tmp_path / "run" / "run.json").read_text())
    assert account["status"] == "finished"
    return simulation, others, account["binding"][0]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) != 2, reason="needs a machine with two cores")
@pytest.mark.parametrize("strategy", ["threads", "uring"])
def test_writer_gets_the_core_on_which_nobody_computes(tmp_path, strategy):
    first, second = map(str, sorted(os.sched_getaffinity(0)))
    settings = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}
    simulation, others, reported = observe(tmp_path, "--write", strategy, **settings)
    assert simulation == {first}
    assert second in others
    assert (reported["cpus"], reported["writer_cpus"], reported["writer_place"]) == (
        first,
        second,
        "a free core",
    )


@pytest.mark.skipif(len(os.sched_getaffinity(0)) != 2, reason="needs a machine with two cores")
def test_without_binding_a_writer_is_left_alone(tmp_path):
    simulation, others, reported = observe(tmp_path, "--write", "threads", "--bind", "none")
    assert len(simulation) == 1 and others == set(), "all threads may run on both cores"
    assert not is_one_core(next(iter(simulation)))
    assert reported["writer_place"] == "not bound"
    assert reported["writer_cpus"] == reported["cpus"] == next(iter(simulation))


def test_unknown_binding_is_refused():
    command = [str(jobs.REHEARSE), "-o", "unused.h5", "--bind", "tightly"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--bind tightly: unknown" in done.stderr and "auto, none" in done.stderr
