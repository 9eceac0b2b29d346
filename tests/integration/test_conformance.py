# SPDX-License-Identifier: BSD-3-Clause
"""Every strategy with every sink: full disk, slow device, killed processes, resuming after them."""

import os
import re
import signal
import time
from functools import partial
from pathlib import Path

import h5py

import jobs
from conftest import SENSOR_DATA
from kwave_input import STEPS
from matrix import Family, pairwise
from native import cannot
from test_checkpoint import Segments, assert_finished
from test_rehearse import (
    ENDLESS,
    SERVICES,
    SINKS,
    STRATEGIES,
    options,
    served,
    verify,
    wait_for_steps,
    world,
    writes_apart,
)


def several() -> int:
    """Ranks that compute, as many as go well with one that writes where waits spin."""
    return 2 if jobs.waits_spin() else 3


# Each test has every strategy and every sink, and all of them together every pair.
STORAGE = Family("strategy, sink", SERVICES)
CREWS = [service for service in SERVICES if writes_apart(service[0])]


def io_servers_of(job: jobs.Job, computing: int) -> list[int]:
    """The processes of a job that only write."""
    return job.rank_processes()[computing:] + job.processes_of("tailrace-writer")


def documented_pairs() -> dict[tuple[str, str], bool]:
    """What the page says of each strategy with each sink."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "explain" / "output.md").read_text()
    table = page[page.index("| | `hdf5` |") :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    names = [re.findall(r"`([a-z0-9-]+)`", cell) for cell in rows[0]]
    return {
        (strategy, sink): cell.startswith("yes")
        for row in rows[2:]
        for strategy in re.findall(r"`([a-z0-9-]+)`", row[0])
        for sinks, cell in zip(names[1:], row[1:], strict=True)
        for sink in sinks
    }


def test_the_page_has_the_pairs_of_the_registry():
    pairs = {(strategy.split(":")[0], sink) for strategy, sink in SERVICES}
    built = {sink for _, sink in pairs}
    documented = documented_pairs()
    assert pairs <= set(documented)
    assert {pair for pair, served in documented.items() if served and pair[1] in built} == pairs


@pairwise("strategy, sink, ranks", STRATEGIES, SINKS, [1, 2, 3], allowed=served)
def test_ultrasound_writes_the_same(strategy, sink, ranks, small, clean, tmp_path):
    output = tmp_path / "out"
    words = ["-i", small, "-o", output, "--quiet", *SENSOR_DATA, "--write", strategy, "--sink", sink]
    ended = jobs.run(*words, ranks=world(ranks, strategy))
    assert ended.status == 0, ended
    if h5py.is_hdf5(output):  # what netCDF files hold, the native tests compare
        jobs.assert_equal_files(output, clean(ranks), but=())


@STORAGE.case()
def test_a_disk_that_is_too_small(strategy, sink, small, clean, small_disk):
    """It holds half of the samples, whose values hardly shrink."""
    output = small_disk("2m") / "out"
    words = ["-i", small, "-o", output, "--quiet", *SENSOR_DATA, "--write", strategy, "--sink", sink]
    ended = jobs.run(*words, ranks=world(2, strategy))
    assert ended.status == 1 and ended.seconds < jobs.LIMIT_S / 4, ended
    assert len(jobs.messages(ended)) == 1, ended
    assert "No space left on device" in ended.err
    if h5py.is_hdf5(output):
        assert jobs.assert_recorded_samples_equal(output, clean(2)) < STEPS


# Long enough to fill every buffer and queue there is; the rest of the longer run would be 24 MiB per rank.
FEW_STEPS, MANY_STEPS = 24, 72
LARGEST_GROWTH_BYTES = 12 << 20


@STORAGE.case()
def test_a_slow_device_holds_the_run_up_and_memory_does_not_grow(strategy, sink, tmp_path):
    def run(steps: int) -> dict:
        run_dir = tmp_path / str(steps)
        words = ["--out", run_dir, *options(strategy, sink, 2), "--cells", "64,64,32", "--steps", steps]
        words += ["--compute", "none", "--pace", "bandwidth=50MB/s", "--verify", "--trace", "off"]
        ended = jobs.rehearse(*words, ranks=world(2, strategy))
        assert ended.status == 0, ended
        return jobs.account(run_dir)

    few, many = jobs.in_parallel([partial(run, steps) for steps in (FEW_STEPS, MANY_STEPS)])
    assert sum(rank["output_wait_s"] for rank in many["per_rank"]) > 0.1
    for group in ("per_rank", "writers"):
        for short, long in zip(few.get(group, []), many.get(group, []), strict=True):
            assert long["peak_memory_bytes"] < short["peak_memory_bytes"] + LARGEST_GROWTH_BYTES


@STORAGE.case(CREWS)
def test_a_process_that_only_writes_is_killed(strategy, sink, tmp_path):
    run_dir = tmp_path / "out"
    words = [*options(strategy, sink, 2), "--steps", "5000", "--pace", ENDLESS, "--select", "whole"]
    job = jobs.rehearsal("--out", run_dir, *words, ranks=world(2, strategy))
    wait_for_steps(job, run_dir, 3)
    if not (writers := io_servers_of(job, 2)):
        job.kill_all()
        assert "--write threads is used instead" in job.texts()[1], job.texts()
        jobs.no_process_was_started()
    job.blow = time.monotonic()
    os.kill(writers[0], signal.SIGKILL)
    ended = job.wait()
    assert ended.status != 0 and ended.seconds < jobs.ENDS_WITHIN_S, ended
    found = verify(run_dir / "output.h5")
    assert found.status == 0, found
    assert "did not end in good order" in found.out


@STORAGE.complete()
def test_a_run_resumes_after_a_kill_in_mid_write(strategy, sink, small, clean, tmp_path):
    """Whichever process writes dies ten steps after a checkpoint; the next segment may have another
    strategy.
    """
    whole = clean(1)
    segments = Segments(small, tmp_path, "--sink", sink, steps=20)
    first = segments.start(world(2, strategy), "--write", strategy).wait()
    if "cannot resume in a file of" in first.err:  # reported before anything is computed
        assert first.status == 1 and not segments.output.exists(), first
        return
    assert first.status == 0, first
    ended = segments.start(world(2, strategy), "--write", strategy, "--fault", "kill:step=30").wait()
    assert ended.status != 0 and ended.seconds < jobs.LIMIT_S / 4, ended
    assert segments.steps_saved() == 20
    segments.run(world(several(), strategy), "--write", strategy)
    segments.run_to_the_end(1)
    assert_finished(segments, whole)


CLOCK_TICKS_S = os.sysconf("SC_CLK_TCK")


def cpu_s(pid: int) -> float:
    """Processor time of all threads of a process, as the system counts it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS_S


