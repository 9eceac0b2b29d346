# SPDX-License-Identifier: BSD-3-Clause
"""Processes that do not compute write for those that do: strategies `ranks`, `spawn` and `spawn-each`."""

import h5py
import numpy as np
import pytest

import jobs
from conftest import SENSOR_DATA
from kwave_input import GRID
from matrix import each_value
from tailrace import inspect
from tailrace.programs import find_program
from test_account import stream_bytes
from test_checkpoint import Segments, assert_finished
from test_faults import write_case

# Of strategies the forms that test_conformance.py has not: there, each runs on each number of ranks.
WRITERS = {"ranks:1": 1, "ranks:1,send": 1, "ranks:2": 2, "spawn:2": 0, "spawn-each:2": 0}


def has_work(computing: int, strategy: str) -> bool:
    """Whether each process that only writes has a rank to write for."""
    return WRITERS[strategy] <= computing


@each_value("computing, strategy", [3, 2, 1], list(WRITERS), allowed=has_work)
def test_datasets_do_not_depend_on_who_writes(computing, strategy, small, clean, tmp_path):
    words = ["-i", small, "-o", tmp_path / "out.h5", "--quiet", *SENSOR_DATA, "--write", strategy]
    ended = jobs.run(*words, ranks=computing + WRITERS[strategy])
    assert ended.status == 0, ended
    jobs.assert_equal_files(tmp_path / "out.h5", clean(computing), but=())


@pytest.mark.parametrize(("computing", "writing", "strategy"), [(1, 1, "ranks:1"), (2, 2, "ranks:2,send")])
def test_account_tells_who_wrote(computing, writing, strategy, small, tmp_path):
    case, run_dir = write_case(tmp_path, small), tmp_path / "run"
    words = ["--case", case, "--out", run_dir, "--quiet", "--write", strategy]
    ended = jobs.run(*words, ranks=computing + writing)
    assert ended.status == 0, ended
    reported = jobs.account(run_dir)
    assert reported["status"] == "finished" and reported["strategy"] == strategy
    assert reported["ranks"] == computing == len(reported["per_rank"])
    assert sum(rank["cells"] for rank in reported["per_rank"]) == GRID[0] * GRID[1] * GRID[2]
    writers = reported["writers"]
    assert [writer["rank"] for writer in writers] == list(range(computing, computing + writing))
    assert reported["output_bytes"] == sum(writer["write_bytes"] for writer in writers)
    assert reported["output_bytes"] == stream_bytes(reported, run_dir)
    assert all(writer["write_s"] > 0 and writer["peak_memory_bytes"] > 0 for writer in writers)
    traces = sorted(path.name for path in (run_dir / "trace").iterdir())
    assert traces == [f"rank-{rank:05}.trace" for rank in range(computing + writing)]


def test_too_few_ranks_are_told_with_the_fix(small, tmp_path):
    case = write_case(tmp_path, small)
    ended = jobs.run("--case", case, "--out", tmp_path / "run", "--write", "ranks:2", ranks=3)
    assert ended.status == 2, ended
    assert "--write ranks:2 on 3 ranks" in ended.err and "at least 4 ranks" in ended.err
    assert len(jobs.messages(ended)) == 1


def test_command_adds_the_ranks_that_write(small, tmp_path):
    case, run_dir = write_case(tmp_path, small), tmp_path / "run"
    ended = jobs.tailrace("run", case, "-n", 2, "--out", run_dir, "--write", "ranks:1", "--no-report")
    assert ended.status == 0, ended
    reported = jobs.account(run_dir)
    assert reported["ranks"] == 2 and len(reported["writers"]) == 1


