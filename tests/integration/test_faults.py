# SPDX-License-Identifier: BSD-3-Clause
"""Failing storage: every rank stops with the same error within seconds, and what was recorded is right."""

import resource
import time
from pathlib import Path

import pytest

import jobs
from conftest import SENSOR_DATA
from kwave_input import STEPS
from matrix import each_value, pairwise

# From the failure to the end of the job.
SECONDS = 10.0
STRATEGIES = ["threads", "blocking"]
# With the sink hdf5-chunked, samples become part of the file when they are flushed, or after a second.
SINKS = {"hdf5": ["--sink", "hdf5"], "hdf5-chunked": ["--sink", "hdf5-chunked:1", "--flush", "sample"]}


def write_case(directory: Path, input_file: Path) -> Path:
    """A case that samples what SENSOR_DATA asks for on the command line."""
    names = [option.lstrip("-") for option in SENSOR_DATA]
    long = {"p": "p_raw", "u": "u_raw"}
    keys = [f"{long.get(name, name)} = true" for name in names]
    case = directory / "case.toml"
    text = f'[case]\nsimulation = "ultrasound"\n[input]\nfile = "{input_file}"\n[record]\n'
    case.write_text(text + "\n".join(keys) + "\n")
    return case


@pytest.fixture
def case(small, tmp_path) -> Path:
    return write_case(tmp_path, small)


def fails(sink: str, strategy: str, ranks: int, failing: int, mode: str) -> bool:
    """Whether a rank writes: with the sink hdf5-chunked only rank 0."""
    return failing < ranks and (failing == 0 or sink == "hdf5")


@pairwise(
    "sink, strategy, ranks, failing, mode",
    list(SINKS),
    STRATEGIES,
    [1, 2, 3],
    [0, 1],
    ["case", "k-Wave"],
    allowed=fails,
)
def test_write_error_on_one_rank(sink, strategy, ranks, failing, mode, case, small, clean, tmp_path):
    fault = f"write:rank={failing},step=20,error=EIO"
    options = ["--quiet", "--write", strategy, "--fault", fault, *SINKS[sink]]
    run_dir = tmp_path / "run"
    output = run_dir / "output.h5" if mode == "case" else tmp_path / "out.h5"
    words = (
        ["--case", case, "--out", run_dir] if mode == "case" else ["-i", small, "-o", output, *SENSOR_DATA]
    )
    ended = jobs.run(*words, *options, ranks=ranks)
    assert ended.status == (3 if mode == "case" else 1) and ended.seconds < SECONDS, ended
    (message,) = jobs.messages(ended)
    assert f"{output}: writing at byte" in message and "Input/output error" in message
    if mode == "case":
        assert_account_tells(run_dir, message, failing, sink)
    assert 1 <= jobs.assert_recorded_samples_equal(output, clean(ranks)) < 20


def assert_account_tells(run_dir: Path, message: str, failing: int, sink: str) -> None:
    reported = jobs.assert_failed(run_dir)
    error = reported["error"]
    assert error["rank"] == failing and error["path"] == str(run_dir / "output.h5") and error["offset"] > 0
    assert error["message"] in message
    # What waits in the queue of the compressing sink may be all the rest of so small a run.
    assert 20 <= reported["steps"] < STEPS + (sink == "hdf5-chunked")
    assert not (run_dir / "progress.json").exists()


@pytest.mark.parametrize("fault", ["write:rank=1,nth=1", "write:error=ENOSPC", "write:step=60,error=EDQUOT"])
def test_write_errors_at_the_start_everywhere_and_at_the_end(fault, case, clean, tmp_path):
    """Of the first write, of all ranks at once, and of what is written with and after the last step."""
    ended = jobs.run("--case", case, "--out", tmp_path / "run", "--quiet", "--fault", fault, ranks=2)
    assert ended.status == 3 and ended.seconds < SECONDS, ended
    assert len(jobs.messages(ended)) == 1, ended
    assert ". Fix: " in ended.err or "nth=1" in fault
    jobs.assert_failed(tmp_path / "run")
    jobs.assert_recorded_samples_equal(tmp_path / "run" / "output.h5", clean(2))


FAULTS = ["short:every=2", "short:probability=0.7,seed=3;stall:every=9,s=20ms"]


@pairwise("sink, strategy, fault", list(SINKS), STRATEGIES, FAULTS)
def test_short_writes_and_stalls_are_made_good(sink, strategy, fault, small, clean, tmp_path):
    options = ["--quiet", "--write", strategy, "--fault", fault, *SINKS[sink]]
    ended = jobs.run("-i", small, "-o", tmp_path / "out.h5", *SENSOR_DATA, *options, ranks=3)
    assert ended.status == 0, ended
    jobs.assert_equal_files(tmp_path / "out.h5", clean(3), but=())


