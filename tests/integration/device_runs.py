# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs on a device: an emulated one as a rule, those of this machine with `tailrace test --gpu`."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np

import jobs

DEVICE = os.environ.get("TAILRACE_TEST_DEVICE", "emulated")


def computed(start: Callable[..., jobs.Job], *options: str) -> Callable[[Path], Path]:
    """What makes the run directory of a whole run, for `once`."""

    def make(directory: Path) -> Path:
        ended = start(directory, *options).wait()
        assert ended.status == 0, ended
        return directory / "run"

    return make


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, known in expected.items():
        assert np.array_equal(found[name], known), name


def steps_done(run_dir: Path) -> int:
    progress = run_dir / "progress.json"
    return json.loads(progress.read_text())["step"] if progress.exists() else 0


# Where a run is stopped and where it is resumed: the device, and the number of ranks; 0: without a launcher.
STOPS = [((DEVICE, 0), ("none", 2)), (("none", 2), (DEVICE, 3))]


def stop_and_resume(
    start: Callable[..., jobs.Job],
    directory: Path,
    stop: tuple[tuple[str, int], tuple[str, int]],
    steps: int,
    latency: str,
) -> None:
    """Stops a run by a signal on one kind of device, and resumes it on the other. `latency`: of each write,
    so that the signal comes in time.
    """
    (place, ranks), (other, others) = stop
    run_dir = directory / "run"
    slow = ("--write", "blocking", "--pace", f"latency={latency}")
    job = start(directory, "--device", place, *slow, ranks=ranks)
    job.wait_for(lambda: steps_done(run_dir) > 5, "step")
    job.send(signal.SIGTERM, rank=0)
    ended = job.wait()
    assert ended.status == 4, ended
    assert 0 < jobs.account(run_dir)["steps"] < steps
    ended = start(directory, "--device", other, "--resume", ranks=others).wait()
    assert ended.status == 0, ended
    reported = jobs.account(run_dir)
    assert reported["steps"] == steps and reported["resumed_from"] > 0