def test_refused_processes_are_replaced_by_threads(small, clean, tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_WRITER", str(tmp_path / "nowhere"))
    case, run_dir = write_case(tmp_path, small), tmp_path / "run"
    ended = jobs.run("--case", case, "--out", run_dir, "--write", "spawn:2", ranks=2)
    assert ended.status == 0, ended
    reported = jobs.account(run_dir)
    assert reported["strategy"] == "threads:2" and reported["writers"] == []
    assert any("nowhere" in warning for warning in reported["warnings"]), reported["warnings"]


def test_processes_that_never_join_end_the_job(small, tmp_path, monkeypatch):
    """Their start has no end in MPI. The program is one that knows nothing of MPI."""
    writer = tmp_path / "writer"
    writer.write_text("#!/bin/sh\nexec sleep 1000\n")
    writer.chmod(0o755)
    monkeypatch.setenv("TAILRACE_WRITER", str(writer))
    monkeypatch.setenv("TAILRACE_START_LIMIT", "2")
    words = ["-i", small, "-o", tmp_path / "out.h5", "--quiet", *SENSOR_DATA, "--write", "spawn:1"]
    ended = jobs.run(*words, ranks=2)
    if "--write threads is used instead" in ended.out + ended.err:
        jobs.no_process_was_started()
    assert ended.status == 3, ended
    said = f"tailrace: the processes of {writer} that MPI started have not joined within 2 s. Fix: "
    assert ended.err.count(said) == 1, ended


def test_a_limit_of_their_start_is_a_number(tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_START_LIMIT", "soon")
    words = ["--cells", "16,16,16", "--steps", "2", "--quiet", "-o", tmp_path / "out.h5"]
    ended = jobs.rehearse(*words, "--write", "spawn:1", ranks=2)
    assert ended.status == 2 and ended.err.count("tailrace-rehearse:") == 1, ended
    assert 'TAILRACE_START_LIMIT = "soon". Fix: a number of seconds, at least 1' in ended.err, ended


def test_without_places_nothing_is_started(small, tmp_path):
    """Open MPI's launcher would never end after a request that it has no places for."""
    if jobs.launcher().kind != "openmpi":
        pytest.skip("only Open MPI counts places")
    output, command = tmp_path / "out.h5", str(find_program("tailrace-ultrasound"))
    words = ["-i", small, "-o", output, "--quiet", *SENSOR_DATA, "--write", "spawn:1"]
    prefix = [jobs.launcher().path, "--host", "localhost:1", "--bind-to", "none", "-n", "1"]
    ended = jobs.Job(words, command=[*prefix, command]).wait()
    assert ended.status == 0, ended
    assert "places" in ended.err and "--write threads is used instead" in ended.err


def test_a_failing_writer_is_the_error_of_the_run(small, tmp_path):
    case, run_dir = write_case(tmp_path, small), tmp_path / "run"
    fault = "write:rank=2,step=10,error=ENOSPC"
    words = ["--case", case, "--out", run_dir, "--quiet", "--write", "ranks:1", "--fault", fault]
    ended = jobs.run(*words, ranks=3)
    assert ended.status == 3, ended
    reported = jobs.assert_failed(run_dir)
    assert reported["error"]["rank"] == 2 and "No space left on device" in reported["error"]["message"]


@pytest.mark.parametrize("kill_target", [0, 2])
def test_a_killed_process_ends_the_job_and_leaves_what_the_commit_mark_says(
    kill_target, small, clean, tmp_path
):
    output = tmp_path / "out.h5"
    words = [
        "-i",
        small,
        "-o",
        output,
        "--quiet",
        *SENSOR_DATA,
        "--write",
        "ranks:1",
        "--pace",
        "latency=2ms",
    ]
    job = jobs.Job(words, ranks=3)
    job.wait_for(lambda: jobs.recorded_steps(output) >= 3, "record")
    job.send(9, rank=kill_target)
    ended = job.wait()
    assert ended.status != 0 and ended.seconds < jobs.ENDS_WITHIN_S, ended
    jobs.assert_recorded_samples_equal(output, clean(2), least=3)


CUBE = ["--cells", "9,8,5", "--steps", "12", "--quiet", "--select", "whole", "--select", "points:9"]


def run_each(path, *words: str) -> jobs.Ended:
    return jobs.rehearse("-o", path, *CUBE, "--write", "spawn-each:2", *words, ranks=2)


def test_each_step_is_a_file_of_its_own_and_all_move_together(tmp_path):
    (tmp_path / "a").mkdir()
    ended = run_each(tmp_path / "a" / "out.h5")
    assert ended.status == 0, ended
    (tmp_path / "a").rename(tmp_path / "b")
    path, directory = tmp_path / "b" / "out.h5", tmp_path / "b" / "out.h5.steps"
    assert sorted(file.name for file in directory.iterdir()) == [f"step-{n:09}.h5" for n in range(1, 13)]
    assert jobs.rehearse("--verify", path).status == 0
    with h5py.File(directory / "step-000000007.h5") as one, h5py.File(path) as file:
        assert one["whole/values"].shape == (1, *file["whole/values"].shape[1:])
        assert np.array_equal(one["whole/values"][0], file["whole/values"][6])
    assert not inspect.inspect_path(path).all_problems
    (directory / "step-000000007.h5").unlink()
    assert jobs.rehearse("--verify", path).status == 1
    problems = inspect.inspect_path(path).all_problems
    assert len(problems) == 1 and "out.h5.steps/step-000000007.h5" in problems[0]


def test_a_new_file_leaves_no_steps_of_the_old_one(tmp_path):
    path = tmp_path / "out.h5"
    assert run_each(path).status == 0
    other = tmp_path / "out.h5.steps" / "notes.txt"
    other.write_text("mine")
    assert run_each(path, "--overwrite", "--fault", "write:error=ENOSPC,step=5").status == 3
    left = sorted(file.name for file in other.parent.iterdir() if file != other)
    assert left and left[-1] <= "step-000000008.h5"
    assert jobs.rehearse("--verify", path).status == 0
    ended = jobs.rehearse("-o", path, *CUBE, "--write", "threads", "--overwrite", "--verify", ranks=2)
    assert ended.status == 0, ended
    assert [file.name for file in other.parent.iterdir()] == ["notes.txt"]


def test_one_of_two_slow_writers_holds_the_commit_mark_back(tmp_path):
    """The other one is ahead, and what it has written does not count before what is missing."""
    path = tmp_path / "out.h5"
    ended = run_each(path, "--fault", "stall:rank=2,nth=2,s=1s;kill:rank=3,step=5")
    if "--write threads is used instead" in ended.err:
        jobs.no_process_was_started()
    assert ended.status != 0 and ended.seconds < jobs.ENDS_WITHIN_S, ended
    found = jobs.rehearse("--verify", path)
    assert found.status == 0 and "did not end in good order" in found.out, found


def test_each_refused_is_done_by_threads_with_the_same_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_WRITER", str(tmp_path / "nowhere"))
    ended = run_each(tmp_path / "out.h5", "--verify")
    assert ended.status == 0 and "nowhere" in ended.err, ended
    assert len(list((tmp_path / "out.h5.steps").iterdir())) == 12


@pytest.mark.parametrize("way", ["spawn-each:2", "spawn-each:3", "threads"])
def test_a_run_resumes_in_files_of_single_steps(way, small, clean, tmp_path):
    """With the same files, whatever came after the checkpoint, or in one file that holds all samples."""
    segments = Segments(small, tmp_path, steps=20)
    segments.run(2, "--write", "spawn-each:2")
    steps = tmp_path / "out.h5.steps"
    (steps / "step-000000030.h5").write_bytes(b"of a run that was killed")
    ended = segments.run(1, "--write", way)
    segments.run_to_the_end(3, "--write", way)
    assert_finished(segments, clean(1))
    copied = way == "threads"
    assert copied == ("has been copied into" in ended.err), ended
    assert copied != steps.exists()
    names = list(jobs.read_datasets(segments.output))
    with h5py.File(segments.output) as file:
        assert copied != any(file[name].is_virtual for name in names)


def test_what_cannot_resume_in_files_of_single_steps_is_refused(small, tmp_path):
    segments = Segments(small, tmp_path / "plain", steps=20)
    segments.run(1, "--write", "threads")
    before = segments.output.read_bytes()
    ended = segments.start(2, "--write", "spawn-each:2").wait()
    assert ended.status != 0 and len(jobs.messages(ended)) == 1, ended
    assert "spawn-each cannot continue here" in ended.err and "spawn:N" in ended.err, ended
    assert segments.output.read_bytes() == before
    segments = Segments(small, tmp_path / "each", steps=20)
    segments.run(1, "--write", "spawn-each:2")
    (tmp_path / "each" / "out.h5.steps" / "step-000000007.h5").unlink()
    for way in ("spawn-each:2", "threads"):
        ended = segments.start(1, "--write", way).wait()
        assert ended.status != 0 and "step-000000007.h5, which is missing" in ended.err, ended


def test_each_does_not_go_with_several_directories(tmp_path):
    ended = run_each(tmp_path / "out.h5", "--directories", str(tmp_path))
    assert ended.status == 2 and ended.err.count("tailrace-rehearse: ") == 1, ended
    assert "do not go with --write spawn-each" in ended.err and "spawn:N" in ended.err, ended
    assert not (tmp_path / "out.h5").exists()
