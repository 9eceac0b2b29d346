# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are stopped or killed and resumed, on other numbers of ranks."""

import contextlib
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest

import command
import jobs
from computations import (
    CASES,
    EVERY,
    OFTEN,
    REHEARSAL,
    SEISMIC,
    STEPS,
    Computation,
    Whole,
    kill_three_times,
)
from matrix import each_value
from test_rehearse import world

FEW = [1, 2, 3]
MANY = FEW if jobs.waits_spin() else [1, 2, 3, 4, 7]


def kill_at_26(simulation: str, ranks: int, directory: Path) -> Computation:
    killed = Computation(simulation, directory)
    ended = killed.start("--fault", "kill:step=26", ranks=ranks).wait()
    assert ended.status != 0, ended
    return killed


@each_value("simulation, first, second", list(CASES), MANY, MANY)
def test_segments_on_any_numbers_of_ranks(simulation, first, second, tmp_path, once, whole):
    """Killed after a while, resumed with by as many, more and fewer ranks: bit for bit the same."""
    killed = once(f"killed {simulation} on {first}", partial(kill_at_26, simulation, first))
    saved = killed.steps_saved()
    assert saved and saved[-1] in (14, 21), saved
    computation = Computation(simulation, tmp_path)
    shutil.copytree(killed.run_dir, computation.run_dir)
    ended = computation.start("--resume", ranks=second).wait()
    assert ended.status == 0, ended
    reported = jobs.account(computation.run_dir)
    assert reported["resumed_from"] == saved[-1] and reported["steps"] == STEPS
    whole.assert_reached(simulation, computation.datasets(), first if first == second else None)


def test_more_ranks_than_cells(tmp_path):
    """The particles of two cells, from seven ranks to three and to one."""
    ranks = [3, 2, 1] if jobs.waits_spin() else [7, 3, 1]
    few = ["domain.cells=[2,1,1]", 'rehearse.select=["whole"]', "rehearse.particles=50"]
    computation = Computation("particles", tmp_path, *few)
    for segment, (count, fault) in enumerate(zip(ranks, ["kill:step=16", "kill:step=30", None], strict=True)):
        options = ["--fault", fault] if fault else []
        ended = computation.start(*(["--resume"] if segment else []), *options, ranks=count).wait()
        assert (ended.status == 0) == (fault is None), ended
    # The one before the newest has its name, whenever a rank is killed.
    assert jobs.account(computation.run_dir)["resumed_from"] in (21, 28)


def test_other_particles_than_were_saved_are_refused(tmp_path):
    computation = Computation("particles", tmp_path)
    assert computation.start("--fault", "kill:step=26", ranks=2).wait().status != 0
    for setting in ("particles=999", "clustering=2", "drift=0.6"):
        ended = computation.start("--resume", "--set", f"rehearse.{setting}", ranks=2).wait()
        assert ended.status == 2 and "the checkpoint has other particles" in ended.err, ended


def test_a_changed_checksum_of_particles_is_found(tmp_path):
    computation = Computation("particles", tmp_path)
    assert computation.start(ranks=2).wait().status == 0
    output = computation.run_dir / "output.h5"
    assert jobs.rehearse("--verify", output).status == 0
    with h5py.File(output, "r+") as file:
        file["rehearsal_particle_sum"][0] ^= 1
    ended = jobs.rehearse("--verify", output)
    assert ended.status == 1 and "1000 particles have the checksum" in ended.err, ended


# The others are in test_killed_again_and_again.
@pytest.mark.parametrize("strategy", ["uring", "ranks:1", "spawn:1"])
def test_every_strategy_takes_and_leaves_them(strategy, tmp_path, whole):
    computation = Computation("rehearse", tmp_path)
    ranks = world(2, strategy)
    ended = computation.start("--write", strategy, "--fault", "kill:step=33", ranks=ranks).wait()
    assert ended.status != 0, ended
    assert computation.steps_saved()
    ended = computation.start("--write", strategy, "--resume", ranks=ranks).wait()
    assert ended.status == 0, ended
    whole.assert_reached("rehearse", computation.datasets())