@each_value("sink, ranks, strategy", list(SINKS), [2, 3], STRATEGIES)
def test_disk_that_is_too_small(sink, ranks, strategy, case, clean, small_disk):
    """It holds half of the series, so it is full in mid-run, for the account of the run too."""
    run_dir = small_disk("2m") / "run"
    options = ["--quiet", "--write", strategy, *SINKS[sink]]
    ended = jobs.run("--case", case, "--out", run_dir, *options, ranks=ranks)
    assert ended.status == 3 and ended.seconds < SECONDS, ended
    assert "writes will fail when it is full" in ended.err
    (message,) = jobs.messages(ended)
    assert "No space left on device. Fix: free space" in message
    recorded = jobs.assert_recorded_samples_equal(run_dir / "output.h5", clean(ranks), least=5)
    assert recorded < STEPS
    if (run_dir / "run.json").exists():
        assert jobs.assert_failed(run_dir)["error"]["message"] in message


def test_disk_that_has_no_room_for_the_layout(case, small, small_disk):
    disk = small_disk("16k")
    ended = jobs.run("-i", small, "-o", disk / "out.h5", "--quiet", "-p", ranks=2)
    assert ended.status == 1 and len(jobs.messages(ended)) == 1, ended
    assert "No space left on device" in ended.err or "cannot be created" in ended.err
    assert list(disk.iterdir()) == []
    ended = jobs.run("--case", case, "--out", disk / "run", "--quiet", ranks=2)
    assert ended.status in (2, 3) and len(jobs.messages(ended)) == 1, ended


@pytest.mark.parametrize("ranks", [2, 3])
def test_disk_filled_by_somebody_else_in_mid_run(ranks, case, clean, small_disk):
    """The series have their blocks set aside; what is written at the end finds the disk full."""
    disk = small_disk("16m")
    run_dir = disk / "run"
    options = ["--quiet", "--pace", "latency=10ms"]
    job = jobs.Job(["--case", case, "--out", run_dir, *options], ranks)
    job.wait_for(lambda: jobs.recorded_steps(run_dir / "output.h5") >= 5, "recorded step")
    fill(disk / "filler")
    ended = job.wait()
    assert ended.status == 3, ended
    (message,) = jobs.messages(ended)
    assert "No space left on device" in message or "cannot be written" in message
    jobs.assert_recorded_samples_equal(run_dir / "output.h5", clean(ranks), least=5)


def fill(path: Path) -> None:
    """Takes all room that is left."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def test_command_tells_of_a_full_disk(case, small_disk):
    run_dir = small_disk("2m") / "run"
    ended = jobs.tailrace("run", case, "--out", run_dir, "-n", "2", "-t", "1")
    assert ended.status == 3, ended
    assert "No space left on device" in ended.err and "Traceback" not in ended.err


@pytest.mark.parametrize(("ranks", "limited"), [(2, 1), (3, 0)])
def test_limit_on_the_size_of_files(ranks, limited, case, clean, tmp_path):
    """Set on one rank while it runs: that rank may not write behind the middle of the file any more."""
    run_dir = tmp_path / "run"
    job = jobs.Job(["--case", case, "--out", run_dir, "--quiet", "--pace", "latency=10ms"], ranks)
    job.wait_for(lambda: jobs.recorded_steps(run_dir / "output.h5") >= 5, "recorded step")
    resource.prlimit(job.rank_processes()[limited], resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    job.blow = time.monotonic()
    ended = job.wait()
    assert ended.status == 3 and ended.seconds < SECONDS, ended
    (message,) = jobs.messages(ended)
    assert "File too large" in message and ". Fix: raise the limit" in message
    error = jobs.assert_failed(run_dir)["error"]
    assert error["rank"] == limited and error["offset"] > 0
    jobs.assert_recorded_samples_equal(run_dir / "output.h5", clean(ranks), least=5)


def test_words_that_find_no_room_end_no_run(small, clean, small_disk, tmp_path):
    """Standard output and error on a full disk."""
    disk = small_disk("64k")
    fill(disk / "filler")
    words = ["sh", "-c", f'exec "$@" >{disk}/out 2>{disk}/err', "sh"]
    ended = jobs.run("-i", small, "-o", tmp_path / "out.h5", *SENSOR_DATA, prefix=words)
    assert ended.status == 0, ended
    jobs.assert_equal_files(tmp_path / "out.h5", clean(1), but=())
