# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation: sweeps run on past outputs, and runs that are cut among them continue on other ranks
with the same bits.
"""

import random
import signal
import time
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import jobs
from native import needs
from tailrace.trace import read_run

pytestmark = needs("tailrace-poisson")

RANKS = [1, 2, 3] if jobs.waits_spin() else [1, 2, 3, 4, 7]
METHODS = ["jacobi", "gauss-seidel", "cg"]
# Outputs whose cadences have nothing in common with each other, looks at the residual, or checkpoints.
CASE = """
[case]
simulation = "poisson"
[domain]
cells = [26, 22]
sides = ["dirichlet", "periodic"]
[problem]
rhs = "smooth"
[solver]
method = "METHOD"
blocks = [9, 6]
check_every = 7
[time]
steps = 120
[[output]]
name = "u"
quantity = "u"
every = 3
type = "float64"
[[output]]
name = "left"
quantity = "residual"
reduce = "rms"
every = 5
type = "float64"
[[output]]
name = "some"
quantity = "u"
select = {points = [[3, 5, 0], [20, 11, 0]]}
at = [1, 2, 64, 119]
type = "float64"
"""


def start(directory: Path, method: str, name: str, ranks: int, *words: object) -> jobs.Job:
    case = directory / f"{method}.toml"
    case.write_text(CASE.replace("METHOD", method))
    words = ("--case", case, "--out", directory / name, *words)
    return jobs.Job(list(words), ranks, command=[str(jobs.POISSON)])


@pytest.fixture(scope="module")
def whole(once):
    """The directory of a run of a method that nobody stopped, on one rank."""

    def make(folder: Path, method: str) -> Path:
        ended = start(folder, method, "whole", 1).wait()
        assert ended.status == 0, ended
        return folder / "whole"

    return cache(lambda method: once(f"poisson_{method}", partial(make, method=method)))


def assert_same(found: Path, expected: Path) -> None:
    jobs.assert_equal_files(found / "output.h5", expected / "output.h5")


def cut(job: jobs.Job, out: Path, moment: int, number: int, rank: int, since_ns: int = 0) -> jobs.Ended:
    """Sends a signal when the output, written to since then, has so many steps, unless the run is over."""
    output = out / "output.h5"

    def is_there() -> bool:
        if job.process.poll() is not None:
            return True
        written = output.exists() and output.stat().st_mtime_ns > since_ns
        return written and jobs.recorded_steps(output) >= moment

    job.wait_for(is_there, f"recorded step {moment}")
    with suppress(IndexError, ProcessLookupError):  # the rank has ended
        job.send(number, rank=rank)
    return job.wait()


def stop_and_resume(directory: Path, whole, method: str, first: int, second: int, seed: int) -> None:
    """SIGTERM at a random moment on some ranks, the rest on others."""
    chance, name = random.Random(seed), f"{first}-{second}"
    words = [
        "-t",
        chance.choice([1, 2]),
        "--set",
        f"checkpoint.every={chance.choice([10, 1000])}",
        "--overwrite",
    ]
    out, moment = directory / name, chance.randint(5, 70)
    for latency_ms in (10, 40, 160):  # where this test gets few looks at the output, the run takes longer
        slow = ["--write", "blocking", "--pace", f"latency={latency_ms}ms"]
        job = start(directory, method, name, first, *words, *slow)
        ended = cut(job, out, moment, signal.SIGTERM, first - 1, time.time_ns())
        if ended.status != 0:
            break
    assert ended.status == 4 and moment <= jobs.account(out)["steps"] < 120, ended
    balance = ["--set", f"fragments.balance='{chance.choice(['off', 'auto'])}'"]
    ended = start(directory, method, name, second, "--resume", "-t", chance.choice([1, 2]), *balance).wait()
    assert ended.status == 0, ended
    assert_same(out, whole(method))


@pytest.mark.parametrize(("method", "first", "second"), list(zip(METHODS, [2, 3, 1], [3, 1, 2], strict=True)))
def test_stopped_and_resumed(method, first, second, whole, tmp_path):
    stop_and_resume(tmp_path, whole, method, first, second, 1)


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first", RANKS)
@pytest.mark.parametrize("second", RANKS)
def test_stopped_and_resumed_on_each_number_of_ranks(method, first, second, whole, tmp_path):
    stop_and_resume(tmp_path, whole, method, first, second, 10 * first + second)


def kill_and_resume(directory: Path, whole, seed: int) -> None:
    """Kills one rank at a random moment, up to twice; the third run comes to the end."""
    chance, name, out = random.Random(seed), f"{seed}", directory / f"{seed}"
    method = chance.choice(METHODS)
    slow = ["--write", "blocking", "--pace", "latency=10ms"]
    for attempt in range(3):
        ranks = chance.choice(RANKS)
        resume = ["--resume"] if list(out.glob("checkpoints/step-*[0-9]")) else ["--overwrite"]
        every = ["--set", f"checkpoint.every={chance.choice([6, 20])}"]
        words = [*every, *resume, *(slow if attempt < 2 else [])]
        since_ns = time.time_ns()
        job = start(directory, method, name, ranks, *words)
        if attempt == 2:
            ended = job.wait()
        else:
            moment, rank = chance.randint(0, 80), chance.randrange(ranks)
            ended = cut(job, out, moment, signal.SIGKILL, rank, since_ns)
        assert ended.status == 0 or attempt < 2, ended
        if ended.status == 0:
            break
    assert_same(out, whole(method))


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_and_resumed(seed, whole, tmp_path):
    kill_and_resume(tmp_path, whole, seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 200))
def test_killed_at_any_moment_and_resumed(seed, whole, tmp_path):
    kill_and_resume(tmp_path, whole, seed)


@pytest.mark.parametrize("method", METHODS)
def test_sweeps_run_on_past_an_output(method, whole, tmp_path):
    """Two workers each; the thread that hands the samples on waits 20 ms for each to be written. The trace
    has bodies of later sweeps in that time, and more sweeps begun than the sample is of.
    """
    slow = ["--write", "blocking", "--pace", "latency=20ms", "--trace", "on"]
    ended = start(tmp_path, method, "run", 2, "-t", 2, *slow).wait()
    assert ended.status == 0, ended
    trace = read_run(tmp_path / "run")
    meanwhile = ahead = 0
    for rank in trace.ranks:
        types = [
            number for number, name in rank.types.items() if name.name in ("jacobi", "gauss-seidel", "apply")
        ]
        bodies = rank.records[np.isin(rank.records["type"], types)]
        begun = np.sort(bodies["time_s"][bodies["event"] == 8])
        writes = rank.select("main", "write")
        writes = writes[writes["step"] > 0]
        assert len(writes) >= 15
        of_a_sweep = len(begun) / 120
        for write in writes:
            meanwhile += ((begun > write["start_s"]) & (begun < write["end_s"])).sum()
            ahead += (begun < write["start_s"]).sum() > of_a_sweep * write["step"]
    assert meanwhile > 0, "no body began while a sample was written"
    assert ahead > 0, "no rank was ahead of the sample that was written"