def test_signals_ask_for_checkpoints_and_for_the_end(tmp_path, whole):
    """SIGUSR1: one, and on; SIGTERM: one, and the end, from which the run can be resumed."""
    slow = ["checkpoint.every=100000", 'rehearse.compute="memory"', "rehearse.compute_ms=40"]
    computation = Computation("rehearse", tmp_path, *slow)
    job = computation.start(ranks=2)
    job.wait_for((computation.run_dir / "progress.json").exists, "progress")
    job.send(signal.SIGUSR1, rank=1)
    job.wait_for(lambda: len(computation.steps_saved()) == 1, "checkpoint")
    assert job.process.poll() is None
    job.send(signal.SIGTERM, rank=0)
    ended = job.wait()
    assert ended.status == 4, ended
    reported = jobs.account(computation.run_dir)
    saved = computation.steps_saved()
    assert (
        reported["checkpoints"] == 2
        and reported["status"] == "stopped"
        and saved[-1] == reported["steps"] < STEPS
    )
    ended = computation.start("--resume", ranks=3).wait()
    assert ended.status == 0, ended
    whole.assert_reached("rehearse", computation.datasets())
    assert jobs.account(computation.run_dir / "legs/1")["reason"] == "SIGTERM"


def test_the_newest_are_kept_and_the_one_gone_on_from(tmp_path):
    computation = Computation("rehearse", tmp_path)
    ended = computation.start(ranks=2).wait()
    assert ended.status == 0, ended
    assert computation.steps_saved() == [21, 28, 35]
    reported = jobs.account(computation.run_dir)
    assert reported["checkpoints"] == 5 and reported["checkpoint_bytes"] >= 5 * 8 * 16**3
    assert 0 < reported["checkpoint_s"] < reported["wall_s"]


def formula(cells: int, step: int) -> np.ndarray:
    """The field of a rehearsal: x + y a + z a^2 + t a^3."""
    z, y, x = np.meshgrid(*[np.arange(cells)] * 3, indexing="ij")
    return (x + cells * (y + cells * (z + cells * step))).astype(float)


