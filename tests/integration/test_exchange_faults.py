# SPDX-License-Identifier: BSD-3-Clause
"""Runs with access maps whose ranks die, or whose machine has no room in shared memory."""

import json
import signal
import subprocess
import time

import pytest

import jobs
from command import TAILRACE
from heat_runs import MESH, NEEDS_HEAT, assert_same, run

pytestmark = NEEDS_HEAT

RANKS = [2, 3] if jobs.waits_spin() else [2, 3, 7]
# Nearly all of the time of its 400 steps goes into flights of maps and what is computed between them.
CASE = MESH.replace("every = 10", "every = 1") + "[time]\nsteps = 400\n"


def start_run(directory, *words) -> tuple[jobs.Job, object]:
    case, out = directory / "case.toml", directory / "out"
    case.write_text(CASE)
    return jobs.Job(["run", case, "--out", out, "--no-report", *words], command=TAILRACE), out


def check_end(ended: jobs.Ended) -> None:
    assert ended.status == 3 and "was killed by SIGKILL" in str(ended), ended
    assert ended.seconds < jobs.ENDS_WITHIN_S, ended
    assert "Verification Successful" not in str(ended), ended


@pytest.mark.parametrize("ranks", RANKS)
def test_a_run_ends_when_the_fault_kills_a_rank(ranks, tmp_path):
    # Under `auto` another rank may write what rank 1 has of step 20, and rank 1 dies later, or never.
    job, out = start_run(tmp_path, "-n", ranks, "--write", "blocking", "--fault", "kill:rank=1,step=20")
    job.wait_for(lambda: len(job.rank_processes()) == ranks, "process of each rank")
    while job.process.poll() is None and len(job.rank_processes()) == ranks:
        time.sleep(0.01)
    job.blow = time.monotonic()  # from here the time counts
    check_end(job.wait())
    assert jobs.recorded_steps(out / "output.h5") == 19


@pytest.mark.parametrize("ranks", RANKS)
def test_a_run_ends_when_a_rank_is_killed_in_an_epoch(ranks, tmp_path):
    job, out = start_run(tmp_path, "-n", ranks)
    job.wait_for(lambda: jobs.recorded_steps(out / "output.h5") >= 15, "sample of step 15")
    job.send(signal.SIGKILL, rank=ranks - 1)
    check_end(job.wait())


def with_shared_memory(is_full: bool) -> list[str]:
    """What lets a command see a /dev/shm of its own: of 64 MB, as in containers, or that and full."""
    fill = "head -c 64M /dev/zero > /dev/shm/all 2> /dev/null;" if is_full else ""
    script = f'mount -t tmpfs -o size=64m none /dev/shm && {{ {fill} exec "$@"; }}'
    prefix = ["unshare", "-rm", "sh", "-c", script, "sh"]
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system lets nobody have a /dev/shm of his own")
    return prefix


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    ended, out = run(tmp_path_factory.mktemp("usual"), "usual", text=MESH)
    assert ended.status == 0, ended
    return out


def run_with_shared_memory(is_full, transport, usual, directory) -> dict:
    """What run.json says of the exchanges of a run whose results are the usual ones."""
    words = ["-n", 2, "--out", directory / "run", "--exchange", transport, "--no-report"]
    ended = jobs.Job(
        ["run", usual.with_suffix(".toml"), *words], command=TAILRACE, prefix=with_shared_memory(is_full)
    ).wait()
    assert ended.status == 0, ended
    assert_same(usual, directory / "run")
    return json.loads((directory / "run" / "run.json").read_text())["exchange"]


@pytest.mark.parametrize("is_full", [False, True])
def test_without_room_in_shared_memory_maps_take_messages_and_say_so(is_full, tmp_path, usual):
    (mortars,) = run_with_shared_memory(is_full, "shared", usual, tmp_path)["maps"]
    for rank in mortars["per_rank"]:
        assert ("not enough shared memory (/dev/shm)" in rank["note"]) == is_full, rank["note"]


def test_without_room_in_shared_memory_auto_leaves_windows_out(tmp_path, usual):
    (mortars,) = run_with_shared_memory(True, "auto", usual, tmp_path)["maps"]
    for choice in mortars["choices"]:
        tried = {one["name"]: one["obstacle"] for one in choice["tried"]}
        assert tried["persistent"] == ""
        assert "no room in shared memory (/dev/shm) for a window" in tried["rma-lock"]
