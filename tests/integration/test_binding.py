"""Where threads run when OpenMP binds those of the computation, as k-Wave's front ends ask it to."""

import os
import subprocess
import time
from pathlib import Path

import pytest

import jobs


def allowed_cores(pid: int) -> list[str]:
    """The cores that each thread of a process may use."""
    found = []
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        found.append(lines["Cpus_allowed_list"])
    return found


def is_one_core(cores: str) -> bool:
    return "-" not in cores and "," not in cores


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_writer_is_not_bound_to_a_core_of_the_computation(small, tmp_path):
    settings = {"OMP_NUM_THREADS": "2", "OMP_PLACES": "cores", "OMP_PROC_BIND": "SPREAD"}
    command = [jobs.PROGRAM, "-i", small, "-o", tmp_path / "out.h5", "--quiet", "--pace", "latency=50ms"]
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
