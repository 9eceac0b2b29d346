# SPDX-License-Identifier: BSD-3-Clause
"""A moving source of heat that is stopped, killed or without memory: what it leaves, and resumption."""

import json
import resource
import shutil
import signal
import time
from pathlib import Path

import pytest

import jobs
from heat_runs import MESH, NEEDS_HEAT, assert_same, run, samples_of, start

pytestmark = NEEDS_HEAT


def test_stopped_by_a_signal_after_an_adaptation_and_resumed(tmp_path):
    text = MESH.replace("every = 10", "every = 1")
    ended, whole = run(tmp_path, "whole", ranks=2, text=text)
    assert ended.status == 0, ended
    case, out = tmp_path / "whole.toml", tmp_path / "stopped"
    slow = ["--write", "blocking", "--pace", "latency=20ms"]
    job = start("--case", case, "--out", out, *slow, ranks=2)
    job.wait_for(lambda: jobs.recorded_steps(out / "output.h5") >= 15, "adaptation after step 15")
    job.send(signal.SIGTERM, rank=1)
    ended = job.wait()
    assert ended.status == 4 and "Verification" not in str(ended), ended
    assert "results" in json.loads((out / "run.json").read_text())
    ended = start("--case", case, "--out", out, "--resume", ranks=3).wait()
    assert ended.status == 0 and "SUCCESSFUL" in str(ended), ended
    assert_same(whole, out)
    accounts = [json.loads((directory / "run.json").read_text())["results"] for directory in (whole, out)]
    for name in ("integral", "difference", "verified", "adaptations", "element_steps"):
        assert accounts[0][name] == accounts[1][name], name


# A mesh for each step and a checkpoint for every other: a blow by the clock meets one phase after the other.
RESTLESS = MESH.replace('class = "S"', 'class = "S"\nadapt_every = 1').replace("every = 20", "every = 2")
RESTLESS = RESTLESS.replace("every = 10", "every = 1") + "[time]\nsteps = 100\n"


def kill_and_resume(directory, whole, number: int) -> None:
    """Kills a rank of 2 or 3 at a moment that the number says; the other number of ranks resumes."""
    ranks, case, out = 2 + number % 2, directory / f"{number}.toml", directory / f"{number}"
    case.write_text(RESTLESS)
    job = start("--case", case, "--out", out, ranks=ranks)
    step = 3 + number % 30
    job.wait_for(lambda: jobs.recorded_steps(out / "output.h5") >= step, f"step {step}")
    time.sleep(0.0013 * (number % 11))
    job.send(signal.SIGKILL, rank=number // 2 % ranks)
    ended = job.wait()
    assert ended.status != 0 and ended.seconds < jobs.ENDS_WITHIN_S, ended
    assert "Verification" not in str(ended), ended
    recorded, expected = jobs.recorded_steps(out / "output.h5"), samples_of(whole, "mesh")
    found = samples_of(out, "mesh")
    assert recorded >= step and set(range(1, recorded + 1)) <= set(found)
    for sample in range(1, recorded + 1):
        assert found[sample].tobytes() == expected[sample].tobytes(), sample
    ended = start("--case", case, "--out", out, "--resume", ranks=5 - ranks).wait()
    assert ended.status == 0, ended
    assert_same(whole, out)
    results = [json.loads((one / "run.json").read_text())["results"] for one in (whole, out)]
    assert results[0]["integral"] == results[1]["integral"]
    assert results[0]["adaptations"] == results[1]["adaptations"]
    shutil.rmtree(out)


@pytest.fixture(scope="module")
def restless(tmp_path_factory):
    ended, out = run(tmp_path_factory.mktemp("restless"), "whole", text=RESTLESS)
    assert ended.status == 0, ended
    return out


@pytest.mark.parametrize("number", [1, 44])
def test_killed_among_adaptations_and_resumed(number, tmp_path, restless):
    kill_and_resume(tmp_path, restless, number)


@pytest.mark.full
@pytest.mark.parametrize("first", range(100, 200, 10))
def test_killed_at_many_moments_and_resumed(first, tmp_path, restless):
    for number in range(first, first + 10):
        kill_and_resume(tmp_path, restless, number)


def leave_memory(pid: int, more_bytes: int) -> None:
    """From now on the process gets so much more."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    has_bytes = next(int(line.split()[1]) for line in lines if line.startswith("VmData:")) << 10
    resource.prlimit(pid, resource.RLIMIT_DATA, (has_bytes + more_bytes,) * 2)


def test_memory_short_in_an_adaptation_ends_the_job_and_leaves_the_checkpoint(tmp_path):
    case, out = tmp_path / "short.toml", tmp_path / "short"
    case.write_text('[case]\nsimulation = "heat"\n[heat]\nclass = "A"\n[checkpoint]\nevery = 10\n')
    job = start("--case", case, "--out", out, ranks=2)
    job.wait_for(lambda: any((out / "checkpoints").glob("step-*[0-9]")), "checkpoint")
    leave_memory(job.rank_processes()[1], 512 << 10)  # enough for libraries, too little for another mesh
    job.blow = time.monotonic()  # from here the time counts
    ended = job.wait()
    assert ended.status == 3 and ended.seconds < jobs.ENDS_WITHIN_S, ended
    assert "out of memory" in str(ended) and "Fix: use more ranks" in str(ended), ended
    assert "Verification" not in str(ended) and "SUCCESSFUL" not in str(ended), ended
    ended = start("--case", case, "--out", out, "--resume", ranks=3).wait()
    assert ended.status == 0 and "Verification Successful" in str(ended), ended