@pytest.mark.parametrize("compress", ["none", "zstd", "zstd:19"])
def test_a_reader_without_tailrace(compress, tmp_path):
    """examples/read_checkpoint.py verifies every checksum of what the programs write, and has the values."""
    script = Path(__file__).resolve().parents[2] / "examples" / "read_checkpoint.py"
    description = importlib.util.spec_from_file_location("read_checkpoint", script)
    reader = importlib.util.module_from_spec(description)
    description.loader.exec_module(reader)
    if compress != "none":
        jobs.needs_zstd()
    computation = Computation("rehearse", tmp_path, f'checkpoint.compress="{compress}"')
    ended = computation.start(ranks=3).wait()
    assert ended.status == 0, ended
    for step in computation.steps_saved():
        path = computation.run_dir / f"checkpoints/step-{step:012d}"
        manifest, _, _, arrays = reader.read_checkpoint(path)
        assert (manifest["step"], manifest["ranks"], manifest["simulation"]) == (step, 3, "rehearse")
        assert np.array_equal(arrays["cube/value"], formula(16, step))
        least = arrays["output/least.0"]
        assert sorted(least["element"]) == list(range(16**3))
        assert np.array_equal(np.sort(least["value"]), formula(16, 9).ravel().astype("f4"))
        ended = command.tailrace("checkpoint", "verify", path)
        assert ended.status == 0, ended
    state = path / "state.h5"
    content = bytearray(state.read_bytes())
    content[len(content) // 3] ^= 1
    state.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        reader.read_checkpoint(path)
    assert command.tailrace("checkpoint", "verify", path).status == 1


@each_value("simulation, compress, buffers", list(CASES), ["zstd", "zstd:19"], ["1MiB", "6KiB"])
def test_compressed_ones_on_other_numbers_of_ranks(simulation, compress, buffers, tmp_path, whole):
    """Killed, and resumed: bit for bit the same, also where buffers keep few of the cells."""
    jobs.needs_zstd()
    settings = [f'checkpoint.compress="{compress}"', f'checkpoint.buffers="{buffers}"']
    computation = Computation(simulation, tmp_path, *settings)
    ended = computation.start("--fault", "kill:step=26", ranks=3).wait()
    assert ended.status != 0, ended
    ended = command.tailrace("checkpoint", "verify", computation.run_dir)
    assert ended.status == 0, ended
    newest = computation.run_dir / f"checkpoints/step-{computation.steps_saved()[-1]:012d}"
    with h5py.File(newest / "state.h5") as file:
        stored = [item for item in file["sets"].values() for item in item.values()]
        assert all(item["data"].attrs["compression"] == b"zstd" for item in stored)
    ended = computation.start("--resume", ranks=2).wait()
    assert ended.status == 0, ended
    whole.assert_reached(simulation, computation.datasets())


def test_a_compression_that_nobody_knows(tmp_path):
    ended = Computation("rehearse", tmp_path, 'checkpoint.compress="gzip"').start().wait()
    assert ended.status == 2, ended
    for words in ('checkpoint.compress = "gzip" is not known', "none, zstd or zstd:LEVEL"):
        assert words in ended.err, ended


@pytest.mark.parametrize("simulation", ["seismic", "molecules-kd"])
def test_damaged_ones_are_skipped_with_a_warning(simulation, tmp_path, whole):
    computation = Computation(simulation, tmp_path)
    assert computation.start("--fault", "kill:step=30", ranks=2).wait().status != 0
    saved = computation.steps_saved()
    assert len(saved) >= 2
    state = computation.run_dir / f"checkpoints/step-{saved[-1]:012d}/state.h5"
    content = bytearray(state.read_bytes())
    content[len(content) // 2] ^= 1
    state.write_bytes(content)
    ended = computation.start("--resume", ranks=3).wait()
    assert ended.status == 0, ended
    assert "skipped a checkpoint" in ended.err and str(state.parent) in ended.err
    assert jobs.account(computation.run_dir)["resumed_from"] == saved[-2]
    whole.assert_reached(simulation, computation.datasets())


def contents(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_no_checkpoint_of_the_wrong_case(tmp_path):
    computation = Computation("seismic", tmp_path)
    assert computation.start("--fault", "kill:step=30").wait().status != 0
    before = contents(computation.run_dir)
    for old, new, words in [
        ("dt_s = 0.001", "dt_s = 0.0009", ["time.dt_s = 0.001"]),
        ("width = 3", "width = 4", ["points, this run has"]),
        ("vp_m_s = 2500", 'vp_m_s = 2500\nprecision = "float64"', ["this run computes in"]),
        ('name = "loud"', 'name = "louder"', ["louder.0", "missing"]),
    ]:
        computation.case.write_text(SEISMIC.replace(old, new, 1))
        ended = computation.start("--resume").wait()
        assert ended.status == 2, ended
        for word in words:
            assert word in ended.err, ended
        assert contents(computation.run_dir) == before


@pytest.mark.parametrize("name", ["c0", "dt", "p_source_input", "sensor_mask_corners"])
def test_no_checkpoint_of_another_input(name, tmp_path):
    computation = Computation("ultrasound", tmp_path)
    assert computation.start("--fault", "kill:step=30").wait().status != 0
    before = contents(computation.run_dir)
    with h5py.File(tmp_path / "input.h5", "r+") as file:
        values = file[name][()]
        values.flat[values.size // 4] -= 1 if name.startswith("sensor") else 0.01 * values.max()
        file[name][...] = values
    ended = computation.start("--resume", ranks=2).wait()
    assert ended.status == 2, ended
    assert ended.err.count(f"input.h5: not what the run began with: {name.removesuffix('_corners')}") == 1
    assert "MPI_ABORT" not in ended.err, ended  # all ranks know it
    assert contents(computation.run_dir) == before


@pytest.mark.parametrize(
    ("simulation", "before", "after", "names"),
    [
        ("molecules", "moment = 0.5", "moment = 0.6", "component 2"),
        ("molecules", "sigma = 0.9", "sigma = 0.91", "component 2"),
        ("molecules", "cutoff = 2.5", 'cutoff = 2.5\nlong_range = "none"', "model"),
        ("poisson", '"smooth"', '"sines"', "problem.rhs"),
        ("poisson", "[problem]", "spacing_m = [0.1, 0.1, 0.1]\n[problem]", "domain.spacing_m, problem.rhs"),
    ],
)
def test_no_checkpoint_of_another_problem(simulation, before, after, names, tmp_path):
    computation = Computation(simulation, tmp_path)
    assert computation.start("--fault", "kill:step=30").wait().status != 0
    files = contents(computation.run_dir)
    case = computation.case.read_text()
    assert before in case
    computation.case.write_text(case.replace(before, after))
    ended = computation.start("--resume", ranks=2).wait()
    assert ended.status == 2, ended
    assert ended.err.count(f"case.toml: not what the run began with: {names}. Fix: ") == 1, ended
    assert contents(computation.run_dir) == files


def test_what_another_simulation_left_stays_as_it_is(tmp_path):
    """Neither the program nor the command touches the account, the traces or the report of the segment
    before.
    """
    computation = Computation("seismic", tmp_path, "time.steps=4000", "domain.cells=[30,30,30]")
    words = [
        "run",
        computation.case,
        "--out",
        computation.run_dir,
        *computation.settings,
        "--wall-limit",
        "0.5s",
    ]
    assert jobs.tailrace(*words).status == 4
    assert (computation.run_dir / "report.html").exists()
    before = contents(computation.run_dir)
    computation.case.write_text(REHEARSAL)
    other = Computation("rehearse", tmp_path)
    ended = other.start("--resume").wait()
    assert ended.status == 2 and "is of the simulation seismic, not of rehearse" in ended.err, ended
    assert contents(computation.run_dir) == before
    computation.case.write_text(SEISMIC.replace("width = 3", "width = 4"))
    ended = command.tailrace("resume", computation.run_dir)
    assert ended.status == 2 and "points, this run has" in ended.err, ended
    assert "stopped" not in ended.out, ended
    assert contents(computation.run_dir) == before


def test_nothing_to_resume_from(tmp_path):
    computation = Computation("rehearse", tmp_path)
    ended = computation.start("--resume").wait()
    assert ended.status == 2 and "no checkpoint to resume from" in ended.err, ended


@pytest.mark.parametrize(("policy", "status"), [("warn", 0), ("stop", 3)])
def test_a_checkpoint_that_cannot_be_written(policy, status, tmp_path):
    """Its place is taken by a file, which is the same to the run as a full disk."""
    computation = Computation("rehearse", tmp_path, f"checkpoint.on_failure={policy}", "checkpoint.every=10")
    slow = ["--set", 'rehearse.compute="memory"', "--set", "rehearse.compute_ms=20"]
    job = computation.start(*slow, ranks=2)
    job.wait_for((computation.run_dir / "progress.json").exists, "progress")
    (computation.run_dir / "checkpoints").write_text("in the way")
    ended = job.wait()
    assert ended.status == status, ended
    assert "checkpoint" in ended.err and "cannot be made" in ended.err


@each_value("policy, ranks", ["warn", "stop"], [2, 3])
def test_a_full_disk(policy, ranks, tmp_path, small_disk, whole):
    """Where the checkpoints go there is room for one; the output has room elsewhere."""
    computation = Computation("rehearse", tmp_path, f"checkpoint.on_failure={policy}")
    place = computation.run_dir / "checkpoints"
    small_disk("300k", place)
    ended = computation.start("--overwrite", ranks=ranks).wait()
    assert ended.status == (0 if policy == "warn" else 3), ended
    assert "No space left on device" in ended.err and str(place) in ended.err, ended
    assert [path.name for path in place.iterdir()] == [f"step-{EVERY:012d}"]
    assert command.tailrace("checkpoint", "verify", place).status == 0
    if policy == "warn":
        whole.assert_reached("rehearse", computation.datasets())
        return
    assert "No space left on device" in jobs.account(computation.run_dir)["error"]["message"]
    subprocess.run(["mount", "-o", "remount,size=16m", place], check=True)
    ended = computation.start("--resume", ranks=ranks - 1).wait()
    assert ended.status == 0, ended
    assert jobs.account(computation.run_dir)["resumed_from"] == EVERY
    whole.assert_reached("rehearse", computation.datasets())


@each_value("policy, strategy", ["warn", "stop"], ["blocking", "threads", "leaders"])
def test_injected_errors_of_a_checkpoint(policy, strategy, tmp_path):
    """Every checkpoint but the first fails in its middle; the few samples end before faults begin."""
    status = {"warn": 0, "stop": 3}[policy]
    few = ['rehearse.select=["points:5"]', "rehearse.every=10"]
    computation = Computation("rehearse", tmp_path, f"checkpoint.on_failure={policy}", *few)
    computation.case.write_text(REHEARSAL.split("[[output]]")[0] + f"[checkpoint]\nevery = {EVERY}\n")
    fault = "write:step=10,after=8000,error=EIO"
    ended = computation.start("--write", strategy, "--fault", fault, ranks=3).wait()
    assert ended.status == status, ended
    assert "Input/output error" in ended.err and "checkpoints/step-000000000014" in ended.err, ended
    assert computation.steps_saved() == [EVERY]
    ended = computation.start("--resume", ranks=2).wait()
    assert ended.status == 0, ended
    assert jobs.rehearse("--verify", computation.run_dir / "output.h5").status == 0


def test_the_command(tmp_path, whole):
    computation = Computation("seismic", tmp_path)
    words = [
        "run",
        computation.case,
        "--out",
        computation.run_dir,
        "-n",
        "2",
        "--fault",
        "kill:step=30",
        "--no-report",
    ]
    ended = jobs.tailrace(*words)
    assert ended.status == 3, ended
    assert f"tailrace resume {computation.run_dir}" in ended.out
    ended = jobs.tailrace("resume", computation.run_dir, "-n", "3")
    assert ended.status == 0 and "resume with it" not in ended.out, ended
    whole.assert_reached("seismic", computation.datasets())
    page = (computation.run_dir / "report.html").read_text()
    assert "Checkpoints and segments" in page
    again = command.tailrace("resume", computation.run_dir)
    assert again.status == 2 and "has finished" in again.err, again
    shutil.rmtree(computation.run_dir / "checkpoints")
    (computation.run_dir / "run.json").unlink()
    none = command.tailrace("resume", computation.run_dir)
    assert none.status == 2 and "has no checkpoints" in none.err, none


@each_value(
    "simulation, ranks, strategy, compress",
    list(CASES),
    FEW,
    ["blocking", "threads", "leaders"],
    ["none", "zstd"],
)
def test_killed_again_and_again(simulation, ranks, strategy, compress, tmp_path, whole):
    """With checkpoints on its heels, and never a step lost that was saved."""
    if compress != "none":
        jobs.needs_zstd()
    computation = Computation(simulation, tmp_path, OFTEN, f'checkpoint.compress="{compress}"')
    kill_three_times(computation, ranks, "--write", strategy)
    whole.assert_reached(simulation, computation.datasets())


@pytest.mark.parametrize("ranks", [1, 3])
def test_killed_with_samples_in_chunks_that_take_more(ranks, tmp_path, whole):
    """What a checkpoint counts on is in a compressed file, too, whenever a kill comes."""
    computation = Computation("ultrasound", tmp_path, OFTEN)
    kill_three_times(computation, ranks, "--sink", "hdf5-chunked")
    whole.assert_reached("ultrasound", computation.datasets())


def wait_while(job: jobs.Job, condition: Callable[[], bool], limit_s: float) -> None:
    """As long as the job runs, and not longer than the limit."""
    end_s = time.monotonic() + limit_s
    while condition() and time.monotonic() < end_s and job.process.poll() is None:
        time.sleep(0.002)


def kill_at_random(seed: int, whole: Whole, make: Callable[[random.Random], Computation]) -> None:
    """Kills one process or all of them at any moment, again and again, until the run comes to its end."""
    chance = random.Random(seed)
    computation = make(chance)
    pace = ["--pace", f"latency={chance.choice([1, 3, 10])}ms"]
    strategy = ["--write", chance.choice(["blocking", "threads", "leaders"])]
    for segment in range(20):
        before = computation.steps_saved()
        resume = ["--resume"] if before else ["--overwrite"]
        job = computation.start(*resume, *pace, *strategy, ranks=chance.choice([1, 2, 3]))
        if chance.random() < 0.8:  # else it may be killed before its first step
            wait_while(job, lambda: not computation.computes(), jobs.LIMIT_S)
        wait_while(job, lambda: True, chance.uniform(0, 0.6))
        if job.process.poll() is None and segment < 12:
            everyone = job.processes()
            kill_targets = everyone if chance.random() < 0.5 else everyone[:1]
            for pid in kill_targets:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        ended = job.wait()
        if ended.status == 0:
            assert jobs.account(computation.run_dir)["resumed_from"] == (before[-1] if before else 0), seed
            whole.assert_reached(computation.simulation, computation.datasets())
            return
        if computation.steps_saved() and before:
            assert computation.steps_saved()[-1] >= before[-1], seed
    raise AssertionError(f"seed {seed}: no end after 20 segments")


def often(simulations: list[str], directory: Path, chance: random.Random) -> Computation:
    """Any of the simulations, with checkpoints on its heels; every third one compressed."""
    compress = chance.choice(["none", "none", "zstd" if jobs.knows_zstd() else "none"])
    settings = [OFTEN, f'checkpoint.compress="{compress}"']
    return Computation(chance.choice(simulations), directory, *settings)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1000, 1280))
def test_killed_at_any_moment_often(seed, tmp_path, whole):
    kill_at_random(seed, whole, partial(often, list(CASES), tmp_path))