@STORAGE.case(CREWS)
def test_a_waiting_writer_leaves_its_core_to_others(strategy, sink, tmp_path):
    one = f"{strategy.split(':')[0]}:1"  # launchers may have no place for more
    words = [*options(one, sink, 1), "--steps", "100000", "--every", "100000"]
    words += ["--compute-units", "200", "--wall-limit", "60"]
    job = jobs.rehearsal("--out", tmp_path / "out", *words, ranks=world(1, strategy))
    wait_for_steps(job, tmp_path / "out", 3)
    writers = io_servers_of(job, 1)
    time.sleep(0.5)
    shares = []  # of a core, over a while; other programs make waking up dearer, never cheaper
    while len(shares) < 3 and min(shares, default=1) >= 0.25:
        before, start_s = [cpu_s(pid) for pid in writers], time.monotonic()
        time.sleep(2)
        elapsed_s = time.monotonic() - start_s
        used_s = [cpu_s(pid) - earlier for pid, earlier in zip(writers, before, strict=True)]
        shares.append(max(used_s, default=0) / elapsed_s)
    job.send(signal.SIGTERM, rank=0)
    ended = job.wait()
    assert ended.status == 4, ended
    if not writers:
        assert "--write threads is used instead" in ended.err, ended
        jobs.no_process_was_started()
    assert (
        min(shares) < 0.25
    )  # one that spins uses all of it; how much less is for `tailrace bench output` to say


def test_the_collective_baseline_is_collective(tmp_path, monkeypatch):
    """HDF5 falls back to single writes without an error; the sink asks it, and says so."""
    if "hdf5-parallel" not in {sink for _, sink in SERVICES}:
        cannot("this build has no parallel HDF5")
    words = [*options("blocking", "hdf5-parallel", 2), "--select", "boxes:20", "--select", "points:400"]
    ended = jobs.rehearse("-o", tmp_path / "out.h5", *words, "--verify", ranks=2)
    assert ended.status == 0, ended
    monkeypatch.setenv("HDF5_MPI_OPT_TYPES", "0")
    ended = jobs.rehearse("-o", tmp_path / "alone.h5", *words, ranks=2)
    assert ended.status == 3, ended
    assert "one by one instead of together" in ended.err and "unset it" in ended.err
